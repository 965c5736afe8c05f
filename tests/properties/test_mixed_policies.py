"""Policies in random runs, judged anew from the records by `declare.py`."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from guideway import Session

from .checking import note
from .counting import seen
from .declare import Judge, happenings
from .hosting import MixedHost, begin, play, verbs
from .mixing import compiled, mixed
from .phrasing import Page
from .walking import Verb

SEEDS = 1_100
QUICK = 120
WALKS = 3
KINDS = (
    "precedence", "succession", "response", "chain_precedence", "chain_response", "chain_succession", "never",
    "at_most", "at_least", "exactly", "not_together",
)  # fmt: skip


class Patient(MixedHost):
    """A host that never puts a step through by its own authority, which would be no event of the agent's."""

    def verb(self, session: Session) -> Verb:
        """Any verb but the host's own."""
        while (found := super().verb(session))[0] in ("complete", "skip", "fail"):
            pass
        return found


class Played(NamedTuple):
    """One playbook of a run, from its call to its return."""

    page: Page
    prefix: str
    records: list[Any]
    outcome: str | None


def played(page: Page, library: list[Page], session: Session) -> Iterator[Played]:
    """The run itself, and each sub-playbook that returned."""
    pages = {part["id"]: part for part in library}
    records = list(session.records)
    yield Played(page, "", records, session.outcome)
    for place, (kind, _, *values) in enumerate(records):
        if kind == "returned":
            playbook, outcome, path = values
            yield Played(pages[playbook], path, records[:place], outcome)


def judged(count: Counter[str], one: Played, where: Any) -> None:
    """The session and the oracle agree on every policy of the playbook."""
    trace = happenings(one.records, one.page["tools"], one.prefix)
    for policy in one.page.get("policies", ()):
        judge = Judge(policy, trace)
        violated, undone = judge.violated(), judge.open()
        success = one.outcome in ("success", "fixed")
        about = (*where, one.prefix, policy, one.outcome)
        assert not violated, about
        assert not (undone and success), about
        if one.outcome == f"failed:policy:{policy['id']}":
            assert undone, about
            count["failed for a policy"] += 1
        count[f"kind {judge.kind}"] += 1
        count["obligations kept"] += success
        count["obligations open"] += undone
        count["of a sub-playbook"] += one.prefix != ""


def policed_runs(count: Counter[str], seeds: int) -> None:
    """Runs of every playbook with policies."""
    for seed in range(seeds):
        page, library = mixed(random.Random(f"mixed False {seed}"))
        machine = compiled(seed) if any(part.get("policies") for part in (page, *library)) else None
        for number in range(WALKS if machine is not None else 0):
            assert machine is not None
            session = begin(machine)
            host = Patient(random.Random(f"{seed} {number}"), waste=0.03, batch=4, silent=number > 1)
            for verb in verbs(session, host, 70):
                play(session, verb)
            for one in played(page, library, session):
                judged(count, one, (seed, number))
            note(count, session)


def test_the_oracle_agrees_with_a_few_runs() -> None:
    """The quick part of the next test."""
    count = seen("mixed policies, quick")
    policed_runs(count, QUICK)
    assert count["obligations open"] > 5


@pytest.mark.slow
def test_no_run_violates_a_policy_and_no_success_leaves_one_open() -> None:
    """S41, S42: read anew, the records show safety in every run, and obligations kept in every success."""
    count = seen("mixed policies")
    policed_runs(count, SEEDS)
    assert min(count[f"kind {kind}"] for kind in KINDS) > 100
    wanted = ("code policy", "failed for a policy", "obligations open", "obligations kept", "of a sub-playbook")
    assert min(count[what] for what in wanted) > 50, count


def test_the_oracle_sees_what_is_wrong() -> None:
    """The comparison is not empty: a trace that breaks each kind of policy is told from one that keeps it."""
    first, then = {"first": "a", "then": "b"}, {"after": "a", "eventually": "b"}
    cases: list[tuple[Page, str, str]] = [
        ({"precedence": first}, "ab", "ba"), ({"succession": first}, "ab", "a"), ({"response": then}, "ab", "ba"),
        ({"chain_precedence": first}, "ab", "acb"), ({"chain_response": then}, "ab", "acb"),
        ({"chain_succession": first}, "ab", "aab"), ({"never": "c"}, "ab", "abc"),
        ({"not_together": ["a", "b"]}, "aa", "ab"),
        ({"at_most": {"event": "a", "times": 1}}, "ab", "aa"), ({"at_least": {"event": "a", "times": 2}}, "aa", "a"),
        ({"exactly": {"event": "a", "times": 2}}, "aa", "aaa"),
    ]  # fmt: skip
    for policy, keeps, breaks in cases:
        for calls, expected in ((keeps, False), (breaks, True)):
            judge = Judge(policy, happenings(trace_of(calls), {}))
            assert expected == (judge.violated() or judge.open()), (policy, calls)


def trace_of(calls: str) -> list[tuple[Any, ...]]:
    """The records of these calls, each admitted and successful."""
    found: list[tuple[Any, ...]] = []
    for place, tool in enumerate(calls):
        found.append(("decided", None, f"c{place}", tool, {}, "allow", "s", "s", None, None, None, None, None))
        found.append(("settled", None, f"c{place}", tool, "ok", {"result": 1}, True, "s", None))
    return found

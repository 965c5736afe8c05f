"""Sessions that only watch (S55): whatever is illegal runs, and leaves no mark on the run."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

from guideway import Allow, Failed, Illegal, Machine, Session, Succeeded, ToolCall, Unknown

from .checking import never_wedged
from .counting import seen
from .hosting import PREDICATES, driver, play, saved, verbs
from .mixing import compiled
from .walking import T0, turn_is_open

SEEDS, QUICK, LENGTH = 200, 40, 50
MOVED = ("frames", "cursors", "timers", "pending", "commands", "calls", "nudges", "refusals", "claims", "confidence")
"""What an illegal call must leave alone."""


def watching(machine: Machine, mode: str) -> Session:
    """A session that watches."""
    return Session(machine, now=T0, predicates=PREDICATES, mode=mode)


def intrude(session: Session, rng: random.Random, number: int, count: Counter[str]) -> None:
    """An illegal call between two verbs: it may run, and nothing of the run moves."""
    if turn_is_open(session) or session._run.ending is not None:
        return
    call = ToolCall(rng.choice(("nobody", *sorted(tools_of(session)))), {"n": rng.randint(0, 9)}, f"i{number}")
    if not isinstance(session.foresee([call])[0], Illegal):
        return
    before = {name: session.snapshot.data[name] for name in MOVED}
    outcome = rng.choice((Succeeded({"ok": True, "n": 3}), Failed("no"), Unknown()))
    if session._run.mode == "shadow":
        verdict = session.witness(call, outcome)
    else:
        [verdict] = session.propose([call])
        assert verdict.allowed
        session.observe(call.call_id, outcome)
    after = {name: session.snapshot.data[name] for name in MOVED}
    count["illegal"] += 1
    if session._run.ending is None and not moves_by_turns(session):  # a turn may be the last one there is
        assert isinstance(verdict, Illegal)
        assert json.dumps(after) == json.dumps(before)


def moves_by_turns(session: Session) -> bool:
    """Some condition waits for the number of turns, so that an empty one may move it."""
    return "run.iterations" in str(session.machine.definition)


def tools_of(session: Session) -> set[str]:
    """The tools that the playbook names."""
    assert session.machine.definition is not None
    return {tool for part in session.machine.definition.playbooks for tool in part.named_tools}


def watch_runs(count: Counter[str], seeds: int) -> None:
    """Random runs with intruders: no exception but `HostError`, nobody stuck, restored equal."""
    for seed in range(seeds):
        machine = compiled(seed)
        if machine is None:
            continue
        for mode in ("record", "shadow"):
            session, host, rng = watching(machine, mode), driver(f"{seed} {mode}", batch=4), random.Random(seed)
            for number, verb in enumerate(verbs(session, host, LENGTH)):
                intrude(session, rng, number, count)
                play(session, verb)
                if not any(bound.illegal for bound in session._run.outstanding.values()):
                    never_wedged(session)  # an illegal call may run even after the end
            again = Session.restore(machine, json.loads(saved(session)), predicates=PREDICATES)
            assert saved(again) == saved(session)
            count[f"{mode} runs"] += 1


def test_a_few_runs_are_watched() -> None:
    """The quick part of the next test."""
    count = seen("watched runs, quick")
    watch_runs(count, QUICK)
    assert count["illegal"] > 50


@pytest.mark.slow
def test_what_is_illegal_leaves_no_mark() -> None:
    """
    In `record` and `shadow` mode registers, facts, policies, budgets, questions and timers are those of before.
    """
    watch_runs(seen("watched runs"), SEEDS)


def test_shadow_and_enforce_agree_on_what_is_legal() -> None:
    """
    The verdict of a witness is `Illegal` just where `enforce` would have denied, or asked a person.
    """
    wrong: list[Any] = []
    for seed in range(QUICK):
        machine = compiled(seed)
        if machine is None:
            continue
        strict, shadow, rng = watching(machine, "enforce"), watching(machine, "shadow"), random.Random(seed)
        for number in range(12):
            names = ("nobody", *sorted(tools_of(strict)))
            call = ToolCall(rng.choice(names), {"n": rng.randint(0, 9)}, f"c{number}")
            asked = strict.decide(call)
            legal = isinstance(asked, Allow)
            if isinstance(shadow.witness(call, Succeeded({"ok": True, "n": 3})), Illegal) is legal:
                wrong.append((seed, number, asked))
            if legal:
                strict.propose([call])
                if isinstance(asked, Allow) and not asked.control:
                    strict.observe(call.call_id, Succeeded({"ok": True, "n": 3}))
            if strict.outcome is not None or turn_is_open(strict) or turn_is_open(shadow) or not legal:
                break
    assert wrong == []

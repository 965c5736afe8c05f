"""
Batches where several cursors are at work: order of arrival does not matter; successes count as calls one by one.

A batch in which a block takes a call's cursor away is left out, and counted: such a call holds neither wave nor turn
(S26), so what comes first depends on when its outcome comes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from guideway import Approvals, Session, Succeeded

from .checking import note
from .counting import seen
from .hosting import MixedHost, begin, driver, play, restored, saved, verbs
from .mixing import compiled
from .walking import automatic, running, turn_is_open

SEEDS = 600
BATCHES = 3
ENOUGH = 25
"""so many steps of the runtime's own in a row, which may lead round and round, are enough"""

Fate = Callable[[str], Any]


def good(call_id: str) -> Succeeded:
    """A success that depends on the call alone."""
    return Succeeded({"n": 1 + sum(map(ord, call_id)) % 3, "ok": True, "list": [1]})


def settle_one(session: Session, fate: Fate) -> bool:
    """Settle the next thing that a batch may wait for: a call, or a person's word on one."""
    for call_id in (*running(session)[:1], *automatic(session)):
        session.observe(call_id, fate(call_id))
        return True
    for question in Approvals(session).pending:
        yes = isinstance(fate(question.approval_id), Succeeded)
        if question.of == "reconcile":
            happened = ("happened", question.approval_id, {"n": 2}, "lead")
            answer = play(session, happened if yes else ("did_not_happen", question.approval_id, "lead"))
        elif question.of == "call":
            by = "boss" if "lead" in question.said else "lead"
            answer = play(session, ("approve" if yes else "reject", question.approval_id, by, None))
        else:
            continue
        if answer.accepted:
            return True
    return False


def standing(seed: int, calm: bool) -> tuple[Session, MixedHost] | None:
    """A session somewhere on its way, with no turn open and no call under way."""
    machine = compiled(seed, calm)
    if machine is None:
        return None
    session, host = begin(machine), driver(seed, waste=0, batch=5, silent=calm)
    for verb in verbs(session, host, host.rng.choice((0, 0, 1, 3, 6, 12))):
        play(session, verb)
    host.silent = True
    for _ in range(40):
        if not settle_one(session, good) and not turn_is_open(session):
            break
    run = session._run
    quiet = not turn_is_open(session) and not run.outstanding and not run.waiting
    return (session, host) if session.outcome is None and quiet else None


def in_order(session: Session, fate: Fate, rng: random.Random | None) -> tuple[list[str], bool]:
    """
    Settle a batch; with `rng` the outcomes of a wave arrive in any order.

    Gives the order, and whether some call lost its cursor on the way.
    """
    order: list[str] = []
    orphans = False
    for _ in range(ENOUGH):
        while calls := running(session):
            call_id = rng.choice(calls[1:] or calls) if rng else calls[0]
            order.append(call_id)
            session.observe(call_id, fate(call_id))
            orphans = orphans or any(bound.orphan for bound in session._run.outstanding.values())
        if not settle_one(session, fate):
            break
    return order, orphans


def without_arrivals(session: Session) -> list[tuple[Any, ...]]:
    """The records but for who came when."""
    return [record for record in session.records if record[0] != "arrived"]


@pytest.mark.slow
def test_the_order_in_which_outcomes_arrive_does_not_matter() -> None:
    """S15: whatever the order, the records, the snapshot, the outcome and all later verdicts are the same."""
    count = seen("mixed batches, order of arrival")
    for seed in range(SEEDS):
        found = standing(seed, False)
        if found is None:
            continue
        start, host = found
        for batch in range(BATCHES):
            calls = host.calls(start, host.rng.randint(2, 5), lively=0.95)

            def fate(call_id: str, about: object = (seed, batch)) -> Any:
                return driver(f"{about} {call_id}").outcome()

            ends = [restored(start) for _ in range(3)]
            for session in ends:
                session.propose(calls)
            rngs = [None, random.Random(seed), random.Random(-seed - 1)]
            told = [in_order(session, fate, rng) for session, rng in zip(ends, rngs, strict=True)]
            if any(orphans for _, orphans in told):
                count["a call without its cursor"] += 1
                continue
            count["batches"] += 1
            count["in another order"] += sum(order != told[0][0] for order, _ in told)
            count["with several cursors"] += len(start.states) > 1
            first, *others = ends
            for other in others:
                assert without_arrivals(other) == without_arrivals(first), (seed, batch)
                assert saved(other) == saved(first), (seed, batch)
            for verb in verbs(first, driver(batch, waste=0), 6):
                answers = [play(session, verb) for session in ends]
                assert answers == [answers[0]] * 3, (seed, batch, verb)
            note(count, first)
    assert min(count["in another order"], count["with several cursors"]) > 100
    assert count["a call without its cursor"] * 5 < count["batches"]
    wanted = ("decided in a later wave", "asked call", "verdict deny", "outcome unknown", "outcome cancelled", "called")
    assert min(count[what] for what in wanted) > 20, count


@pytest.mark.slow
def test_a_batch_of_successes_is_its_calls_one_by_one() -> None:
    """The same calls are settled, the same moves made, the same facts left, unless the run stops inside."""
    count = seen("mixed batches, and their calls one by one")
    for seed in range(SEEDS):
        found = standing(seed, True)
        if found is None:
            continue
        start, host = found
        for batch in range(BATCHES):
            calls = host.calls(start, host.rng.randint(2, 5), lively=0.95)
            together, single = restored(start), restored(start)
            together.propose(calls)
            _, lost = in_order(together, good, None)
            for call in calls:
                if not turn_is_open(single):
                    single.propose([call])
                    lost = in_order(single, good, None)[1] or lost
            why = left_out(together, single, lost)
            count[why or "compared"] += 1
            if why is None:
                assert essence(together) == essence(single), (seed, batch, [tuple(call) for call in calls])
                count["with several cursors"] += len(start.states) > 1
                note(count, together)
    assert count["compared"] > 3 * count["stopped inside"]
    wanted = ("decided in a later wave", "asked call", "moves", "with several cursors", "event joined")
    assert min(count[what] for what in wanted) > 20, count


def left_out(together: Session, single: Session, lost: bool) -> str | None:
    """Why the two are not compared."""
    both = (together, single)
    if any(session._run.ending is not None for session in both):
        return "stopped inside"
    if lost:
        return "a call without its cursor"
    if any(automatic(session) or turn_is_open(session) for session in both):
        return "endless"
    if any(record[0] == "settled" and not record[6] for session in both for record in session.records):
        return "a success that did not count"
    return None


def essence(session: Session) -> dict[str, Any]:
    """What a batch and its calls one by one must have in common: all but turns, and which cursor was first."""
    found, data = session.records, session.snapshot.to_json()
    return {
        "admitted": sorted(str(r[2:6]) for r in found if r[0] == "decided" and r[5] == "allow"),
        "settled": sorted(str(r[2:]) for r in found if r[0] == "settled"),
        "moves": sorted(str(r[2:]) for r in found if r[0] == "moved"),
        "facts": [frame.get("facts") for frame in data["frames"]],
        "states": session.states,
        "pending": sorted(question.approval_id for question in Approvals(session).pending),
        "outcome": session.outcome,
    }

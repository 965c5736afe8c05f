"""Batches: the order in which outcomes arrive does not matter, and successes count as the calls one by one would."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from guideway import Approvals, Session, Succeeded

from .counting import seen, tally
from .drawing import machine_of
from .walking import Host, automatic, begin, play, records, restored, running, saved, turn_is_open, verbs, walk

SEEDS = 1_000
BATCHES = 3
ENOUGH = 20
"""so many steps of the runtime's own in a row, which may lead round and round, are enough"""

Fate = Callable[[str], Any]


def standing(seed: int, flavour: str, silent: bool = False) -> tuple[Session, Host] | None:
    """A session somewhere on its way, with no turn open and no call under way."""
    machine = machine_of(flavour, seed)
    if machine is None:
        return None
    session = begin(machine)
    host = Host(random.Random(seed), waste=0, batch=5, silent=silent)
    walk(session, host, host.rng.choice((0, 0, 1, 3, 6, 12)))
    host.silent = True
    for _ in range(30):
        if settle_one(session, lambda _: Succeeded({"n": 1, "ok": True})):
            continue
        for question in Approvals(session).pending[:1]:
            play(session, ("approve", question.approval_id, "lead"))
        if not turn_is_open(session) and not session._run.outstanding and not session._run.pending:
            break
    return (session, host) if session.outcome is None and not turn_is_open(session) else None


def settle_one(session: Session, fate: Fate) -> bool:
    """Settle the next thing that a batch may wait for: a call of its own, else the runtime's, else a person."""
    for call_id in (*running(session)[:1], *automatic(session)):
        session.observe(call_id, fate(call_id))
        return True
    for question in Approvals(session).pending:
        if question.of == "reconcile":
            verb = "happened" if fate(question.approval_id) == Succeeded({"n": 1, "ok": True}) else "did_not_happen"
            play(session, (verb, question.approval_id, *([{"n": 2}] if verb == "happened" else []), "lead"))
            return True
        if question.of == "call":
            accept = isinstance(fate(question.approval_id), Succeeded)
            play(session, ("approve" if accept else "reject", question.approval_id, "lead"))
            return True
    return False


def fates(seed: Any, host: Host, good: bool) -> Fate:
    """What becomes of each call: a function of its id, so that it is the same in every order."""

    def fate(call_id: str) -> Any:
        drawing = Host(random.Random(f"{seed} {call_id}"), silent=good)
        return drawing.outcome()

    return fate


def in_order(session: Session, fate: Fate, rng: random.Random | None) -> list[str]:
    """Settle a batch; with `rng` the outcomes of a wave arrive in any order.  Gives the order."""
    order: list[str] = []
    for _ in range(ENOUGH):
        while calls := running(session):
            call_id = rng.choice(calls[1:] or calls) if rng else calls[0]
            order.append(call_id)
            session.observe(call_id, fate(call_id))
        if not settle_one(session, fate):
            break
    return order


def without_arrivals(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The records but for who came when."""
    return [record for record in found if record[0] != "arrived"]


@pytest.mark.slow
@pytest.mark.parametrize("good", [False, True])
def test_the_order_in_which_outcomes_arrive_does_not_matter(good: bool) -> None:
    """S15: whatever the order, the records, the snapshot, the outcome and all later verdicts are the same."""
    count = seen(f"order of arrival, {'successes' if good else 'any outcomes'}")
    for seed in range(SEEDS):
        found = standing(seed, "wide" if seed % 3 else "varied", silent=good)
        if found is None:
            continue
        start, host = found
        for batch in range(BATCHES):
            calls = host.calls(start, host.rng.randint(2, 5), lively=0.9)
            fate = fates((seed, batch), host, good)
            ends: list[Session] = []
            orders: list[list[str]] = []
            for permutation in range(3):
                session = restored(start)
                session.propose(calls)
                orders.append(in_order(session, fate, random.Random(f"{seed} {permutation}") if permutation else None))
                ends.append(session)
            first, *others = ends
            count["batches"] += 1
            count["in another order"] += sum(order != orders[0] for order in orders)
            for other in others:
                assert without_arrivals(records(other)) == without_arrivals(records(first)), (seed, batch)
                assert saved(other) == saved(first), (seed, batch)
            for verb in verbs(first, Host(random.Random(batch), waste=0), 6):
                answers = [play(session, verb) for session in ends]
                assert answers == [answers[0]] * 3, (seed, batch, verb)
            tally(count, first.records)
    assert count["in another order"] > 500
    wanted = ["decided in a later wave", "asked call", "verdict deny", "ends"]
    assert min(count[what] for what in wanted) > 100
    assert good or min(count[what] for what in ("outcome unknown", "outcome error", "outcome cancelled")) > 100


@pytest.mark.slow
def test_a_batch_of_successes_is_its_calls_one_by_one() -> None:
    """The same calls are admitted, in order, the same moves made, the same facts left, unless the run stops inside."""
    count = seen("a batch and its calls one by one")
    for seed in range(SEEDS):
        found = standing(seed, "calm", silent=True)
        if found is None:
            continue
        start, host = found
        for _ in range(BATCHES):
            calls = host.calls(start, host.rng.randint(2, 5), lively=0.9)
            fate = fates(seed, host, True)
            together, single = restored(start), restored(start)
            together.propose(calls)
            in_order(together, fate, None)
            for call in calls:
                single.propose([call])
                in_order(single, fate, None)
            count["batches"] += 1
            tally(count, together.records)
            if together._run.ending is not None or single._run.ending is not None:
                count["stopped inside"] += 1
                continue
            if automatic(together) or automatic(single):  # calls of the runtime's own that lead round and round
                count["endless"] += 1
                continue
            if any(record[0] == "settled" and not record[6] for record in single.records):
                count["a success that did not count"] += 1
                continue
            where = (seed, [tuple(call) for call in calls])
            assert essence(together) == essence(single), where
            host.rng.random()
    assert count["batches"] > 3 * count["stopped inside"]
    assert min(count[what] for what in ("decided in a later wave", "asked call", "moves")) > 100


def essence(session: Session) -> dict[str, Any]:
    """What a batch and its calls one by one must have in common: all but the bookkeeping of turns."""
    found = session.records
    data = session.snapshot.to_json()
    cursor = {key: value for key, value in data["cursors"][0].items() if key != "issued"}
    return {
        "admitted": sorted(str(r[2:6]) for r in found if r[0] == "decided" and r[5] == "allow"),
        "settled": [r[2:] for r in found if r[0] == "settled"],
        "moves": [r[2:] for r in found if r[0] == "moved"],
        "cursor": cursor,
        "frame": data["frames"],
        **{key: data[key] for key in ("calls", "ending", "outcome")},
    }


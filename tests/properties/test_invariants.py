"""What must hold of every run, whatever agent, tools, people and time do."""

from __future__ import annotations

import random
from typing import Any

import pytest

from guideway import Allow, ToolCall
from guideway.runtime.run import Run

from .auditing import CONTROL, Audit, guards_hold
from .counting import seen, tally
from .drawing import FLAVOURS, machine_of
from .walking import NAMES, Host, begin, play, records, saved, turn_is_open, verbs

SEEDS = 1_000
WALKS = 2


@pytest.mark.slow
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_nothing_is_admitted_that_the_playbook_does_not_admit(flavour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The audit of `auditing.py` finds nothing in the records of random runs.

    No id twice, no quota or limit overrun, nothing after the end, nothing beside an irreversible call, no completion
    without its successes, no state that does not name the tool, no `where` untrue.
    """
    count = seen(f"invariants, {flavour}")
    noted = Run.record

    def watched(run: Run, kind: str, *values: Any) -> None:
        noted(run, kind, *values)
        if kind == "decided" and values[3] == "allow" and values[1] not in CONTROL:
            call_id, tool, args, _, _, state, *_ = values
            count["guards asked again"] += guards_hold(run, call_id, tool, args, state)

    monkeypatch.setattr(Run, "record", watched)
    for seed in range(SEEDS):
        machine = machine_of(flavour, seed)
        for number in range(WALKS if machine is not None else 0):
            assert machine is not None
            assert machine.definition is not None
            session = begin(machine)
            host = Host(random.Random(f"{seed} {number}"), waste=0.1, batch=5)
            script = [verb for verb in verbs(session, host, 35) if play(session, verb) is not verb]
            try:
                Audit(machine.definition).read(session.records)
            except AssertionError as error:
                raise AssertionError(f"{flavour} {seed}, walk {number}: {error}\n{script}") from error
            tally(count, session.records)
    wanted = {"decided in a later wave", "outcome unknown", "outcome ok", "verdict deny", "ends", "moves"}
    if flavour != "plain":
        wanted |= {"asked call", "asked step", "asked reconcile"}
        wanted |= {"timer timeout", "guards asked again", "event exhausted"}
    assert min(count[what] for what in wanted) > 30, count


@pytest.mark.slow
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_decide_changes_nothing_and_says_what_propose_will(flavour: str) -> None:
    """`decide` leaves records and snapshot as they are, and its verdict is that of the same call proposed."""
    count = seen(f"decide, {flavour}")
    for seed in range(SEEDS // 2):
        machine = machine_of(flavour, seed)
        if machine is None:
            continue
        rng = random.Random(seed)
        session, blind = begin(machine), begin(machine)
        host = Host(rng)
        for verb in verbs(session, host, 20):
            [call] = host.calls(session, 1)
            before = (records(session), list(session.commands), session.waiting)
            if rng.random() < 0.3:
                call = ToolCall(rng.choice(NAMES), call.args, rng.choice(("", *session._run.settled, call.call_id)))
            if not turn_is_open(session):
                verdict = session.decide(call)
                assert (records(session), list(session.commands), session.waiting) == before, (seed, call)
                if rng.random() < 0.5:
                    assert play(session, ("propose", (call,), "", 0, None)) == [verdict], (seed, call)
                    play(blind, ("propose", (call,), "", 0, None))
                    count["proposed as decided"] += 1
                    count[f"decided {type(verdict).__name__}"] += 1
                    if isinstance(verdict, Allow) and not verdict.control:
                        count["allowed"] += 1
                    continue
            assert play(session, verb) == play(blind, verb), (seed, verb)
        assert saved(session) == saved(blind), seed
        assert records(session) == records(blind), seed
    assert min(count["decided Allow"], count["decided Deny"], count["proposed as decided"]) > 100

"""Many cursors and many sessions: the index, the fast path among several cursors, and what a session weighs."""

from __future__ import annotations

import random
import tracemalloc
from typing import Any

import pytest

import guideway
from guideway import Allow, Machine, Session, Succeeded, ToolCall, Usage

ROUNDS = 300


def wide(rng: random.Random) -> dict[str, Any]:
    """A parallel of a few plain lists; some tools stand in several of them, some lists lie in sections."""
    branches: dict[str, Any] = {}
    for b in range(rng.randint(2, 6)):
        steps: list[dict[str, Any]] = []
        for i in range(rng.randint(1, 3)):
            tools = rng.sample(["a", "b", "c", f"t{b}{i}", f"u{b}{i}"], rng.randint(1, 2))
            entries = [{"tool": tool, "as": f"{tool}{b}{i}"} for tool in tools]
            steps.append({"id": f"s{b}{i}", "expected_tools": entries})
        branches[f"b{b}"] = [{"id": f"sec{b}", "steps": steps}] if rng.random() < 0.3 else steps
    join = rng.choice(["all", "all", "any", min(2, len(branches))])
    last = {"id": "last", "expected_tools": ["end"]}
    return {"id": "w", "name": "W", "steps": [{"id": "p", "parallel": branches, "join": join}, last]}


def play(machine: Machine, seed: int, *, general: bool) -> tuple[Session, int]:
    """Random legal and illegal calls, one at a time; what is told of the cost of a reply takes the general path."""
    rng, session, quick = random.Random(seed), Session(machine), 0
    tools = sorted(machine.definition.named_tools) if machine.definition else []
    for number in range(30):
        call = ToolCall(rng.choice(tools), {"n": number}, f"c{number}")
        if session.outcome is not None:
            break
        [verdict] = session.propose([call], usage=Usage(0)) if general else session.propose([call])
        quick += bool(session._gate.held)
        if isinstance(verdict, Allow):
            session.observe(call.call_id, Succeeded({"n": number}))
    return session, quick


def test_the_fast_path_among_several_cursors_is_the_general_path() -> None:
    """Records, snapshot, states and outcome are the same, whichever way the calls take."""
    quick = joined = 0
    for seed in range(ROUNDS):
        machine = guideway.load(wide(random.Random(seed)), flow=False)
        fast, taken = play(machine, seed, general=False)
        slow, none = play(machine, seed, general=True)
        assert fast.records == slow.records, seed
        assert fast.snapshot.to_json() == slow.snapshot.to_json(), seed
        assert fast.states == slow.states, seed
        assert none == 0
        quick += taken
        joined += any(record[0] == "moved" and record[3] == "joined" for record in fast.records)
    assert quick > ROUNDS
    assert joined > ROUNDS / 4


def test_a_thousand_sessions_of_twenty_branches_run_side_by_side() -> None:
    """Each keeps its own place, whatever the others do, and all come to their end."""
    branches = {f"b{i}": {"expected_tools": [f"t{i}"]} for i in range(20)}
    machine = guideway.load({"id": "wide", "name": "Wide", "steps": [{"id": "all", "parallel": branches}]})
    sessions = [Session(machine, run_id=f"run-{n}") for n in range(1000)]
    for i in range(20):
        for n, session in enumerate(sessions):
            tool = (i + n) % 20
            [verdict] = session.propose([ToolCall(f"t{tool}", {"n": n}, f"c{i}")])
            assert verdict.allowed
            session.observe(f"c{i}", Succeeded({"n": n}))
            assert len(session.states) == max(1, 19 - i)
    assert {session.outcome for session in sessions} == {"success"}


def test_ten_thousand_open_cursors_admit_each_its_own_call() -> None:
    """A call finds its step among 10,000 that are open, first, last and in between."""
    steps = [{"id": f"s{i}", "description": "x", "expected_tools": [f"t{i}"]} for i in range(10_000)]
    machine = guideway.load({"id": "any", "name": "Any", "steps": steps, "strict_sequence": False})
    session = Session(machine)
    for i in (0, 9_999, 5_000, 1, 9_998):
        [verdict] = session.propose([ToolCall(f"t{i}", {}, f"c{i}")])
        assert isinstance(verdict, Allow) and verdict.step == f"s{i}"
        session.observe(f"c{i}", Succeeded())
        [again] = session.propose([ToolCall(f"t{i}", {}, f"again{i}")])
        assert not again.allowed
    assert len(session.states) == 9_995


@pytest.mark.parametrize("steps", [1, 10])
def test_an_idle_session_is_under_two_kilobytes(steps: int) -> None:
    """A session of ten steps without facts that waits for its agent weighs at most 2,048 bytes."""
    page = [{"id": f"s{i}", "description": "x", "expected_tools": [f"t{i}"]} for i in range(steps)]
    machine = guideway.load({"id": "ten", "name": "Ten", "steps": page})
    Session(machine)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = [Session(machine) for _ in range(500)]
    used = (tracemalloc.get_traced_memory()[0] - before) / len(kept)
    tracemalloc.stop()
    assert used <= 2048

"""
Many cursors: what a gated call costs while others are open, and what sessions cost that wait.

- A playbook whose steps may be done in any order (`strict_sequence: false`) opens a cursor for each of N steps; the
  calls are made one by one, and the figure is the median of them, of the best of three sessions.
- The same with a `where` on every step, which takes the general path.
- 1,000 sessions, each with 20 parallel branches, from their start to their end.
- Bytes of a session of ten steps that has started and waits, as `tracemalloc` counts them.

    python benchmarks/bench_blocks.py
"""

from __future__ import annotations

import time
import tracemalloc
from statistics import median
from typing import Any

from table import Row, show

from guideway import Machine, Session, Succeeded, ToolCall, load

OPEN = (1, 100, 1_000, 10_000)
CALLS, ROUNDS = 300, 3
SESSIONS, BRANCHES = 1_000, 20


def steps_of(count: int, *, guarded: bool, any_order: bool) -> Machine:
    """Steps of one tool each: in a line, with one cursor, or in any order, with one cursor each."""
    where = {"where": "args.hours < 48"} if guarded else {}
    steps = [
        {"id": f"s{i}", "description": f"step {i}", "expected_tools": [{"tool": f"t{i}", **where}]}
        for i in range(count)
    ]
    playbook: dict[str, Any] = {"id": "steps", "name": "Steps", "max_iterations": 10**6, "steps": steps}
    return load(playbook | {"strict_sequence": not any_order})


def gated(size: int, *, guarded: bool) -> float:
    """Seconds of one call among about `size` open cursors: the median of many."""
    count = CALLS + 1 if size == 1 else size + 1
    machine = steps_of(count, guarded=guarded, any_order=size > 1)
    return min(one_round(machine, min(CALLS, count - 1)) for _ in range(ROUNDS))


def one_round(machine: Machine, calls: int) -> float:
    """The median of the calls of one session."""
    session, taken = Session(machine), []
    for i in range(calls):
        reply, outcome = [ToolCall(f"t{i}", {"hours": 24}, f"c{i}")], Succeeded({"hits": 3})
        start = time.perf_counter()
        session.propose(reply)
        session.observe(f"c{i}", outcome)
        taken.append(time.perf_counter() - start)
    return median(taken)


def many_sessions() -> float:
    """Seconds for all sessions, their branches done in turn, side by side."""
    branches = {f"b{i}": {"expected_tools": [f"t{i}"]} for i in range(BRANCHES)}
    machine = load({"id": "wide", "name": "Wide", "steps": [{"id": "all", "parallel": branches}]})
    start = time.perf_counter()
    sessions = [Session(machine) for _ in range(SESSIONS)]
    for i in range(BRANCHES):
        for session in sessions:
            session.propose([ToolCall(f"t{i}", {}, f"c{i}")])
            session.observe(f"c{i}", Succeeded())
    took = time.perf_counter() - start
    assert all(session.outcome == "success" for session in sessions)
    return took


def idle_bytes(count: int = 2_000) -> float:
    """Bytes of one session that waits."""
    steps = [{"id": f"s{i}", "description": f"step {i}", "expected_tools": [f"t{i}"]} for i in range(10)]
    machine = load({"id": "ten", "name": "Ten", "steps": steps})
    Session(machine)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = [Session(machine) for _ in range(count)]
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return used / len(kept)


def rows() -> list[Row]:
    """The figures, in microseconds, seconds and bytes as their names say."""
    found = []
    for guarded in (False, True):
        name = "gated call, µs" + (", with a where" if guarded else "")
        found += [Row(name, size, "guideway", gated(size, guarded=guarded) * 1e6) for size in OPEN]
    found.append(Row(f"{SESSIONS:,} sessions of {BRANCHES} branches, s", SESSIONS, "guideway", many_sessions()))
    found.append(Row("an idle session, bytes", 10, "guideway", idle_bytes()))
    return found


if __name__ == "__main__":
    show("many cursors", rows())

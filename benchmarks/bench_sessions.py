"""
Many sessions of one machine: 100,000 sessions of one playbook of ten steps, in one process, and what an idle one takes.

- an idle session, bytes: of a session that has started and waits, and of one that is in the midst of its work (five
  calls done, their records let go of by `forget`, as a host does that keeps them in a journal); `tracemalloc` counts.
- 100,000 sessions: time to create one, time of one call while all are alive (each session makes its first call, then
  each its second …, so that no two calls in a row are of one session), of the last call, which ends the run, and what
  the process has grown by, all told.  Times are of the processor; nothing here waits.

    python benchmarks/bench_sessions.py
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from pathlib import Path
from typing import Any

from table import Row, show

from guideway import Machine, Session, Succeeded, ToolCall, load

STEPS, MANY, COUNTED, DONE = 10, 100_000, 2_000, 5


def machine_of_ten() -> Machine:
    """The machine that all sessions share."""
    steps = [{"id": f"s{i}", "description": f"step {i}", "expected_tools": [f"t{i}"]} for i in range(STEPS)]
    return load({"id": "ten", "name": "Ten", "steps": steps})


def call(session: Session, number: int) -> None:
    """One call, from the proposal to the report."""
    session.propose([ToolCall(f"t{number}", {"hours": 24}, f"c{number}")])
    session.observe(f"c{number}", Succeeded({"hits": 3}))


def idle(*, midway: bool) -> float:
    """Bytes of one session that waits."""
    machine = machine_of_ten()
    Session(machine)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = [Session(machine) for _ in range(COUNTED)]
    if midway:
        for session in kept:
            for number in range(DONE):
                call(session, number)
            session.forget()
    gc.collect()
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return used / len(kept)


def resident() -> int:
    """Bytes of memory that the process has."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def took(sessions: list[Session], numbers: range) -> float:
    """Seconds of the processor for these calls of every session."""
    begun = time.process_time()
    for number in numbers:
        for session in sessions:
            call(session, number)
    return time.process_time() - begun


def many() -> list[Row]:
    """A hundred thousand at once, from their start to their end."""
    machine = machine_of_ten()
    Session(machine)
    gc.collect()
    before, begun = resident(), time.process_time()
    sessions = [Session(machine, run_id=f"r{i}") for i in range(MANY)]
    created, grown = time.process_time() - begun, resident() - before
    worked = took(sessions, range(STEPS - 1))
    ended = took(sessions, range(STEPS - 1, STEPS))
    at_the_end = resident() - before
    assert all(session.outcome == "success" for session in sessions)
    told: list[tuple[str, Any]] = [
        ("create a session, µs", created / MANY * 1e6),
        ("a call of one among them, µs", worked / (STEPS - 1) / MANY * 1e6),
        ("the call that ends a run, µs", ended / MANY * 1e6),
        ("memory with all waiting, MB", grown / 1e6),
        ("with all ended, records kept, MB", at_the_end / 1e6),
    ]
    return [Row(name, MANY, "guideway", value) for name, value in told]


def rows() -> list[Row]:
    """The figures, in what their names say."""
    idles = [Row("an idle session, bytes", 1, "guideway", idle(midway=False))]
    idles.append(Row("in the midst of it, bytes", 1, "guideway", idle(midway=True)))
    return idles + many()


if __name__ == "__main__":
    show("many sessions of one machine", rows())

"""
One journalled call at one durability: beside DBOS on SQLite and LangGraph's SQLite checkpointer.

Everybody writes to a file of the same folder, SQLite in WAL with `synchronous=FULL`, which each connection is asked for
(`durable`); LangGraph with `durability="sync"`.  The figures are of one call, the best of the rounds, which are taken
in turns: wall time, most of which is waiting for the disk, and processor time of all threads, which hardly depends on
what else the computer does.  Everybody has made `WARM` calls before, in the same file: by then SQLite writes over its
log instead of making it longer, as in any program that lives for more than a moment, and waits are shorter.

- guideway: `propose` and `observe` of a session in a `SqliteJournal`: decided by the playbook, intent on the disk
  before the call runs, outcome after.  Two commits.
- guideway JSON lines: the same in a `JsonLinesJournal`.
- guideway, 8 threads: eight sessions in one `SqliteJournal`, whose commits are grouped; time of all by number of calls.
- DBOS: one step of a workflow of N steps: its output is kept after it ran; no intent, no decision.  One commit.
- LangGraph: one tool node, over and over: a checkpoint for each superstep, and what the node wrote. Two commits.
- a line and fsync: what the disk itself takes, for comparison: 200 bytes and `os.fsync`.

That everybody waits for the disk as often as these lines say was counted by `strace -f -c -e trace=fsync,fdatasync`, as
the difference of 150 calls and 50: two a call for guideway, in either file, and for LangGraph, one for DBOS.

Whoever waits for the disk has to get a processor back afterwards: on a busy computer wall time is mostly that queue,
and tells nothing of programs.  Run it alone, or first in every queue:

    python benchmarks/bench_journal.py
    sudo chrt --rr 1 python benchmarks/bench_journal.py
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

from table import Row, show

WARM, CALLS, THREADS, ROUNDS = 450, 100, 8, 5
Took = tuple[float, float]
"""Seconds of one call: by the clock, and of processors."""
Round = Callable[[Path], Took]
"""Makes its calls in a folder of its own."""


def timed(calls: int, work: Callable[[], None]) -> Took:
    """What so many calls took, each."""
    clock, busy = time.perf_counter(), time.process_time()
    work()
    return (time.perf_counter() - clock) / calls, (time.process_time() - busy) / calls


@contextmanager
def folder() -> Iterator[Path]:
    """An empty folder on the disk that holds temporary files."""
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def durable(db: Any) -> None:
    """Ask a connection for the durability that everybody has here, and see that it has it."""
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    found = (db.execute("PRAGMA journal_mode").fetchone()[0], db.execute("PRAGMA synchronous").fetchone()[0])
    assert found == ("wal", 2), found


def line(size: int) -> Any:
    """A playbook of so many steps, one tool each."""
    from guideway import load

    steps = [{"id": f"s{i}", "description": f"step {i}", "expected_tools": [f"t{i}"]} for i in range(size)]
    return load({"id": "line", "name": "Line", "max_iterations": 10 * size, "steps": steps})


def begun(journal: Any, machine: Any, run: str, warm: int = WARM) -> Callable[[], None]:
    """A run that has made some calls already; calling it makes its next `CALLS`."""
    from guideway import Succeeded, ToolCall
    from guideway.journal import start

    session = start(journal, machine, run_id=run)

    def go(first: int = warm, calls: int = CALLS) -> None:
        for i in range(first, first + calls):
            session.propose([ToolCall(f"t{i}", {"hours": 24}, f"c{i}")])
            session.observe(f"c{i}", Succeeded({"hits": 3}))
        assert session.state == f"s{first + calls}"

    go(0, warm)
    return go


def ours(where: Path) -> Took:
    """In SQLite."""
    from guideway.journal import SqliteJournal

    journal = SqliteJournal(where / "runs.db")
    assert journal._db.execute("PRAGMA synchronous").fetchone() == (2,)
    took = timed(CALLS, begun(journal, line(WARM + CALLS + 1), "r"))
    journal.close()
    return took


def in_lines(where: Path) -> Took:
    """In JSON lines."""
    from guideway.journal import JsonLinesJournal

    journal = JsonLinesJournal(where / "runs")
    took = timed(CALLS, begun(journal, line(WARM + CALLS + 1), "r"))
    journal.close()
    return took


def threaded(where: Path) -> Took:
    """In SQLite, from several threads: they share their waits for the disk."""
    from guideway.journal import SqliteJournal

    machine, journal = line(WARM + CALLS + 1), SqliteJournal(where / "runs.db")
    begun(journal, machine, "first")
    workers = [threading.Thread(target=begun(journal, machine, f"r{i}", 0)) for i in range(THREADS)]
    before = journal.commits

    def go() -> None:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    took = timed(CALLS * THREADS, go)
    assert journal.commits - before < 2 * CALLS * THREADS
    journal.close()
    return took


def dbos(where: Path) -> Took:
    """One step of a workflow, again and again; the workflow's own records are not counted."""
    import sqlalchemy as sa
    from dbos import DBOS

    engine = sa.create_engine(f"sqlite:///{where / 'dbos.db'}")

    @sa.event.listens_for(engine, "connect")
    def ready(db: Any, _: Any) -> None:
        durable(db)
        db.isolation_level = "IMMEDIATE"
        db.execute("PRAGMA busy_timeout=30000")
        db.execute("PRAGMA foreign_keys=ON")

    DBOS(config={"name": "bench", "system_database_engine": engine, "log_level": "ERROR",
                 "system_database_url": f"sqlite:///{where / 'dbos.db'}"})  # fmt: skip

    @DBOS.step()
    def query_siem(hours: int) -> dict[str, int]:
        return {"hits": 3}

    @DBOS.workflow()
    def triage() -> Took:
        for _ in range(WARM):
            query_siem(24)
        return timed(CALLS, lambda: [query_siem(24) for _ in range(CALLS)].clear())

    DBOS.launch()
    try:
        return triage()
    finally:
        DBOS.destroy(destroy_registry=True)


class Hits(TypedDict):
    """The state of the graph."""

    hits: int


def langgraph(where: Path) -> Took:
    """One tool node, over and over."""
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    db = sqlite3.connect(where / "graph.db", check_same_thread=False)
    durable(db)
    begun_at: list[tuple[float, float]] = []

    def query_siem(state: Hits) -> Hits:
        if state["hits"] in (WARM, WARM + CALLS):
            begun_at.append((time.perf_counter(), time.process_time()))
        return {"hits": state["hits"] + 1}

    graph = StateGraph(Hits)
    graph.add_node("query_siem", query_siem)
    graph.add_edge(START, "query_siem")
    graph.add_conditional_edges("query_siem", lambda state: END if state["hits"] > WARM + CALLS else "query_siem")
    compiled = graph.compile(checkpointer=SqliteSaver(db))
    config: Any = {"configurable": {"thread_id": "r"}, "recursion_limit": WARM + CALLS + 5}
    compiled.invoke({"hits": 0}, config, durability="sync")
    db.close()
    [(clock, busy), (clock_then, busy_then)] = begun_at
    return (clock_then - clock) / CALLS, (busy_then - busy) / CALLS


def bare(where: Path) -> Took:
    """A line and fsync."""
    with (where / "log").open("ab", buffering=0) as file:

        def go() -> None:
            for _ in range(CALLS):
                file.write(b"x" * 200)
                os.fsync(file.fileno())

        return timed(CALLS, go)


PEERS: dict[str, Round] = {
    "guideway": ours,
    "guideway JSON lines": in_lines,
    f"guideway, {THREADS} threads": threaded,
    "DBOS": dbos,
    "LangGraph": langgraph,
    "a line and fsync": bare,
}


def rows() -> list[Row]:
    """The figures, in milliseconds a call; the first round, in which modules are loaded, does not count."""
    taken: dict[str, list[Took]] = {name: [] for name in PEERS}
    for turn in range(ROUNDS + 1):
        for name, one in PEERS.items():
            with folder() as where:
                took = one(where)
            if turn:
                taken[name].append(took)
    wall = [Row("wall time", CALLS, name, min(t[0] for t in all_of) * 1e3) for name, all_of in taken.items()]
    return wall + [
        Row("processor time", CALLS, name, min(t[1] for t in all_of) * 1e3) for name, all_of in taken.items()
    ]


if __name__ == "__main__":
    show("one journalled call, ms", rows())

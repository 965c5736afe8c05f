"""
One journalled call at one durability: beside DBOS on SQLite and LangGraph's SQLite checkpointer.

Everybody writes to a file of the same folder, SQLite in WAL with `synchronous=FULL`, which each connection is asked for
(`durable`); LangGraph with `durability="sync"`.  The figure is wall time of one call, the median of the rounds, which
are taken in turns; a wait for the disk is most of it, and disks differ more than programs.

- guideway: `propose` and `observe` of a session in a `SqliteJournal`: decided by the playbook, intent on the disk
  before the call runs, outcome after.  Two commits.
- guideway JSON lines: the same in a `JsonLinesJournal`.
- guideway, 8 threads: eight sessions in one `SqliteJournal`, whose commits are grouped; time of all by number of calls.
- DBOS: one step of a workflow of N steps: its output is kept after it ran; no intent, no decision.  One commit.
- LangGraph: one tool node, over and over: a checkpoint for each superstep, and what the node wrote.
- a line and fsync: what the disk itself takes, for comparison: 200 bytes and `os.fsync`.

    python benchmarks/bench_journal.py
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
from statistics import median
from typing import Any, TypedDict

from table import Row, show

CALLS, THREADS, ROUNDS = 200, 8, 5
Round = Callable[[Path], float]
"""Makes its calls in a folder of its own, and returns seconds a call."""


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


def walk(journal: Any, machine: Any, run: str, calls: int) -> None:
    """One run, from its start to its last call but one."""
    from guideway import Succeeded, ToolCall
    from guideway.journal import start

    session = start(journal, machine, run_id=run)
    for i in range(calls):
        session.propose([ToolCall(f"t{i}", {"hours": 24}, f"c{i}")])
        session.observe(f"c{i}", Succeeded({"hits": 3}))
    assert session.state == f"s{calls}"


def ours(where: Path) -> float:
    """In SQLite."""
    from guideway.journal import SqliteJournal

    machine, journal = line(CALLS + 1), SqliteJournal(where / "runs.db")
    assert journal._db.execute("PRAGMA synchronous").fetchone() == (2,)
    begun = time.perf_counter()
    walk(journal, machine, "r", CALLS)
    took = time.perf_counter() - begun
    journal.close()
    return took / CALLS


def in_lines(where: Path) -> float:
    """In JSON lines."""
    from guideway.journal import JsonLinesJournal

    machine, journal = line(CALLS + 1), JsonLinesJournal(where / "runs")
    begun = time.perf_counter()
    walk(journal, machine, "r", CALLS)
    took = time.perf_counter() - begun
    journal.close()
    return took / CALLS


def threaded(where: Path) -> float:
    """In SQLite, from several threads: they share their waits for the disk."""
    from guideway.journal import SqliteJournal

    machine, journal = line(CALLS + 1), SqliteJournal(where / "runs.db")
    workers = [threading.Thread(target=walk, args=(journal, machine, f"r{i}", CALLS)) for i in range(THREADS)]
    begun = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    took = time.perf_counter() - begun
    assert journal.commits < 2 * CALLS * THREADS
    journal.close()
    return took / (CALLS * THREADS)


def dbos(where: Path) -> float:
    """One step of a workflow; the time from the first step to the last, without the workflow's own records."""
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
    def triage() -> float:
        begun = time.perf_counter()
        for _ in range(CALLS):
            query_siem(24)
        return time.perf_counter() - begun

    DBOS.launch()
    try:
        return triage() / CALLS
    finally:
        DBOS.destroy(destroy_registry=True)


class Hits(TypedDict):
    """The state of the graph."""

    hits: int


def langgraph(where: Path) -> float:
    """One tool node, over and over."""
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    db = sqlite3.connect(where / "graph.db", check_same_thread=False)
    durable(db)
    graph = StateGraph(Hits)
    graph.add_node("query_siem", lambda state: {"hits": state["hits"] + 1})
    graph.add_edge(START, "query_siem")
    graph.add_conditional_edges("query_siem", lambda state: END if state["hits"] >= CALLS else "query_siem")
    compiled = graph.compile(checkpointer=SqliteSaver(db))
    config: Any = {"configurable": {"thread_id": "r"}, "recursion_limit": CALLS + 5}
    begun = time.perf_counter()
    end = compiled.invoke({"hits": 0}, config, durability="sync")
    took = time.perf_counter() - begun
    assert end["hits"] == CALLS
    db.close()
    return took / CALLS


def bare(where: Path) -> float:
    """A line and fsync."""
    with (where / "log").open("ab", buffering=0) as file:
        begun = time.perf_counter()
        for _ in range(CALLS):
            file.write(b"x" * 200)
            os.fsync(file.fileno())
        return (time.perf_counter() - begun) / CALLS


PEERS: dict[str, Round] = {
    "guideway": ours,
    "guideway JSON lines": in_lines,
    f"guideway, {THREADS} threads": threaded,
    "DBOS": dbos,
    "LangGraph": langgraph,
    "a line and fsync": bare,
}


def rows() -> list[Row]:
    """The figures, in milliseconds a call."""
    taken: dict[str, list[float]] = {name: [] for name in PEERS}
    for _ in range(ROUNDS):
        for name, one in PEERS.items():
            with folder() as where:
                taken[name].append(one(where))
    return [Row("journalled call", CALLS, name, median(all_of) * 1e3) for name, all_of in taken.items()]


if __name__ == "__main__":
    show("one journalled call, ms", rows())

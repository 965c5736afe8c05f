"""The program: it drives the run from wherever it stands to its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from guideway import Machine, Session, Succeeded, ToolCall
from guideway.runtime.journal import (
    Control,
    Journal,
    JsonLinesJournal,
    Message,
    SqliteJournal,
    Stored,
    deliver,
    jsonl,
    resume,
    start,
)
from guideway.runtime.verdicts import RunCall

from .world import RESULTS, Points, World

RUN, KEY, KINDS = "run-1", b"k" * 32, ("sqlite", "jsonl")


class Killed:
    """A journal with points before and after everything that it writes."""

    def __init__(self, journal: Journal, points: Points) -> None:
        self._journal, self._points = journal, points

    def append(self, run: str, lines: Sequence[Stored]) -> None:
        """Append, between two points."""
        what = ", ".join(f"{stored.kind} {stored.seq}" for stored in lines)
        self._points.here(f"before {what} is written")
        self._journal.append(run, lines)
        self._points.here(f"after {what} is written")

    def post(self, run: str, text: str) -> None:
        """Post, between two points."""
        self._points.here("before a decision is posted")
        self._journal.post(run, text)
        self._points.here("after a decision is posted")

    def read(self, run: str, first: int = 0) -> Iterator[Stored]:
        """As it is."""
        return self._journal.read(run, first)

    def last(self, run: str, kind: str | None = None) -> Stored | None:
        """As it is."""
        return self._journal.last(run, kind)

    def runs(self) -> list[str]:
        """As they are."""
        return self._journal.runs()

    def posted(self, run: str, after: int = 0) -> list[Message]:
        """As they are."""
        return self._journal.posted(run, after)

    def close(self) -> None:
        """Close it."""
        self._journal.close()


def opened(kind: str, folder: Path, points: Points | None = None) -> Journal:
    """The journal on the disk; with points, also in the midst of a write."""
    if kind == "jsonl":
        lines = JsonLinesJournal(folder / "runs")
        if points is not None:
            jsonl.durably = halves(points)
        return lines
    database = SqliteJournal(folder / "runs.db")
    if points is not None:
        inside = points
        database._db.set_trace_callback(lambda sql: inside.here("before a COMMIT") if sql == "COMMIT" else None)
    return database


def halves(points: Points) -> Any:
    """`durably`, with a point where half of a line is written."""

    def durably(file: Any, text: str) -> None:
        whole = text.encode() + b"\n"
        file.write(whole[: len(whole) // 2])
        file.flush()
        points.here("half a line is written")
        file.write(whole[len(whole) // 2 :])
        file.flush()

    return durably


def program(machine: Machine, kind: str, folder: Path, points: Points) -> Session:
    """Start the run, or go on with it, and drive it to its end."""
    journal = Killed(opened(kind, folder, points), points)
    known = journal.last(RUN) is not None
    session = resume(journal, RUN, machine, key=KEY) if known else start(journal, machine, run_id=RUN, key=KEY)
    world = World(folder, points, lambda: count(journal))
    while session.outcome is None:
        step(session, journal, world)
    journal.close()
    return session


def count(journal: Journal) -> int:
    """Entries of the run."""
    last = journal.last(RUN)
    return 0 if last is None else last.seq + 1


def step(session: Session, journal: Journal, world: World) -> None:
    """One thing: what was decided, a command of the runtime's, a question, or a turn of the agent's."""
    verdicts = [v for told in deliver(session, KEY) if told.progress for v in told.progress.verdicts]
    allowed = [verdict.call_id for verdict in verdicts if verdict.allowed]
    commands = [command for command in session.commands if isinstance(command, RunCall)]
    if allowed:
        carried_out(session, world, session.call(allowed[0]))
    elif commands:
        carried_out(session, world, commands[0])
    elif questions := Control(journal, KEY).pending(RUN):
        person(journal, world, questions[0].approval_id, questions[0].of)
    else:
        turn(session, journal, world)


def carried_out(session: Session, world: World, call: Any) -> None:
    """Run a call and report it."""
    tool = call.tool if isinstance(call, RunCall) else call.name
    session.observe(call.call_id, Succeeded(world.run(tool, call.call_id)))


def person(journal: Journal, world: World, approval_id: str, of: str) -> None:
    """Somebody decides, in a process of their own; on an unknown call they look at what is there."""
    desk = Control(journal, KEY)
    if of != "reconcile":
        desk.approve(RUN, approval_id, by="lead")
        return
    done = [effect for effect in world.effects() if approval_id == f"reconcile {effect.call_id}"]
    if done:
        desk.happened(RUN, approval_id, RESULTS[done[0].tool], by="ops")
    else:
        desk.did_not_happen(RUN, approval_id, by="ops")


def turn(session: Session, journal: Journal, world: World) -> None:
    """The agent calls what is legal."""
    [offer] = [legal for legal in session.legal() if legal.tool in RESULTS]
    call = ToolCall(offer.tool, {}, call_id=f"c{count(journal)}")
    [verdict] = session.propose([call])
    if verdict.allowed:
        carried_out(session, world, call)

"""
A child process that runs a playbook with real effects, and kills itself at a numbered point.

Run by `test_kill.py`: python killing.py KIND FOLDER POINT.  Points are counted before and after each write of the
journal, and before and after each effect of a tool; POINT 0 counts them and lives.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import guideway as gw
from guideway.runtime.journal import Journal, JsonLinesJournal, SqliteJournal, Stored, resume, start

T0 = datetime(2026, 1, 31, 9, tzinfo=UTC)
RUN = "run-1"
INNER = {
    "id": "inner", "name": "Inner", "inputs": {"host": "string"}, "outputs": {"owner": "facts.owner_of.name"},
    "tools": {"owner_of": {"effect": "read"}, "tag": {"effect": "write", "idempotent": True}},
    "steps": [
        {"id": "find", "call": {"tool": "owner_of", "args": {"host": "{{ inputs.host }}"}}},
        {"id": "mark", "call": {"tool": "tag", "args": {"host": "{{ inputs.host }}"}}},
    ],
}  # fmt: skip
INNER["outputs"] = {"owner": "facts.find.name"}
PLAYBOOK: dict[str, Any] = {
    "id": "incident", "name": "Incident", "inputs": {"host": "string", "token": {"type": "string", "sensitive": True}},
    "tools": {
        "look": {"effect": "read"}, "isolate": {"effect": "irreversible"}, "page": {}, "note": {}, "ticket": {},
    },
    "steps": [
        {"id": "look", "description": "Look", "expected_tools": ["look"]},
        {"id": "both", "parallel": {
            "left": {"call": {"tool": "note", "args": {"text": "{{ inputs.token }}"}}},
            "right": {"description": "Page", "expected_tools": ["page"]},
        }},
        {"id": "enrich", "playbook": "inner", "with": {"host": "{{ inputs.host }}"}},
        {"id": "contain", "description": "Isolate", "expected_tools": [
            {"tool": "isolate", "approval": {"ask": "Isolate {{ args.host }}?", "approvers": ["lead"]}}]},
        {"id": "close", "call": {"tool": "ticket", "args": {"owner": "{{ facts.enrich.owner }}"}}},
    ],
}  # fmt: skip
INPUTS = {"host": "ws-7", "token": "hunter2-secret"}
ALWAYS_AGAIN = {"look", "owner_of", "tag"}
"""Reads and idempotent tools: after a crash they are made again by themselves."""


class Points:
    """Counts the points, and dies at one."""

    def __init__(self, deadly: int) -> None:
        self.count = 0
        self._deadly = deadly

    def here(self) -> None:
        """One point."""
        self.count += 1
        if self.count == self._deadly:
            os.kill(os.getpid(), signal.SIGKILL)


class Deadly:
    """A journal that dies before or after a write."""

    def __init__(self, journal: Journal, points: Points) -> None:
        self._journal, self._points = journal, points

    def append(self, run: str, lines: Sequence[Stored]) -> None:
        """Write between two points."""
        self._points.here()
        self._journal.append(run, lines)
        self._points.here()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)


def opened(kind: str, folder: Path) -> Journal:
    """The journal of a kind."""
    return SqliteJournal(folder / "runs.db") if kind == "sqlite" else JsonLinesJournal(folder / "runs")


class World:
    """What the tools do to the outside: a line in a file, on the disk when the tool returns."""

    def __init__(self, folder: Path, points: Points) -> None:
        self._path = folder / "effects.txt"
        self._points = points

    def call(self, call_id: str, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        """One effect."""
        self._points.here()
        with self._path.open("a") as file:
            file.write(json.dumps([tool, call_id]) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._points.here()
        return {"name": "ann"} if tool == "owner_of" else {"done": True}

    def effects(self) -> list[list[str]]:
        """What was done, in order."""
        return [json.loads(line) for line in self._path.read_text().splitlines()] if self._path.exists() else []


@functools.cache
def machine() -> gw.Machine:
    """The playbook, compiled once: forked processes share it."""
    return gw.load(PLAYBOOK, library=[INNER])


def drive(session: gw.Session, world: World, folder: Path, turns: int = 0) -> None:
    """Go on until the run has ended: the runtime's calls, people, then the agent."""
    people = gw.Approvals(session)
    pending: list[gw.Allow] = []
    while session.outcome is None:
        turns += 1
        now = T0 + timedelta(seconds=turns)
        commands = [command for command in session.commands if isinstance(command, gw.RunCall)]
        if pending:
            call = session.call(pending.pop(0).call_id)
            session.observe(call.call_id, gw.Succeeded(world.call(call.call_id, call.name, dict(call.args))), now)
        elif commands:
            command = commands[0]
            made = world.call(command.call_id, command.tool, dict(command.args))
            session.observe(command.call_id, gw.Succeeded(made), now)
        elif people.pending:
            pending += decide(people, people.pending[0], world, folder, now)
        else:
            offers = [call for call in session.legal() if call.needed]
            wanted = gw.ToolCall(offers[0].tool, {"host": "ws-7"}, f"{os.getpid()}-{turns}")
            verdicts = session.propose([wanted], now=now)
            pending += [verdict for verdict in verdicts if isinstance(verdict, gw.Allow)]


def decide(people: gw.Approvals, question: gw.Question, world: World, folder: Path, now: datetime) -> list[gw.Allow]:
    """A person allows what is asked for, and looks what became of a call that nobody knows of."""
    if question.of != "reconcile":
        decided = people.approve(question.approval_id, by="lead", now=now)
    else:
        with (folder / "reconciled.txt").open("a") as file:
            file.write(f"{question.tool}\n")
        if any(call_id == question.call_id for _, call_id in world.effects()):
            decided = people.happened(question.approval_id, {"done": True}, by="lead", now=now)
        else:
            decided = people.did_not_happen(question.approval_id, by="lead", now=now)
    return [verdict for verdict in decided.progress.verdicts if isinstance(verdict, gw.Allow)]


def main(kind: str, folder: Path, deadly: int) -> None:
    """Start the run, or go on with it, to its end."""
    points = Points(deadly)
    store = opened(kind, folder)
    journal: Any = Deadly(store, points)
    world = World(folder, points)
    if store.last(RUN) is None:
        session = start(journal, machine(), run_id=RUN, inputs=INPUTS, now=T0, key=b"k" * 32)
    else:
        session = resume(journal, RUN, machine(), inputs={"token": INPUTS["token"]}, now=T0, key=b"k" * 32)
    drive(session, world, folder)
    store.close()
    (folder / "end.json").write_text(json.dumps({"points": points.count, "outcome": session.outcome}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))

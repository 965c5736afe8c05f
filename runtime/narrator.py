"""Telling a run as it goes on, and keeping apart what goes on side by side in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from guideway.statemachine.definition import BLOCKS, Definition, StateKind

from .narrate import Line, Mark, narrate
from .records import Record, to_json
from .redact import Redactor
from .verdicts import Wait
from .watchers import Watcher
from .wording import printable


class Narrator(Watcher):
    """
    Tells what happens, line by line, to `tell`.

    Steps in items and sub-playbooks come with the path of their frame.  Where branches run side by side, a step is
    named when there is something to tell of it, and again when the telling comes back to it.
    """

    def __init__(self, definition: Definition, redactor: Redactor, tell: Callable[[Line], None]) -> None:
        self._definition = definition
        self._redactor = redactor
        self._tell = tell
        self._frames = {"": definition}
        """path of a playbook's frame -> the playbook"""
        self._mixed = any(runs_side_by_side(part) for part in definition.playbooks)
        self._heading = ("", "")
        """frame and step that were named last"""
        self._held: dict[tuple[str, str], list[tuple[str, Line]]] = {}
        """frame and step that was entered, and of which nothing is told yet -> its name, after those of new blocks"""
        self._blocks: list[tuple[str, Line]] = []
        """blocks that were entered, and in which no step was yet"""

    def happened(self, records: Sequence[Record]) -> None:
        """Tell the records."""
        for record in records:
            self._happened(self._redactor.record(to_json(record)))
        self._name_all()

    def _happened(self, record: Mapping[str, Any]) -> None:
        path, about = record.get("frame", ""), record.get("frame", "")
        if record["kind"] == "called":
            self._frames[path] = self._definition.callees[record["playbook"]]
            about = outside(path)
        if record["kind"] == "moved" and record["event"] != "forked":
            self._leave(path, record)
        for line in narrate(record, self._playbook(path)):
            if line.mark is Mark.STEP:
                self._enter(path, line, record)
                continue
            if line.indent:
                self._return_to(about, record, self._playbook(about))
            else:
                self._name_all()
            self._tell(line)

    def _playbook(self, path: str) -> Definition:
        """The playbook that a frame belongs to; an item belongs to that around it."""
        while path not in self._frames:
            path = outside(path)
        return self._frames[path]

    def _enter(self, path: str, line: Line, record: Mapping[str, Any]) -> None:
        """Name a step; side by side with others, once its first line comes."""
        if not self._mixed:
            self._name(path, line)
            return
        self._blocks.append((path, line))
        if self._playbook(path).states[record.get("target", record.get("state"))].kind not in BLOCKS:
            self._held.setdefault((path, line.step), []).extend(self._blocks)
            self._blocks = []

    def _leave(self, path: str, record: Mapping[str, Any]) -> None:
        """A step of which there was nothing to tell is named before what comes next is."""
        if self._playbook(path).states[record["source"]].kind in (*BLOCKS, StateKind.JOIN):
            self._name_all()
        else:
            self._name_held(path, record.get("step", ""))

    def _name(self, path: str, line: Line) -> None:
        self._heading = (path, line.step)
        self._tell(replace(line, text=printable(path) + line.text))

    def _name_held(self, path: str, step: str) -> bool:
        """Name a step that is held; False where it is not."""
        names = self._held.pop((path, step), [])
        for where, line in names:
            self._name(where, line)
        return bool(names)

    def _name_all(self) -> None:
        for path, step in list(self._held):
            self._name_held(path, step)
        for path, line in self._blocks:
            self._name(path, line)
        self._blocks = []

    def _return_to(self, path: str, record: Mapping[str, Any], definition: Definition) -> None:
        """Name the step that a line is about, where another was named since; else all that were entered."""
        step = record.get("step", "")
        if step not in definition.steps:
            self._name_all()
            return
        closes = step in definition.closing
        if self._name_held(path, step) or not (closes or self._mixed) or self._heading == (path, step):
            return
        self._name(path, Line(Mark.STEP, printable(step) + (": at the end" if closes else ""), step=step))

    def waits(self, wait: Wait, seconds: float) -> None:
        """Tell how long."""
        self._tell(Line(Mark.TIME, f"waits {seconds:.1f} s", 1))

    def objected(self, approval_id: str, why: str) -> None:
        """Tell why a decision does not count."""
        reason = printable(self._redactor.hide(why))
        self._tell(Line(Mark.FAULT, f"the decision on {printable(approval_id)} does not count: {reason}", 1))

    def answered(self, text: str) -> None:
        """Tell what the user says."""
        self._tell(Line(Mark.USER, printable(self._redactor.hide(text), 300), 1))


def outside(path: str) -> str:
    """
    The frame around a frame.

    >>> outside("address/ramp[2]/"), outside("address/")
    ('address/', '')
    """
    return path[: path.rstrip("/").rfind("/") + 1]


def runs_side_by_side(definition: Definition) -> bool:
    """Some of its steps may be open at the same time."""
    steps = definition.steps.values()
    return any(step.parallel is not None or (step.each is not None and step.each.concurrency > 1) for step in steps)

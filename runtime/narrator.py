"""Telling a run as it goes on, and keeping apart what goes on side by side in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from guideway.statemachine.definition import Definition

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
    named again when the telling comes back to it.
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

    def happened(self, records: Sequence[Record]) -> None:
        """Tell the records."""
        for record in records:
            self._happened(self._redactor.record(to_json(record)))

    def _happened(self, record: Mapping[str, Any]) -> None:
        path, about = record.get("frame", ""), record.get("frame", "")
        if record["kind"] == "called":
            self._frames[path] = self._definition.callees[record["playbook"]]
            about = outside(path)
        for line in narrate(record, self._playbook(path)):
            if line.mark is Mark.STEP:
                line = self._named(path, line)
            elif line.indent:
                self._return_to(about, record, self._playbook(about))
            self._tell(line)

    def _playbook(self, path: str) -> Definition:
        """The playbook that a frame belongs to; an item belongs to that around it."""
        while path not in self._frames:
            path = outside(path)
        return self._frames[path]

    def _named(self, path: str, line: Line) -> Line:
        self._heading = (path, line.step)
        return replace(line, text=printable(path) + line.text)

    def _return_to(self, path: str, record: Mapping[str, Any], definition: Definition) -> None:
        """Name the step that a line is about, where another was named since."""
        step = record.get("step", "")
        closes = step in definition.closing
        if not (closes or self._mixed) or step not in definition.steps or self._heading == (path, step):
            return
        self._tell(self._named(path, Line(Mark.STEP, printable(step) + (": at the end" if closes else ""), step=step)))

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

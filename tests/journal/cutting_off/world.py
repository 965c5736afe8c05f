"""The world outside: a file to which every effect adds a line, and the points at which the program may be killed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS: dict[str, Any] = {
    "look": {"open": True}, "mark": {"marked": 1}, "ticket": {"number": 7}, "whois": {"owner": "ours"},
    "page": {"paged": True}, "wipe": {"wiped": True}, "shred": {"shredded": True},
}  # fmt: skip
"""What each tool gives back."""


class Points:
    """Counts the points that are passed; at the one that was chosen the process kills itself, as `kill -9` would."""

    def __init__(self, chosen: int = 0) -> None:
        self._chosen = chosen
        self.passed: list[str] = []

    def here(self, what: str) -> None:
        """A point."""
        self.passed.append(what)
        if len(self.passed) == self._chosen:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Effect:
    """One thing that a tool did: under which call, and how many entries the journal held just before."""

    tool: str
    call_id: str
    entries: int


class World:
    """Tools whose every effect is a line at the end of a file, as a mail or a deleted disk cannot be taken back."""

    def __init__(self, folder: Path, points: Points, entries: Callable[[], int]) -> None:
        self._file, self._points, self._entries = folder / "effects.jsonl", points, entries

    def run(self, tool: str, call_id: str) -> Any:
        """Do it, and give its result."""
        entries = self._entries()
        self._points.here(f"before {tool} has its effect")
        with self._file.open("a") as file:
            file.write(json.dumps([tool, call_id, entries]) + "\n")
        self._points.here(f"after {tool} had its effect")
        return RESULTS[tool]

    def effects(self) -> list[Effect]:
        """All that was done."""
        return effects(self._file.parent)


def effects(folder: Path) -> list[Effect]:
    """What was done in a world, in order."""
    file = folder / "effects.jsonl"
    return [Effect(*json.loads(raw)) for raw in file.read_text().splitlines()] if file.exists() else []

"""A finding about a playbook, as a value; renderers turn it into text, JSON or annotations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .span import Span


class Level(StrEnum):
    """How much a finding matters: only an error makes a playbook unusable."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that the finding speaks of, with what stands there."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """
    One finding.

    The message stands alone: concise output shows nothing else.  `help` says what to do; `witness` is the
    shortest event sequence that shows the fault, one event a string.

    >>> print(Diagnostic("GW020", Level.ERROR, "unknown key `expected_tool`", Span("a.yaml", 4, 5)))
    a.yaml:4:5: error: unknown key `expected_tool` [GW020]
    """

    code: str
    level: Level
    message: str
    span: Span
    help: str | None = None
    related: tuple[Related, ...] = ()
    witness: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.span}: {self.level}: {self.message} [{self.code}]"

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, the form of `guideway check --format json`."""
        return {
            "code": self.code,
            "level": self.level.value,
            "message": self.message,
            "file": self.span.file,
            "line": self.span.line,
            "column": self.span.column,
            "help": self.help,
            "related": [
                {"file": r.span.file, "line": r.span.line, "column": r.span.column, "message": r.message}
                for r in self.related
            ],
            "witness": list(self.witness),
        }


def in_order(found: list[Diagnostic]) -> list[Diagnostic]:
    """Sort by place, then code, and drop exact repeats."""
    return sorted(dict.fromkeys(found), key=lambda d: (d.span, d.code, d.message))

"""
What is to be seen, before any renderer: boxes, arrows, frames.

Ids are made here (`n0` …), so a step may be called `end`, `a: b` or `100%`; texts are as people read them, and each
renderer escapes them in its own way.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Shape(StrEnum):
    """What a box stands for.  The value is the word it shows: a picture must be legible without its colours."""

    START = "start"
    AGENT = "agent"
    CALL = "call"
    APPROVAL = "approval"
    ROUTER = "router"
    SUCCESS = "success"
    STOPPED = "stopped"
    FAILED = "failed"
    ESCALATED = "escalated"
    ANYWHERE = "anywhere"

    @property
    def is_end(self) -> bool:
        """A run ends there."""
        return self in (Shape.SUCCESS, Shape.STOPPED, Shape.FAILED, Shape.ESCALATED)


class Tone(StrEnum):
    """How a box or an arrow stands out."""

    PLAIN = "plain"
    """no walk is laid over the picture"""
    WALKED = "walked"
    DIMMED = "dimmed"
    CURRENT = "current"


class Role(StrEnum):
    """What a line in a box says."""

    NOTE = "note"
    TOOL = "tool"
    DANGER = "danger"
    GUARD = "guard"
    LIMIT = "limit"
    EXIT = "exit"


@dataclass(frozen=True, slots=True)
class Line:
    """One line under the title of a box."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Node:
    """
    A box.  `states` are the states drawn as it; `detail` is the long text that a shortened one stands for.

    A muted box is of ends, or of a way to them, that nobody wrote.
    """

    id: str
    shape: Shape
    title: str
    lines: tuple[Line, ...] = ()
    states: tuple[str, ...] = ()
    detail: str = ""
    muted: bool = False
    tone: Tone = Tone.PLAIN
    visits: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow.  `labels` are lines; a dashed one is taken when something did not go as planned."""

    id: str
    source: str
    target: str
    labels: tuple[str, ...] = ()
    detail: str = ""
    dashed: bool = False
    tone: Tone = Tone.PLAIN
    count: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """Boxes that are one step."""

    id: str
    title: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """All that a renderer needs: boxes in the order of the page, arrows sorted by their ends."""

    title: str
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    frames: tuple[Frame, ...] = ()
    walked: bool = False
    """A walk is laid over it."""

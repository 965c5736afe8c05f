"""
What is to be seen, before any renderer: boxes, arrows, frames.

Ids are made here (`n0` …), so a step may be called `end`, `a: b` or `100%`; texts are as people read them, and each
renderer escapes them in its own way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Shape(StrEnum):
    """What a box stands for.  The value is the word it shows: a picture must be legible without its colours."""

    START = "start"
    AGENT = "agent"
    CALL = "call"
    APPROVAL = "approval"
    ROUTER = "router"
    ASK = "ask"
    WAIT = "wait"
    UNDO = "undo"
    PLAYBOOK = "playbook"
    FORK = "parallel"
    EACH = "for each"
    LOOP = "repeat"
    SECTION = "section"
    JOIN = "join"
    SUCCESS = "success"
    STOPPED = "stopped"
    FAILED = "failed"
    ESCALATED = "escalated"
    ANYWHERE = "anywhere"

    @property
    def is_end(self) -> bool:
        """A run ends there."""
        return self in (Shape.SUCCESS, Shape.STOPPED, Shape.FAILED, Shape.ESCALATED)

    @property
    def token(self) -> str:
        """The shape in one word, for classes of a style sheet."""
        return self.name.lower()


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
    """
    An arrow.  `labels` are lines; a dashed one is taken when something did not go as planned.

    `leaves` is the id of a frame: the arrow begins at its edge, wherever inside the run is; `source` is its first box.
    """

    id: str
    source: str
    target: str
    labels: tuple[str, ...] = ()
    detail: str = ""
    dashed: bool = False
    tone: Tone = Tone.PLAIN
    count: int = 0
    leaves: str = ""


class FrameKind(StrEnum):
    """Why boxes stand in one frame."""

    STEP = "step"
    """they are one step"""
    BLOCK = "block"
    """they are the steps of a block, between the box it begins with and the bar it ends in"""
    CLOSING = "closing"
    """they are the steps of `finally`"""


@dataclass(frozen=True, slots=True)
class Frame:
    """Boxes that belong together, in the order of the page; those of a frame in it are that one's."""

    id: str
    title: str
    nodes: tuple[str, ...]
    kind: FrameKind = FrameKind.STEP
    inside: str = ""
    """the id of the frame it stands in"""


@dataclass(frozen=True, slots=True)
class Picture:
    """All that a renderer needs: boxes in the order of the page, arrows sorted by their ends."""

    title: str
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    frames: tuple[Frame, ...] = ()
    walked: bool = False
    """A walk is laid over it."""

    def frames_around(self) -> Mapping[str, tuple[Frame, ...]]:
        """Give, for each box that stands in a frame, the frames around it, outermost first."""
        found: dict[str, tuple[Frame, ...]] = {}
        around: dict[str, tuple[Frame, ...]] = {}
        for frame in self.frames:  # an outer one comes before those in it
            around[frame.id] = (*around.get(frame.inside, ()), frame)
            found.update(dict.fromkeys(frame.nodes, around[frame.id]))
        return found

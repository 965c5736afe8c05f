"""
Cursors (S3, S4).

The cursors of a run are a tree: one that stands in a block waits there for those inside, one that stands in a
sub-playbook's state for that of the sub-playbook.  The leaves are where something happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from guideway.statemachine.definition import Edge, StateKind

from .frames import Frame, escaped

if TYPE_CHECKING:
    from .plan import Row

Order = tuple[int, ...]

NO_CHILDREN: dict[int, Any] = cast("dict[int, Any]", MappingProxyType({}))
"""Of a cursor that holds no others; it cannot be written to, as all of them share it."""

LAST = 1_000_000_000
"""Index of the cursors of `finally`: they come after all others."""


class Cursor:
    """A place in the machine, with the registers of its visit (S3).  It is a model of the `Machine`."""

    __slots__ = (
        "again", "asking", "barred", "block", "children", "collected", "counts", "edge", "failures", "frame",
        "gone", "granted", "index", "issued", "left", "parent", "probed", "rejected", "rounds", "row", "shown",
        "spent", "state", "step", "successes", "timed", "visit",
    )  # fmt: skip

    def __init__(self, row: Row, frame: Frame, parent: Cursor | None = None, index: int = 0) -> None:
        self.row = row
        self.state = row.name
        self.frame = frame
        self.parent = parent
        self.index = index
        """its place among those of its block"""
        self.children: dict[int, Cursor] = NO_CHILDREN
        """those inside, by index, in order"""
        self.timed = self.asking = False
        """a timer, or a question, of its visit may be there"""
        self.gone = False
        """it has been removed; calls it made may still be under way"""
        self.step = ""
        self.visit = 0
        self.left = ""
        """of one that has arrived at a join: the step it came from"""
        self.edge: Edge | None = None
        """the edge being taken, which is what the guards of the `transitions` view look at"""
        self.counts: dict[int, int] = {}
        """successes per entry, those with at least one"""
        self.spent = 0
        self.successes = 0
        self.failures = 0
        self.rounds = 0
        self.issued = 0
        self.again: dict[str, Any] | None = None
        """arguments the next automatic call must have: a person was shown them, or it is tried again (S23, S29)"""
        self.granted = False
        """that call needs no further approval"""
        self.shown: str | None = None
        """the call a person allowed together with the step"""
        self.collected: list[Any] | None = None
        self.rejected: list[str] | None = None
        """calls a person has rejected in this visit"""
        self.barred: dict[str, datetime] | None = None
        """tool -> not before (the wait of a retry)"""
        self.probed: list[str] | None = None
        """required probes that have been seen"""
        self.block: Block | None = None
        """what the cursor of a block knows of the lists inside"""

    def reset(self) -> None:
        """Start the registers anew, as each entry does."""
        self.counts = {}
        self.spent = self.successes = self.failures = self.rounds = self.issued = 0
        self.again = self.collected = self.rejected = self.barred = self.shown = self.probed = self.block = None
        self.granted = False

    @property
    def order(self) -> Order:
        """Its place among all cursors: branch order of its forks, then index order (S4)."""
        if self.parent is None:
            return (self.index,) if self.index else ()
        return (*self.parent.order, self.index)

    @property
    def closes(self) -> bool:
        """It runs the `finally` of its frame."""
        return self.frame.closer is self

    @property
    def level(self) -> str:
        """The block whose list it walks; nothing in a playbook's own list."""
        parent = self.parent
        return "" if parent is None or parent.row.kind is StateKind.FRAME else parent.step

    @property
    def name(self) -> str:
        """Its step, after the path of its frame: what ids and commands are made of."""
        return self.frame.path + escaped(self.step)

    @property
    def at(self) -> tuple[str, int]:
        """Step and visit."""
        return self.step, self.visit

    def leaves(self) -> Iterator[Cursor]:
        """
        The cursors inside that hold no others, in order; itself where it holds none.

        The first ones cost nothing of the others; nothing may be moved in between.
        """
        levels: list[Iterator[Cursor]] = [iter((self,))]
        while levels:
            cursor = next(levels[-1], None)
            if cursor is None:
                levels.pop()
            elif cursor.children:
                levels.append(iter(cursor.children.values()))
            else:
                yield cursor

    def all(self) -> Iterator[Cursor]:
        """Itself and every cursor inside, each before those it holds."""
        todo = [self]
        while todo:
            cursor = todo.pop()
            yield cursor
            todo += reversed(cursor.children.values())

    def inside(self, other: Cursor) -> bool:
        """It is `other`, or inside of it."""
        cursor: Cursor | None = self
        while cursor is not None and cursor is not other:
            cursor = cursor.parent
        return cursor is other


class Block:
    """Registers of a block: which of its lists have arrived, and, of a `for_each`, its items and results."""

    __slots__ = ("arrived", "items", "left", "results", "started")

    def __init__(self, items: list[Any] | None = None) -> None:
        self.items = items
        self.started = 0
        """lists begun so far, which is the index of the next"""
        self.arrived = 0
        """lists that have come to their end and count"""
        self.left = 0
        """lists that may still arrive and would count"""
        self.results: dict[int, Any] = {}
        """index of an item -> its value"""

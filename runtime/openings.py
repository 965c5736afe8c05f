"""
Which cursors admit which tools, so that a call costs the cursors it concerns, however many are open.

Kept only while a run has several cursors.  Lists are in cursor order (S4).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import TYPE_CHECKING

from guideway.statemachine.definition import StateKind

if TYPE_CHECKING:
    from .cursors import Cursor, Order

Places = list[tuple["Order", "Cursor"]]


class Openings:
    """Cursors in agents' steps, by the tools they name."""

    __slots__ = ("loose", "steps", "tools")

    def __init__(self, cursors: Iterable[Cursor]) -> None:
        self.tools: dict[str, Places] = {}
        self.loose: Places = []
        """cursors whose step names patterns"""
        self.steps: dict[Order, Cursor] = {}
        """all cursors that stand in an agent's step, in no order: few ask for all of them"""
        for cursor in cursors:
            self.add(cursor)

    def add(self, cursor: Cursor) -> None:
        """The cursor has come to its state."""
        row = cursor.row
        if row.kind is not StateKind.STEP:
            return
        place = (cursor.order, cursor)
        self.steps[place[0]] = cursor
        for tool in row.named():
            insort(self.tools.setdefault(tool, []), place)
        if row.patterns:
            insort(self.loose, place)

    def remove(self, cursor: Cursor) -> None:
        """The cursor leaves its state."""
        row = cursor.row
        if row.kind is not StateKind.STEP:
            return
        order = cursor.order
        self.steps.pop(order, None)
        for tool in row.named():
            places = self.tools[tool]
            drop(places, order)
            if not places:
                del self.tools[tool]
        if row.patterns:
            drop(self.loose, order)

    def at_work(self) -> list[Cursor]:
        """The cursors in agents' steps, in order."""
        return [self.steps[order] for order in sorted(self.steps)]

    def admitting(self, tool: str) -> Places:
        """The cursors whose step may speak of the tool, in order."""
        exact = self.tools.get(tool, [])
        return sorted({*exact, *self.loose}) if self.loose else exact


def drop(places: Places, order: Order) -> None:
    """Take out the cursor of that place, if it is there."""
    at = bisect_left(places, (order,))
    if at < len(places) and places[at][0] == order:
        del places[at]

"""
Where the cursors of a run stand, told from the moves it has recorded.

The cursor of a block waits in it for those of its lists: they begin with `forked` and are gone once they arrive in
`S.join` or `S.failed`, or once the waiting one moves on.  A jump out of a block is recorded as a move of the cursor
inside; the one that waited stays behind here, with a cursor inside, and so is never taken for one that stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from guideway.statemachine.definition import FAILED, JOIN


@dataclass(slots=True, eq=False)
class _Cursor:
    state: str
    frame: str
    parent: _Cursor | None = None
    inside: list[_Cursor] = field(default_factory=list)

    def all(self) -> Iterator[_Cursor]:
        yield self
        for cursor in self.inside:
            yield from cursor.all()

    def arrive(self) -> None:
        """Be gone, if this is where the lists of a block around it arrive."""
        inner, outer = self, self.parent
        while outer is not None:
            if self.state in (outer.state + JOIN, outer.state + FAILED):
                outer.inside.remove(inner)
                return
            inner, outer = outer, outer.parent


class Standing:
    """The cursors of one frame and of its items; none before the first move."""

    def __init__(self) -> None:
        self._roots: list[_Cursor] = []

    @property
    def states(self) -> frozenset[str]:
        """Where they stand; a cursor that waits for others inside stands nowhere."""
        return frozenset(cursor.state for cursor in self._all() if not cursor.inside)

    def at(self, state: str) -> None:
        """Only one is left, and stands there."""
        self._roots = [_Cursor(state, "")]

    def moved(self, source: str, event: str, target: str, frame: str) -> None:
        """Take the cursor that stands in `source` along, or send one off from there."""
        cursor = self._in(source, frame)
        if event == "forked":
            cursor.inside.append(_Cursor(target, frame, cursor))
            return
        cursor.state, cursor.frame, cursor.inside = target, frame, []
        cursor.arrive()

    def _all(self) -> Iterator[_Cursor]:
        for root in self._roots:
            yield from root.all()

    def _in(self, state: str, frame: str) -> _Cursor:
        """Find the innermost cursor in a state whose frame fits best; a trace may begin anywhere, so there is one."""
        found = [cursor for cursor in self._all() if cursor.state == state]
        if found:
            fitting = [cursor for cursor in found if frame.startswith(cursor.frame)] or found
            return max(enumerate(fitting), key=lambda pair: (len(pair[1].frame), pair[0]))[1]
        if len(self._roots) != 1 or self._roots[0].inside:
            self._roots.append(_Cursor(state, frame))
        return self._roots[-1]

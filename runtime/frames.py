"""
Frames: what belongs to one playbook call, or to one item of a `for_each` (S2).

The root frame is the run.  An item's frame reads through to the frame around it, and everything that counts for a
playbook (its limits, policies, log of what can be undone) is kept by the `owner`, the frame of the playbook.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from guideway.statemachine.conditions import ToolCalled
from guideway.statemachine.tools import Effect, Tool

if TYPE_CHECKING:
    from .cursors import Cursor
    from .plan import Plan

NONE: dict[str, Any] = cast("dict[str, Any]", MappingProxyType({}))
"""Stands for a table nobody has written to; it cannot be written to itself, as every run shares it."""


def escaped(step: str) -> str:
    """
    A step's id as part of a path: the signs that paths are made of are doubled, so that two paths never look alike.

    >>> escaped("lookup"), escaped("a/b[0]")
    ('lookup', 'a//b[[0]')
    """
    return step if step.isidentifier() else PARTS_OF_PATHS.sub(r"\1\1", step)


PARTS_OF_PATHS = re.compile(r"([/\[#])")
START = (0, 0, 0, 0)
NEVER: frozenset[ToolCalled] = frozenset()


class Frame:
    """One playbook call, or one item."""

    __slots__ = (
        "anew", "answers", "called", "caller", "calls", "claims", "closed", "closer", "done", "doubted", "ending",
        "facts", "history", "incomplete", "inputs", "item", "latest", "monitors", "name", "outer", "outputs", "owner",
        "path", "plan", "root", "signals", "since", "started", "unknown", "visits",
    )  # fmt: skip

    def __init__(self, plan: Plan, inputs: Mapping[str, Any], outer: Frame | None = None, path: str = "") -> None:
        self.plan = plan
        self.inputs = inputs
        self.outer = outer
        """the frame around it: of the caller, or what an item reads through to"""
        self.path = path
        """its name in records and ids: nothing, `enrich/` of a sub-playbook, `ramp[2]/` of an item"""
        self.owner: Frame = self
        self.root: Cursor | None = None
        """the cursor that walks its list; of an item, the cursor of the item"""
        self.caller: Cursor | None = None
        """the cursor that waits for the playbook to return"""
        self.visits: dict[str, int] = {}
        self.facts: dict[str, Any] = NONE
        self.history: dict[str, list[Any]] = NONE
        self.anew: dict[str, int] = NONE
        """visits of each step when the latest round of the `repeat` it lies in began"""
        self.answers = self.claims = self.signals = NONE
        self.name = ""
        self.item: Any = None
        self.latest: Any = None
        """the last fact an item wrote, for a `for_each` that does not say what to collect"""
        self.incomplete: tuple[str, ...] = ()
        """required steps left with something undone (S22)"""
        self.unknown: tuple[str, ...] = ()
        """tools of non-read calls that nobody could account for (S38)"""
        self.called: frozenset[ToolCalled] = NEVER
        """`tool_called` conditions that have been met"""
        self.doubted: frozenset[ToolCalled] = NEVER
        """those of which a call may or may not have been one: its `where` or `expect` was unknown"""
        self.monitors: dict[str, Any] | None = None
        """policy -> its state, those not in their first one (S43)"""
        self.done: list[list[Any]] | None = None
        """calls that succeeded and can be undone: tool, arguments, result, frame; oldest first"""
        self.calls = 0
        self.since: tuple[int, int, int, int] = START
        """turns, tokens, claims and signals of the run when the frame began"""
        self.started: datetime | None = None
        self.ending: str | None = None
        """the outcome of a sub-playbook, once it is fixed, while its `finally` runs"""
        self.outputs: dict[str, Any] | None = None
        """what it returns then"""
        self.closer: Cursor | None = None
        """the cursor that runs its `finally`"""
        self.closed = 0
        """steps of its `finally` that are over"""

    @property
    def is_item(self) -> bool:
        """It is of one item of a `for_each`."""
        return self.owner is not self

    def outwards(self) -> Iterator[Frame]:
        """The frame and those around it up to that of its playbook, innermost first."""
        frame = self
        while frame.is_item and frame.outer is not None:
            yield frame
            frame = frame.outer
        yield frame

    def playbooks(self) -> Iterator[Frame]:
        """The frames of the playbook it belongs to and of those that called it, innermost first."""
        frame: Frame | None = self.owner
        while frame is not None:
            yield frame
            frame = frame.outer.owner if frame.outer is not None else None

    def declaring(self, tool: str) -> Frame:
        """The frame whose playbook speaks of the tool: its own, else the nearest caller's; its own where none does."""
        return next((frame for frame in self.playbooks() if frame.plan.tool(tool) is not None), self.owner)

    def tool(self, name: str) -> Tool | None:
        """What is declared of a tool here: a sub-playbook that says nothing of it does not let it off."""
        return self.declaring(name).plan.tool(name)

    def effect(self, name: str) -> Effect:
        """What a call of the tool does; one that nobody declared writes."""
        return self.declaring(name).plan.effect(name)

    def seen(self, table: str) -> Any:
        """A table as expressions see it: an item's own values before those around it."""
        if not self.is_item:
            return getattr(self, table)
        merged: dict[str, Any] = {}
        for frame in reversed(list(self.outwards())):
            merged.update(getattr(frame, table))
        return merged

    def items(self) -> dict[str, Any]:
        """The loop names in scope, with their items."""
        return {frame.name: frame.item for frame in reversed(list(self.outwards())) if frame.is_item}

    @property
    def shown(self) -> str | None:
        """What records call it; none for the frame of the run itself."""
        return self.path or None

    def mark(self, step: str) -> str:
        """A step by its name in the playbook, and where it is in an item, by the item as well."""
        return f"{self.path[len(self.owner.path) :]}{step}"

    def write(self, table: str, name: str, value: Any) -> None:
        """Set one value of a table."""
        if getattr(self, table) is NONE:
            setattr(self, table, {})
        getattr(self, table)[name] = value


def item_frame(outer: Frame, path: str, name: str, item: Any) -> Frame:
    """The frame of one item."""
    frame = Frame(outer.plan, outer.inputs, outer, path)
    frame.owner, frame.name, frame.item = outer.owner, name, item
    return frame

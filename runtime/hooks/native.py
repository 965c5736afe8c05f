"""
The native protocol: any object with some of the methods, synchronous or not, each given its point.

`on_start(Start)`, `on_turn_start(Turned)`, `on_turn_end(Turned)`, `before_model(BeforeModel)`,
`after_model(AfterModel)`, `before_tool(BeforeTool)`, `after_tool(AfterTool)`, `on_end(AtEnd)`, `on_event(Observation)`.
A hook changes what its point lets it change, and returns nothing.  Those asked before come by their `priority`, lower
first, then in the order of the list; those asked after in reverse.
"""

from __future__ import annotations

import logging
from typing import Any

from guideway.statemachine.errors import HostError

from .layers import Layer, asked, name_of
from .points import (
    AfterModel,
    AfterTool,
    AtEnd,
    BeforeModel,
    BeforeTool,
    HookFailedError,
    Observation,
    Start,
    Turned,
)

SECURITY, OBSERVABILITY, BUSINESS, DEFAULT = 50, 150, 250, 300
"""Usual priorities."""
POINTS = (
    "on_start", "on_turn_start", "on_turn_end", "before_model", "after_model", "before_tool", "after_tool", "on_end",
    "on_event",
)  # fmt: skip

log = logging.getLogger("guideway.hooks")


class NativeLayer(Layer):
    """Native hooks, sorted by priority."""

    def __init__(self, hooks: list[Any]) -> None:
        self._hooks = sorted(hooks, key=priority_of)
        self.names = tuple(map(name_of, self._hooks))

    async def start(self, point: Start) -> None:
        """In order; what one raises fails the run."""
        await self._ask("on_start", point)

    async def turn_started(self, point: Turned) -> None:
        """In order."""
        await self._ask("on_turn_start", point)

    async def turn_ended(self, point: Turned) -> None:
        """In reverse."""
        await self._ask("on_turn_end", point, back=True)

    async def before_model(self, point: BeforeModel) -> None:
        """In order, until one ends the run."""
        await self._ask("before_model", point)

    async def after_model(self, point: AfterModel) -> None:
        """In reverse, until one ends the run."""
        await self._ask("after_model", point, back=True)

    async def before_tool(self, point: BeforeTool) -> None:
        """In order, until one has settled the call; what one raises counts as the tool's own error."""
        for hook in self._hooks:
            if point.settled:
                return
            try:
                await ask(hook, "before_tool", point)
            except Exception as error:
                point.error = error

    async def after_tool(self, point: AfterTool) -> None:
        """In reverse; what one raises is what the model reads."""
        for hook in reversed(self._hooks):
            try:
                await ask(hook, "after_tool", point)
            except Exception as error:
                point.shown, point.is_error = f"{type(error).__name__}: {error}", True

    async def end(self, point: AtEnd) -> None:
        """In reverse, each of them."""
        for hook in reversed(self._hooks):
            try:
                await ask(hook, "on_end", point)
            except Exception:
                log.exception("the hook %s failed at the end of run %s", name_of(hook), point.facts.run_id)

    async def observe(self, point: Observation) -> None:
        """In order, each of them."""
        for hook in self._hooks:
            try:
                await ask(hook, "on_event", point)
            except Exception:
                log.exception("the hook %s failed when it was told of %s", name_of(hook), point.type)

    async def _ask(self, method: str, point: Any, *, back: bool = False) -> None:
        for hook in reversed(self._hooks) if back else self._hooks:
            if getattr(point, "end", None) is not None:
                return
            try:
                await ask(hook, method, point)
            except Exception as error:
                raise HookFailedError(f"the hook {name_of(hook)} failed in {method}: {error}") from error


async def ask(hook: Any, method: str, point: Any) -> None:
    """
    Ask one hook, if it has the method.

    Raises:
        TypeError: it returned something, which nobody heeds.
    """
    found = getattr(hook, method, None)
    if not callable(found):
        return
    said = await asked(found, point)
    if said is not None:
        raise TypeError(
            f"{name_of(hook)}.{method} returned a {type(said).__name__}, and a native hook changes its point and "
            "returns nothing; hooks that return actions are wrapped with guideway.hooks.methods.hook"
        )


def priority_of(hook: Any) -> int:
    """
    The priority of a hook: its `priority`, else 300.

    Raises:
        HostError: it is no whole number.
    """
    priority = getattr(hook, "priority", DEFAULT)
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise HostError(f"the priority of {name_of(hook)} is a whole number, not {priority!r}")
    return int(priority)

"""A layer of hooks: those of one dialect that stand next to one another in the list."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .points import AfterModel, AfterTool, AtEnd, BeforeModel, BeforeTool, Observation, Start, Turned


class Layer:
    """Asked at every point; every method does nothing until a dialect says otherwise."""

    names: tuple[str, ...] = ()

    async def start(self, point: Start) -> None:
        """A segment begins."""

    async def turn_started(self, point: Turned) -> None:
        """A turn begins."""

    async def turn_ended(self, point: Turned) -> None:
        """A turn is over."""

    async def before_model(self, point: BeforeModel) -> None:
        """The model is about to be asked."""

    async def after_model(self, point: AfterModel) -> None:
        """The model has replied."""

    async def before_tool(self, point: BeforeTool) -> None:
        """A call is about to go to the gate."""

    async def admitted(self, point: BeforeTool) -> None:
        """The gate has allowed a call that it had deferred, or asked a person about."""

    async def after_tool(self, point: AfterTool) -> None:
        """A call is over, whether it ran or not."""

    async def end(self, point: AtEnd) -> None:
        """A segment is over."""

    async def observe(self, point: Observation) -> None:
        """Something to be told of."""


async def asked(method: Callable[..., Any], *values: Any) -> Any:
    """What a method returns, which may be synchronous or not."""
    found = method(*values)
    return await found if inspect.isawaitable(found) else found


def name_of(hook: Any) -> str:
    """The `name` attribute of a hook, else the name of its class."""
    name = getattr(hook, "name", None)
    return name if isinstance(name, str) and name else type(hook).__name__

"""
One dispatcher for hooks of every dialect.

The list is cut into layers, a layer for each run of neighbours of one dialect, and the layers nest in the order of the
list: what is asked before goes from the outermost in, what is asked after from the innermost out, and the gate lies
inside of all of them.  Within a layer the rules of its dialect hold.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from guideway.runtime.calls import ToolCall
from guideway.statemachine.canonical import normal

from .checks import ask
from .layers import Layer
from .points import (
    UNSET,
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

log = logging.getLogger("guideway.hooks")


class Hooks:
    """
    Hooks, ready to be asked.

    >>> class Quiet:
    ...     def before_tool(self, point):
    ...         point.block("not today")
    >>> Hooks.of([Quiet()]).names
    ('Quiet',)
    """

    def __init__(self, layers: Sequence[Layer]) -> None:
        self.layers = tuple(layers)

    @classmethod
    def of(cls, hooks: Sequence[Any]) -> Hooks:
        """
        The dispatcher for a list of hooks.

        Raises:
            HostError: one of them is no hook of any dialect, or has a method with a name that is none of a hook's.
        """
        return cls(list(layers_of(hooks)))

    @property
    def names(self) -> tuple[str, ...]:
        """The hooks, in the order in which they are asked before."""
        return tuple(name for layer in self.layers for name in layer.names)

    async def start(self, point: Start) -> None:
        """A segment begins; who cancels it is heard, and the others are asked all the same (row 41)."""
        for layer in self.layers:
            await ask(layer, "start", point)

    async def turn_started(self, point: Turned) -> None:
        """A turn begins."""
        for layer in self.layers:
            await ask(layer, "turn_started", point)

    async def turn_ended(self, point: Turned) -> None:
        """A turn is over."""
        for layer in reversed(self.layers):
            await ask(layer, "turn_ended", point)

    async def before_model(self, point: BeforeModel) -> None:
        """The model is about to be asked; nobody is asked any more once a hook has ended the run."""
        for layer in self.layers:
            if point.end is None:
                await ask(layer, "before_model", point)

    async def after_model(self, point: AfterModel) -> None:
        """The model has replied."""
        for layer in reversed(self.layers):
            if point.end is None:
                await ask(layer, "after_model", point)

    async def before_tool(self, point: BeforeTool) -> None:
        """A call is about to go to the gate; what a layer has settled, those inside do not see."""
        found = point.call
        point.asked, point.call = own(point.asked), own(found)
        for layer in self.layers:
            if not point.settled:
                await ask(layer, "before_tool", point)
        point.admitted = False  # the gate's word, which no hook says for it
        seal(point, found)

    async def admitted(self, point: BeforeTool) -> None:
        """The gate has allowed a call late; a changed call is another one, and is asked about anew."""
        found = point.call
        point.call = own(found)
        for layer in self.layers:
            if not point.settled:
                await ask(layer, "admitted", point)
        seal(point, found)

    async def after_tool(self, point: AfterTool) -> None:
        """
        A call is over; hooks are given copies, so that what was used and answered stays as it was (S53).

        Raises:
            HookFailedError: a layer failed; those further out have been told all the same.
        """
        call, point.shown = point.call, copy.deepcopy(point.shown)
        fault: HookFailedError | None = None
        for layer in reversed(self.layers):
            point.call = own(call)
            try:
                await ask(layer, "after_tool", point)
            except HookFailedError as error:
                fault = fault or error
        if fault is not None:
            raise fault

    async def end(self, point: AtEnd) -> None:
        """A segment is over: every layer hears of it, and what it raises changes nothing."""
        for layer in reversed(self.layers):
            try:
                await layer.end(point)
            except Exception:
                log.exception("a hook failed at the end of run %s", point.facts.run_id)

    async def observe(self, point: Observation) -> None:
        """Something to be told of: what hooks raise is logged (row 45)."""
        for layer in self.layers:
            try:
                await layer.observe(point)
            except Exception:
                log.exception("a hook failed when it was told of %s", point.type)


def own(call: ToolCall) -> ToolCall:
    """The call, with arguments of its own: whoever keeps the others can change nothing here any more."""
    return ToolCall(call.name, copy.deepcopy(call.args), call.call_id)


def seal(point: BeforeTool, found: ToolCall) -> None:
    """Take what hooks have left of a call away from them; what cannot be taken over counts as the tool's error."""
    try:
        point.call = own(point.call)
        point.value = point.value if point.value is UNSET else normal(point.value)
    except Exception as error:  # whatever a copy of an object of theirs may raise
        point.call, point.error, point.value = found, error, UNSET


def layers_of(hooks: Sequence[Any]) -> Iterator[Layer]:
    """Cut a list into layers."""
    from .dialects import dialect_of

    for make, group in groupby(hooks, key=dialect_of):
        yield make(list(group))

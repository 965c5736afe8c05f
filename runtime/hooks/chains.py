"""
Callbacks of a loop, chained: an inner one of the host's own, and an outer one of the hooks (rows 46 to 50).

Without one side the other is returned as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from .layers import asked
from .registry import Messages, Registry, ToolCallEvent, ToolCallResult, ToolResultEvent, ToolResultResult

TransformContext = Callable[[Messages], Any]
BeforeToolCall = Callable[[ToolCallEvent], Any]
AfterToolCall = Callable[[ToolResultEvent], Any]
PrepareNextTurn = Callable[[Any], Any]


@dataclass(frozen=True)
class TurnUpdate:
    """What changes at a boundary of turns: another context, another model; None is unchanged."""

    context: Any = None
    model: Any = None


@dataclass
class Config:
    """The callbacks of a loop; its queues are its own, and are never merged."""

    transform_context: TransformContext | None = None
    before_tool_call: BeforeToolCall | None = None
    after_tool_call: AfterToolCall | None = None
    prepare_next_turn: PrepareNextTurn | None = None
    queues: list[Any] = field(default_factory=list)


def chain_transform_context(
    inner: TransformContext | None, outer: TransformContext | None
) -> TransformContext | None:  # fmt: skip
    """Inner first, and outer on what it made (row 47)."""
    if inner is None or outer is None:
        return inner or outer

    async def both(messages: Messages) -> Messages:
        first = await asked(inner, messages)
        changed = messages if first is None else first
        second = await asked(outer, changed)
        return changed if second is None else second

    return both


def chain_before_tool_call(inner: BeforeToolCall | None, outer: BeforeToolCall | None) -> BeforeToolCall | None:
    """A block of the inner one stops; else the outer one is asked (row 47)."""
    if inner is None or outer is None:
        return inner or outer

    async def both(event: ToolCallEvent) -> ToolCallResult | None:
        first: ToolCallResult | None = await asked(inner, event)
        if first is not None and first.block:
            return first
        second: ToolCallResult | None = await asked(outer, event)
        return first if second is None else second

    return both


def chain_after_tool_call(inner: AfterToolCall | None, outer: AfterToolCall | None) -> AfterToolCall | None:
    """Patches merge: the outer one sees those of the inner, and what it leaves alone stays (row 50)."""
    if inner is None or outer is None:
        return inner or outer

    async def both(event: ToolResultEvent) -> ToolResultResult | None:
        first: ToolResultResult | None = await asked(inner, event)
        if first is not None:
            content = event.content if first.content is None else first.content
            is_error = event.is_error if first.is_error is None else first.is_error
            event = replace(event, content=content, is_error=is_error)
        second: ToolResultResult | None = await asked(outer, event)
        return merged(first, second)

    return both


def merged(first: ToolResultResult | None, second: ToolResultResult | None) -> ToolResultResult | None:
    """
    Two patches as one: field by field, the later where it says something.

    >>> merged(ToolResultResult(content="a"), ToolResultResult(is_error=True))
    ToolResultResult(content='a', is_error=True, terminate=False)
    """
    if first is None or second is None:
        return first or second
    return ToolResultResult(
        first.content if second.content is None else second.content,
        first.is_error if second.is_error is None else second.is_error,
        first.terminate or second.terminate,
    )


def chain_prepare_next_turn(
    inner: PrepareNextTurn | None, outer: PrepareNextTurn | None
) -> PrepareNextTurn | None:  # fmt: skip
    """The outer one sees what the inner has changed; what it leaves alone stays (rows 48, 50)."""
    if inner is None or outer is None:
        return inner or outer

    async def both(turn: Any) -> TurnUpdate | None:
        first: TurnUpdate | None = await asked(inner, turn)
        if first is not None:
            turn = updated(turn, first)
        second: TurnUpdate | None = await asked(outer, turn)
        if first is None or second is None:
            return first or second
        return TurnUpdate(
            first.context if second.context is None else second.context,
            first.model if second.model is None else second.model,
        )

    return both


def updated(turn: Any, update: TurnUpdate) -> Any:
    """The turn with the update in it."""
    context = getattr(turn, "context", None) if update.context is None else update.context
    model = getattr(turn, "model", None) if update.model is None else update.model
    return TurnUpdate(context, model)


def bridge_config(registry: Registry | None, base: Config, cancelled: Callable[[], bool] | None = None) -> Config:
    """
    A loop's callbacks with the handlers of a registry after them: base first, hooks after (row 46).

    Without handlers of the loop's events the config is the same one.  Before each, `cancelled` is asked.

    Raises (when called):
        RunCancelledError: the run was cancelled.
    """
    if registry is None or not registry.has_loop_handlers():
        return base
    from .registry import RunCancelledError

    def check() -> None:
        if cancelled is not None and cancelled():
            raise RunCancelledError("the run was cancelled")

    async def context(messages: Messages) -> Messages:
        check()
        return await registry.emit_context(messages)

    async def before(event: ToolCallEvent) -> ToolCallResult | None:
        check()
        return await registry.emit_tool_call(event)

    async def after(event: ToolResultEvent) -> ToolResultResult:
        check()
        return await registry.emit_tool_result(event)

    return replace(
        base,
        transform_context=chain_transform_context(base.transform_context, context),
        before_tool_call=chain_before_tool_call(base.before_tool_call, before),
        after_tool_call=chain_after_tool_call(base.after_tool_call, after),
    )


def merge_hook_fields(into: Config | None, source: Config | None) -> None:
    """Copy the callbacks that are set in `source`; queues are left as they are (row 49)."""
    if into is None or source is None:
        return
    for name in ("transform_context", "before_tool_call", "after_tool_call", "prepare_next_turn"):
        if (callback := getattr(source, name)) is not None:
            setattr(into, name, callback)

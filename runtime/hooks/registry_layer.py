"""Registries of seed five's dialect at the points of the loop."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from .layers import Layer
from .points import AfterTool, BeforeModel, BeforeTool, HookFailedError, Observation, Start
from .registry import (
    BeforeAgentStartEvent,
    ContextUsageInfo,
    ObservationEvent,
    Registry,
    RunCancelledError,
    ToolCallEvent,
    ToolResultEvent,
)


class RegistryLayer(Layer):
    """The handlers of registries, in order; what a handler raises is raised, but for observers (rows 43, 45)."""

    def __init__(self, registries: list[Registry]) -> None:
        self._registries = registries
        self.names = tuple("Registry" for _ in registries)

    async def start(self, point: Start) -> None:
        """May change transcript and system prompt, or cancel (row 41)."""
        for registry in self._registries:
            event = BeforeAgentStartEvent(copy.deepcopy(point.messages), point.system_prompt, point.model)
            result = await careful("before_agent_start", registry.emit_before_agent_start(event))
            if result.messages is not None:
                point.messages = copy.deepcopy(list(result.messages))
            if result.system_prompt is not None:
                point.system_prompt = result.system_prompt
            if result.cancel and point.cancelled is None:
                point.cancelled = "cancelled by a hook before it started"
                point.error = RunCancelledError(point.cancelled)

    async def before_model(self, point: BeforeModel) -> None:
        """Transforms the messages (row 42)."""
        for registry in self._registries:
            found = await careful("context", registry.emit_context(copy.deepcopy(point.messages)))
            point.messages = list(found)

    async def before_tool(self, point: BeforeTool) -> None:
        """The first block stops the call; a handler that raises fails the run (row 43)."""
        for registry in self._registries:
            event = ToolCallEvent(point.call, own(point.call.args), context=tuple(point.facts.messages))
            result = await careful("tool_call", registry.emit_tool_call(event))
            if result is not None:
                point.block(result.reason)
                return

    async def after_tool(self, point: AfterTool) -> None:
        """Patches what the model reads (row 44)."""
        for registry in self._registries:
            event = ToolResultEvent(point.call, own(point.call.args), copy.deepcopy(point.shown), point.is_error)
            result = await careful("tool_result", registry.emit_tool_result(event))
            point.shown = point.shown if result.content is None else result.content
            point.is_error = point.is_error if result.is_error is None else result.is_error
            point.terminate = point.terminate or result.terminate

    async def observe(self, point: Observation) -> None:
        """Tells observers (row 45)."""
        tokens, window = point.data.get("tokens"), point.data.get("window")
        usage = ContextUsageInfo(tokens, window) if isinstance(tokens, int) else None
        event = ObservationEvent(
            point.type, copy.deepcopy(list(point.facts.messages)), str(point.data.get("system_prompt", "")),
            str(point.data.get("model", "")), tuple(point.data.get("tools", ())), usage, dict(point.data),
        )  # fmt: skip
        for registry in self._registries:
            await registry.emit_observation(event)


def own(args: Any) -> dict[str, Any]:
    """Arguments that a handler may change as it likes: nothing comes of it."""
    return copy.deepcopy(dict(args)) if isinstance(args, Mapping) else {}


async def careful(event: str, work: Any) -> Any:
    """
    What the handlers say.

    Raises:
        HookFailedError: one raised; the cause is kept.
    """
    try:
        return await work
    except Exception as error:
        raise HookFailedError(f"a handler of {event} failed: {error}") from error

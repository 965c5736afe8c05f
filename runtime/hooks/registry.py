"""
The dialect of seed five: handlers registered for events, in snake_case.

Handlers of one event run in the order of registration, and those that are there when an event is emitted are the ones
that hear it: registering meanwhile changes nothing for it.  No registry, and no handler, is nothing to do (row 40).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from threading import Lock
from typing import Any

from guideway.statemachine.errors import GuidewayError

from .layers import asked

EVENT_BEFORE_AGENT_START = "before_agent_start"
EVENT_CONTEXT = "context"
EVENT_TOOL_CALL = "tool_call"
EVENT_TOOL_RESULT = "tool_result"
EVENT_SAVE_POINT = "save_point"
EVENT_CONTEXT_USAGE = "context_usage"
EVENT_CONTEXT_COMPACTED = "context_compacted"
EVENT_MODEL_UPDATE = "model_update"
EVENT_TOOLS_UPDATE = "tools_update"

log = logging.getLogger("guideway.hooks")
Messages = Sequence[dict[str, Any]]
Handler = Callable[[Any], Any]


class RunCancelledError(GuidewayError):
    """A hook cancelled the run before the agent's loop started (row 41)."""


@dataclass(frozen=True)
class BeforeAgentStartEvent:
    """A run is about to begin."""

    messages: Messages = ()
    system_prompt: str = ""
    model_name: str = ""


@dataclass(frozen=True)
class BeforeAgentStartResult:
    """What a handler wants changed: None is unchanged, a list of messages is a new transcript."""

    messages: Messages | None = None
    system_prompt: str | None = None
    cancel: bool = False


@dataclass(frozen=True)
class ContextEvent:
    """The model is about to be asked, with these messages."""

    messages: Messages = ()


@dataclass(frozen=True)
class ContextResult:
    """Another transcript, where it is not None."""

    messages: Messages | None = None


@dataclass(frozen=True)
class ToolCallEvent:
    """A tool is about to be called."""

    tool_call: Any = None
    args: Mapping[str, Any] = field(default_factory=dict)
    assistant: Any = None
    context: Any = None


@dataclass(frozen=True)
class ToolCallResult:
    """`block` stops the call, for a reason that the model reads."""

    block: bool = False
    reason: str = ""


@dataclass(frozen=True)
class ToolResultEvent:
    """A call is over."""

    tool_call: Any = None
    args: Mapping[str, Any] = field(default_factory=dict)
    content: Any = None
    is_error: bool = False
    assistant: Any = None
    context: Any = None

    @property
    def result(self) -> Any:
        """What came of it, by the name of the seed."""
        return self.content


@dataclass(frozen=True)
class ToolResultResult:
    """
    Patches what the model reads, field by field; `terminate` ends the run after this turn.

    `parts` is the seed's name for `content`.

    >>> ToolResultResult(parts=["redacted"]).content
    ['redacted']
    """

    content: Any = None
    is_error: bool | None = None
    terminate: bool = False
    parts: InitVar[Any] = None

    def __post_init__(self, parts: Any) -> None:
        if self.content is None and parts is not None:
            object.__setattr__(self, "content", parts)


@dataclass(frozen=True)
class ContextUsageInfo:
    """About how much of the model's context is used, in tokens."""

    tokens: int = 0
    window: int | None = None


@dataclass(frozen=True)
class ObservationEvent:
    """Something to be told of; read-only."""

    type: str = ""
    messages: Messages = ()
    system_prompt: str = ""
    model_name: str = ""
    active_tools: tuple[str, ...] = ()
    context_usage: ContextUsageInfo | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


class Registry:
    """
    Handlers, by event.  Threads may register while others emit.

    >>> import asyncio
    >>> registry = Registry()
    >>> on_tool_call(registry, lambda event: ToolCallResult(block=True, reason="not today"))
    >>> asyncio.run(registry.emit_tool_call(ToolCallEvent("isolate_host"))).reason
    'not today'
    """

    def __init__(self) -> None:
        self._handlers: dict[str, tuple[Handler, ...]] = {}
        self._lock = Lock()

    def add(self, event: str, handler: Handler | None) -> None:
        """Register a handler; None is nothing to do."""
        if handler is None:
            return
        with self._lock:
            self._handlers[event] = (*self._handlers.get(event, ()), handler)

    def handlers(self, event: str) -> tuple[Handler, ...]:
        """Those that are registered now."""
        return self._handlers.get(event, ())

    def has_handlers(self) -> bool:
        """Anybody hears anything."""
        return any(self._handlers.values())

    def has_loop_handlers(self) -> bool:
        """Somebody hears of something that goes on inside of the loop: context, calls, results."""
        return any(self._handlers.get(event) for event in (EVENT_CONTEXT, EVENT_TOOL_CALL, EVENT_TOOL_RESULT))

    async def emit_before_agent_start(self, event: BeforeAgentStartEvent) -> BeforeAgentStartResult:
        """
        Handlers chain on messages and system prompt; a cancel stays, and the others are asked all the same (row 41).

        What a handler raises is raised.
        """
        messages, prompt, cancel = None, None, False
        for handler in self.handlers(EVENT_BEFORE_AGENT_START):
            result = await asked(handler, event)
            if result is None:
                continue
            if result.messages is not None:
                messages = list(result.messages)
                event = replace(event, messages=messages)
            if result.system_prompt is not None:
                prompt = result.system_prompt
                event = replace(event, system_prompt=prompt)
            cancel = cancel or result.cancel
        return BeforeAgentStartResult(messages, prompt, cancel)

    async def emit_context(self, messages: Messages) -> Messages:
        """Each handler sees what the one before has made of the messages (row 42).  What one raises is raised."""
        for handler in self.handlers(EVENT_CONTEXT):
            result = await asked(handler, ContextEvent(messages))
            if result is not None and result.messages is not None:
                messages = list(result.messages)
        return messages

    async def emit_tool_call(self, event: ToolCallEvent) -> ToolCallResult | None:
        """The first block stops the call, and the asking (row 43).  What a handler raises is raised."""
        for handler in self.handlers(EVENT_TOOL_CALL):
            result = await asked(handler, event)
            if result is not None and result.block:
                return ToolCallResult(True, result.reason)
        return None

    async def emit_tool_result(self, event: ToolResultEvent) -> ToolResultResult:
        """Patches merge field by field, each seen by the handlers after; `terminate` stays (row 44)."""
        content, is_error, terminate = None, None, False
        for handler in self.handlers(EVENT_TOOL_RESULT):
            result = await asked(handler, event)
            if result is None:
                continue
            if result.content is not None:
                content = result.content
                event = replace(event, content=content)
            if result.is_error is not None:
                is_error = result.is_error
                event = replace(event, is_error=is_error)
            terminate = terminate or result.terminate
        return ToolResultResult(content, is_error, terminate)

    async def emit_observation(
        self, event: ObservationEvent, log_warning: Callable[..., None] | None = None
    ) -> None:  # fmt: skip
        """Tell the observers of the type, and of all types; what they raise is logged, and fails nothing (row 45)."""
        for handler in (*self.handlers(f"observe:{event.type}"), *self.handlers("observe")):
            try:
                await asked(handler, event)
            except Exception as error:
                (log_warning or log.warning)("an observer of %s failed: %s", event.type, error)


def on_before_agent_start(registry: Registry | None, handler: Handler | None) -> None:
    """Register a handler that may change prompts, or cancel, before a run."""
    register(registry, EVENT_BEFORE_AGENT_START, handler)


def on_context(registry: Registry | None, handler: Handler | None) -> None:
    """Register a handler that transforms messages before each model call."""
    register(registry, EVENT_CONTEXT, handler)


def on_tool_call(registry: Registry | None, handler: Handler | None) -> None:
    """Register a handler that may block calls."""
    register(registry, EVENT_TOOL_CALL, handler)


def on_tool_result(registry: Registry | None, handler: Handler | None) -> None:
    """Register a handler that may patch results."""
    register(registry, EVENT_TOOL_RESULT, handler)


def observe(registry: Registry | None, handler: Handler | None) -> None:
    """Register an observer of every event."""
    register(registry, "observe", handler)


def on_observation(registry: Registry | None, event_type: str, handler: Handler | None) -> None:
    """Register an observer of one type of event."""
    register(registry, f"observe:{event_type}", handler)


def register(registry: Registry | None, event: str, handler: Handler | None) -> None:
    """Without a registry there is nothing to do."""
    if registry is not None:
        registry.add(event, handler)

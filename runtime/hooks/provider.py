"""
The dialect of seed one: providers whose methods are given events and set fields of them.

Providers are asked by priority, lower first, and after-hooks in reverse: on every path, so that a later hook cannot
come before the one that guards (row 10, and fault D11 of the seed's implementation).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from guideway.statemachine.errors import HostError

from .layers import name_of
from .provider_events import (
    AfterModelCallEvent,
    AfterToolCallEvent,
    BeforeModelCallEvent,
    BeforeToolCallEvent,
    ProtectedEvent,
    RunRef,
)

__all__ = [
    "AfterModelCallEvent", "AfterToolCallEvent", "AgentState", "BeforeModelCallEvent", "BeforeToolCallEvent",
    "HookPriority", "HookProvider", "HookRegistry", "ProtectedEvent", "RunRef",
]  # fmt: skip

METHODS = (
    "on_before_invocation", "on_after_invocation", "on_iteration_start", "on_iteration_end", "on_before_model_call",
    "on_after_model_call", "on_before_tool_call", "on_after_tool_call",
)  # fmt: skip


class HookPriority(IntEnum):
    """Where a provider stands among others: lower comes first."""

    SECURITY_MIN = 0
    SECURITY_DEFAULT = 50
    SECURITY_MAX = 99
    OBSERVABILITY_MIN = 100
    OBSERVABILITY_DEFAULT = 150
    OBSERVABILITY_MAX = 199
    BUSINESS_MIN = 200
    BUSINESS_DEFAULT = 250
    BUSINESS_MAX = 299
    DEFAULT = 300


@dataclass
class AgentState:
    """What a provider sees of a run at its start, its turns and its end.  At the start another one may be returned."""

    run_id: str = ""
    prompt: str = ""
    messages: list[dict[str, Any]] = field(default_factory=list)
    iteration: int = 0
    max_iterations: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    """values given to `run` by keyword"""


class HookProvider:
    """
    The base of providers: every method does nothing, so that one overrides only what it needs.

    >>> class Audit(HookProvider):
    ...     async def on_before_tool_call(self, event):
    ...         event.cancel = "not today"
    >>> [name for name, there in Audit().register_hooks().items() if there]
    ['on_before_tool_call']
    """

    priority: int = HookPriority.DEFAULT

    @property
    def name(self) -> str:
        """The name it is known by."""
        return type(self).__name__

    async def on_before_invocation(self, prompt: str, state: AgentState) -> AgentState:
        """Called before the agent starts; returns the state, or another one (row 12)."""
        return state

    async def on_after_invocation(self, state: AgentState, success: bool) -> None:
        """Called after the agent has ended."""

    async def on_iteration_start(self, iteration: int, state: AgentState) -> None:
        """Called at the start of each turn, counted from 0."""

    async def on_iteration_end(self, iteration: int, state: AgentState) -> None:
        """Called at the end of each turn."""

    async def on_before_model_call(self, event: BeforeModelCallEvent) -> None:
        """Called before each model call; `event.messages` may be set."""

    async def on_after_model_call(self, event: AfterModelCallEvent) -> None:
        """Called after each model call; `event.response`, `retry` and `retry_feedback` may be set."""

    async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
        """Called before each tool call; `event.arguments` and `event.cancel` may be set."""

    async def on_after_tool_call(self, event: AfterToolCallEvent) -> None:
        """Called after each call that was not cancelled; `event.result` and `retry` may be set."""

    def register_hooks(self) -> dict[str, bool]:
        """Which methods do something: the others are never called (row 14)."""
        return {name: getattr(type(self), name, None) is not getattr(HookProvider, name) for name in METHODS}


class HookRegistry:
    """
    Providers by name, sorted by priority.

    >>> registry = HookRegistry([HookProvider()])
    >>> registry.register(HookProvider())
    Traceback (most recent call last):
    guideway.statemachine.errors.HostError: a provider named HookProvider is registered already
    """

    def __init__(self, providers: Iterable[Any] = ()) -> None:
        self._providers: dict[str, Any] = {}
        for provider in providers:
            self.register(provider)

    def register(self, provider: Any) -> None:
        """
        Add a provider.

        Raises:
            HostError: there is one of that name.
        """
        name = name_of(provider)
        if name in self._providers:
            raise HostError(f"a provider named {name} is registered already")
        self._providers[name] = provider

    def unregister(self, name: str) -> bool:
        """Take a provider out; False where there is none of that name."""
        return self._providers.pop(name, None) is not None

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(self._providers.values(), key=lambda provider: getattr(provider, "priority", 300)))

    def __len__(self) -> int:
        return len(self._providers)

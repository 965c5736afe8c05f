"""Hooks in the words of seed one: providers, given events of which they set fields."""

from guideway.runtime.hooks.provider import (
    AfterModelCallEvent,
    AfterToolCallEvent,
    AgentState,
    BeforeModelCallEvent,
    BeforeToolCallEvent,
    HookPriority,
    HookProvider,
    HookRegistry,
    ProtectedEvent,
    RunRef,
)

__all__ = [
    "AfterModelCallEvent", "AfterToolCallEvent", "AgentState", "BeforeModelCallEvent", "BeforeToolCallEvent",
    "HookPriority", "HookProvider", "HookRegistry", "ProtectedEvent", "RunRef",
]  # fmt: skip

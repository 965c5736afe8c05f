"""
The dialect of seed three: hooks that answer each call with a verdict.

They run in registration order, after-hooks too.  `before_tool` runs only for calls that the policy has allowed, and a
person where one is asked (rows 30, 33); `after_tool` for all, those that were blocked, denied or rejected included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from guideway.runtime.calls import ToolCall, Usage
from guideway.runtime.models.messages import ModelReply

from .points import BeforeModel

__all__ = [
    "AgentHooks", "AgentOutcome", "Block", "Continue", "HookAction", "Modify", "RunInfo", "ToolCall", "ToolContext",
    "ToolOutput",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Read-only facts of the run (row 32)."""

    run_id: str
    session_id: str | None
    steps_used: int
    """turns that are over"""
    max_steps: int
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Continue:
    """Run the call as it is."""


@dataclass(frozen=True, slots=True)
class Modify:
    """Run the call with these arguments instead; hooks after this one see them."""

    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    """Do not run the call; the model reads the reason as an error.  Hooks after this one are not asked."""

    reason: str


HookAction = Continue | Modify | Block


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What the model receives of a call; `is_error` when it failed, was blocked, or was denied."""

    content: Any
    is_error: bool


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Where a call is made."""

    info: RunInfo


@dataclass(frozen=True, slots=True)
class AgentOutcome:
    """What a run came to for now: `completed`, `suspended` (it waits for a person) or `failed`."""

    status: str
    stop_reason: str
    output: Any = None


class AgentHooks:
    """
    The base: every method does nothing, so that one overrides only what it needs (row 27).

    >>> class InternalMailOnly(AgentHooks):
    ...     async def before_tool(self, call, ctx):
    ...         if call.name == "send_email" and not call.args.get("to", "").endswith("@example.com"):
    ...             return Block("external recipients are not allowed")
    ...         return Continue()
    """

    async def before_model(self, request: BeforeModel, info: RunInfo) -> None:
        """Before each model call; the request may be edited in place (row 28)."""

    async def after_model(self, response: ModelReply, info: RunInfo) -> None:
        """After each model call, with the raw response."""

    async def before_tool(self, call: ToolCall, ctx: ToolContext) -> HookAction | None:
        """Before each call that the policy allowed."""
        return Continue()

    async def after_tool(self, call: ToolCall, output: ToolOutput, ctx: ToolContext) -> None:
        """After each call, with the arguments that were used."""

    async def on_outcome(self, outcome: AgentOutcome, info: RunInfo) -> None:
        """Once when the run returns an outcome, a pause for approval included; not when the model failed (row 31)."""

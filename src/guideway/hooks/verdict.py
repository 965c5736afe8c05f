"""Hooks in the words of seed three: a verdict for each call that the policy has allowed."""

from guideway.runtime.hooks.policy import Allow, Decision, DenyCall, PendingRound, RequireApproval, strictest_of
from guideway.runtime.hooks.verdict import (
    AgentHooks,
    AgentOutcome,
    Block,
    Continue,
    HookAction,
    Modify,
    RunInfo,
    ToolCall,
    ToolContext,
    ToolOutput,
)

__all__ = [
    "AgentHooks", "AgentOutcome", "Allow", "Block", "Continue", "Decision", "DenyCall", "HookAction", "Modify",
    "PendingRound", "RequireApproval", "RunInfo", "ToolCall", "ToolContext", "ToolOutput", "strictest_of",
]  # fmt: skip

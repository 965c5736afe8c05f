"""Hooks in the words of seed five: handlers registered for events."""

from guideway.runtime.hooks.chains import (
    Config,
    TurnUpdate,
    bridge_config,
    chain_after_tool_call,
    chain_before_tool_call,
    chain_prepare_next_turn,
    chain_transform_context,
    merge_hook_fields,
)
from guideway.runtime.hooks.registry import (
    EVENT_BEFORE_AGENT_START,
    EVENT_CONTEXT,
    EVENT_CONTEXT_COMPACTED,
    EVENT_CONTEXT_USAGE,
    EVENT_MODEL_UPDATE,
    EVENT_SAVE_POINT,
    EVENT_TOOL_CALL,
    EVENT_TOOL_RESULT,
    EVENT_TOOLS_UPDATE,
    BeforeAgentStartEvent,
    BeforeAgentStartResult,
    ContextEvent,
    ContextResult,
    ContextUsageInfo,
    ObservationEvent,
    Registry,
    RunCancelledError,
    ToolCallEvent,
    ToolCallResult,
    ToolResultEvent,
    ToolResultResult,
    observe,
    on_before_agent_start,
    on_context,
    on_observation,
    on_tool_call,
    on_tool_result,
)

ErrRunCancelled = RunCancelledError
"""The name of the seed."""

__all__ = [
    "EVENT_BEFORE_AGENT_START", "EVENT_CONTEXT", "EVENT_CONTEXT_COMPACTED", "EVENT_CONTEXT_USAGE", "EVENT_MODEL_UPDATE",
    "EVENT_SAVE_POINT", "EVENT_TOOLS_UPDATE", "EVENT_TOOL_CALL", "EVENT_TOOL_RESULT", "BeforeAgentStartEvent",
    "BeforeAgentStartResult", "Config", "ContextEvent", "ContextResult", "ContextUsageInfo", "ErrRunCancelled",
    "ObservationEvent", "Registry", "RunCancelledError", "ToolCallEvent", "ToolCallResult", "ToolResultEvent",
    "ToolResultResult", "TurnUpdate", "bridge_config", "chain_after_tool_call", "chain_before_tool_call",
    "chain_prepare_next_turn", "chain_transform_context", "merge_hook_fields", "observe", "on_before_agent_start",
    "on_context", "on_observation", "on_tool_call", "on_tool_result",
]  # fmt: skip

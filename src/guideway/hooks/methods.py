"""Hooks in the words of seed two: methods that return what they want done."""

from guideway.runtime.hooks.methods import Hook, HookAction, HookContext, ToolCall, ToolError, ToolResult, hook

__all__ = ["Hook", "HookAction", "HookContext", "ToolCall", "ToolError", "ToolResult", "hook"]

"""Hooks of seed two's dialect at the points of the loop."""

from __future__ import annotations

import copy
import logging
from typing import Any

from guideway.runtime.calls import ToolCall as Call
from guideway.runtime.models.messages import ModelReply
from guideway.statemachine.canonical import normal

from .layers import Layer, asked
from .methods import Hook, HookAction, HookContext, ToolCall, ToolResult
from .methods import hook as as_hook
from .points import UNSET, AfterModel, AfterTool, AtEnd, BeforeModel, BeforeTool, End, Facts, HookFailedError, Start

log = logging.getLogger("guideway.hooks")


class MethodsLayer(Layer):
    """Before in the order of the list, after in reverse."""

    def __init__(self, hooks: list[Any]) -> None:
        self._hooks = [as_hook(each) for each in hooks]
        self.names = tuple(hook.name for hook in self._hooks)

    async def start(self, point: Start) -> None:
        """Once per segment (row 16)."""
        for hook in self._hooks:
            action = await said(hook, "on_start", context(hook, point.facts, point.messages))
            keep(hook, point.facts, action)

    async def before_model(self, point: BeforeModel) -> None:
        """May replace the transcript, or end the run (row 17)."""
        for hook in self._hooks:
            action = await said(hook, "before_model", context(hook, point.facts, point.messages))
            keep(hook, point.facts, action)
            if action is not None and action.messages is not None:
                point.messages = copy.deepcopy(action.messages)
            if action is not None and action.end:
                point.end = End(action.output)
                return

    async def after_model(self, point: AfterModel) -> None:
        """May replace the reply, or end the run (row 18)."""
        for hook in reversed(self._hooks):
            action = await said(hook, "after_model", context(hook, point.facts, point.messages))
            keep(hook, point.facts, action)
            if action is not None and action.message is not None:
                point.reply = reply_of(action.message, point.reply)
                point.messages = [*list(point.messages)[:-1], point.reply.as_message()]
            if action is not None and action.end:
                point.end = End(action.output)
                return

    async def before_tool(self, point: BeforeTool) -> None:
        """May change the call, answer it, or fail it (row 19)."""
        for hook in self._hooks:
            if point.settled:
                return
            try:
                answer = await ask(hook, "before_tool", seen(point.call))
                heed(point, answer, hook)
            except Exception as error:
                point.error = error

    async def after_tool(self, point: AfterTool) -> None:
        """May replace what the model reads (row 20)."""
        for hook in reversed(self._hooks):
            try:
                answer = await ask(hook, "after_tool", seen(point.call), ToolResult(copy.deepcopy(point.shown)))
            except Exception as error:
                point.shown, point.is_error = f"{type(error).__name__}: {error}", True
                continue
            if answer is not None:
                point.shown = answer.value if isinstance(answer, ToolResult) else answer

    async def end(self, point: AtEnd) -> None:
        """Always, once per segment; it cannot change the outcome (row 21)."""
        for hook in reversed(self._hooks):
            try:
                await ask(hook, "on_end", context(hook, point.facts, point.facts.messages), point.outcome)
            except Exception:
                log.exception("the hook %s failed at the end of run %s", hook.name, point.facts.run_id)


def context(hook: Hook, facts: Facts, messages: Any) -> HookContext:
    """What the hook sees: copies (row 25)."""
    own = copy.deepcopy(facts.hook_states.get(hook.name))
    return HookContext(
        facts.run_id, copy.deepcopy(list(messages)), facts.model_calls, own, copy.deepcopy(dict(facts.state))
    )


async def ask(hook: Hook, method: str, *values: Any) -> Any:
    """What the method returns, if there is one."""
    found = getattr(hook.inner, method, None)
    return await asked(found, *values) if callable(found) else None


async def said(hook: Hook, method: str, ctx: HookContext) -> HookAction | None:
    """
    The action that a hook returns.

    Raises:
        HookFailedError: it raised, or returned something else; the cause is kept (row 23).
    """
    try:
        action = await ask(hook, method, ctx)
        if action is not None and not isinstance(action, HookAction):
            raise TypeError(f"it returned a {type(action).__name__}, and not a HookAction or None")
    except Exception as error:
        raise HookFailedError(f"the hook {hook.name} failed in {method}: {error}") from error
    return action


def keep(hook: Hook, facts: Facts, action: HookAction | None) -> None:
    """
    Save the state that the hook gives; None is a state, too (row 24).

    Raises:
        HookFailedError: it is no JSON, and could not be saved with the run.
    """
    if action is None or action.state is UNSET:
        return
    try:
        facts.hook_states[hook.name] = normal(action.state)
    except ValueError as error:
        raise HookFailedError(f"the state that the hook {hook.name} gives is no JSON: {error}") from error


def seen(call: Call) -> ToolCall:
    """The call as hooks of this dialect see it: a copy."""
    args = copy.deepcopy(dict(call.args)) if not isinstance(call.args, str) else {}
    return ToolCall(call.call_id, call.name, args)


def heed(point: BeforeTool, answer: Any, hook: Hook) -> None:
    """
    Take over what before_tool returned.

    Raises:
        TypeError: it is neither a call nor a result.
    """
    if isinstance(answer, ToolResult):
        point.value = answer.value
    elif isinstance(answer, ToolCall):
        if isinstance(point.call.args, str) and not answer.args and answer.name == point.call.name:
            return  # what the model wrote was no JSON, and the hook has not mended it
        if (answer.name, answer.args) != (point.call.name, dict(point.call.args)):
            point.change(name=answer.name, args=copy.deepcopy(answer.args))
    elif answer is not None:
        raise TypeError(f"{hook.name}.before_tool returned a {type(answer).__name__}, not a ToolCall or a ToolResult")


def reply_of(message: dict[str, Any], before: ModelReply) -> ModelReply:
    """A reply out of a message dict; what it cost stays."""
    calls = tuple(
        Call(call["name"], call.get("args", {}), call.get("call_id", "")) for call in message.get("tool_calls", ())
    )
    return ModelReply(str(message.get("content") or ""), calls, before.usage, before.model, before.finish)

"""Providers of seed one's dialect at the points of the loop."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping
from typing import Any

from guideway.runtime.models.messages import ModelReply

from .layers import Layer, asked, name_of
from .native import priority_of
from .points import AfterModel, AfterTool, AtEnd, BeforeModel, BeforeTool, Facts, HookFailedError, Start, Turned
from .provider import AgentState
from .provider_events import (
    AfterModelCallEvent,
    AfterToolCallEvent,
    BeforeModelCallEvent,
    BeforeToolCallEvent,
    RunRef,
)

log = logging.getLogger("guideway.hooks")


class ProviderLayer(Layer):
    """By priority, after-hooks in reverse; what a provider does not do is not called."""

    def __init__(self, providers: list[Any]) -> None:
        self._providers = sorted(providers, key=priority_of)
        self.names = tuple(map(name_of, self._providers))
        self._does = {id(provider): does(provider) for provider in self._providers}

    def _with(self, method: str, *, back: bool = False) -> list[Any]:
        found = [provider for provider in self._providers if self._does[id(provider)](method)]
        return found[::-1] if back else found

    async def start(self, point: Start) -> None:
        """Each may replace the state: transcript and metadata of the run (row 12)."""
        state = state_of(point.facts, point.messages)
        if point.state is not None:
            state.metadata = copy.deepcopy(point.state)
        given = copy.deepcopy(state.metadata)
        for provider in self._with("on_before_invocation"):
            found = await careful(provider, "on_before_invocation", point.facts.prompt, state)
            if not isinstance(found, AgentState):
                raise HookFailedError(
                    f"{name_of(provider)}.on_before_invocation returned a {type(found).__name__}, and no AgentState"
                )
            state = found
        if state.messages != point.messages:
            point.messages = copy.deepcopy(state.messages)
        if state.metadata != given:
            point.state = copy.deepcopy(state.metadata)

    async def turn_started(self, point: Turned) -> None:
        """What one raises is logged."""
        for provider in self._with("on_iteration_start"):
            await quietly(provider, "on_iteration_start", point.number, state_of(point.facts))

    async def turn_ended(self, point: Turned) -> None:
        """What one raises is logged."""
        for provider in self._with("on_iteration_end", back=True):
            await quietly(provider, "on_iteration_end", point.number, state_of(point.facts))

    async def before_model(self, point: BeforeModel) -> None:
        """Each may edit the messages; tools are read-only (row 13)."""
        for provider in self._with("on_before_model_call"):
            event = BeforeModelCallEvent(copy.deepcopy(point.messages), point.tools, **about(point.facts))
            await careful(provider, "on_before_model_call", event)
            point.messages = event.messages

    async def after_model(self, point: AfterModel) -> None:
        """Each may replace the response, or have the model asked again (row 13)."""
        for provider in self._with("on_after_model_call", back=True):
            event = AfterModelCallEvent(point.reply, copy.deepcopy(list(point.messages)), **about(point.facts))
            await careful(provider, "on_after_model_call", event)
            if event.response is not point.reply:
                point.reply = event.response if isinstance(event.response, ModelReply) else text_of(event, provider)
                point.messages = [*list(point.messages)[:-1], point.reply.as_message()]
            if event.retry:
                point.retry, point.feedback = True, event.retry_feedback or point.feedback

    async def before_tool(self, point: BeforeTool) -> None:
        """Each may change the arguments or cancel; one that raises cancels: a guard that fails is no open door."""
        for provider in self._with("on_before_tool_call"):
            args = copy.deepcopy(dict(point.call.args)) if isinstance(point.call.args, Mapping) else {}
            event = BeforeToolCallEvent(point.call.name, point.call.call_id, copy.deepcopy(args), **about(point.facts))
            try:
                await asked(provider.on_before_tool_call, event)
            except Exception as error:
                log.exception("the hook %s failed before a call of %s", name_of(provider), point.call.name)
                point.block(f"the hook {name_of(provider)} failed: {type(error).__name__}: {error}")
                return
            if event.cancel:
                point.block(event.cancel if isinstance(event.cancel, str) else f"cancelled by {name_of(provider)}")
                return
            if not isinstance(event.arguments, Mapping):
                point.block(f"{name_of(provider)} set the arguments to a {type(event.arguments).__name__}")
                return
            if event.arguments != args:
                point.change(args=copy.deepcopy(event.arguments))

    async def after_tool(self, point: AfterTool) -> None:
        """For calls that were made; those that were blocked or denied do not come here (row 11)."""
        if not point.ran and point.is_error:
            return
        errors: list[Exception] = []
        for provider in self._with("on_after_tool_call", back=True):
            args = copy.deepcopy(dict(point.call.args)) if isinstance(point.call.args, Mapping) else {}
            event = AfterToolCallEvent(
                point.call.name, point.call.call_id, args, copy.deepcopy(point.shown),
                point.error if point.is_error else None, point.ran, **about(point.facts),
            )  # fmt: skip
            try:
                await asked(provider.on_after_tool_call, event)
            except Exception as error:
                errors.append(error)
                continue
            point.shown = event.result
            point.retry = point.retry or bool(event.retry)
        if errors:
            raise HookFailedError(f"a hook failed in on_after_tool_call: {errors[0]}") from errors[0]

    async def end(self, point: AtEnd) -> None:
        """Each hears of it, with whether the run was a success."""
        for provider in self._with("on_after_invocation", back=True):
            await quietly(provider, "on_after_invocation", state_of(point.facts), point.success)


def does(provider: Any) -> Any:
    """Says of a method whether the provider does it: by `register_hooks`, else by having it (row 14)."""
    table = getattr(provider, "register_hooks", None)
    known = table() if callable(table) else {}
    return lambda method: bool(known.get(method, True)) and callable(getattr(provider, method, None))


def state_of(facts: Facts, messages: Any = None) -> AgentState:
    """The state as providers see it: a copy."""
    return AgentState(
        facts.run_id, facts.prompt, copy.deepcopy(list(facts.messages if messages is None else messages)),
        facts.iteration, facts.max_iterations, copy.deepcopy(dict(facts.state)),
    )  # fmt: skip


def about(facts: Facts) -> dict[str, Any]:
    """What every event says of its run."""
    return {"run": RunRef(facts.run_id, facts.session_id, copy.deepcopy(dict(facts.state))), "emit": facts.emit}


def text_of(event: AfterModelCallEvent, provider: Any) -> ModelReply:
    """
    A response that is a text.

    Raises:
        HookFailedError: it is neither a reply nor a text.
    """
    if isinstance(event.response, str):
        return ModelReply(event.response)
    raise HookFailedError(f"{name_of(provider)} set the response to a {type(event.response).__name__}")


async def careful(provider: Any, method: str, *values: Any) -> Any:
    """
    Call a method.

    Raises:
        HookFailedError: it raised; the cause is kept.
    """
    try:
        return await asked(getattr(provider, method), *values)
    except Exception as error:
        raise HookFailedError(f"the hook {name_of(provider)} failed in {method}: {error}") from error


async def quietly(provider: Any, method: str, *values: Any) -> None:
    """Call a method; what it raises is logged."""
    try:
        await asked(getattr(provider, method), *values)
    except Exception:
        log.exception("the hook %s failed in %s", name_of(provider), method)

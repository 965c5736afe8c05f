"""Asking the model: what it is sent, how its answer is waited for, and what it has cost."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import Any

from guideway.runtime.calls import ToolCall, Usage, is_count, told
from guideway.runtime.hooks.points import AfterModel, BeforeModel, End, Observation
from guideway.runtime.models.messages import Message, ModelError, ModelReply, ModelRequest, ToolSpec
from guideway.runtime.models.messages import TextDelta as Piece
from guideway.runtime.own import clean

from .brief import render_brief
from .deals import arguments
from .events import ModelReplied, ModelRequested, TextDelta
from .limits import cost_of, price_of
from .live import Live
from .offers import offered
from .stops import spent


async def speak(live: Live) -> ModelReply | None:
    """The next reply, as hooks have left it; None where the segment is to end instead."""
    settings = live.settings
    tools = offered(live.session, settings.tools, control=not settings.open)
    await tell_tools(live, [tool.name for tool in tools])
    return await converse(live, system_prompt(live), tools)


async def tell_tools(live: Live, names: list[str]) -> None:
    """Observers hear when other tools are offered than before (row 45)."""
    before, live.offered = live.offered, names
    if before is not None and before != names:
        await observe(live, "tools_update", {"tools": names, "model": live.settings.model.name})


def system_prompt(live: Live) -> str:
    """The host's instructions, and where the run stands."""
    brief = "" if live.settings.open else render_brief(live.session)
    return "\n\n".join(part for part in (live.memory.instructions, brief) if part)


async def converse(live: Live, system: str, tools: tuple[ToolSpec, ...]) -> ModelReply | None:
    """Ask, with hooks before and after, and again as often as they want within bounds."""
    for attempt in range(live.settings.limits.model_retries + 1):
        before = BeforeModel(live.facts(), copy.deepcopy(live.memory.messages), tools, system)
        await live.hooks.before_model(before)
        if hook_ends(live, before.end):
            return None
        reply = await answered(live, request_of(live, before, tools))
        if reply is None:
            return None
        after = AfterModel(live.facts(), reply, [*live.memory.messages, reply.as_message()])
        await live.hooks.after_model(after)
        if hook_ends(live, after.end, reply):
            return None
        if not after.retry or attempt == live.settings.limits.model_retries:
            final = named(live, after.reply)
            live.emit(ModelReplied(final))
            return final
        if after.feedback:
            live.memory.messages.append({"role": "user", "content": after.feedback})
        if spent(live):
            return None
    raise AssertionError("unreachable")


def request_of(live: Live, before: BeforeModel, tools: tuple[ToolSpec, ...]) -> ModelRequest:
    """What is sent: hooks may replace transcript and system prompt, not the tools (row 13)."""
    head: list[Message] = [{"role": "system", "content": before.system_prompt}] if before.system_prompt else []
    return ModelRequest([*head, *before.messages], tools, dict(live.settings.model_settings))


async def answered(live: Live, request: ModelRequest) -> ModelReply | None:
    """
    The model's answer, counted; None where the run was cancelled, ran out of time, or the model failed.

    Whatever a model raises is its failure, and ends the segment with an event (never with its traceback).
    """
    live.emit(ModelRequested(request))
    live.memory.model_calls += 1
    task = asyncio.ensure_future(reply_to(live, request))
    try:
        while not task.done() and not live.over:
            await live.rest([task], live.real(live.deadline))
            if not task.done() and live.out_of_time():
                live.stop("time_budget", "time_budget")
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    if live.over:
        return None
    try:
        reply = task.result()
    except (Exception, asyncio.CancelledError) as error:
        failed(live, error)
        return None
    account(live, reply)
    return named(live, reply)


async def reply_to(live: Live, request: ModelRequest) -> ModelReply:
    """Stream where somebody listens and the model can; a stream that ends without a reply is a failure."""
    model = live.settings.model
    stream = getattr(model, "stream", None)
    if not live.streams or stream is None:
        reply = await model.reply(request)
        return checked(reply, model.name)
    async for piece in stream(request):
        if isinstance(piece, Piece):
            live.emit(TextDelta(piece.text))
        else:
            return checked(piece, model.name)
    raise ModelError(f"the model `{model.name}` stopped in the middle of a reply")


def checked(reply: Any, name: str) -> ModelReply:
    """
    The reply, if it is one.

    Raises:
        ModelError: the model gave something else.
    """
    if not isinstance(reply, ModelReply):
        raise ModelError(f"the model `{name}` must answer with a ModelReply, and gave a {type(reply).__name__}")
    wrong = next(faults(reply), None)
    if wrong is not None:
        raise ModelError(f"the model `{name}` gave a reply that cannot be read: {wrong}")
    return reply


def faults(reply: ModelReply) -> Iterator[str]:
    """What is wrong with the fields of a reply."""
    usage = reply.usage
    if not isinstance(reply.text, str):
        yield f"its text is {told(reply.text)}"
    if not isinstance(reply.calls, tuple | list) or not all(isinstance(call, ToolCall) for call in reply.calls):
        yield "its calls are no ToolCall objects"
    elif not all(isinstance(part, str) for call in reply.calls for part in (call.name, call.call_id)):
        yield "the name and the id of a call are text"
    if not isinstance(usage, Usage):
        yield f"its usage is {told(usage)}"
    elif not all(map(is_count, (usage.tokens, usage.input_tokens, usage.output_tokens))):
        yield "its usage counts tokens in whole numbers from 0 on"
    elif not isinstance(usage.cost, int | float) or not 0 <= usage.cost < inf:
        yield f"its cost is {told(usage.cost)}"


def failed(live: Live, error: BaseException) -> None:
    """The model failed: the segment ends, and the run can be taken up again."""
    full = isinstance(error, ModelError) and error.kind == "context_window"
    reason = "context_exhausted" if full else "error"
    live.stop(reason, reason, error=error, session=full)


def account(live: Live, reply: ModelReply) -> None:
    """Count what the reply has cost; the session hears of it with the next proposal."""
    settings = live.settings
    prices: Mapping[str, Any] = settings.prices or {}
    price = price_of(reply.model, prices) if reply.model in prices else price_of(settings.model.name, prices)
    usage = replace(reply.usage, cost=cost_of(reply.usage, price))
    live.memory.context = reply.usage.input_tokens
    live.memory.usage += usage
    live.memory.carried += usage


def named(live: Live, reply: ModelReply) -> ModelReply:
    """Every call has an id (those that came without are numbered), and arguments that nobody else can change."""
    count, calls = live.memory.model_calls, []
    for place, call in enumerate(reply.calls, 1):
        name, call_id = clean(call.name), clean(call.call_id) or f"call-{count}-{place}"
        calls.append(ToolCall(name, arguments(call.args), call_id))
    return replace(reply, text=clean(reply.text), calls=tuple(calls))


def hook_ends(live: Live, end: End | None, reply: ModelReply | None = None) -> bool:
    """A hook ends the run, with an output of its own."""
    if end is None:
        return False
    if reply is not None:
        live.memory.messages.append(replace(reply, calls=()).as_message())
    live.stop("hook_end", "hook_end", output=end.output)
    return True


async def observe(live: Live, kind: str, data: Mapping[str, Any]) -> None:
    """Tell hooks of something they cannot change."""
    await live.hooks.observe(Observation(live.facts(), kind, data))

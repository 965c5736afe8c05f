"""What hooks have left of a point, looked at before the loop goes by it: a mistake of theirs is not the loop's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from guideway.runtime.calls import ToolCall
from guideway.runtime.models.messages import ModelReply
from guideway.statemachine.errors import GuidewayError

from .layers import Layer
from .points import AfterModel, BeforeModel, End, HookFailedError, Start


async def ask(layer: Layer, method: str, point: Any) -> None:
    """
    Ask a layer, and look at what it has left.

    Raises:
        HookFailedError: it raised, or left something that the loop cannot go by.
    """
    try:
        await getattr(layer, method)(point)
    except GuidewayError:
        raise
    except Exception as error:
        raise HookFailedError(f"a hook of {', '.join(layer.names)} failed in {method}: {error}") from error
    wrong = wrong_in(point)
    if wrong:
        raise HookFailedError(f"hooks ({', '.join(layer.names)}) have left {wrong} in {method}")


def wrong_in(point: Any) -> str:
    """
    What the loop cannot go by, in words; empty where there is nothing.

    >>> from guideway.runtime.hooks.points import Facts
    >>> wrong_in(BeforeModel(Facts(), None, ()))
    'messages that are no list of messages, but a NoneType'
    """
    match point:
        case Start():
            state = point.state is None or isinstance(point.state, dict)
            return wrong_text(point.messages, point.system_prompt) or ("" if state else "a state that is no dict")
        case BeforeModel():
            return wrong_text(point.messages, point.system_prompt) or wrong_end(point.end)
        case AfterModel():
            return wrong_reply(point.reply) or wrong_end(point.end)
    return ""


def wrong_text(messages: Any, system_prompt: Any) -> str:
    """Transcript and system prompt."""
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        return f"messages that are no list of messages, but a {type(messages).__name__}"
    for message in messages:
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            return "a message without a role"
    return "" if isinstance(system_prompt, str) else "a system prompt that is no text"


def wrong_reply(reply: Any) -> str:
    """A reply that a hook may have put in place of the model's."""
    if not isinstance(reply, ModelReply):
        return f"a reply that is no ModelReply, but a {type(reply).__name__}"
    if not isinstance(reply.text, str):
        return "a reply whose text is none"
    return "" if all(isinstance(call, ToolCall) for call in reply.calls) else "a reply with a call that is no ToolCall"


def wrong_end(end: Any) -> str:
    """How a hook ends the run."""
    return "" if end is None or isinstance(end, End) else f"an end that is no End(output), but a {type(end).__name__}"

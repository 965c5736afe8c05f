"""Models of providers, through pydantic-ai; no other file imports it, and nothing is imported before it is needed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from pydantic_ai import exceptions as faults
from pydantic_ai import messages as wire
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.models import Model as ProviderModel
from pydantic_ai.models import ModelRequestParameters, infer_model
from pydantic_ai.tools import ToolDefinition

from guideway.runtime.calls import ToolCall, Usage
from guideway.statemachine.canonical import read

from .messages import Message, ModelError, ModelReply, ModelRequest, TextDelta
from .transcript import Names, as_args, names_in, said, told_apart

__all__ = ["ProviderModel", "infer_model", "reply", "stream", "translated"]

KINDS: tuple[tuple[type[Exception], str], ...] = (
    (faults.ModelContextWindowExceededError, "context_window"),
    (faults.ModelAuthenticationError, "authentication"),
    (faults.ModelNotFoundError, "no_such_model"),
    (faults.ModelRequestRejectedError, "rejected"),
    (faults.ModelRateLimitError, "rate_limit"),
    (faults.ModelQuotaExceededError, "quota"),
    (faults.ModelUnavailableError, "overloaded"),
    (faults.ModelTimeoutError, "timeout"),
    (faults.ModelRequestTimeout, "timeout"),
    (TimeoutError, "timeout"),
    (faults.ModelConnectionError, "connection"),
    (faults.ModelServerError, "server"),
    (faults.ContentFilterError, "filtered"),
    (faults.UnexpectedModelBehavior, "unreadable"),
    (faults.UserError, "setup"),
    (ImportError, "setup"),
)
LONGEST_MESSAGE = 600


async def reply(model: ProviderModel, name: str, request: ModelRequest) -> ModelReply:
    """
    Ask, and wait for the whole reply.

    Raises:
        ModelError: none came.
    """
    names = _names(request)
    with translated(name):
        response = await model_request(
            model,
            _messages(request.messages, names),
            model_settings=_settings(request),
            model_request_parameters=_parameters(request, names),
        )
    return _reply(response, name, names)


async def stream(model: ProviderModel, name: str, request: ModelRequest) -> AsyncIterator[TextDelta | ModelReply]:
    """
    Ask, and yield the text as it comes; at the end the whole reply.

    Raises:
        ModelError: none came, or it broke off.
    """
    names = _names(request)
    with translated(name):
        async with model_request_stream(
            model,
            _messages(request.messages, names),
            model_settings=_settings(request),
            model_request_parameters=_parameters(request, names),
        ) as pieces:
            async for piece in pieces:
                if text := _text(piece):
                    yield TextDelta(text)
            response = pieces.get()
    if model.provider is not None and not _ended(pieces, response):
        raise ModelError(
            f"the stream of the model `{name}` ended without a finish reason, so nobody knows that the reply is whole; "
            f"of a provider that never sends one, ask for no stream",
            "broken_off",
        )
    yield _reply(response, name, names)


def _ended(pieces: object, response: wire.ModelResponse) -> bool:
    """
    The provider said that the reply is whole.

    For the chat protocol of OpenAI the library makes up the reason `stop` where none came, as after a connection that
    broke; only `provider_details` tells.
    """
    if any(cls.__module__.startswith("pydantic_ai.models.openai.") for cls in type(pieces).__mro__):
        return bool((response.provider_details or {}).get("finish_reason")) or response.finish_reason != "stop"
    return response.finish_reason is not None


@contextmanager
def translated(name: str, how: str = "gave no reply") -> Iterator[None]:
    """Whatever a provider raises becomes a `ModelError` that says how; what it raised is the cause."""
    try:
        yield
    except ModelError:
        raise
    except Exception as fault:
        text = _said_by(fault).split("To try Pydantic AI without")[0].strip()
        text = text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"
        raise ModelError(f"the model `{name}` {how}: {text}", _kind(fault)) from fault


def _kind(fault: Exception) -> str:
    kind = next((kind for cls, kind in KINDS if isinstance(fault, cls)), "")
    return kind or ("unreadable" if isinstance(fault.__cause__, ValueError) else "")


def _said_by(fault: Exception) -> str:
    if isinstance(fault, faults.ModelHTTPError):
        body = fault.body.get("message") if isinstance(fault.body, dict) else fault.body
        return f"HTTP {fault.status_code}: {' '.join(str(body or fault.message).split())}"
    return str(fault).split("\n")[0].strip() or type(fault).__name__


def _names(request: ModelRequest) -> Names:
    return Names([*(tool.name for tool in request.tools), *names_in(request.messages)])


def _settings(request: ModelRequest) -> Any:
    return dict(request.settings) or None


def _parameters(request: ModelRequest, names: Names) -> ModelRequestParameters:
    tools = [
        ToolDefinition(
            name=names.out(tool.name),
            description=tool.description or None,
            parameters_json_schema={"type": "object", "properties": {}, **tool.parameters},
        )
        for tool in request.tools
    ]
    return ModelRequestParameters(function_tools=tools)


def _messages(messages: Sequence[Message], names: Names) -> list[wire.ModelMessage]:
    """Neighbours that go to the model make one request of pydantic-ai's, each assistant message a response."""
    found: list[wire.ModelMessage] = []
    for answered, group in groupby(told_apart(messages), key=lambda message: message["role"] == "assistant"):
        if answered:
            found.extend(_response(message, names) for message in group)
        else:
            found.append(wire.ModelRequest(parts=[_part(message, names) for message in group]))
    return found


def _part(message: Message, names: Names) -> wire.ModelRequestPart:
    content = message.get("content")
    if message["role"] == "system":
        return wire.SystemPromptPart(content=_as_text(content))
    if message["role"] == "tool":
        return wire.ToolReturnPart(
            tool_name=names.out(message["name"]),
            content=_as_text(content),
            tool_call_id=message["call_id"],
            outcome="failed" if message.get("is_error") else "success",
        )
    return wire.UserPromptPart(content=_as_text(content))


def _as_text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _response(message: Message, names: Names) -> wire.ModelResponse:
    parts: list[wire.ModelResponsePart] = _kept(message)
    if text := message.get("content"):
        parts.append(wire.TextPart(content=text))
    parts.extend(
        wire.ToolCallPart(names.out(call["name"]), as_args(call["args"]), tool_call_id=call["call_id"])
        for call in message.get("tool_calls", ())
    )
    return wire.ModelResponse(parts=parts)


def _kept(message: Message) -> list[wire.ModelResponsePart]:
    """What the provider wants back with the reply, unless somebody has changed the reply since."""
    kept = message.get("kept")
    if not isinstance(kept, dict) or kept.get("said") != _signed(*said(message)):
        return []
    try:
        [response] = wire.ModelMessagesTypeAdapter.validate_python(kept["response"])
    except ValueError:
        return []
    return list(response.parts) if isinstance(response, wire.ModelResponse) else []


def _signed(text: str, calls: Sequence[tuple[str, Any]]) -> list[Any]:
    return [text, [[name, dict(args) if isinstance(args, dict) else args] for name, args in calls]]


def _reply(response: wire.ModelResponse, name: str, names: Names) -> ModelReply:
    if response.finish_reason in ("error", "content_filter") or response.state != "complete":
        kind = "filtered" if response.finish_reason == "content_filter" else "broken_off"
        why = response.finish_reason if response.state == "complete" else response.state
        raise ModelError(f"the model `{name}` gave no whole reply: it says `{why}`", kind)
    text = "".join(part.content for part in response.parts if isinstance(part, wire.TextPart))
    calls = tuple(_call(part, names) for part in response.parts if isinstance(part, wire.ToolCallPart))
    usage = Usage(input_tokens=response.usage.input_tokens, output_tokens=response.usage.output_tokens)
    kept = _to_keep(response, text, calls)
    return ModelReply(text, calls, usage, response.model_name or name, response.finish_reason or "", kept=kept)


def _to_keep(response: wire.ModelResponse, text: str, calls: Sequence[ToolCall]) -> Any:
    thoughts = [part for part in response.parts if isinstance(part, wire.ThinkingPart)]
    if not thoughts:
        return None
    only = wire.ModelResponse(parts=thoughts, model_name=response.model_name, provider_name=response.provider_name)
    dumped = wire.ModelMessagesTypeAdapter.dump_python([only], mode="json")
    return {"said": _signed(text, [(call.name, call.args) for call in calls]), "response": dumped}


def _call(part: wire.ToolCallPart, names: Names) -> ToolCall:
    """Arguments that are no JSON object stay the text they are: the gate says `bad_args`."""
    args: Any = part.args if part.args is not None else {}
    if isinstance(args, str):
        try:
            found = read(args) if args.strip() else {}
        except ValueError:
            found = None
        args = found if isinstance(found, dict) else args
    return ToolCall(names.back(part.tool_name), args, part.tool_call_id)


def _text(piece: Any) -> str:
    """The new text in an event of a stream, if it brings any."""
    if isinstance(piece, wire.PartStartEvent) and isinstance(piece.part, wire.TextPart):
        return piece.part.content
    if isinstance(piece, wire.PartDeltaEvent) and isinstance(piece.delta, wire.TextPartDelta):
        return piece.delta.content_delta
    return ""

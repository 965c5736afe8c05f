"""The other provider of the extra, over real HTTP: replies whole and streamed, streams that break, errors."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

import pytest
import uvicorn
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from guideway.runtime.calls import Usage
from guideway.runtime.models.messages import Message, ModelError, ModelReply, ModelRequest, TextDelta, ToolSpec
from guideway.runtime.models.named import wrap

CALL = {"type": "tool_use", "id": "t1", "name": "query_siem", "input": {"hours": 24}}
REPLY: dict[str, Any] = {
    "id": "m1", "type": "message", "role": "assistant", "model": "claude-fake", "stop_sequence": None,
}  # fmt: skip
WHOLE = {
    **REPLY, "content": [{"type": "text", "text": "Looking."}, CALL], "stop_reason": "tool_use",
    "usage": {"input_tokens": 11, "output_tokens": 7},
}  # fmt: skip
TRANSCRIPT: list[Message] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "look"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"call_id": "c1", "name": "query_siem", "args": '{"hours": 2'}],
    },
    {"role": "tool", "call_id": "c1", "name": "query_siem", "content": "no object", "is_error": True},
]
EVENTS = 10
"""Events of the whole stream; the one before the last says why it ended."""


def stream() -> Iterator[str]:
    """The same reply as events."""
    start = {**REPLY, "content": [], "stop_reason": None, "usage": {"input_tokens": 11, "output_tokens": 1}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Looking."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {**CALL, "input": {}}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"hours":'}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": " 24}"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]
    return (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


HEARD: dict[str, dict[str, Any]] = {}


async def answer(request: Request) -> Response:
    """The address says what to do: `ok`, `cut-N` (events), `error-STATUS-TYPE`."""
    does, body = request.path_params["does"], await request.json()
    HEARD[does] = body
    word, *rest = does.split("-")
    if word == "error":
        fault = {"type": "error", "error": {"type": rest[1], "message": "prompt is too long"}}
        return JSONResponse(fault, status_code=int(rest[0]))
    if not body.get("stream"):
        return JSONResponse(WHOLE)

    async def send() -> AsyncIterator[str]:
        for number, event in enumerate(stream()):
            if word == "cut" and number == int(rest[0]):
                return
            yield event

    return StreamingResponse(send(), media_type="text/event-stream")


@cache
def port() -> int:
    """One server for the tests of this file; its thread ends with the process."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Route("/{does}/v1/messages", answer, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    threading.Thread(target=server.run, args=([listening],), daemon=True).start()
    return int(listening.getsockname()[1])


def ask(does: str) -> tuple[str, ModelReply]:
    """The pieces of text, and the reply."""

    def make() -> AnthropicModel:
        provider = AnthropicProvider(api_key="none", base_url=f"http://127.0.0.1:{port()}/{does}")
        return AnthropicModel("claude-sonnet-4-6", provider=provider)

    async def pieces() -> list[TextDelta | ModelReply]:
        request = ModelRequest(TRANSCRIPT, (ToolSpec("query_siem"),), {"max_retries": 0})
        return [piece async for piece in wrap(make).stream(request)]

    *deltas, reply = asyncio.run(pieces())
    assert isinstance(reply, ModelReply)
    return "".join(delta.text for delta in deltas), reply


def test_a_reply() -> None:
    """
    Text and call arrive, with the usage and the reason.
    """
    pieces, reply = ask("ok")

    assert (pieces, reply.text, reply.finish) == ("Looking.", "Looking.", "tool_call")
    assert reply.calls == (("query_siem", {"hours": 24}, "t1"),)
    assert reply.usage == Usage(input_tokens=11, output_tokens=7)


def test_a_transcript() -> None:
    """
    The system prompt goes apart; arguments that were no object go as one, and a failed answer is marked.
    """
    ask("ok")

    sent = HEARD["ok"]
    assert sent["system"] == "Be brief."
    assert sent["messages"][1]["content"][0]["input"] == {"INVALID_JSON": '{"hours": 2'}
    assert sent["messages"][2]["content"][0]["is_error"] is True


@pytest.mark.parametrize("after", range(1, EVENTS - 1))
def test_a_stream_that_ends_too_early(after: int) -> None:
    """
    Wherever it ends before the provider has said why, there is no reply, and so no call.
    """
    with pytest.raises(ModelError) as got:
        ask(f"cut-{after}")

    assert got.value.kind == "broken_off"


@pytest.mark.parametrize(
    ("does", "kind"),
    [
        ("error-529-overloaded_error", "overloaded"),
        ("error-429-rate_limit_error", "rate_limit"),
        ("error-401-authentication_error", "authentication"),
        ("error-400-invalid_request_error", "context_window"),
        ("error-500-api_error", "server"),
    ],
)
def test_errors_have_their_kind(does: str, kind: str) -> None:
    """
    What this provider calls its errors comes down to the same kinds.
    """
    with pytest.raises(ModelError) as got:
        ask(does)

    assert got.value.kind == kind

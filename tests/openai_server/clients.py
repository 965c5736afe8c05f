"""Our models, talking to the server over real HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from guideway.runtime.models.messages import Message, ModelReply, ModelRequest, TextDelta, ToolSpec
from guideway.runtime.models.named import Provided, wrap
from tests.openai_server.server import Server

QUERY = ToolSpec("query_siem", "Search the SIEM.", {"type": "object", "properties": {"hours": {"type": "integer"}}})
USER: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "look"}]


def provider_model(server: Server) -> OpenAIChatModel:
    """The library's own model, pointed at the server."""
    return OpenAIChatModel("fake-1", provider=OpenAIProvider(base_url=server.url, api_key="none"))


def model_at(server: Server) -> Provided:
    """Ours."""
    return wrap(lambda: provider_model(server))


def request(messages: list[Message] | None = None, tools: tuple[ToolSpec, ...] = (QUERY,), **more: Any) -> ModelRequest:
    """A request that is sent once: the client's own retries are off."""
    return ModelRequest(messages or USER, tools, {"max_retries": 0, **more})


async def asked(model: Provided, streaming: bool, sent: ModelRequest) -> tuple[str, ModelReply]:
    """The text that came in pieces (streaming), and the reply."""
    if not streaming:
        return "", await model.reply(sent)
    pieces = [piece async for piece in model.stream(sent)]
    *deltas, reply = pieces
    assert isinstance(reply, ModelReply)
    assert all(isinstance(delta, TextDelta) for delta in deltas)
    return "".join(delta.text for delta in deltas), reply


def ask(server: Server, streaming: bool, sent: ModelRequest | None = None) -> tuple[str, ModelReply]:
    """As `asked`, in a loop of its own."""

    async def once() -> tuple[str, ModelReply]:
        model = model_at(server)
        try:
            return await asked(model, streaming, sent or request())
        finally:
            await model.close()

    return asyncio.run(once())

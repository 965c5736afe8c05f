"""Replies as the OpenAI chat protocol writes them: whole, and as a stream of deltas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    """A tool call as a provider writes it: `arguments` is text, whatever it holds."""

    name: str
    arguments: str = "{}"
    id: str = "call_1"


@dataclass(frozen=True)
class Says:
    """A reply: text, calls, or neither."""

    text: str | None = None
    calls: tuple[Call, ...] = ()
    finish: str | None = None

    @property
    def finish_reason(self) -> str:
        """Why it stopped."""
        return self.finish or ("tool_calls" if self.calls else "stop")


USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def whole(says: Says) -> dict[str, Any]:
    """The reply in one piece."""
    message: dict[str, Any] = {"role": "assistant", "content": says.text}
    if says.calls:
        message["tool_calls"] = [_call(call) for call in says.calls]
    choice = {"index": 0, "message": message, "finish_reason": says.finish_reason}
    return {**_frame("chat.completion"), "choices": [choice], "usage": USAGE}


def chunks(says: Says) -> Iterator[str]:
    """The reply as server-sent events: a role, pieces, an end, the usage, `[DONE]`."""
    yield _event({"role": "assistant", "content": ""})
    for word in (says.text or "").split(" ") if says.text else ():
        yield _event({"content": word + " "})
    for index, call in enumerate(says.calls):
        yield _event(
            {"tool_calls": [{"index": index, **_call(call), "function": {"name": call.name, "arguments": ""}}]}
        )
        for piece in _halves(call.arguments):
            yield _event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield _event({}, says.finish_reason)
    yield f"data: {json.dumps({**_frame('chat.completion.chunk'), 'choices': [], 'usage': USAGE})}\n\n"
    yield "data: [DONE]\n\n"


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _call(call: Call) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _event(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({**_frame('chat.completion.chunk'), 'choices': [choice]})}\n\n"


def _frame(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1_790_000_000, "model": "fake-1"}

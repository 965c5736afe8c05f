"""Messages in the form of OpenTelemetry's GenAI conventions: a list of roles with parts, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def messages_json(messages: Iterable[Mapping[str, Any]], finish: str = "") -> str:
    """
    A transcript as the conventions write it; `finish` is why the model stopped, of an output message.

    >>> messages_json([{"role": "user", "content": "An alert."}])
    '[{"role": "user", "parts": [{"type": "text", "content": "An alert."}]}]'
    """
    made = [{"role": message["role"], "parts": list(parts(message))} for message in messages]
    if finish:
        made = [{**message, "finish_reason": finish} for message in made]
    return json.dumps(made, ensure_ascii=False, default=str)


def parts(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts of one message of ours."""
    if message["role"] == "tool":
        yield {"type": "tool_call_response", "id": message.get("call_id"), "response": message.get("content")}
        return
    if message.get("content"):
        yield {"type": "text", "content": message["content"]}
    for call in message.get("tool_calls", ()):
        yield {"type": "tool_call", "id": call["call_id"], "name": call["name"], "arguments": call["args"]}


def instructions_json(system_prompt: str) -> str | None:
    """System instructions as the conventions write them; None where there are none."""
    return json.dumps([{"type": "text", "content": system_prompt}], ensure_ascii=False) if system_prompt else None

"""
What goes to a model and what comes back, in our own words.

A message is a JSON object, so that transcripts can be journaled, edited by hooks and compared:

- `{"role": "system" | "user", "content": TEXT}`
- `{"role": "assistant", "content": TEXT, "tool_calls": [{"call_id": ID, "name": TOOL, "args": OBJECT}]}`; `args` is the
  text the model wrote where that is no JSON object; `kept`, where a reply had one, goes back to the provider with it
- `{"role": "tool", "call_id": ID, "name": TOOL, "content": ANY JSON, "is_error": BOOL}`
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from guideway.runtime.calls import ToolCall, Usage
from guideway.statemachine.errors import GuidewayError

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it; `parameters` is a JSON Schema of type object."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question to a model: the transcript, and the tools it may call now."""

    messages: Sequence[Message]
    tools: tuple[ToolSpec, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """`temperature`, `max_tokens` …, as the provider takes them"""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """
    One reply of a model.

    A call whose arguments are no JSON object keeps them as the text the model wrote; the gate refuses it (`bad_args`).
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    """which model answered, as the provider names it"""
    finish: str = ""
    """why it stopped, as the provider names it: `stop`, `length`, `tool_call` …"""
    confidence: float | None = None
    kept: Any = None
    """JSON that the provider wants back when the reply is sent to it again: what the model thought, signed"""

    def as_message(self) -> Message:
        """
        The reply as a message of the transcript.

        >>> ModelReply("Looking.", (ToolCall("query_siem", {"hours": 24}, "c1"),)).as_message()["tool_calls"]
        [{'call_id': 'c1', 'name': 'query_siem', 'args': {'hours': 24}}]
        """
        calls = [{"call_id": call.call_id, "name": call.name, "args": copied(call.args)} for call in self.calls]
        message: Message = {"role": "assistant", "content": self.text, "tool_calls": calls}
        return message if self.kept is None else {**message, "kept": self.kept}


def copied(args: Any) -> Any:
    """Arguments as a message holds them: an object, or the text that is none."""
    return dict(args) if isinstance(args, Mapping) else args


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the text of a reply, while it is being written."""

    text: str


class ModelError(GuidewayError):
    """
    The model, or the way to it, failed: no reply came, or one that cannot be read.

    `kind` says how, in one word: `setup` (an unknown name, a missing package or key), `rate_limit`, `quota`,
    `overloaded`, `timeout`, `connection`, `context_window`, `authentication`, `no_such_model`, `rejected`, `server`,
    `unreadable`, `broken_off` (a stream that ended too early), `filtered`; empty where nobody can tell.

    >>> ModelError("the transcript is too long", kind="context_window").kind
    'context_window'
    """

    def __init__(self, message: str = "the model failed", kind: str = "") -> None:
        self.kind = kind
        super().__init__(message)


@runtime_checkable
class Model(Protocol):
    """
    Anything that answers a request.

    Raises `ModelError` where no reply came.
    """

    name: str

    async def reply(self, request: ModelRequest) -> ModelReply:
        """Answer."""
        ...


@runtime_checkable
class StreamingModel(Protocol):
    """A model that can show its text while it is written."""

    name: str

    async def reply(self, request: ModelRequest) -> ModelReply:
        """Answer."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelReply]:
        """Pieces of text, and at the end the whole reply."""
        ...

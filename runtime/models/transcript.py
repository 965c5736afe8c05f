"""A transcript as providers insist on it: names they take, and an id of its own for every call."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .messages import Message

REFUSED = re.compile(r"[^A-Za-z0-9_-]")
LONGEST_NAME = 64


class Names:
    """
    Names of tools as providers take them: letters, digits, `_` and `-`, 64 at most; and the way back.

    >>> names = Names(["siem.query", "siem_query"])
    >>> names.out("siem.query"), names.out("siem_query"), names.back("siem_query_2")
    ('siem_query_2', 'siem_query', 'siem.query')
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._out: dict[str, str] = {}
        self._back: dict[str, str] = {}
        for name in sorted(set(names), key=lambda name: (REFUSED.search(name) is not None, name)):
            self._add(name)

    def _add(self, name: str) -> None:
        plain = safe = REFUSED.sub("_", name)[:LONGEST_NAME] or "tool"
        number = 1
        while safe in self._back:
            number += 1
            safe = f"{plain[: LONGEST_NAME - 8]}_{number}"
        self._out[name], self._back[safe] = safe, name

    def out(self, name: str) -> str:
        """The name as the provider is told it."""
        if name not in self._out:
            self._add(name)
        return self._out[name]

    def back(self, name: str) -> str:
        """The tool that the provider means; a name it was never told stays what it is."""
        return self._back.get(name, name)


def names_in(messages: Iterable[Message]) -> Iterator[str]:
    """Every tool that a transcript speaks of."""
    for message in messages:
        yield from (call["name"] for call in message.get("tool_calls", ()))
        if message["role"] == "tool":
            yield message["name"]


def told_apart(messages: Iterable[Message]) -> list[Message]:
    """
    Give every call an id of its own, and each answer the id of its call, in their order.

    Providers refuse a transcript in which an id is missing or comes twice, and a model may have written just that.

    >>> call = {"call_id": "c1", "name": "look", "args": {}}
    >>> answer = {"role": "tool", "call_id": "c1", "name": "look", "content": "ok"}
    >>> sent = told_apart([{"role": "assistant", "content": "", "tool_calls": [call, call]}, answer, answer])
    >>> [call["call_id"] for call in sent[0]["tool_calls"]], [message["call_id"] for message in sent[1:]]
    (['c1', 'c1_2'], ['c1', 'c1_2'])
    """
    used: set[str] = set()
    open_calls: dict[str, deque[str]] = defaultdict(deque)
    return [_apart(message, used, open_calls) for message in messages]


def _apart(message: Message, used: set[str], open_calls: dict[str, deque[str]]) -> Message:
    if message["role"] == "tool":
        waiting = open_calls[message["call_id"]]
        return {**message, "call_id": waiting.popleft()} if waiting else message
    if not message.get("tool_calls"):
        return message
    calls = [{**call, "call_id": _fresh(call["call_id"], used)} for call in message["tool_calls"]]
    for call, own in zip(message["tool_calls"], calls, strict=True):
        open_calls[call["call_id"]].append(own["call_id"])
    return {**message, "tool_calls": calls}


def _fresh(call_id: str, used: set[str]) -> str:
    plain = fresh = call_id or "call"
    number = 1
    while fresh in used:
        number += 1
        fresh = f"{plain}_{number}"
    used.add(fresh)
    return fresh


def said(message: Message) -> tuple[str, Sequence[tuple[str, Any]]]:
    """What an assistant message says and calls, its ids left out."""
    return message.get("content") or "", [(call["name"], call["args"]) for call in message.get("tool_calls", ())]


def as_args(args: Any) -> Any:
    """Arguments for the wire: a copy of the object, or an object that holds the text which was none."""
    return dict(args) if isinstance(args, Mapping) else {"INVALID_JSON": str(args)}

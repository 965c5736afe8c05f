"""The verbs of a session as JSON, and carried out again from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from guideway.runtime.approvals import Approvals
from guideway.runtime.calls import (
    WORDS,
    Failed,
    Outcome,
    Substituted,
    Succeeded,
    ToolCall,
    Unreadable,
    Usage,
)
from guideway.runtime.facts import copy
from guideway.runtime.own import clean, own
from guideway.runtime.session import Session
from guideway.runtime.verbs import Event

UNREADABLE = "unreadable"
OF_PEOPLE = ("approve", "reject", "withdraw", "answer", "happened", "did_not_happen")
"""Verbs of the control plane."""


def event_json(event: Event) -> dict[str, Any]:
    """
    What a verb was given, as JSON; what was none is kept as the reason why.

    >>> event_json(Event("observe", {"call_id": "c1", "outcome": Succeeded({"hits": 3})}, None))
    {'call_id': 'c1', 'outcome': ['ok', {'value': {'hits': 3}}]}
    """
    return {name: value if name in PLAIN else WRITERS[name](value) for name, value in event.data.items()}


PLAIN = ("goal", "confidence")


def call_json(call: ToolCall) -> list[Any]:
    """A call: name, arguments, id."""
    try:
        args = {"value": copy(dict(call.args))}
    except Exception as error:  # whatever the host's own mapping raises, as in the gate
        args = {UNREADABLE: clean(error) or "they are no JSON object"}
    return [clean(call.name), args, clean(call.call_id)]


def outcome_json(outcome: Outcome) -> list[Any]:
    """What came of a call: the word, and its result or error."""
    word, value, fault = own(outcome)
    if isinstance(outcome, Substituted):
        word = "substituted"
    return [word, {UNREADABLE: fault.removeprefix("result_schema: ")} if fault is not None else {"value": value}]


def usage_json(usage: Usage | None) -> list[Any] | None:
    """What a turn cost."""
    return None if usage is None else [usage.tokens, usage.input_tokens, usage.output_tokens, usage.cost]


WRITERS: dict[str, Callable[[Any], Any]] = {
    "calls": lambda calls: [call_json(call) for call in calls],
    "call": call_json,
    "outcome": outcome_json,
    "usage": usage_json,
    **dict.fromkeys(("call_id", "approval_id", "by", "text", "note", "reason", "name"), clean),
    "step": lambda step: None if step is None else clean(step),
    "answer": lambda answer: clean(answer) if isinstance(answer, str) else None,
    "groups": list,
    "fields": lambda fields: copy(dict(fields)),
    "args": lambda args: copy(dict(args)),
    "data": lambda data: None if data is None else copy(data),
    "result": lambda result: outcome_json(Succeeded(result))[1],
}
"""Argument of a verb -> how it is written."""


def again(session: Session, verb: str, data: Mapping[str, Any], now: datetime | None) -> None:
    """Carry a verb out once more, with what it was given."""
    given = {name: READERS[name](value) if name in READERS else value for name, value in data.items()}
    if verb == "recover":
        session.interrupted(now)
    elif verb == "tick":
        session.tick(now)  # type: ignore[arg-type]  # one that moved something had a time
    else:
        whose = Approvals(session) if verb in OF_PEOPLE else session
        getattr(whose, verb)(**given, now=now)


def call_of(data: list[Any]) -> ToolCall:
    """The inverse of `call_json`."""
    name, args, call_id = data
    return ToolCall(name, value_of(args), call_id)


def value_of(data: Mapping[str, Any]) -> Any:
    """A value, or what stands for one that was no JSON."""
    return Unreadable(data[UNREADABLE]) if UNREADABLE in data else data["value"]


def outcome_of(data: list[Any]) -> Outcome:
    """The inverse of `outcome_json`."""
    word, content = data
    value = value_of(content)
    if word == "ok":
        return Succeeded(value)
    if word == "substituted":
        return Substituted(value)
    if word == "error":
        return Failed(value)
    found: Outcome = next(kind for kind, known in WORDS.items() if known == word)()
    return found


READERS: dict[str, Callable[[Any], Any]] = {
    "calls": lambda calls: [call_of(call) for call in calls],
    "call": call_of,
    "outcome": outcome_of,
    "usage": lambda usage: None if usage is None else Usage(*usage),
    "result": value_of,
}

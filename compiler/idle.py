"""Keys that a step carries in vain: its kind does not take them, or what they need is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .defaults import Keys
from .page import idle_key
from .reading import Reader
from .said import expires
from .scope import Scope

_NO_AGENT = "no agent works there"
_AGENTS = dict.fromkeys(("max_tool_calls", "min_tool_calls", "order", "on_exhausted"), _NO_AGENT)
_CALLS = dict.fromkeys(("validation", "retry", "on_unknown"), "it makes no call")
_WAITS = dict.fromkeys(("timeout", "timeout_seconds", "on_timeout", "on_reject"), "a router never waits")
_REFUSALS = {"on_reject": "nobody is asked to allow it"}
_OTHERS = _AGENTS | _CALLS | _REFUSALS
_BLOCK = _OTHERS | dict.fromkeys(("on_exhausted", "on_unknown"), "say it on a step inside")

IDLE: Mapping[str, Mapping[str, str]] = {
    "agent": {},
    "call": _AGENTS,
    "approval": _AGENTS | _CALLS,
    "switch": _AGENTS | _CALLS | _WAITS,
    "ask": _OTHERS | {"on_reject": "an answer is no refusal; `choices` say where each leads"},
    "wait": _OTHERS,
    "playbook": _OTHERS,
    "undo": _AGENTS | {"on_unknown": "a person says what has happened"},
    "parallel": _BLOCK,
    "for_each": _BLOCK,
    "repeat": _BLOCK,
    "section": _BLOCK,
}
"""By kind of step, the keys it does not take, with the reason."""

_APPROVED = frozenset({*_WAITS, *_REFUSALS})
"""Keys that an `approval` beside the step gives a meaning."""


def check_idle_keys(keys: Keys, reader: Reader) -> None:
    """Report the step's own keys that do nothing; what `defaults` gives in vain is no fault of the step."""
    for key, why in _idle(keys, reader.scope):
        path = (*keys.path, key)
        reader.findings.add(path, idle_key(key, keys.step.id, why, reader.findings.key_at(path)))


def _idle(keys: Keys, scope: Scope) -> Iterator[tuple[str, str]]:
    asked = keys.step.approval is not None
    for key, why in IDLE[keys.kind].items():
        if keys.own(key) and not (asked and key in _APPROVED):
            yield key, why
    if keys.kind == "agent" and keys.own("on_exhausted") and keys.count("max_tool_calls") is None:
        yield "on_exhausted", "there is no `max_tool_calls`"
    if keys.own("on_max_visits") and keys.count("max_visits") is None:
        yield "on_max_visits", "there is no `max_visits`"
    if keys.own("on_timeout") and _timeless(keys, scope) and (asked or keys.kind != "switch"):
        yield "on_timeout", "there is no `timeout`"


def _timeless(keys: Keys, scope: Scope) -> bool:
    """Neither the step nor any question asked in it has a deadline."""
    return keys.timeout() is None and not expires(keys.step.approval) and not scope.calls_expire(keys.step)

"""Keys that a step carries in vain: its kind does not take them, or what they need is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .defaults import Keys
from .findings import Findings
from .page import idle_key

_NO_AGENT = "no agent works there"
_AGENTS = dict.fromkeys(("max_tool_calls", "min_tool_calls", "order", "on_exhausted"), _NO_AGENT)
_CALLS = dict.fromkeys(("validation", "retry", "on_unknown"), "it makes no call")
_WAITS = dict.fromkeys(("timeout", "timeout_seconds", "on_timeout", "on_reject"), "a router never waits")

IDLE: Mapping[str, Mapping[str, str]] = {
    "agent": {},
    "call": _AGENTS,
    "approval": _AGENTS | _CALLS,
    "switch": _AGENTS | _CALLS | _WAITS,
}
"""By kind of step, the keys it does not take, with the reason."""


def check_idle_keys(keys: Keys, findings: Findings) -> None:
    """Report the step's own keys that do nothing; what `defaults` gives in vain is no fault of the step."""
    for key, why in _idle(keys):
        path = (*keys.path, key)
        findings.add(path, idle_key(key, keys.step.id, why, findings.key_at(path)))


def _idle(keys: Keys) -> Iterator[tuple[str, str]]:
    waits = keys.step.approval is not None
    for key, why in IDLE[keys.step.kind].items():
        if keys.own(key) and not (waits and key in _WAITS):
            yield key, why
    if keys.step.kind == "agent" and keys.own("on_exhausted") and keys.count("max_tool_calls") is None:
        yield "on_exhausted", "there is no `max_tool_calls`"
    if keys.own("on_max_visits") and keys.count("max_visits") is None:
        yield "on_max_visits", "there is no `max_visits`"
    if keys.own("on_timeout") and keys.timeout() is None and (waits or keys.step.kind != "switch"):
        yield "on_timeout", "there is no `timeout`"

"""
The policy layer of seed three (row 33), for hosts that have one of their own beside the playbook.

A policy says of each call whether it is allowed, denied, or needs a person; the whole round waits while any call needs
one.  What waits is JSON, so that it can be saved; a call that nobody has decided on is rejected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from guideway.runtime.calls import ToolCall


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may run."""


@dataclass(frozen=True, slots=True)
class DenyCall:
    """The call does not run, for this reason."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class RequireApproval:
    """A person decides."""

    reason: str = ""


Decision = Allow | DenyCall | RequireApproval
STRICT: Mapping[type, int] = {Allow: 0, RequireApproval: 1, DenyCall: 2}


def strictest_of(*decisions: Decision) -> Decision:
    """
    The strictest of several: denied before needs a person before allowed; of equals the first.

    >>> strictest_of(Allow(), RequireApproval("payment"), Allow())
    RequireApproval(reason='payment')
    """
    return max(decisions, key=lambda decision: STRICT[type(decision)], default=Allow())


@dataclass(slots=True)
class PendingRound:
    """
    The calls of one reply, while a person is needed for some.

    >>> pending = PendingRound.of([ToolCall("pay", {"amount": 5}, "c1"), ToolCall("look", {}, "c2")],
    ...                           [RequireApproval("payment"), Allow()])
    >>> PendingRound.from_json(pending.to_json()).decided({"c1": {"amount": 4}})
    ([ToolCall(name='pay', args={'amount': 4}, call_id='c1'), ToolCall(name='look', args={}, call_id='c2')], {})
    """

    calls: list[ToolCall] = field(default_factory=list)
    needs: dict[str, str] = field(default_factory=dict)
    """calls that a person must allow -> why"""
    denied: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, calls: Sequence[ToolCall], decisions: Sequence[Decision]) -> PendingRound:
        """The round, by what the policy said of each call."""
        pairs = list(zip(calls, decisions, strict=True))
        needs = {call.call_id: said.reason for call, said in pairs if isinstance(said, RequireApproval)}
        denied = {call.call_id: said.reason for call, said in pairs if isinstance(said, DenyCall)}
        return cls(list(calls), needs, denied)

    @property
    def waits(self) -> bool:
        """A person must decide before any call of the round runs."""
        return bool(self.needs)

    def decided(self, said: Mapping[str, bool | Mapping[str, Any]]) -> tuple[list[ToolCall], dict[str, str]]:
        """
        The calls that may go to the gate, and why the others do not.

        `said` maps ids to yes, no, or other arguments with which the call is allowed (they are decided on like any).  A
        call that is missing was not allowed.
        """
        go: list[ToolCall] = []
        stay = dict(self.denied)
        for call in self.calls:
            answer = said.get(call.call_id, False) if call.call_id in self.needs else True
            if call.call_id in stay:
                continue
            if isinstance(answer, Mapping):
                go.append(ToolCall(call.name, dict(answer), call.call_id))
            elif answer is True:
                go.append(call)
            else:
                stay[call.call_id] = "rejected"
        return go, stay

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        calls = [[call.name, dict(call.args), call.call_id] for call in self.calls]
        return {"calls": calls, "needs": dict(self.needs), "denied": dict(self.denied)}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> PendingRound:
        """The inverse of `to_json`."""
        return cls([ToolCall(*call) for call in saved["calls"]], dict(saved["needs"]), dict(saved["denied"]))

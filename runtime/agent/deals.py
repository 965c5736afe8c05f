"""One call of the model's, from the reply it came in to what the model reads of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from guideway.runtime.calls import Cancelled, Failed, Outcome, Substituted, Succeeded, ToolCall, error_value
from guideway.runtime.hooks.points import UNSET, BeforeTool
from guideway.runtime.own import clean
from guideway.runtime.verdicts import Deny, Verdict
from guideway.statemachine.canonical import normal

LONGEST = 20_000
"""Characters kept of arguments that are no JSON object."""


@dataclass(slots=True)
class Deal:
    """A call under way: what the model asked for, what hooks made of it, what the gate said, what came of it."""

    call: ToolCall
    """as the model made it"""
    used: ToolCall
    """as it was proposed"""
    point: BeforeTool | None = None
    """what hooks have said of it; None after a run was taken up again"""
    verdict: Verdict | None = None
    blocked: str | None = None
    value: Any = UNSET
    """a result that a hook gave"""
    fault: str | None = None
    """what a hook raised, which counts as the tool's own error"""
    outcome: Outcome | None = None
    admitted: bool = False
    """the gate has allowed it: from here on its arguments are the session's"""
    ran: bool = False
    over: bool = False
    shown: Any = None
    """what the model reads"""
    is_error: bool = False
    duration: float = 0.0
    told: bool = False
    """hooks have been told that it is over"""
    stands_for: str | None = None
    """the id of the call of the reply that this one is made in place of, or once more"""

    @property
    def call_id(self) -> str:
        """The id it was proposed under."""
        return self.used.call_id

    def take(self, outcome: Outcome, duration: float = 0.0) -> None:
        """The call is over, and this came of it."""
        self.outcome, self.duration = outcome, duration
        self.show(*said_of(outcome))

    def show(self, shown: Any, is_error: bool) -> None:
        """The call is over, and this is what the model reads of it."""
        self.over, self.shown, self.is_error = True, shown, is_error

    def refuse(self, denial: Deny) -> None:
        """The gate refused it."""
        self.verdict = denial
        if not self.over:
            self.show(denial.message, True)

    def to_json(self) -> dict[str, Any]:
        """What is saved of it with a run that waits."""
        saved: dict[str, Any] = {
            "call": call_json(self.call), "used": call_json(self.used), "blocked": self.blocked, "fault": self.fault,
            "ran": self.ran, "over": self.over, "shown": self.shown, "is_error": self.is_error,
            "duration": self.duration, "told": self.told, "stands_for": self.stands_for,
        }  # fmt: skip
        return saved if self.value is UNSET else {**saved, "value": self.value}

    @classmethod
    def of_json(cls, saved: Mapping[str, Any]) -> Deal:
        """The call as it was saved."""
        deal = cls(call_of(saved["call"]), call_of(saved["used"]))
        for name in ("blocked", "fault", "ran", "over", "shown", "is_error", "duration", "told", "stands_for"):
            setattr(deal, name, saved[name])
        deal.value = saved.get("value", UNSET)
        return deal


def own(call: ToolCall) -> ToolCall:
    """A copy to hand out: who changes it changes nothing that runs."""
    return ToolCall(call.name, copy.deepcopy(call.args), call.call_id)


def arguments(args: Any) -> Any:
    """
    Arguments as a reply may hold them: a JSON object, or the text that a model wrote; anything else as text.

    The gate refuses what is no object (`bad_args`), and a journal can keep it.

    >>> arguments({"host": "ws-7"}), arguments(None), arguments([1])
    ({'host': 'ws-7'}, 'None', '[1]')
    """
    if isinstance(args, Mapping):
        try:
            found: dict[str, Any] = normal(dict(args))
        except (ValueError, TypeError):
            return clean(str(args))[:LONGEST]
        return found
    return clean(args if isinstance(args, str) else str(args))[:LONGEST]


def said_of(outcome: Outcome) -> tuple[Any, bool]:
    """
    What the model reads of an outcome, and whether it is an error.

    >>> said_of(Failed({"type": "Busy", "message": "try later"}))
    ('Busy: try later', True)
    """
    if isinstance(outcome, Succeeded | Substituted):
        return outcome.result, False
    if isinstance(outcome, Failed):
        error = error_value(outcome)
        known = error["type"] not in ("error", "ToolError")
        return (f"{error['type']}: {error['message']}" if known else str(error["message"])), True
    if isinstance(outcome, Cancelled):
        return "the call was given up before it ran", True
    return "nobody knows whether the call happened; a person looks into it", True


def call_json(call: ToolCall) -> dict[str, Any]:
    """A call as JSON, as it stands in messages."""
    args = call.args if isinstance(call.args, str) else dict(call.args)
    return {"call_id": call.call_id, "name": call.name, "args": args}


def call_of(saved: Mapping[str, Any]) -> ToolCall:
    """
    The call that JSON stands for.

    >>> call_of({"call_id": "c1", "name": "look", "args": {}})
    ToolCall(name='look', args={}, call_id='c1')
    """
    return ToolCall(saved["name"], saved["args"], saved["call_id"])

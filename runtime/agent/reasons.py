"""Why a run ended, in one of a fixed set of words, whatever the branch that ended it said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from guideway.statemachine.termination import (
    ConfidenceMet,
    CustomCondition,
    Judgement,
    MaxIterations,
    NoToolCalls,
    TerminationCondition,
    TimeLimit,
    TokenLimit,
    ToolCalled,
)


class StopReason(StrEnum):
    """
    Why a run ended, for metrics and control flow; `TerminateEvent.reason` has the branch's own words.

    It does not say whether the run got anywhere; that is its outcome.

    >>> StopReason.TERMINAL_TOOL == "terminal_tool"
    True
    """

    COMPLETE = "complete"
    """a declared end was reached, or a text or a custom condition ended the run"""
    TERMINAL_TOOL = "terminal_tool"
    CONFIDENCE_MET = "confidence_met"
    MAX_ITERATIONS = "max_iterations"
    TOOL_LOOP = "tool_loop"
    """the same call with the same result, again and again"""
    NO_TOOLS = "no_tools"
    GROUNDING_FAILED = "grounding_failed"
    """a step's calls are spent, and what it asks of them is still not so"""
    TOKEN_BUDGET = "token_budget"  # noqa: S105  # no password
    COST_BUDGET = "cost_budget"
    TIME_BUDGET = "time_budget"
    """of the run, or of a step with nowhere to go on a timeout"""
    CONTEXT_EXHAUSTED = "context_exhausted"
    INTERRUPTED = "interrupted"
    """a person or the host stopped it"""
    ERROR = "error"
    CANCELLED = "cancelled"
    INCOMPLETE = "incomplete"
    """the agent stopped with required work undone"""
    REFUSALS = "refusals"
    """too many refused turns in a row"""
    HOOK_END = "hook_end"
    HOOK_FAILED = "hook_failed"
    WAITING = "waiting"
    """it has not ended: it waits for a person, a deadline or a signal"""


_TOKENS: Mapping[str, StopReason] = {
    **{reason.value: reason for reason in StopReason},
    "token_limit": StopReason.TOKEN_BUDGET,
    "time_limit": StopReason.TIME_BUDGET,
    "no_tool_calls": StopReason.NO_TOOLS,
    "custom": StopReason.COMPLETE,
}
"""Whole tokens of conditions, and the words themselves."""

_BEGINNINGS: Mapping[str, StopReason] = {
    "tool_called": StopReason.TERMINAL_TOOL,
    "text_mention": StopReason.COMPLETE,
    "signal": StopReason.COMPLETE,
    "custom": StopReason.COMPLETE,
}
"""What stands before the first colon of a condition's token."""

_STOPS: Mapping[str, StopReason] = {
    "nudges": StopReason.INCOMPLETE,
    "rejected": StopReason.INTERRUPTED,
    "timeout": StopReason.TIME_BUDGET,
    "max_visits": StopReason.INCOMPLETE,
}
"""What follows a session's `stopped:`, up to the next colon."""

_CONDITIONS = ("max_iterations", "token_budget", "token_limit", "time_budget", "time_limit", "no_tools",
               "no_tool_calls", "confidence_met", "custom")  # fmt: skip
_CONDITION_BEGINNINGS = ("tool_called:", "text_mention:", "signal:", "custom:", "NOT ")

_STRONGEST = (
    StopReason.COST_BUDGET,
    StopReason.TOKEN_BUDGET,
    StopReason.TIME_BUDGET,
    StopReason.MAX_ITERATIONS,
    StopReason.TERMINAL_TOOL,
    StopReason.CONFIDENCE_MET,
    StopReason.NO_TOOLS,
)
"""Of an `&`, the first of these decides: a limit before a goal (S37), a deed before an opinion."""


def normalise(token: str) -> StopReason:
    """
    Read the token of a condition, or any words; words that are no token mean `complete`.

    Tokens are compared whole, never by a part of them.  `of` is surer where a `Judgement` is at hand: in a text, the
    ` AND ` of a pattern looks like that of a combination.

    >>> normalise("tool_called:isolate_host").value, normalise("token_limit").value
    ('terminal_tool', 'token_budget')
    >>> normalise("tool_called:isolate_host AND confidence_met").value
    'terminal_tool'
    >>> normalise("custom thing error in x").value
    'complete'
    """
    return _known(token) or StopReason.COMPLETE


def of(judgement: Judgement) -> StopReason:
    """
    The word for what a condition has said: by the conditions that decided, not by their texts.

    >>> from guideway.termination import RunState, TextMention
    >>> of(TextMention("x AND error").explain(RunState(text="x AND error"))).value
    'complete'
    """
    return _first([_of_part(part) for part in judgement.decisive])


def from_outcome(outcome: str | None, outcome_class: str | None = None, reason: str | None = None) -> StopReason:
    """
    The word for how a session ended.

    Args:
        outcome: `Session.outcome`: `success`, `stopped:max_iterations`, an author's word; None where it goes on.
        outcome_class: `Session.outcome_class`; it decides what an author's word means.
        reason: the token of the termination branch that ended the run, where one did; an outcome that says itself
            why goes before it.

    >>> from_outcome("success").value, from_outcome("stopped:nudges").value, from_outcome("failed:contain").value
    ('complete', 'incomplete', 'error')
    >>> from_outcome("handed_over", "stopped", "tool_called:hand_over").value
    'terminal_tool'
    """
    if outcome is None:
        return StopReason.WAITING
    head, _, rest = outcome.partition(":")
    if rest and head == "stopped":
        return _STOPS.get(rest.partition(":")[0]) or _known(rest) or StopReason.INTERRUPTED
    kind = head if rest and head in ("failed", "incomplete") else outcome_class or head
    if kind == "failed":
        return StopReason.ERROR
    if kind == "incomplete":
        return StopReason.INCOMPLETE
    return normalise(reason) if reason is not None else StopReason.COMPLETE


def _known(token: str) -> StopReason | None:
    parts = token.split(" AND ")
    if len(parts) > 1 and all(map(_is_condition, parts)):
        return _first([_single(part) or StopReason.COMPLETE for part in parts])
    return _single(token)


def _single(token: str) -> StopReason | None:
    head, colon, _ = token.partition(":")
    if token.startswith("NOT "):
        return StopReason.COMPLETE
    return _BEGINNINGS.get(head) if colon else _TOKENS.get(token)


def _is_condition(token: str) -> bool:
    return token in _CONDITIONS or token.startswith(_CONDITION_BEGINNINGS)


def _first(found: list[StopReason]) -> StopReason:
    return next((reason for reason in _STRONGEST if reason in found), found[0] if found else StopReason.COMPLETE)


_KINDS: Mapping[type[TerminationCondition], Callable[[Judgement], StopReason]] = {
    MaxIterations: lambda part: StopReason.MAX_ITERATIONS,
    TokenLimit: lambda part: StopReason.TOKEN_BUDGET,
    TimeLimit: lambda part: StopReason.TIME_BUDGET,
    ToolCalled: lambda part: StopReason.TERMINAL_TOOL,
    ConfidenceMet: lambda part: StopReason.CONFIDENCE_MET,
    NoToolCalls: lambda part: StopReason.NO_TOOLS,
    CustomCondition: lambda part: _TOKENS.get(part.reason, StopReason.COMPLETE),
}


def _of_part(part: Judgement) -> StopReason:
    kind = _KINDS.get(type(part.condition))
    return kind(part) if kind is not None else StopReason.COMPLETE

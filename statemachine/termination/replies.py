"""Conditions on the last reply of the model: its text, its calls, its confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from guideway.statemachine.errors import HostError
from guideway.statemachine.patterns import PatternError, pattern

from .base import TerminationCondition
from .checks import integral, number, shown, words
from .judgement import Judgement
from .places import place_of
from .state import RunState


@dataclass(frozen=True, slots=True, repr=False)
class NoToolCalls(TerminationCondition):
    """
    The last reply asked for no tool.

    >>> from guideway.termination import RunState
    >>> NoToolCalls().check(RunState(iterations=1, text="Nothing to be done."))
    (True, 'no_tools')
    >>> NoToolCalls().check(RunState())  # no reply yet
    (False, None)
    """

    @property
    def reason(self) -> str:
        """`no_tools`."""
        return "no_tools"

    def judge(self, state: RunState, *, whole: bool = False) -> Judgement:
        """There was a reply, and no call in it."""
        return Judgement(self, state.iterations > 0 and state.tool_calls_last_turn == 0, self.reason)

    def to_json(self) -> dict[str, Any]:
        """`{"no_tool_calls": true}`."""
        return {"no_tool_calls": True}

    def to_playbook(self) -> dict[str, Any]:
        """`no_tool_calls: true`."""
        return self.to_json()

    def __repr__(self) -> str:
        return "NoToolCalls()"


@dataclass(frozen=True, slots=True, repr=False)
class ConfidenceMet(TerminationCondition):
    """
    The confidence of the run is at least `threshold`.

    Somebody has to give one: an agent with `reflexion=`, or a host with `Session.claim`.  Until then it is unknown, and
    ends nothing.

    Raises:
        HostError: `threshold` lies outside of 0 to 1.

    >>> from guideway.termination import RunState
    >>> ConfidenceMet(0.85).check(RunState(confidence=0.9))
    (True, 'confidence_met')
    >>> print(ConfidenceMet(0.85).explain(RunState()))
    unknown: confidence_met (nobody has given a confidence)
    """

    threshold: float

    def __post_init__(self) -> None:
        wanted = "a number from 0 to 1"
        object.__setattr__(self, "threshold", number("ConfidenceMet", self.threshold, 0, 1, wanted))

    @property
    def reason(self) -> str:
        """`confidence_met`."""
        return "confidence_met"

    def judge(self, state: RunState, *, whole: bool = False) -> Judgement:
        """Unknown where nobody has given a confidence, or one that is no number."""
        given = state.confidence
        if isinstance(given, bool) or not isinstance(given, int | float) or given != given:
            why = "nobody has given a confidence" if given is None else f"{shown(given)} is no confidence"
            return Judgement(self, None, self.reason, why=why)
        return Judgement(self, given >= self.threshold, self.reason)

    def to_json(self) -> dict[str, Any]:
        """`{"confidence_met": threshold}`."""
        return {"confidence_met": integral(self.threshold)}

    def to_playbook(self) -> dict[str, Any]:
        """`confidence_met: threshold`."""
        return self.to_json()

    def __repr__(self) -> str:
        return f"ConfidenceMet({integral(self.threshold)})"


@dataclass(frozen=True, slots=True, repr=False)
class TextMention(TerminationCondition):
    r"""
    Some part of the last reply's text matches `pattern`, a regular expression (RE2: linear in time, no look-around).

    Raises:
        HostError: it is no pattern; the message says at which character.

    >>> from guideway.termination import RunState
    >>> TextMention(r"\bDONE\b").check(RunState(text="The change was unDONE."))
    (False, None)
    >>> TextMention("a(b").pattern
    Traceback (most recent call last):
        ...
    guideway.statemachine.errors.HostError: TextMention: no pattern at character 1: missing ): a(b
    """

    pattern: str

    def __post_init__(self) -> None:
        source = words("TextMention", self.pattern)
        try:
            pattern(source)
        except PatternError as fault:
            place = place_of(source, str(fault))
            raise HostError(f"TextMention: no pattern at character {place}: {fault}") from None

    @property
    def is_mention(self) -> bool:
        """It does."""
        return True

    @property
    def reason(self) -> str:
        """`text_mention:` and the pattern."""
        return f"text_mention:{self.pattern}"

    def judge(self, state: RunState, *, whole: bool = False) -> Judgement:
        """Unknown where the text is no Unicode text; before there is any, an empty pattern finds nothing."""
        if not state.text and not state.iterations:
            return Judgement(self, False, self.reason)
        found = pattern(self.pattern).found_in(state.text)
        why = "the text holds half a surrogate pair" if found is None else ""
        return Judgement(self, found, self.reason, why=why)

    def to_json(self) -> dict[str, Any]:
        """`{"text_mention": pattern}`."""
        return {"text_mention": self.pattern}

    def to_playbook(self) -> dict[str, Any]:
        """`text_mention: pattern`."""
        return self.to_json()

    def __repr__(self) -> str:
        return f"TextMention({self.pattern!r})"

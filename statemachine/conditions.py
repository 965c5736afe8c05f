"""
Termination conditions, as values (FORMAT section 5).

They are predicates on the registers of a run; `guideway.runtime` evaluates them.  `describe` is the reason token that
names the accepting state a condition leads to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .expressions import Expression


@dataclass(frozen=True, slots=True)
class MaxIterations:
    """The run has had `limit` turns."""

    limit: int


@dataclass(frozen=True, slots=True)
class TokenLimit:
    """The model has used `limit` tokens."""

    limit: int


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """The run has lasted `seconds`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class NoToolCalls:
    """The last turn held text and no call."""


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A call of `tool` has succeeded with `where` and `expect` true; a blocked or failed one never counts (S36)."""

    tool: str
    where: Expression | None = None
    expect: Expression | None = None


@dataclass(frozen=True, slots=True)
class ConfidenceMet:
    """The confidence the host or the model has claimed is at least `threshold`."""

    threshold: float


@dataclass(frozen=True, slots=True)
class TextMention:
    """The text of the last turn matches the RE2 `pattern`."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Signalled:
    """The outside signal `name` has come."""

    name: str


@dataclass(frozen=True, slots=True)
class Custom:
    """The predicate `name`, which the host supplies, says yes."""

    name: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Some part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Condition


Condition = (
    MaxIterations
    | TokenLimit
    | TimeLimit
    | NoToolCalls
    | ToolCalled
    | ConfidenceMet
    | TextMention
    | Signalled
    | Custom
    | AllOf
    | AnyOf
    | Not
)


def leaves(condition: Condition) -> Iterator[Condition]:
    """Walk the condition down to the parts that are no combination, in the order of the page."""
    match condition:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from leaves(part)
        case Not(part):
            yield from leaves(part)
        case _:
            yield condition


def is_stop(condition: Condition) -> bool:
    """
    Say whether the condition is a limit (a stop) rather than a goal (S37).

    An `all` is a stop when any part is a limit; an `any` when every part is.

    >>> is_stop(AllOf((MaxIterations(3), ToolCalled("hand_over"))))
    True
    """
    match condition:
        case MaxIterations() | TokenLimit() | TimeLimit():
            return True
        case AllOf(parts):
            return any(is_stop(part) for part in parts)
        case AnyOf(parts):
            return all(is_stop(part) for part in parts)
        case Not(part):
            return is_stop(part)
        case _:
            return False


def describe(condition: Condition) -> str:
    """
    Name the condition in one token.

    >>> describe(AllOf((ToolCalled("isolate_host"), ConfidenceMet(0.9))))
    'tool_called:isolate_host AND confidence_met'
    """
    match condition:
        case MaxIterations():
            return "max_iterations"
        case TokenLimit():
            return "token_limit"
        case TimeLimit():
            return "time_limit"
        case NoToolCalls():
            return "no_tool_calls"
        case ToolCalled(tool):
            return f"tool_called:{tool}"
        case ConfidenceMet():
            return "confidence_met"
        case TextMention(pattern):
            return f"text_mention:{pattern}"
        case Signalled(name):
            return f"signal:{name}"
        case Custom(name):
            return f"custom:{name}"
        case AllOf(parts):
            return " AND ".join(map(describe, parts))
        case AnyOf(parts):
            return " OR ".join(map(describe, parts))
        case Not(part):
            return f"NOT {describe(part)}"

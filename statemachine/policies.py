"""
Policies as monitors (S41 to S43): small tables over the events of a run.

A monitor starts in state 0.  An event that matches `events[i]` takes it from state `s` to `table[s][i]`; the columns
are the events in their order and, where the table is one wider (`chain_…`), any other successful call.  To get into
`violated` is what the gate does not let happen; to end in one of `open` is an obligation not kept.  A policy that
counts (`most`, `least`) has no table: its state is the count.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from .expressions import Expression
from .span import Span
from .tools import Effect


class PolicyKind(StrEnum):
    """The names of DECLARE, with their meanings."""

    PRECEDENCE = "precedence"
    RESPONSE = "response"
    SUCCESSION = "succession"
    CHAIN_PRECEDENCE = "chain_precedence"
    CHAIN_RESPONSE = "chain_response"
    CHAIN_SUCCESSION = "chain_succession"
    NEVER = "never"
    AT_MOST = "at_most"
    AT_LEAST = "at_least"
    EXACTLY = "exactly"
    NOT_TOGETHER = "not_together"


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which events are meant: exactly one of `tool`, `step`, `approval`, `effect`; for calls `where` and `expect`."""

    tool: str | None = None
    step: str | None = None
    approval: str | None = None
    effect: Effect | None = None
    where: Expression | None = None
    expect: Expression | None = None

    def __str__(self) -> str:
        named = (("", self.tool), ("step:", self.step), ("approval:", self.approval), ("effect:", self.effect))
        text = next(prefix + name for prefix, name in named if name is not None)
        guards = (("where", self.where), ("expect", self.expect))
        return text + "".join(f" {key} {rule.source}" for key, rule in guards if rule is not None)


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy.  With `same`, there is one state for each combination of the values of those arguments."""

    id: str
    kind: PolicyKind
    events: tuple[Pattern, ...]
    table: tuple[tuple[int, ...], ...] = ()
    violated: int | None = None
    open: tuple[int, ...] = ()
    most: int | None = None
    least: int | None = None
    same: tuple[str, ...] = ()
    because: str | None = None
    span: Span | None = field(default=None, compare=False)

    @property
    def source(self) -> str:
        """
        What was written, in one line.

        >>> Policy("once", PolicyKind.AT_MOST, (Pattern(tool="pay"),), most=1).source
        'at_most: pay, times 1'
        """
        events = ", ".join(map(str, self.events))
        times = self.most if self.kind in (PolicyKind.AT_MOST, PolicyKind.EXACTLY) else self.least
        return f"{self.kind}: {events}" + ("" if times is None else f", times {times}")

    @property
    def counts(self) -> bool:
        """Its state is how often its event has happened."""
        return not self.table


_A, _B, _OTHER = 0, 1, 2

TABLES: dict[PolicyKind, tuple[tuple[tuple[int, ...], ...], int | None, tuple[int, ...]]] = {
    PolicyKind.PRECEDENCE: (((1, 2), (1, 1), (2, 2)), 2, ()),
    PolicyKind.RESPONSE: (((1, 0), (1, 0)), None, (1,)),
    PolicyKind.SUCCESSION: (((1, 3), (1, 2), (1, 2), (3, 3)), 3, (1,)),
    PolicyKind.CHAIN_PRECEDENCE: (((1, 2, 0), (1, 0, 0), (2, 2, 2)), 2, ()),
    PolicyKind.CHAIN_RESPONSE: (((1, 0, 0), (2, 0, 2), (2, 2, 2)), 2, (1,)),
    PolicyKind.CHAIN_SUCCESSION: (((1, 2, 0), (2, 0, 2), (2, 2, 2)), 2, (1,)),
    PolicyKind.NOT_TOGETHER: (((1, 2), (1, 3), (3, 2), (3, 3)), 3, ()),
}
"""Kind -> its table over the events (first, second[, any other call]), the violated state, the open states."""

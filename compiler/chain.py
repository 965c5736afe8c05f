"""
From one step to its states: `S.entry` before `S.approval` before `S`, with their edges.

What may happen in a state, and where it goes when the author says nothing, stands here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from guideway.statemachine.definition import Edge, State, StateKind
from guideway.statemachine.expressions.expression import Expression
from guideway.statemachine.span import Span
from guideway.statemachine.steps import Step

from .ends import Ends

ENTRY = ".entry"
APPROVAL = ".approval"


@dataclass(frozen=True, slots=True)
class Way:
    """One branch with its target resolved: a state's name, or an outcome, whose end is made when an edge needs it."""

    target: str
    guard: Expression | None
    span: Span | None
    outcome: bool = False


Ways = tuple[Way, ...]


@dataclass(frozen=True, slots=True)
class Exits:
    """Where a step goes.  `next` is never empty; any other is empty where its author says nothing."""

    next: Ways
    on_failure: Ways = ()
    on_reject: Ways = ()
    on_timeout: Ways = ()
    on_exhausted: Ways = ()
    on_unknown: Ways = ()
    on_max_visits: Ways = ()
    unknown_of: Mapping[str, Ways] = field(default_factory=dict)
    """By tool, what `tools.T.on_unknown` says."""
    switch: Ways = ()
    asks: bool = False
    """One of the step's own calls may wait for a person."""


def head(step: Step, kind: StateKind) -> str:
    """
    Name the state by which a step is entered.

    >>> head(Step("contain", max_visits=2), StateKind.STEP)
    'contain.entry'
    """
    if step.when is not None or step.max_visits is not None:
        return step.id + ENTRY
    return first_work(step, kind)


def first_work(step: Step, kind: StateKind) -> str:
    """Name the state in which a visit of the step begins."""
    beside = step.approval is not None and kind is not StateKind.APPROVAL
    return step.id + APPROVAL if beside else step.id


class Chain:
    """Builds the states of one step."""

    def __init__(self, step: Step, kind: StateKind, exits: Exits, ends: Ends) -> None:
        self.step = step
        self.kind = kind
        self.exits = exits
        self._ends = ends

    def states(self) -> list[State]:
        """Give the step's states, in the order in which a run passes them."""
        made = []
        if head(self.step, self.kind) == self.step.id + ENTRY:
            made.append(self._state(self.step.id + ENTRY, StateKind.ROUTER, self._entry()))
        if first_work(self.step, self.kind) == self.step.id + APPROVAL:
            made.append(self._state(self.step.id + APPROVAL, StateKind.APPROVAL, self._approval("approved")))
        made.append(self._state(self.step.id, self.kind, self._work()))
        return made

    def _state(self, name: str, kind: StateKind, ways: Mapping[str, Ways]) -> State:
        edges = {event: tuple(self._edge(name, event, way) for way in to) for event, to in ways.items() if to}
        return State(name, kind, edges, self.step)

    def _edge(self, source: str, event: str, way: Way) -> Edge:
        target = self._ends.word(way.target) if way.outcome else way.target
        return Edge(source, event, target, way.guard, way.span)

    # What may happen.  An event without branches has no edge. --------------------------------------------------

    def _entry(self) -> dict[str, Ways]:
        ways: dict[str, Ways] = {"entered": (Way(first_work(self.step, self.kind), None, self.step.span),)}
        if self.step.when is not None:
            ways |= {"passed": self.exits.next, "failed": self._failure()}
        if self.step.max_visits is not None:
            ways["max_visits"] = self.exits.on_max_visits or self._stop(f"max_visits:{self.step.id}")
        return ways

    def _approval(self, granted: str) -> dict[str, Ways]:
        after = self.exits.next if granted == "completed" else (Way(self.step.id, None, self.step.span),)
        return {
            granted: after,
            "rejected": self.exits.on_reject or self._stop("rejected"),
            "timeout": self._timeout(),
            "failed": self._failure(),
            "skipped": self._skip(),
        }

    def _work(self) -> dict[str, Ways]:
        if self.kind is StateKind.ROUTER:
            return {"completed": self.exits.switch, "failed": self._failure()}
        if self.kind is StateKind.APPROVAL:
            return self._approval("completed")
        ways = {
            "completed": self.exits.next,
            "skipped": self._skip(),
            "failed": self._failure(),
            "timeout": self._timeout(),
            "unknown": self.exits.on_unknown,
            **{f"unknown {tool}": to for tool, to in self.exits.unknown_of.items()},
            "rejected": self.exits.on_reject,
        }
        if self.kind is StateKind.CALL:
            return ways | {"rejected": self.exits.on_reject or (self._stop("rejected") if self.exits.asks else ())}
        return ways | self._exhausted()

    def _exhausted(self) -> dict[str, Ways]:
        """S22: without a way of its own, a spent step goes on as incomplete if a call succeeded, else the run fails."""
        if self.step.max_calls is None:
            return {}
        written = self.exits.on_exhausted or self.exits.on_failure
        if written:
            return {"exhausted": written}
        return {"exhausted": self._fault(f"exhausted:{self.step.id}"), "advanced": self.exits.next}

    # Where it goes when nobody says ----------------------------------------------------------------------------

    def _failure(self) -> Ways:
        return self.exits.on_failure or self._fault(self.step.id)

    def _timeout(self) -> Ways:
        if self.step.timeout is None:
            return ()
        return self.exits.on_timeout or self._stop(f"timeout:{self.step.id}")

    def _skip(self) -> Ways:
        return () if self.step.required else self.exits.next

    def _stop(self, reason: str) -> Ways:
        return (Way(self._ends.stop(reason), None, self.step.span),)

    def _fault(self, reason: str) -> Ways:
        return (Way(self._ends.fault(reason), None, self.step.span),)

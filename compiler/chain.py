"""
From one step to its states: `S.entry` before `S.approval` before `S`, and of a block `S.join` and `S.failed`.

What may happen in a state, and where it goes when the author says nothing, stands here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from guideway.statemachine.definition import BLOCKS, FAILED, JOIN, Edge, State, StateKind, expires
from guideway.statemachine.expressions.expression import Expression
from guideway.statemachine.span import Span
from guideway.statemachine.steps import Step

from .ends import Ends

ENTRY = ".entry"
APPROVAL = ".approval"

_CALLING = (StateKind.STEP, StateKind.CALL, StateKind.UNDO)


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
    expires: bool = False
    """A question about one of the step's own calls may expire by itself (S30)."""
    heads: Ways = ()
    """Of a block, where each of its lists begins."""
    answers: Mapping[str, Ways] = field(default_factory=dict)
    """By label, where a choice leads that has a way of its own."""
    failed: str = ""
    """Where the failure of the block leads that the step stands in; none: a failure is an end of its own."""


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
        if self.kind in BLOCKS:
            made.append(self._state(self.step.id + JOIN, StateKind.JOIN, self._joined()))
            made.append(self._state(self.step.id + FAILED, StateKind.JOIN, {"failed": self._failure()}))
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
            "timeout": self._timeout(self.step.approval is not None and expires(self.step.approval)),
            "failed": self._failure(),
            "skipped": self._skip(),
        }

    def _work(self) -> dict[str, Ways]:
        if self.kind is StateKind.ROUTER:
            return {"completed": self.exits.switch, "failed": self._failure()}
        if self.kind is StateKind.APPROVAL:
            return self._approval("completed")
        if self.kind in BLOCKS:
            return self._block()
        ways = {
            "completed": self.exits.next,
            "skipped": self._skip(),
            "failed": self._failure(),
            "timeout": self._timeout(self.exits.expires),
        }
        if self.kind is StateKind.ASK:
            return self._answered(ways)
        return ways | self._calls() if self.kind in _CALLING else ways

    def _answered(self, ways: dict[str, Ways]) -> dict[str, Ways]:
        """Where every choice leads somewhere of its own, no answer leads to `next`, and nothing is drawn there."""
        answers = self.exits.answers
        choices = self.step.ask.choices if self.step.ask else ()
        if choices and all(label in answers for label in choices):
            ways = {event: to for event, to in ways.items() if event != "completed"}
        return ways | {f"answered {label}": to for label, to in answers.items()}

    def _calls(self) -> dict[str, Ways]:
        """What may become of calls that are made in the state."""
        if self.kind is StateKind.UNDO:
            return {"rejected": self._refusal()}
        cut_off = {
            "unknown": self.exits.on_unknown,
            **{f"unknown {tool}": to for tool, to in self.exits.unknown_of.items()},
        }
        if self.kind is StateKind.CALL:
            return cut_off | {"rejected": self._refusal()}
        return cut_off | {"rejected": self.exits.on_reject, **self._exhausted()}

    def _block(self) -> dict[str, Ways]:
        """What the cursor that waits in the block may see; the lists inside have cursors of their own."""
        return {
            "forked": self.exits.heads,
            "joined": (Way(self.step.id + JOIN, None, self.step.span),),
            "failed": (Way(self.step.id + FAILED, None, self.step.span),),
            "timeout": self._timeout(),
            "skipped": self._skip(),
        }

    def _joined(self) -> dict[str, Ways]:
        again = self.kind in (StateKind.EACH, StateKind.LOOP)
        return {"completed": self.exits.next, "again": self.exits.heads if again else ()}

    def _exhausted(self) -> dict[str, Ways]:
        """S22: without a way of its own, a spent step goes on as incomplete if a call succeeded, else it fails."""
        if self.step.max_calls is None:
            return {}
        written = self.exits.on_exhausted or self.exits.on_failure
        if written:
            return {"exhausted": written}
        return {"exhausted": self._fault(f"exhausted:{self.step.id}"), "advanced": self.exits.next}

    # Where it goes when nobody says ----------------------------------------------------------------------------

    def _failure(self) -> Ways:
        return self.exits.on_failure or self._fault(self.step.id)

    def _timeout(self, expiring: bool = False) -> Ways:
        """A question that expires takes `on_timeout` too, where that is written; else it counts as refused (S30)."""
        if self.step.timeout is None:
            return self.exits.on_timeout if expiring else ()
        return self.exits.on_timeout or self._stop(f"timeout:{self.step.id}")

    def _refusal(self) -> Ways:
        return self.exits.on_reject or (self._stop("rejected") if self.exits.asks else ())

    def _skip(self) -> Ways:
        return () if self.step.required else self.exits.next

    def _stop(self, reason: str) -> Ways:
        return (Way(self._ends.stop(reason), None, self.step.span),)

    def _fault(self, reason: str) -> Ways:
        """S27: in a block, the block fails."""
        if self.exits.failed:
            return (Way(self.exits.failed, None, self.step.span),)
        return (Way(self._ends.fault(reason), None, self.step.span),)

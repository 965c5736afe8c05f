"""
What a playbook says, as an explicit machine.

A `Definition` never moves: a cursor does, from state to state, along its edges.  The gate, the checker, the pictures
and the artifact all read these same tables.

Events of an edge: `completed`, `skipped`, `advanced` (incomplete, S22), `failed`, `exhausted`, `timeout`, `unknown`
(or `unknown TOOL`), `approved`, `rejected`, `answered LABEL`, and, out of the router before a step, `entered`,
`passed`, `max_visits`.  The edges of one state and event are a branch list: first true guard wins (S10).

A block `S` (parallel, for_each, repeat, section) is a state with an edge `forked` to the head of each of its lists:
all of them are taken, each by a cursor of its own, while the cursor in `S` waits.  The lists lead to `S.join`, or by
their failures to `S.failed`; what happens there takes the waiting cursor on, along `joined` or `failed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from .approvals import Approval
from .conditions import Condition, Signalled, TimeLimit, leaves
from .expressions import Expression
from .policies import Policy
from .span import Span
from .steps import Step
from .tools import Tool, best_match, is_pattern

FORMAT_VERSION = 1
ANYWHERE = "*"


class StateKind(StrEnum):
    """What a cursor in the state waits for."""

    STEP = "step"
    """an agent's calls"""
    CALL = "call"
    """a call of the runtime's own"""
    APPROVAL = "approval"
    """a person's decision"""
    ASK = "ask"
    """a person's answer"""
    WAIT = "wait"
    """time, a condition, or a signal"""
    UNDO = "undo"
    """calls of the runtime's own that take others back"""
    FORK = "fork"
    """branches side by side (`parallel`)"""
    EACH = "each"
    """the list inside, once per item (`for_each`)"""
    LOOP = "loop"
    """the list inside, round after round (`repeat` with `steps`)"""
    SECTION = "section"
    """the list inside, once"""
    FRAME = "frame"
    """a sub-playbook"""
    JOIN = "join"
    """nothing: lists of a block arrive here"""
    ROUTER = "router"
    """nothing: the state is left at once, along the first true branch"""
    END = "end"
    """nothing: accepting"""


BLOCKS = frozenset({StateKind.FORK, StateKind.EACH, StateKind.LOOP, StateKind.SECTION})
"""States whose cursor waits for the lists inside."""

JOIN = ".join"
FAILED = ".failed"
"""`S.join` and `S.failed`: where the lists of the block `S` arrive."""


class EndKind(StrEnum):
    """Why a run may end in the state (S37)."""

    GOAL = "goal"
    STOP = "stop"
    FAULT = "fault"


class OutcomeClass(StrEnum):
    """How an end is to be read.  `incomplete` is given by the engine only."""

    SUCCESS = "success"
    STOPPED = "stopped"
    FAILED = "failed"
    ESCALATED = "escalated"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class End:
    """An accepting state's own part: the outcome a run publishes there, and its class."""

    kind: EndKind
    outcome: str
    outcome_class: OutcomeClass


@dataclass(frozen=True, slots=True)
class Edge:
    """State, event and guard lead to a state.  A source of `*` stands for every state."""

    source: str
    event: str
    target: str
    guard: Expression | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class State:
    """One state.  `edges` maps an event to its branches, in the order of the page."""

    name: str
    kind: StateKind
    edges: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)
    step: Step | None = None
    end: End | None = None

    @property
    def opens(self) -> bool:
        """Entering the state from elsewhere begins a visit of its step."""
        return self.step is not None and self.kind not in (StateKind.ROUTER, StateKind.JOIN)

    @property
    def block(self) -> str:
        """The step whose block the state lies in: that of its step; `S.join` and `S.failed` lie inside `S`."""
        if self.step is None:
            return ""
        return self.step.id if self.kind is StateKind.JOIN else self.step.block


@dataclass(frozen=True, slots=True)
class Input:
    """A value the operator gives.  `schema` is a JSON Schema."""

    name: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    required: bool = True
    default: Any = None
    sensitive: bool = False


@dataclass(frozen=True, slots=True)
class Termination:
    """One branch of `termination`: when its condition holds, the run goes to the accepting state `target`."""

    condition: Condition
    target: str
    reason: str
    outcome: str | None = None
    """The author's word, where one was given: the run ends with it whatever is still open."""
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Definition:
    """
    The whole machine.

    `facts` and `history` say which paths of which results any expression or template reads (S5); an empty one: all.
    `anywhere` are edges every state has: termination, limits, faults of the engine.
    """

    id: str
    name: str
    initial: str
    states: Mapping[str, State]
    steps: Mapping[str, Step]
    description: str = ""
    version: str = ""
    inputs: Mapping[str, Input] = field(default_factory=dict)
    outcomes: Mapping[str, OutcomeClass] = field(default_factory=dict)
    tools: Mapping[str, Tool] = field(default_factory=dict)
    closed_alphabet: bool = False
    """`tools` was written: a name it does not list is unknown."""
    optional_tools: tuple[str, ...] = ()
    extra_tools: bool = False
    terms: Mapping[str, Expression] = field(default_factory=dict)
    termination: tuple[Termination, ...] = ()
    anywhere: tuple[Edge, ...] = ()
    max_iterations: int = 1000
    max_refusals: int = 5
    max_nudges: int = 3
    facts: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    history: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    reads_now: bool = False
    """Some expression reads the clock: a session must be given `now`."""
    unresolved_skills: tuple[str, ...] = ()
    outputs: Mapping[str, Expression] = field(default_factory=dict)
    """What a caller reads of the playbook once it has ended."""
    conversation: bool = False
    """A reply without calls goes to the user and ends nothing."""
    predicates: tuple[str, ...] = ()
    """Yes-or-no questions that the host answers."""
    policies: tuple[Policy, ...] = ()
    closing: tuple[str, ...] = ()
    """The call steps of `finally`, in order; their states have no edges."""
    callees: Mapping[str, Definition] = field(default_factory=dict)
    """Every playbook that this one calls, by itself or through others, by id; theirs are empty."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION
    span: Span | None = field(default=None, compare=False)

    @cached_property
    def named_tools(self) -> frozenset[str]:
        """Every tool (or pattern) that some step names."""
        named = {entry.tool for step in self.steps.values() if step.work for entry in step.work.entries}
        return frozenset(named | {step.call.tool for step in self.steps.values() if step.call})

    @cached_property
    def calls_others(self) -> frozenset[str]:
        """The playbooks that its own steps call."""
        return frozenset(step.playbook.playbook for step in self.steps.values() if step.playbook)

    @property
    def playbooks(self) -> tuple[Definition, ...]:
        """This playbook, and every one that it calls."""
        return (self, *self.callees.values())

    @cached_property
    def signals_waited_for(self) -> frozenset[str]:
        """The outside signals that some step of the playbook, or of one it calls, waits for."""
        waits = (step.wait for part in self.playbooks for step in part.steps.values() if step.wait)
        return frozenset(wait.signal for wait in waits if wait.signal)

    @cached_property
    def signals(self) -> frozenset[str]:
        """Those, and the signals by which a playbook ends."""
        conditions = (
            leaf for part in self.playbooks for branch in part.termination for leaf in leaves(branch.condition)
        )
        return self.signals_waited_for | {leaf.name for leaf in conditions if isinstance(leaf, Signalled)}

    @cached_property
    def timed(self) -> bool:
        """Some timer can run or the clock is read, so a session refuses to start without `now` (S7)."""
        if any(isinstance(leaf, TimeLimit) for branch in self.termination for leaf in leaves(branch.condition)):
            return True
        return (
            self.reads_now
            or any(
                step.timeout is not None
                or (step.retry is not None and step.retry.wait > 0)
                or (step.call is not None and step.call.repeat is not None and step.call.repeat.wait > 0)
                or (step.repeat is not None and step.repeat.wait > 0)
                or (step.wait is not None and step.wait.seconds is not None)
                or (step.ask is not None and step.ask.remind is not None)
                or any(approval is not None and expires(approval) for approval in approvals(step))
                for step in self.steps.values()
            )
            or any(tool.approval is not None and expires(tool.approval) for tool in self.tools.values())
            or any(callee.timed for callee in self.callees.values())
        )

    def tool(self, name: str) -> Tool | None:
        """Find what is declared of a tool: by its name, else by the most specific pattern."""
        found = self.tools.get(name)
        if found is None and (pattern := best_match(name, self.tool_patterns)):
            found = self.tools[pattern]
        return found

    @cached_property
    def tool_patterns(self) -> tuple[str, ...]:
        """Those names of `tools` that are patterns."""
        return tuple(name for name in self.tools if is_pattern(name))

    def edges(self) -> Iterator[Edge]:
        """Every edge, state by state, in order; those of `*` last."""
        for state in self.states.values():
            for branches in state.edges.values():
                yield from branches
        yield from self.anywhere

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the canonical JSON of the definition without its places (S50), as hex."""
        from .artifact import definition_digest

        return definition_digest(self)

    def graph(self) -> Any:
        """The machine as a `networkx.MultiDiGraph`: states are nodes, edges carry event and guard."""
        from .graph import graph

        return graph(self)


def approvals(step: Step) -> Iterator[Approval | None]:
    """Every approval that is written on the step: its own, and those of its entries."""
    yield step.approval
    for entry in step.work.entries if step.work else ():
        yield entry.approval


def expires(approval: Approval) -> bool:
    """Some rule of it has a deadline."""
    return any(rule.timeout is not None for rule in approval.rules())

"""
A definition made ready to decide on.

One plan serves every session of a machine.  Rows are made when a cursor first enters their state, so a playbook of
100,000 steps costs a session nothing that it does not visit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from guideway.statemachine.approvals import Approval
from guideway.statemachine.conditions import MaxIterations, ToolCalled, leaves
from guideway.statemachine.definition import ANYWHERE, Definition, Edge, State, StateKind
from guideway.statemachine.errors import HostError
from guideway.statemachine.expressions import Expression, Terms
from guideway.statemachine.machine import Machine
from guideway.statemachine.steps import Entry, Step
from guideway.statemachine.tools import CONTROL, Effect, Names, Tool, best_match, is_pattern

from .facts import Keeper
from .reads import fact_names, roots
from .verdicts import Progress

UNDECLARED = Tool("")


class Line:
    """
    One entry of a step, with what is declared of its tool.

    `fresh` names the facts its `where` reads: while an earlier call may still change one of them, the entry cannot be
    decided (S14.4).  `volatile` is set where it reads the counters of the run, which any call may change.
    """

    __slots__ = (
        "approval", "because", "entry", "expect", "fact", "fresh", "index", "keep", "needed", "times", "tool",
        "volatile", "where",
    )  # fmt: skip

    def __init__(self, index: int, entry: Entry, tool: Tool, plan: Plan) -> None:
        self.index = index
        self.entry = entry
        self.tool = tool
        self.needed = not entry.optional
        self.times = entry.times
        if self.times is None and tool.effect is Effect.IRREVERSIBLE:
            self.times = 1  # S18
        self.where: tuple[Expression, ...] = tuple(w for w in (entry.where, tool.where) if w is not None)
        self.because = entry.because or tool.because
        self.expect = entry.expect
        self.approval: Approval | None = None if entry.waived else entry.approval or tool.approval
        self.fact = entry.fact
        self.keep = plan.keeper.wants(entry.fact) if entry.fact else True
        terms = plan.definition.terms
        self.fresh = frozenset[str]().union(*(fact_names(w, terms) for w in self.where))
        self.volatile = any(roots(w, terms) & {"run", "claims"} for w in self.where)

    def met(self, successes: int) -> bool:
        """The entry asks for no more (S18)."""
        return successes >= (self.times or 1)


NONE: dict[str, Line] = {}


class Row:
    """One state, made ready."""

    __slots__ = (
        "_looked",
        "_named",
        "_onward",
        "arrived",
        "block",
        "hop",
        "kind",
        "line",
        "lines",
        "name",
        "needed",
        "only",
        "patterns",
        "quick",
        "state",
        "step",
        "then",
    )

    def __init__(self, state: State, plan: Plan) -> None:
        self.state = state
        self.name = state.name
        self.kind = state.kind
        self.block = state.block
        self.step: Step | None = state.step
        self.lines: tuple[Line, ...] = ()
        if state.kind is StateKind.STEP and state.step is not None and state.step.work is not None:
            entries = state.step.work.entries
            self.lines = tuple(Line(i, e, plan.tool(e.tool) or UNDECLARED, plan) for i, e in enumerate(entries))
        self.needed = tuple(line for line in self.lines if line.needed)
        self.patterns = tuple(line for line in self.lines if is_pattern(line.entry.tool))
        self._named: dict[str, tuple[Line, ...]] | None = None
        self.then = self.plain_next()
        self.hop = len(self.needed) == 1 and (self.needed[0].times or 1) == 1
        """one success of the one expected tool completes the step"""
        fast = self.then is not None and plan.quick and not plan.row_is_slow(self)
        self.quick: dict[str, Line] = self.alone(plan) if fast else NONE
        """what the fast path admits here, by tool"""
        self.only: str | None = None
        """the one tool it admits here, where one success of it completes the step"""
        self.line: Line | None = None
        if self.hop and len(self.quick) == 1:
            [(self.only, self.line)] = self.quick.items()
        self.arrived = Progress(self.name, (), None)
        """what the fast path answers when it has come here, or stays: nothing else moved"""
        self._onward: Row | None = None
        self._looked = False

    def onward(self, rows: Rows) -> Row | None:
        """Where `completed` leads, if the fast path may go there.  Looked up once."""
        if not self._looked:
            self._looked = True
            if self.then is not None and rows[self.then.target].quick:
                self._onward = rows[self.then.target]
        return self._onward

    def alone(self, plan: Plan) -> dict[str, Line]:
        """Plain entries whose tool no other entry of the step names, by tool."""
        if len(self.lines) == 1:
            line = self.lines[0]
            return {line.entry.tool: line} if plan.line_is_quick(line) and not self.patterns else {}
        named = self.named()
        return {tool: lines[0] for tool, lines in named.items() if len(lines) == 1 and plan.line_is_quick(lines[0])}

    def named(self) -> dict[str, tuple[Line, ...]]:
        """The entries by the tool they name, patterns left out; made when first asked for."""
        if self._named is None:
            self._named = {}
            for line in self.lines:
                if not is_pattern(line.entry.tool):
                    self._named[line.entry.tool] = (*self._named.get(line.entry.tool, ()), line)
        return self._named

    def plain_next(self) -> Edge | None:
        """The edge of `completed`, where there is just one and nothing guards it."""
        branches = self.state.edges.get("completed", ())
        return branches[0] if len(branches) == 1 and branches[0].guard is None else None

    def match(self, tool: str) -> tuple[Line, ...]:
        """The entries that speak of `tool`, in listed order."""
        exact = self.named().get(tool, ())
        if not self.patterns:
            return exact
        loose = tuple(p for p in self.patterns if best_match(tool, (p.entry.tool,)))
        return tuple(sorted((*exact, *loose), key=lambda line: line.index)) if loose else exact


class Rows(dict[str, Row]):
    """State name -> its row, made on first use."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __missing__(self, name: str) -> Row:
        row = self[name] = Row(self.plan.definition.states[name], self.plan)
        return row


class Plan:
    """A machine's definition, indexed for the gate."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.kept = machine.__dict__
        """holds `events` once the machine is materialized: then callbacks may be registered, and moves fire them"""
        definition = machine.definition
        if definition is None:
            raise HostError("a session runs a machine made of a playbook: guideway.load(…) or Machine.of(definition)")
        self.definition: Definition = definition
        self.keeper = Keeper(definition.facts, definition.history)
        self.terms = Terms(definition.terms)
        parts = definition.playbooks
        self.grave = any(tool.effect is Effect.IRREVERSIBLE for part in parts for tool in part.tools.values())
        """it knows of irreversible tools, which run alone; or a playbook does that it calls"""
        self.callees: dict[str, Plan] = {}
        self.root: Plan = self
        """the plan of the playbook that was started, which holds those of all it calls"""
        self.named, self.optional = Names(definition.named_tools), Names(definition.optional_tools)
        self.aliases = {t.alias: name for name, t in definition.tools.items() if t.alias}
        self.limit = definition.max_iterations
        self.quick = self.plain_termination(definition) and not watches_all(definition)
        self.called: dict[str, list[ToolCalled]] = {}
        self.watched = frozenset(p.tool for policy in definition.policies for p in policy.events if p.tool)
        for branch in definition.termination:
            for leaf in leaves(branch.condition):
                if isinstance(leaf, ToolCalled):
                    self.called.setdefault(leaf.tool, []).append(leaf)
        self.anywhere = {(e.event, e.target): e for e in definition.anywhere if e.source == ANYWHERE}
        self.rows = Rows(self)
        self.admitting: dict[str, frozenset[str]] | None = None
        self.found: dict[str, Tool | None] = {}

    def plain_termination(self, definition: Definition) -> bool:
        """Only turns can end a run of this playbook, so a call in the middle of one need not look."""
        plain = all(isinstance(branch.condition, MaxIterations) for branch in definition.termination)
        for branch in definition.termination:
            if isinstance(branch.condition, MaxIterations):
                self.limit = min(self.limit, branch.condition.limit)
        return plain

    def callee(self, name: str) -> Plan:
        """The plan of a playbook that this one calls, made when it is first called."""
        known = self.root.callees
        if name not in known:
            known[name] = Plan(Machine.of(self.root.definition.callees[name]))
            known[name].root = self.root
        return known[name]

    def tool(self, name: str) -> Tool | None:
        """What is declared of a tool, remembered for the names of the playbook."""
        if name not in self.found:
            if len(self.found) > 10_000:  # a model may invent names without end
                self.found.clear()
            self.found[name] = self.definition.tool(name)
        return self.found[name]

    def effect(self, name: str) -> Effect:
        """The declared effect; a tool nobody declared writes."""
        tool = self.tool(name)
        return tool.effect if tool else Effect.WRITE

    def row_is_slow(self, row: Row) -> bool:
        """Some register, limit or timer of the step needs the general path."""
        step = row.step
        if step is None or step.work is None or not row.needed:
            return True
        return bool(
            step.max_calls is not None
            or step.min_calls
            or step.validation
            or step.timeout is not None
            or step.retry is not None
            or step.work.listed
            or step.claims
            or step.probes
        )

    def line_is_quick(self, line: Line) -> bool:
        """A call of this entry needs nothing but counting."""
        tool = line.tool
        return (
            line.needed
            and line.approval is None
            and not line.where
            and line.expect is None
            and tool.parameters is None
            and tool.result is None
            and tool.undo is None
            and line.entry.tool not in self.called
            and line.entry.tool not in self.watched
            and (self.definition.tools == {} or self.tool(line.entry.tool) is not None)
        )

    def is_optional(self, tool: str) -> bool:
        """Top-level `optional_tools` name it."""
        return tool in self.optional

    def is_extra(self, tool: str) -> bool:
        """`allow_extra_tools` lets it through: no step names it, and it is not irreversible (S34)."""
        if not self.definition.extra_tools or self.effect(tool) is Effect.IRREVERSIBLE:
            return False
        return tool not in self.named

    def knows(self, tool: str) -> bool:
        """Some step, `tools` entry or extra rule speaks of the tool (S14.2)."""
        if tool in self.named or tool in CONTROL or tool in self.optional:
            return True
        return self.tool(tool) is not None or self.is_extra(tool)


def watches_all(definition: Definition) -> bool:
    """Some policy looks at more than calls of tools it names, so every move has to be reckoned with."""
    events = (pattern for policy in definition.policies for pattern in policy.events)
    return any(len(policy.table) and len(policy.table[0]) > 2 for policy in definition.policies) or any(
        pattern.tool is None for pattern in events
    )


_PLANS = "_guideway_plan"


def plan_of(machine: Machine) -> Plan:
    """
    The plan of a machine, made once.

    Raises:
        HostError: it is no machine.
    """
    if not isinstance(machine, Machine):
        raise HostError(f"a session runs a machine, as guideway.load gives it, not {type(machine).__name__}")
    found: Plan | None = machine.__dict__.get(_PLANS)
    if found is None or found.machine is not machine:
        found = machine.__dict__[_PLANS] = Plan(machine)
    return found


def tools_of(lines: Iterable[Line]) -> list[str]:
    """Names of the tools, each once, in order."""
    return list(dict.fromkeys(line.entry.tool for line in lines))


Inputs = Mapping[str, Any]

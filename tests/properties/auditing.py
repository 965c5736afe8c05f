"""
What must hold of every run, read off its records alone (but for guards, which are asked again at the very moment).

Nothing here asks the gate: the definition says what a state admits, the records say what was done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from guideway.statemachine.definition import Definition, State, StateKind
from guideway.statemachine.expressions import Terms
from guideway.statemachine.steps import Entry
from guideway.statemachine.tools import Effect

CONTROL = ("complete_step", "skip_step")
Record = tuple[Any, ...]


def entries(state: State, tool: str) -> list[Entry]:
    """The entries of a state that speak of a tool."""
    work = state.step.work if state.step is not None and state.kind is StateKind.STEP else None
    return [entry for entry in work.entries if fnmatchcase(tool, entry.tool)] if work else []


def effect(definition: Definition, tool: str) -> Effect:
    """What a call of the tool does to the world."""
    found = definition.tool(tool)
    return found.effect if found else Effect.WRITE


def quota(definition: Definition, entry: Entry) -> int | None:
    """How many successes the entry takes in a visit (S18)."""
    return entry.times or (1 if effect(definition, entry.tool) is Effect.IRREVERSIBLE else None)


def outside(definition: Definition, tool: str) -> bool:
    """The tool is legal in every state: optional for the whole playbook, or extra."""
    if any(fnmatchcase(tool, name) for name in definition.optional_tools):
        return True
    named = any(fnmatchcase(tool, name) for name in definition.named_tools)
    return definition.extra_tools and not named and effect(definition, tool) is not Effect.IRREVERSIBLE


class Audit:
    """Goes through the records of one run, in order, and raises `AssertionError` at the first that may not be."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.visit = 0
        self.state = definition.initial
        self.admitted: dict[str, tuple[str, int]] = {}
        """call id -> its tool, and the visit it was admitted in"""
        self.asked: set[str] = set()
        self.running: set[str] = set()
        self.counted: Counter[tuple[int, str]] = Counter()
        """(visit, tool) -> successes that counted"""
        self.spent: Counter[int] = Counter()
        """visit -> calls of its step's entries that happened, or may have, or are under way"""
        self.over = False

    def read(self, records: Iterable[Record]) -> None:
        """Hold every rule against every record."""
        for kind, _, *values in records:
            if kind == "decided" and values[3] in ("allow", "needs_approval"):
                self.decided(*values)
            elif kind == "settled":
                self.settled(*values)
            elif kind == "moved":
                self.moved(*values)
            elif kind == "ending":
                assert not self.over, "a run ends once"
                self.over = True
            elif kind == "ended":
                assert not self.running, "nothing is published while a call is under way"

    def decided(self, call_id: str, tool: str, args: Any, verdict: str, step: str, state: str, *_: Any) -> None:
        """A call is admitted, or put before a person."""
        assert not self.over, f"{call_id} is admitted after the end"
        assert call_id not in self.admitted, f"{call_id} is admitted twice"
        assert state == self.state
        if tool in CONTROL:
            return
        here = self.definition.states[state]
        own = here.kind is StateKind.CALL and here.step is not None and here.step.call is not None
        automatic = own and call_id.startswith(f"{step}@")
        if automatic:
            assert here.step is not None and here.step.call is not None and here.step.call.tool == tool
        else:
            assert entries(here, tool) or outside(self.definition, tool), f"`{state}` does not name {tool}"
        if verdict == "needs_approval":
            assert call_id not in self.asked, f"{call_id} is asked twice"
            self.asked.add(call_id)
            return
        alone = effect(self.definition, tool) is Effect.IRREVERSIBLE
        beside = {self.admitted[other][0] for other in self.running}
        assert not (alone and beside), f"irreversible {tool} beside {beside}"
        assert not any(effect(self.definition, other) is Effect.IRREVERSIBLE for other in beside)
        self.admitted[call_id] = tool, self.visit
        self.running.add(call_id)
        self.asked.discard(call_id)
        if entries(here, tool) and not outside(self.definition, tool):
            self.spent[self.visit] += 1
            most = here.step.max_calls if here.step else None
            assert most is None or self.spent[self.visit] <= most, "more calls than max_tool_calls"

    def settled(self, call_id: str, tool: str, outcome: str, _: Any, counts: bool, *__: Any) -> None:
        """A call has come to its end."""
        if tool in CONTROL:
            return
        assert call_id in self.running, f"{call_id} settles and was not under way"
        self.running.remove(call_id)
        visit = self.admitted[call_id][1]
        if outcome == "cancelled":
            self.spent[visit] -= 1
        if counts and outcome == "ok":
            self.counted[visit, tool] += 1
            state = self.definition.states[self.state]
            limits = [quota(self.definition, entry) for entry in entries(state, tool)]
            if visit == self.visit and limits and not outside(self.definition, tool):
                most = None if None in limits else sum(limit or 0 for limit in limits)
                assert most is None or self.counted[visit, tool] <= most, f"{tool} more often than its quota"

    def moved(self, source: str, event: str, target: str, _: str, why: str | None, __: str | None) -> None:
        """The run goes on to another state."""
        assert source == self.state
        state = self.definition.states[source]
        edges = [*state.edges.get(event, ()), *(edge for edge in self.definition.anywhere if edge.event == event)]
        ours = event == "failed" and target == "failed:host"
        assert ours or any(edge.target == target for edge in edges), f"no edge {source} -{event}-> {target}"
        if event == "completed" and state.kind is StateKind.STEP and why != "by the host":
            self.completed(state)
        self.state = target
        if event != "approved":
            self.visit += 1

    def completed(self, state: State) -> None:
        """Every expected tool has succeeded, as often as was asked."""
        work = state.step.work if state.step else None
        needed: Counter[str] = Counter()
        for entry in work.entries if work else ():
            if not entry.optional:
                needed[entry.tool] += quota(self.definition, entry) or 1
        for tool, times in needed.items():
            assert self.counted[self.visit, tool] >= times, f"`{state.name}` completed without {tool} {times} times"


def guards_hold(run: Any, call_id: str, tool: str, args: Any, state: str) -> int:
    """
    At the moment of an admission, some entry that names the tool has its own `where`, and the tool's, true.

    Gives the number of guards that were asked.
    """
    definition = run.plan.definition
    names = {
        "inputs": run.frame.inputs, "facts": run.frame.facts, "history": run.frame.history, "args": args,
        "claims": {"text": run.text} | ({} if run.confidence is None else {"confidence": run.confidence}),
        "terms": Terms(definition.terms),
        "run": {
            "id": run.run_id, "started_by": run.started_by, "iterations": run.iterations, "calls": run.calls,
            "tokens": run.tokens, "elapsed": (run.now - run.started).total_seconds() if run.now and run.started else 0,
        },
    }  # fmt: skip
    declared = definition.tool(tool)
    common = [declared.where] if declared and declared.where else []
    ways = [[*common, entry.where] if entry.where else common for entry in entries(definition.states[state], tool)]
    if outside(definition, tool) or definition.states[state].kind is StateKind.CALL:
        ways.append(common)
    assert any(all(rule(names, run.now) is True for rule in way) for way in ways), f"{call_id}: no `where` is true"
    return sum(map(len, ways))

"""Machines to be drawn, built by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from guideway.statemachine.approvals import Approval
from guideway.statemachine.conditions import ToolCalled
from guideway.statemachine.definition import (
    Definition,
    Edge,
    End,
    EndKind,
    OutcomeClass,
    State,
    StateKind,
    Termination,
)
from guideway.statemachine.expressions import parse
from guideway.statemachine.steps import Call, Entry, Step, Work
from guideway.statemachine.tools import Effect, Tool

Branches = str | list[tuple[str, str]]
TORTURE = (
    "deploy: prod", 'a"b', "100%", "🚀 launch", "end", "graph", "node", "n0", "a/b", "<b>x</b>", "a & b", "&lt;",
    "back\\slash", "{curly}", "[*]", "it's; --> x", "two\nlines\x1b[31m", "日本語", "%% x", "__init__", "# 1.", "$$x$$",
)  # fmt: skip


def state(name: str, kind: StateKind, step: Step | None = None, **edges: Branches) -> State:
    """Build a state; an edge is a target, or a list of (guard, target) with an empty guard for the last."""
    return State(name, kind, {event: _branches(name, event, to) for event, to in edges.items()}, step)


def _branches(source: str, event: str, to: Branches) -> tuple[Edge, ...]:
    if isinstance(to, str):
        return (Edge(source, event, to),)
    return tuple(Edge(source, event, target, parse(guard) if guard else None) for guard, target in to)


def end(name: str, kind: EndKind, outcome: str, outcome_class: OutcomeClass) -> State:
    """Build an accepting state."""
    return State(name, StateKind.END, end=End(kind, outcome, outcome_class))


def goal(name: str, outcome_class: OutcomeClass = OutcomeClass.SUCCESS) -> State:
    """Build a declared end."""
    return end(name, EndKind.GOAL, name, outcome_class)


def engine() -> tuple[list[State], tuple[Edge, ...]]:
    """Give what every machine has: its limits and faults."""
    stops = [
        end(name, EndKind.STOP, name, OutcomeClass.STOPPED) for name in ("stopped:max_iterations", "stopped:nudges")
    ]
    faults = [end("failed:host", EndKind.FAULT, "failed:host", OutcomeClass.FAILED)]
    ends = stops + faults
    return ends, tuple(Edge("*", state.name.split(":")[1], state.name) for state in ends)


def table(*states: State) -> Mapping[str, State]:
    """Key states by their names."""
    return {state.name: state for state in states}


@pytest.fixture
def linear() -> Definition:
    """Build thirty steps in a row."""
    steps = [Step(f"s{n}", work=Work((Entry(f"t{n}"),))) for n in range(30)]
    following = [step.id for step in steps[1:]] + ["success"]
    states = [
        state(step.id, StateKind.STEP, step, completed=target, failed=f"failed:{step.id}")
        for step, target in zip(steps, following, strict=True)
    ]
    faults = [end(f"failed:{s.id}", EndKind.FAULT, f"failed:{s.id}", OutcomeClass.FAILED) for s in steps]
    ends, anywhere = engine()
    return Definition("lin", "Thirty", "s0", table(*states, goal("success"), *faults, *ends),
                      {step.id: step for step in steps}, anywhere=anywhere)  # fmt: skip


@pytest.fixture
def triage() -> Definition:
    """Build one of each kind: an agent's step, a router, a guarded call with an approval, ends of every class."""
    look = Step("look", "Find out what happened", max_calls=3, required=False,
                work=Work((Entry("query"), Entry("wipe", times=2), Entry("help", optional=True))))  # fmt: skip
    sort = Step("sort")
    lock = Step("lock", when=parse("inputs.user != ''"), max_visits=2, timeout=5400, call=Call("lock_account"),
                approval=Approval("Lock {{ inputs.user }}?", ("soc-lead",)))  # fmt: skip
    ends, anywhere = engine()
    states = table(
        state("look", StateKind.STEP, look, completed="sort", skipped="sort", failed="failed:look",
              exhausted="failed:exhausted:look", advanced="sort"),
        state("sort", StateKind.ROUTER, sort, failed="failed:sort", completed=[
            ("facts.query.score > 10", "lock.entry"), ("facts.query.score > 5 && facts.query.known != true", "look"),
            ("", "closed"),
        ]),
        state("lock.entry", StateKind.ROUTER, lock, entered="lock.approval", passed="closed", failed="escalated",
              max_visits="stopped:max_visits:lock"),
        state("lock.approval", StateKind.APPROVAL, lock, approved="lock", rejected="escalated", timeout="escalated"),
        state("lock", StateKind.CALL, lock, completed="locked", failed="escalated"),
        goal("locked"), goal("closed", OutcomeClass.STOPPED), goal("escalated", OutcomeClass.ESCALATED),
        end("stopped:max_visits:lock", EndKind.STOP, "stopped:max_visits:lock", OutcomeClass.STOPPED),
        end("tool_called:hand_over", EndKind.GOAL, "handed_over", OutcomeClass.FAILED),
        *(end(name, EndKind.FAULT, name, OutcomeClass.FAILED)
          for name in ("failed:look", "failed:sort", "failed:exhausted:look")),
        *ends,
    )  # fmt: skip
    return Definition(
        "triage", "Triage & lock", "look", states, {"look": look, "sort": sort, "lock": lock},
        tools={"wipe": Tool("wipe", Effect.IRREVERSIBLE, approval=Approval("Wipe?"))},
        termination=(Termination(ToolCalled("hand_over"), "tool_called:hand_over", "tool_called:hand_over"),),
        anywhere=(Edge("*", "terminated", "tool_called:hand_over"), *anywhere),
    )  # fmt: skip


@pytest.fixture
def torture() -> Definition:
    """Build a row of steps with names that break diagrams; each is also its own description, tool and approver."""
    steps = [Step(name, name, work=Work((Entry(name),)), approval=Approval(name, (name,))) for name in TORTURE]
    following = [f"{step.id}.approval" for step in steps[1:]] + ['done: "50%" & <more>']
    states = []
    for step, target in zip(steps, following, strict=True):
        guarded = [('inputs.x == "<&> \\" %"', target), ("", following[0])]
        states.append(state(f"{step.id}.approval", StateKind.APPROVAL, step, approved=step.id))
        states.append(state(step.id, StateKind.STEP, step, completed=guarded))
    return Definition("t", 'A "torture": 100% & <more> \\ # 🚀', states[0].name, table(*states, goal(following[-1])),
                      {step.id: step for step in steps})  # fmt: skip

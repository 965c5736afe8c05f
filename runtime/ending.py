"""How a run ends (S9.5, S36 to S40)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guideway.statemachine.conditions import (
    AllOf,
    AnyOf,
    Condition,
    ConfidenceMet,
    MaxIterations,
    Not,
    NoToolCalls,
    TextMention,
    TimeLimit,
    TokenLimit,
    ToolCalled,
)
from guideway.statemachine.definition import Edge, EndKind, OutcomeClass, StateKind, Termination
from guideway.statemachine.patterns import pattern

from .own import Settled
from .run import Run, Status
from .scope import elapsed
from .teach import refuse
from .verdicts import Cancel


def reach(run: Run) -> None:
    """The cursor has entered an accepting state: the run is ending with its outcome."""
    end = run.row.state.end
    begin_ending(run, end.outcome if end else run.row.name)


def begin_ending(run: Run, outcome: str) -> None:
    """Fix the outcome; admit nothing more (S40)."""
    run.ending = outcome
    run.record("ending", run.cursor.state, outcome)
    run.timers.clear()
    run.commands.clear()
    for approval_id in list(run.pending):
        pending = run.pending.pop(approval_id)
        run.retired[approval_id] = "void"
        run.record("answered", approval_id, "void", None, None, pending.step)
    for bound in list(run.outstanding.values()):
        if bound.status is Status.PENDING:
            del run.outstanding[bound.call_id]
            refuse(run, bound, "run_over")
        elif bound.status is Status.DOUBT:
            del run.outstanding[bound.call_id]
            bound.status = Status.DONE
            run.settled[bound.call_id] = Settled("unknown")
            run.unknown.append(bound.tool)
            run.record("settled", bound.call_id, bound.tool, "unknown", None, False, bound.step)
        elif bound.status is Status.RUNNING:
            run.commands[bound.call_id] = Cancel(bound.call_id)
    for bound in run.waiting:
        refuse(run, bound, "run_over")
    run.waiting.clear()


def break_off(run: Run) -> None:
    """End a run that can no longer be trusted: what is under way is unknown, and nothing more is admitted."""
    for bound in run.outstanding.values():
        run.settled[bound.call_id] = Settled("unknown")
    run.outstanding.clear()
    run.turn = None
    run.waiting.clear()
    if run.ending is None:
        begin_ending(run, "failed:engine")
    run.ending = "failed:engine"
    publish(run)


def publish(run: Run) -> None:
    """Publish the outcome once nothing is outstanding and no turn is open."""
    if run.ending is None or run.outcome is not None or run.outstanding or run.turn is not None:
        return
    run.outcome = verdict(run, run.ending)
    run.record("ended", run.cursor.state, run.outcome)


def verdict(run: Run, outcome: str) -> str:
    """Success is a contract: an end of that class counts only if nothing required was left undone (S38)."""
    end = run.row.state.end
    if end is None or end.outcome_class is not OutcomeClass.SUCCESS or outcome != end.outcome:
        return outcome
    if run.unknown:
        return f"failed:unknown:{run.unknown[0]}"
    if run.incomplete:
        return f"incomplete:{run.incomplete[0]}"
    return outcome


def end_by_engine(run: Run, target: str, outcome: str, why: str = "") -> None:
    """A limit or a fault of the engine's own takes the cursor to its accepting state."""
    edge = next((e for (_, t), e in run.plan.anywhere.items() if t == target), None)
    move_to_end(run, edge or Edge("*", "failed", target), outcome, why)


def move_to_end(run: Run, edge: Edge, outcome: str, why: str = "") -> None:
    """Move along an edge of `*` and end there."""
    source, step = run.cursor.state, run.row.step
    run.shift(edge)
    run.record("moved", source, edge.event, edge.target, step.id if step else "", why or None)
    begin_ending(run, outcome)


def check_termination(run: Run) -> None:
    """Evaluate the branches in listed order, then the limits; the first that holds ends the run (S9.5)."""
    if run.ending is not None:
        return
    for branch in run.plan.definition.termination:
        if holds(run, branch.condition) is True:
            terminate(run, branch)
            return
    definition = run.plan.definition
    for spent, reason in (
        (run.nudges > definition.max_nudges, "nudges"),
        (run.refusals >= definition.max_refusals, "refusals"),
        (run.iterations >= definition.max_iterations, "max_iterations"),
    ):
        if spent:
            end_by_engine(run, f"stopped:{reason}", f"stopped:{reason}")
            return


def terminate(run: Run, branch: Termination) -> None:
    """Go to the branch's accepting state; a goal that leaves a required step open is `incomplete` (S37)."""
    definition = run.plan.definition
    end = definition.states[branch.target].end
    outcome = end.outcome if end else branch.target
    goal = end is not None and end.kind is EndKind.GOAL and branch.outcome is None
    if goal and end is not None and end.outcome_class is OutcomeClass.SUCCESS and required_open(run):
        outcome = f"incomplete:{branch.reason}"
    edge = run.plan.anywhere.get(("terminated", branch.target)) or Edge("*", "terminated", branch.target)
    move_to_end(run, edge, outcome, branch.reason)


def required_open(run: Run) -> bool:
    """
    A required step is still to be done: the one the cursor is in, or one that follows through optional steps.

    Where the way on depends on a guard, it counts as open: success is never guessed.
    """
    row, seen = run.row, set[str]()
    while row.kind is not StateKind.END and row.name not in seen:
        seen.add(row.name)
        step = row.step
        then = run.plan.rows[step.id].then if step is not None and not step.required else None
        if then is None:
            return True
        row = run.plan.rows[then.target]
    return False


def holds(run: Run, condition: Condition) -> bool | None:
    """Evaluate a condition on the registers: true, false, or None where it is unknown; unknown ends nothing (S36)."""
    match condition:
        case AllOf(parts):
            answers = [holds(run, part) for part in parts]
            return False if False in answers else None if None in answers else True
        case AnyOf(parts):
            answers = [holds(run, part) for part in parts]
            return True if True in answers else None if None in answers else False
        case Not(part):
            answer = holds(run, part)
            return None if answer is None else not answer
        case _:
            return LEAVES[type(condition)](run, condition)


def called(run: Run, condition: ToolCalled) -> bool | None:
    """A success met it; or one may have."""
    return True if condition in run.called else None if condition in run.doubted else False


LEAVES: dict[type, Callable[[Run, Any], bool | None]] = {
    MaxIterations: lambda run, c: run.iterations >= c.limit,
    TokenLimit: lambda run, c: run.tokens >= c.limit,
    TimeLimit: lambda run, c: elapsed(run.started, run.now) >= c.seconds,
    NoToolCalls: lambda run, c: run.text_only,
    ToolCalled: called,
    ConfidenceMet: lambda run, c: None if run.confidence is None else run.confidence >= c.threshold,
    TextMention: lambda run, c: pattern(c.pattern).found_in(run.text),
}

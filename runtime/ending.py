"""How a run ends (S9.5, S36 to S40)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guideway.statemachine.conditions import (
    AllOf,
    AnyOf,
    Condition,
    ConfidenceMet,
    Custom,
    MaxIterations,
    Not,
    NoToolCalls,
    Signalled,
    TextMention,
    TimeLimit,
    TokenLimit,
    ToolCalled,
)
from guideway.statemachine.definition import BLOCKS, JOIN, Edge, End, EndKind, OutcomeClass, StateKind, Termination
from guideway.statemachine.patterns import pattern

from .cursors import Cursor
from .frames import Frame
from .leaving import clear, leave, path_of
from .monitors import breach
from .own import Settled
from .run import Bound, Run, Status
from .scope import elapsed, scope
from .teach import refuse
from .verdicts import Cancel


def reach(run: Run, cursor: Cursor) -> None:
    """The cursor of the root frame has entered an accepting state: the run is ending with its outcome."""
    end = cursor.row.state.end
    begin_ending(run, end.outcome if end else cursor.row.name)


def begin_ending(run: Run, outcome: str) -> None:
    """Fix the outcome; admit nothing more but the calls of `finally` (S40)."""
    run.ending = outcome
    run.record("ending", run.root.state, outcome)
    closing = {frame.closer for frame in run.closers if frame.closer is not None}
    for approval_id in [name for name, pending in run.pending.items() if pending.cursor not in closing]:
        pending = run.pending.pop(approval_id)
        run.retired[approval_id] = "void"
        run.record("answered", approval_id, "void", None, None, pending.step, path_of(pending.cursor), None)
    for bound in [bound for bound in run.outstanding.values() if bound.cursor not in closing]:
        end_call(run, bound)
    over = [bound for bound in run.waiting if bound.cursor not in closing]
    run.waiting = [bound for bound in run.waiting if bound.cursor in closing]
    for bound in over:
        refuse(run, bound, "run_over")
    clear(run, run.root)
    run.timers = [timer for timer in run.timers if timer.cursor in closing]
    run.watching.clear()
    run.held.clear()
    kept = {*run.outstanding, *run.pending, *(timer.about for timer in run.timers)}
    run.commands = {key: command for key, command in run.commands.items() if key in kept}
    run.mail.clear()
    if run.plan.definition.closing:
        run.closers.append(run.frame)


def end_call(run: Run, bound: Bound) -> None:
    """A call that waits for a person does not run; one that runs is to be cancelled; a doubted one stays unknown."""
    run.commands.pop(bound.call_id, None)
    if bound.status is Status.PENDING:
        del run.outstanding[bound.call_id]
        refuse(run, bound, "run_over")
    elif bound.status is Status.DOUBT:
        del run.outstanding[bound.call_id]
        bound.status = Status.DONE
        run.settled[bound.call_id] = Settled("unknown")
        for playbook in (bound.frame or run.frame).playbooks():
            playbook.unknown += (bound.tool,)
        frame = bound.frame or run.frame
        run.record("settled", bound.call_id, bound.tool, "unknown", None, False, bound.step, frame.shown)
    elif bound.status is Status.RUNNING:
        run.commands[bound.call_id] = Cancel(bound.call_id)


def break_off(run: Run) -> None:
    """End a run that can no longer be trusted: what is under way is unknown, and nothing more is admitted."""
    for bound in run.outstanding.values():
        run.settled[bound.call_id] = Settled("unknown")
    run.outstanding.clear()
    run.turn = None
    run.waiting.clear()
    if run.ending is None:
        begin_ending(run, "failed:engine")
    run.closers.clear()
    run.ending = "failed:engine"
    publish(run)


def publish(run: Run) -> None:
    """Publish the outcome once nothing is outstanding, no turn is open and every `finally` has run."""
    if run.ending is None or run.outcome is not None or run.outstanding or run.turn is not None:
        return
    if run.closers or run.waiting:
        return
    run.outcome = verdict(run, run.frame, run.ending)
    run.record("ended", run.root.state, run.outcome)


def verdict(run: Run, frame: Frame, outcome: str) -> str:
    """Success is a contract: an end of that class counts only if nothing required was left undone (S38)."""
    end = frame.root.row.state.end if frame.root is not None else None
    broken = breach(frame)
    if broken is not None:
        run.record("policy", broken.id, "open", frame.shown)
    if not succeeds(end, outcome):
        return outcome
    if broken is not None:
        return f"failed:policy:{broken.id}"
    if frame.unknown:
        return f"failed:unknown:{frame.unknown[0]}"
    if frame.incomplete:
        return f"incomplete:{frame.incomplete[0].rpartition(']/')[2]}"
    return outcome


def succeeds(end: End | None, outcome: str) -> bool:
    """The end is one of class success: a declared one, or the host's word in a place that is no end."""
    if end is None:
        return outcome == OutcomeClass.SUCCESS
    return end.outcome_class is OutcomeClass.SUCCESS and outcome == end.outcome


def class_of(outcome: str, end: End | None) -> str | None:
    """The class of an outcome: by its first word where that is one, else by the author's; none where nothing says."""
    head = outcome.partition(":")[0]
    if head in OutcomeClass.__members__.values():
        return head
    return end.outcome_class.value if end else None


def end_by_engine(run: Run, cursor: Cursor, target: str, outcome: str, why: str = "") -> None:
    """A limit or a fault of the engine's own takes the cursor's playbook to its accepting state."""
    frame = cursor.frame.owner
    edge = next((e for (_, t), e in frame.plan.anywhere.items() if t == target), None)
    move_to_end(run, frame, edge or Edge("*", "failed", target), outcome, why)


def move_to_end(run: Run, frame: Frame, edge: Edge, outcome: str, why: str = "") -> None:
    """Move a playbook's cursor along an edge of `*`, and end there: the run, or the sub-playbook."""
    root = frame.root
    if root is None or run.ending is not None:
        return
    source, step = root.state, root.row.step
    run.shift(root, edge)
    run.record("moved", source, edge.event, edge.target, step.id if step else "", why or None, frame.shown)
    if frame is run.frame:
        begin_ending(run, outcome)
        return
    leave(run, root)
    frame.ending = outcome
    run.restless.append(root)


def check_termination(run: Run) -> None:
    """Evaluate the branches in listed order, then the limits; the first that holds ends its playbook (S9.5, S33)."""
    for frame in list(run.playbooks()):
        if run.ending is not None:
            return
        if frame.ending is None:
            check_frame(run, frame)


def check_frame(run: Run, frame: Frame) -> None:
    """The conditions and limits of one playbook; refusals and nudges are counted for the whole run."""
    definition = frame.plan.definition
    for branch in definition.termination:
        if holds(run, frame, branch.condition) is True:
            terminate(run, frame, branch)
            return
    for spent, reason in (
        (run.nudges > definition.max_nudges, "nudges"),
        (run.refusals >= definition.max_refusals, "refusals"),
        (run.iterations - frame.since[0] >= definition.max_iterations, "max_iterations"),
    ):
        if spent and frame.root is not None:
            end_by_engine(run, frame.root, f"stopped:{reason}", f"stopped:{reason}")
            return


def terminate(run: Run, frame: Frame, branch: Termination) -> None:
    """Go to the branch's accepting state; a goal that leaves a required step open is `incomplete` (S37)."""
    end = frame.plan.definition.states[branch.target].end
    outcome = end.outcome if end else branch.target
    goal = end is not None and end.kind is EndKind.GOAL and branch.outcome is None
    if goal and end is not None and end.outcome_class is OutcomeClass.SUCCESS and required_open(frame):
        outcome = f"incomplete:{branch.reason}"
    edge = frame.plan.anywhere.get(("terminated", branch.target)) or Edge("*", "terminated", branch.target)
    move_to_end(run, frame, edge, outcome, branch.reason)


def required_open(frame: Frame) -> bool:
    """
    A required step is still to be done: the one the cursor is in, or one that follows through optional steps.

    Where the way on depends on a guard, it counts as open: success is never guessed.
    """
    if frame.root is None:
        return True
    rows, row, seen = frame.plan.rows, frame.root.row, set[str]()
    while row.kind is not StateKind.END and row.name not in seen:
        seen.add(row.name)
        step = row.step
        if step is None or step.required:
            return True
        last = rows[step.id + JOIN] if rows[step.id].kind in BLOCKS else rows[step.id]
        if last.then is None:
            return True
        row = rows[last.then.target]
    return False


def holds(run: Run, frame: Frame, condition: Condition) -> bool | None:
    """Evaluate a condition on the registers: true, false, or None where it is unknown; unknown ends nothing (S36)."""
    match condition:
        case AllOf(parts):
            answers = [holds(run, frame, part) for part in parts]
            return False if False in answers else None if None in answers else True
        case AnyOf(parts):
            answers = [holds(run, frame, part) for part in parts]
            return True if True in answers else None if None in answers else False
        case Not(part):
            answer = holds(run, frame, part)
            return None if answer is None else not answer
        case _:
            return LEAVES[type(condition)](run, frame, condition)


def called(run: Run, frame: Frame, condition: ToolCalled) -> bool | None:
    """A success met it; or one may have."""
    return True if condition in frame.called else None if condition in frame.doubted else False


def confident(run: Run, frame: Frame, condition: ConfidenceMet) -> bool | None:
    """The confidence that was claimed since the playbook began."""
    if run.confidence is None or run.claims <= frame.since[2]:
        return None
    return run.confidence >= condition.threshold


def custom(run: Run, frame: Frame, condition: Custom) -> bool | None:
    """The host's predicate; one that raises, or gives no yes or no, is unknown."""
    answer = scope(run, frame).get("predicate", {}).get(condition.name)
    return answer if isinstance(answer, bool) else None


LEAVES: dict[type, Callable[[Run, Frame, Any], bool | None]] = {
    MaxIterations: lambda run, frame, c: run.iterations - frame.since[0] >= c.limit,
    TokenLimit: lambda run, frame, c: run.tokens - frame.since[1] >= c.limit,
    TimeLimit: lambda run, frame, c: elapsed(frame.started, run.now) >= c.seconds,
    NoToolCalls: lambda run, frame, c: run.iterations > frame.since[0] and run.text_only,
    ToolCalled: called,
    ConfidenceMet: confident,
    TextMention: lambda run, frame, c: run.iterations > frame.since[0] and pattern(c.pattern).found_in(run.text),
    Signalled: lambda run, frame, c: run.signalled.get(c.name, 0) > frame.since[3],
    Custom: custom,
}

"""Taking edges: branch lists, automatic moves, the entry of states (S3, S9.4, S10, S11)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from guideway.statemachine.definition import Edge, StateKind

from .ending import end_by_engine, reach
from .run import Run, Status, Timer
from .scope import scope, truth
from .teach import refuse
from .verdicts import Wait


def take(run: Run, event: str, why: str = "") -> None:
    """Take the branch list of `event` from the state the cursor is in: top to bottom, first true guard (S10)."""
    state = run.row.state
    branches = state.edges.get(event, ())
    edge = choose(run, branches)
    if isinstance(edge, Edge):
        go(run, edge, why)
    elif event == "failed":
        give_up(run, edge)
    else:
        fail(run, edge)


def choose(run: Run, branches: Sequence[Edge]) -> Edge | str:
    """The first branch whose guard is true, or why none can be taken."""
    names = None
    for edge in branches:
        if edge.guard is None:
            return edge
        names = scope(run) if names is None else names
        answer = truth(run, edge.guard, names)
        if answer is True:
            return edge
        if answer is not False:
            return f"guard_unknown: {answer}"
    return "no_branch: none of the branches is true"


def fail(run: Run, why: str) -> None:
    """The step fails: its `on_failure`, else its default failure (S27)."""
    take(run, "failed", why)


def give_up(run: Run, why: str) -> None:
    """A failure whose own branch list leads nowhere ends the run as the step's default failure."""
    step = run.row.step
    end_by_engine(run, "failed:host", f"failed:{step.id if step else run.row.name}", why)


def go(run: Run, edge: Edge, why: str = "") -> None:
    """Move the cursor along the edge, through the machine, and enter the target."""
    if edge.event not in ("entered", "approved") and goes_round(run):
        return
    step = run.row.step
    run.shift(edge)
    run.record("moved", edge.source, edge.event, edge.target, step.id if step else "", why or None)
    enter(run, edge)


def enter(run: Run, edge: Edge | None) -> None:
    """Arrive in the state of `run.row`: a visit of its step begins, unless the step's own approval led here."""
    row, step = run.row, run.row.step
    if row.kind is StateKind.END:
        leave(run)
        reach(run)
    elif step is not None and not is_entry(run) and not (edge and edge.event == "approved"):
        leave(run)
        begin_visit(run)
    run.fresh = True


def is_entry(run: Run) -> bool:
    """The state is the router in front of a step (`when`, `max_visits`): no visit yet."""
    return run.row.kind is StateKind.ROUTER and run.row.step is not None and run.row.name != run.row.step.id


def begin_visit(run: Run) -> None:
    """Count the visit, reset the registers, set the deadline."""
    step, cursor = run.row.step, run.cursor
    if step is None:
        return
    if step.id in run.incomplete:
        run.incomplete.remove(step.id)
    visit = run.visits[step.id] = run.visits.get(step.id, 0) + 1
    cursor.reset()
    cursor.step, cursor.visit = step.id, visit
    if step.timeout is not None and run.now is not None:
        run.timers.append(Timer(run.now + timedelta(seconds=step.timeout), "timeout", step.id, visit))


def leave(run: Run) -> None:
    """The visit is over: its approvals are void, its timers gone, its deferred automatic calls denied (S30)."""
    cursor = run.cursor
    if not cursor.step:
        return
    run.timers = [t for t in run.timers if (t.step, t.visit) != (cursor.step, cursor.visit)]
    for pending in [p for p in run.pending.values() if (p.step, p.visit) == (cursor.step, cursor.visit)]:
        if pending.of != "reconcile":
            void(run, pending.approval_id, "void")
    for bound in run.waiting:
        refuse(run, bound, "run_over" if run.ending else "left", by_gate=False)
    run.waiting.clear()
    for key in [key for key, command in run.commands.items() if isinstance(command, Wait)]:
        del run.commands[key]
    cursor.step = ""


def void(run: Run, approval_id: str, how: str) -> None:
    """Close a question nobody has answered; the call it held does not run."""
    pending = run.pending.pop(approval_id)
    run.retired[approval_id] = how
    run.commands.pop(approval_id, None)
    run.record("answered", approval_id, how, None, None, pending.step)
    bound = pending.call
    if bound is not None and bound.status is Status.PENDING:
        run.outstanding.pop(bound.call_id, None)
        refuse(run, bound, "expired" if how == "expired" else "left", by_gate=False)


def automatic(run: Run) -> None:
    """Leave every state that waits for nothing (S9.4)."""
    while run.ending is None and (event := moves_by_itself(run)):
        take(run, *event) if isinstance(event, tuple) else take(run, event)


def moves_by_itself(run: Run) -> str | tuple[str, str] | None:
    """The event that takes the cursor on at once, if there is one."""
    row, step = run.row, run.row.step
    if row.kind is StateKind.ROUTER:
        return gatekeeper(run) if is_entry(run) else "completed"
    if row.kind is StateKind.STEP and step is not None and step.max_calls == 0 and row.needed:
        return "exhausted"
    return None


def gatekeeper(run: Run) -> str | tuple[str, str]:
    """Decide the router in front of a step: `when` first, then `max_visits` (S11)."""
    step = run.row.step
    if step is not None and step.when is not None:
        answer = truth(run, step.when)
        if answer is False:
            return "passed"
        if answer is not True:
            return "failed", f"guard_unknown: {answer}"
    if step is not None and step.max_visits is not None and run.visits.get(step.id, 0) >= step.max_visits:
        return "max_visits"
    return "entered"


def goes_round(run: Run) -> bool:
    """
    Count a move out of a step; more of them in one macro-step than there are steps is a livelock (S9.4).

    The one more is the move that the event itself makes.
    """
    run.moves += 1
    if run.moves <= len(run.plan.definition.steps) + 1:
        return False
    end_by_engine(run, "failed:livelock", "failed:livelock", "the automatic steps lead round in a circle")
    return True

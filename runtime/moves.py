"""Taking edges: branch lists, the entry of states (S3, S9.4, S10, S11, S27)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from guideway.statemachine.definition import Edge, StateKind

from .completion import invalid
from .cursors import Cursor
from .ending import end_by_engine, reach
from .leaving import clear, close_up, leave, path_of
from .monitors import completed
from .plan import Row
from .run import Run, Timer
from .scope import scope, truth

SILENT = frozenset({"entered", "approved", "forked", "joined"})
"""Moves inside a step: no way round goes through these alone, so they are not counted (S9.4)."""

DONE = frozenset({"completed", "joined"})
"""Events that complete a step, beside `answered LABEL`."""

NO_WORK = frozenset({StateKind.ROUTER, StateKind.JOIN})
"""States in which no step is done."""


def take(run: Run, cursor: Cursor, event: str, why: str = "") -> None:
    """Take the branch list of `event` from the state the cursor is in: top to bottom, first true guard (S10)."""
    if cursor.closes:
        finish_closing(run, cursor, event, why)
        return
    edge = choose(run, cursor, cursor.row.state.edges.get(event, ()))
    if isinstance(edge, Edge):
        go(run, cursor, edge, why)
    elif event == "failed":
        give_up(run, cursor, edge)
    else:
        fail(run, cursor, edge)


def choose(run: Run, cursor: Cursor, branches: Sequence[Edge]) -> Edge | str:
    """The first branch whose guard is true, or why none can be taken."""
    names = None
    for edge in branches:
        if edge.guard is None:
            return edge
        names = scope(run, cursor.frame) if names is None else names
        answer = truth(run, cursor.frame, edge.guard, names)
        if answer is True:
            return edge
        if answer is not False:
            return f"guard_unknown: {answer}"
    return "no_branch: none of the branches is true"


def fail(run: Run, cursor: Cursor, why: str) -> None:
    """The step fails: its `on_failure`, else its default failure (S27)."""
    take(run, cursor, "failed", why)


def finish(run: Run, cursor: Cursor, event: str = "completed", why: str = "") -> None:
    """The step has done what it is for: on along `event`, unless its `validation` is not true."""
    if invalid_because := invalid(run, cursor):
        fail(run, cursor, f"validation: {invalid_because}")
    else:
        take(run, cursor, event, why)


def give_up(run: Run, cursor: Cursor, why: str) -> None:
    """A failure whose own branch list leads nowhere is the step's default failure: of its block, or of its frame."""
    parent = cursor.parent
    if cursor.level and parent is not None:
        fail(run, parent, why)
        return
    step = cursor.row.step
    end_by_engine(run, cursor, "failed:host", f"failed:{step.id if step else cursor.row.name}", why)


def go(run: Run, cursor: Cursor, edge: Edge, why: str = "") -> None:
    """Move along the edge, through the machine, and enter the target."""
    if edge.event not in SILENT and goes_round(run, cursor):
        return
    step = cursor.row.step
    if cursor.row.kind not in NO_WORK and (edge.event in DONE or edge.event.startswith("answered ")):
        completed(cursor)
    mover = hoist(run, cursor, cursor.frame.plan.rows[edge.target])
    run.shift(mover, edge)
    run.record("moved", edge.source, edge.event, edge.target, step.id if step else "", why or None, path_of(cursor))
    enter(run, mover, edge)


def hoist(run: Run, cursor: Cursor, target: Row) -> Cursor:
    """
    The cursor that makes a move: where the target lies outside the block, the one that waits there.

    The block is left then, and whatever is still inside it is removed.
    """
    mover = cursor
    while target.block != mover.level and not (target.kind is StateKind.JOIN and target.step is mover.row.step):
        if mover.parent is None:
            raise RuntimeError(f"no cursor stands where `{target.name}` lies")
        mover = mover.parent
    if mover is not cursor:
        clear(run, mover)
    return mover


def enter(run: Run, cursor: Cursor, edge: Edge | None) -> None:
    """Arrive in a state: a visit of its step begins, unless the step's own approval or block led here."""
    row, step = cursor.row, cursor.row.step
    if row.kind is StateKind.END:
        leave(run, cursor)
        if cursor.frame is run.frame:
            reach(run, cursor)
    elif row.kind is StateKind.JOIN:
        if cursor.level == row.block:
            cursor.left = cursor.step
            leave(run, cursor)
    elif step is not None and not is_entry(row) and not (edge and edge.event == "approved"):
        leave(run, cursor)
        begin_visit(run, cursor)
    if run.single is None:
        close_up(run)
    if run.openings is not None:
        run.openings.add(cursor)
    run.restless.append(cursor)
    run.fresh.append(cursor)


def is_entry(row: Row) -> bool:
    """The state is the router in front of a step (`when`, `max_visits`): no visit yet."""
    return row.kind is StateKind.ROUTER and row.step is not None and row.name != row.step.id


def begin_visit(run: Run, cursor: Cursor) -> None:
    """Count the visit, reset the registers, set the deadline."""
    step, frame = cursor.row.step, cursor.frame
    if step is None:
        return
    if mark := frame.owner.incomplete:
        frame.owner.incomplete = tuple(name for name in mark if name != frame.mark(step.id))
    visit = frame.visits[step.id] = frame.visits.get(step.id, 0) + 1
    cursor.reset()
    cursor.step, cursor.visit = step.id, visit
    if step.timeout is not None and run.now is not None:
        run.set_timer(Timer(run.now + timedelta(seconds=step.timeout), "timeout", cursor))


def finish_closing(run: Run, cursor: Cursor, event: str, why: str) -> None:
    """One step of `finally` is over, well or badly; that changes nothing else."""
    step = cursor.row.step
    frame = cursor.frame
    run.record("closed", step.id if step else "", event, why or None, path_of(cursor))
    leave(run, cursor)
    cursor.gone = True
    frame.closer = None
    frame.closed += 1


def goes_round(run: Run, cursor: Cursor) -> bool:
    """
    Count a move out of a step; too many of them in one macro-step are a livelock (S9.4).

    The one more than there are steps is the move that the event itself makes.
    """
    run.moves += 1
    if run.moves <= (run.most + 1) * (1 + run.entered):
        return False
    end_by_engine(run, run.root, "failed:livelock", "failed:livelock", "the automatic steps lead round in a circle")
    return True

"""Leaving steps and removing cursors: what goes with them (S29, S30, S31)."""

from __future__ import annotations

from .cursors import NO_CHILDREN, Cursor
from .frames import Frame
from .openings import Openings
from .run import Pending, Run, Status
from .teach import refuse


def leave(run: Run, cursor: Cursor) -> None:
    """The visit is over: what is inside goes, approvals are void, timers gone, deferred calls denied (S30)."""
    if cursor.children:
        clear(run, cursor)
    if not cursor.step:
        return
    if cursor.timed:
        for timer in [timer for timer in run.timers if timer.cursor is cursor]:
            run.drop_timer(timer)
            run.commands.pop(timer.about, None)
    if cursor.asking:
        for pending in [p for p in run.pending.values() if p.cursor is cursor and p.of != "reconcile"]:
            void(run, pending.approval_id, "void")
    if run.waiting:
        mine = [bound for bound in run.waiting if bound.cursor is cursor]
        run.waiting = [bound for bound in run.waiting if bound.cursor is not cursor]
        for bound in mine:
            refuse(run, bound, "run_over" if run.ending else "left", by_gate=False)
    for kept in (run.watching, run.held):
        if cursor in kept:
            kept.remove(cursor)
    run.commands.pop(wait_id(cursor), None)
    cursor.step, cursor.timed, cursor.asking = "", False, False


def wait_id(cursor: Cursor) -> str:
    """The id of the command to wait for something other than a time."""
    return f"wait {cursor.name}@{cursor.visit}"


def clear(run: Run, cursor: Cursor) -> None:
    """Remove every cursor inside: what they wait for is void, their calls in flight become orphans (S31)."""
    inside = list(cursor.all())[1:]
    cursor.children = NO_CHILDREN
    if not inside:
        return
    gone = set(map(id, inside))
    for bound in run.outstanding.values():
        if id(bound.cursor) in gone:
            bound.orphan = True
            run.strays += 1
    for child in reversed(inside):
        remove(run, child)


def remove(run: Run, child: Cursor) -> None:
    """Take one cursor away, those inside it being gone; a sub-playbook that ends with it still runs its `finally`."""
    child.children = NO_CHILDREN
    leave(run, child)
    child.gone = True
    if run.openings is not None:
        run.openings.remove(child)
    frame = child.frame
    if frame in run.frames and frame.root is child:
        shut(run, frame)
        if frame.plan.definition.closing and frame.ending is None:
            frame.ending = "left"
            run.closers.append(frame)


def shut(run: Run, frame: Frame) -> None:
    """The frame of a sub-playbook is no longer open."""
    run.frames.remove(frame)
    run.size -= len(frame.plan.definition.steps)
    run.timers = [timer for timer in run.timers if timer.kind != "limit" or timer.about != frame.path]


def branch_off(run: Run) -> None:
    """There are several cursors now: calls are looked up by tool."""
    if run.single is not None:
        run.single = None
        run.openings = Openings(cursor for cursor in run.root.all() if not cursor.children)


def close_up(run: Run) -> None:
    """Where only one cursor is left, no look-up is needed."""
    if run.single is None and alone(run):
        run.single, run.openings = run.root, None


def alone(run: Run) -> bool:
    """There is one cursor only; the `finally` of a run that is ending does not count."""
    return not run.root.children and (run.ending is not None or not any(frame.closer for frame in run.closers))


def forget_timers(run: Run, pending: Pending) -> None:
    """A question that is closed neither expires nor reminds."""
    if run.timers and (pending.cursor is None or pending.cursor.timed):
        run.timers = [timer for timer in run.timers if timer.about != pending.approval_id]


def void(run: Run, approval_id: str, how: str) -> None:
    """Close a question nobody has answered; the call it held does not run."""
    pending = run.pending.pop(approval_id)
    run.retired[approval_id] = how
    run.commands.pop(approval_id, None)
    forget_timers(run, pending)
    run.record("answered", approval_id, how, None, None, pending.step, path_of(pending.cursor), None)
    bound = pending.call
    if bound is not None and bound.status is Status.PENDING:
        run.outstanding.pop(bound.call_id, None)
        refuse(run, bound, "expired" if how == "expired" else "left", by_gate=False)


def path_of(cursor: Cursor | None) -> str | None:
    """The frame of a record; none for the root's."""
    return cursor.frame.shown if cursor is not None else None

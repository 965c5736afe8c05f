"""`finally`: call steps that run at every end of their playbook (S40)."""

from __future__ import annotations

from .callees import give_back
from .cursors import LAST, Cursor
from .frames import Frame
from .leaving import branch_off, close_up
from .moves import begin_visit
from .run import Run


def close_frames(run: Run) -> bool:
    """Begin the next step of `finally` that is due, one at a time; True where something has moved."""
    if any(frame.closer is not None for frame in run.closers):
        return False
    frame = next((frame for frame in run.closers if not unsettled(run, frame)), None)
    if frame is None:
        return False
    steps = frame.plan.definition.closing
    if frame.closed < len(steps):
        begin(run, frame, steps[frame.closed])
        return True
    run.closers.remove(frame)
    close_up(run)
    child = frame.root
    if frame is not run.frame and child is not None and not child.gone and run.ending is None:
        give_back(run, child)
    return True


def unsettled(run: Run, frame: Frame) -> bool:
    """Calls of the frame are still under way; at the end of the run, any call, or an open turn."""
    calls = [bound for bound in run.outstanding.values() if bound.cursor is None or not bound.cursor.closes]
    if run.ending is not None:
        return run.turn is not None or bool(calls)
    return any(bound.frame is not None and frame in bound.frame.playbooks() for bound in calls)


def begin(run: Run, frame: Frame, name: str) -> None:
    """Send a cursor to one step of `finally`."""
    if run.ending is None:
        branch_off(run)
    cursor = frame.closer = Cursor(frame.plan.rows[name], frame, None, LAST)
    begin_visit(run, cursor)
    run.fresh.append(cursor)

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
    if not run.closers or (run.ending is not None and unsettled(run)):
        return False
    frame = run.closers[0]
    if frame.closer is not None:
        return False
    steps = frame.plan.definition.closing
    if frame.closed < len(steps):
        begin(run, frame, steps[frame.closed])
        return True
    run.closers.pop(0)
    close_up(run)
    child = frame.root
    if frame is not run.frame and child is not None and not child.gone and run.ending is None:
        give_back(run, child)
    return True


def unsettled(run: Run) -> bool:
    """The run is ending, and calls of before, or an open turn, are not settled yet."""
    calls = (bound for bound in run.outstanding.values() if bound.cursor is None or not bound.cursor.closes)
    return run.turn is not None or any(calls)


def begin(run: Run, frame: Frame, name: str) -> None:
    """Send a cursor to one step of `finally`."""
    if run.ending is None:
        branch_off(run)
    cursor = frame.closer = Cursor(frame.plan.rows[name], frame, None, LAST)
    begin_visit(run, cursor)
    run.fresh.append(cursor)

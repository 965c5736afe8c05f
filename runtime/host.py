"""The host's own verbs on a step (S51).  They are recorded as the host's, and no proof covers them."""

from __future__ import annotations

from guideway.statemachine.definition import OutcomeClass
from guideway.statemachine.errors import HostError

from .calls import told
from .cursors import Cursor
from .ending import begin_ending, required_open
from .issue import past_approval
from .leaving import path_of, void
from .moves import fail as fail_step
from .moves import take
from .own import words
from .run import Run
from .turns import follow

ONWARD = ("completed", "joined", "approved")
"""Events by which a step is completed."""


def complete(run: Run, note: str, step: str | None = None) -> None:
    """Take the `completed` edge of the step."""
    if which(run, "complete", step).row.state.edges.keys().isdisjoint(ONWARD):
        raise HostError("the step is completed by one of its answers; give that one through the control plane")
    cursor = at_step(run, "complete", note, step)
    for pending in list(run.pending.values()):
        if pending.cursor is cursor and pending.of != "reconcile":
            void(run, pending.approval_id, "void")
    edges = cursor.row.state.edges
    event = "joined" if edges.get("joined") else "completed" if edges.get("completed") else past_approval(cursor)
    take(run, cursor, event, "by the host")
    follow(run)


def skip(run: Run, note: str, step: str | None = None) -> None:
    """Take the `skipped` edge, which only optional steps have."""
    cursor = which(run, "skip", step)
    if cursor.row.step is not None and cursor.row.step.required:
        raise HostError(f"`{cursor.row.step.id}` is required; it can be completed or failed, not skipped")
    at_step(run, "skip", note, step)
    take(run, cursor, "skipped", "by the host")
    follow(run)


def fail(run: Run, note: str, step: str | None = None) -> None:
    """Let the step fail."""
    cursor = at_step(run, "fail", note, step)
    fail_step(run, cursor, f"by the host{': ' + words(note) if note else ''}")
    follow(run)


def stop(run: Run, reason: str, goal: bool) -> None:
    """
    End the run where it stands; with `goal`, as a termination branch that is one would (S37).

    Raises:
        HostError: the run is over already, or the reason is no text.
    """
    reason = words(reason, "a reason")
    if run.ending is not None:
        raise HostError(f"the run is over already ({run.ending})")
    run.record("host", "stop", "", reason or None, None)
    if not goal:
        outcome = f"stopped:{reason or 'host'}"
    else:
        outcome = f"incomplete:{reason}" if required_open(run.frame) else str(OutcomeClass.SUCCESS)
    begin_ending(run, outcome)
    follow(run)


def which(run: Run, verb: str, step: str | None) -> Cursor:
    """
    The cursor that is meant: in the step that is named, else the only one there is.

    Raises:
        HostError: the run is over, no cursor is there, or several are.
    """
    if run.ending is not None or run.root.row.step is None:
        raise HostError(f"the run is over ({run.ending}); there is no step to {verb}")
    there = [cursor for cursor in run.cursors() if cursor.step and named(cursor, step)]
    if step is None and len(there) > 1:
        there = [cursor for cursor in there if not cursor.children]
    if len(there) == 1:
        return there[0]
    open_now = ", ".join(f"`{cursor.frame.path}{cursor.step}`" for cursor in run.leaves())
    if there:
        raise HostError(f"several steps are open, so say which to {verb}: step=… of {open_now}")
    raise HostError(f"the run is not in the step {told(step)}; it is in {open_now}")


def named(cursor: Cursor, step: str | None) -> bool:
    """The name means the cursor: a step, with or without the path of its frame."""
    return step is None or step in (cursor.step, f"{cursor.frame.path}{cursor.step}")


def at_step(run: Run, verb: str, note: str, step: str | None) -> Cursor:
    """Record the verb; there must be a step to use it on, with none of its calls under way."""
    cursor = which(run, verb, step)
    mine = [
        b.call_id for b in run.outstanding.values() if b.cursor is not None and b.current and b.cursor.inside(cursor)
    ]
    loose = [b.call_id for b in run.outstanding.values() if b.cursor is None and b.step == cursor.step]
    if verb != "fail" and (mine or loose):
        raise HostError(f"calls of the step are under way: {', '.join(mine + loose)}; observe them first")
    run.record("host", verb, cursor.step, words(note) or None, path_of(cursor))
    return cursor

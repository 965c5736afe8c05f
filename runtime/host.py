"""The host's own verbs on a step (S51).  They are recorded as the host's, and no proof covers them."""

from __future__ import annotations

from guideway.statemachine.errors import HostError

from .moves import fail as fail_step
from .moves import take, void
from .own import clean
from .run import Run
from .turns import follow


def complete(run: Run, note: str) -> None:
    """Take the `completed` edge of the step the cursor is in."""
    at_step(run, "complete", note)
    for pending in list(run.pending.values()):
        if pending.of == "step":
            void(run, pending.approval_id, "void")
    take(run, "completed" if run.row.state.edges.get("completed") else "approved", "by the host")
    follow(run)


def skip(run: Run, note: str) -> None:
    """Take the `skipped` edge, which only optional steps have."""
    if run.row.step is not None and run.row.step.required:
        raise HostError(f"`{run.row.step.id}` is required; it can be completed or failed, not skipped")
    at_step(run, "skip", note)
    take(run, "skipped", "by the host")
    follow(run)


def fail(run: Run, note: str) -> None:
    """Let the step fail."""
    at_step(run, "fail", note)
    fail_step(run, f"by the host{': ' + clean(note) if note else ''}")
    follow(run)


def at_step(run: Run, verb: str, note: str) -> None:
    """Record the verb; there must be a step to use it on, with none of its calls under way."""
    if run.ending is not None or run.row.step is None:
        raise HostError(f"the run is over ({run.ending}); there is no step to {verb}")
    mine = [b.call_id for b in run.outstanding.values() if (b.step, b.visit) == (run.cursor.step, run.cursor.visit)]
    if verb != "fail" and mine:
        raise HostError(f"calls of the step are under way: {', '.join(mine)}; observe them first")
    run.record("host", verb, run.row.step.id, clean(note) or None)

"""Judging calls that have run already (S55, `shadow` mode)."""

from __future__ import annotations

from .calls import Outcome, ToolCall
from .lenient import turn_down
from .proposals import open_turn
from .questions import close
from .reports import arrive
from .run import Run, Status
from .turns import follow
from .verdicts import Defer, Verdict


def witness(run: Run, call: ToolCall, outcome: Outcome) -> Verdict:
    """A turn of this one call, and what came of it."""
    [verdict] = open_turn(run, [call], "", None)
    bound = run.outstanding.get(verdict.call_id)
    if isinstance(verdict, Defer) and run.turn is not None:
        [bound] = run.turn.calls
        turn_down(run, bound, "too_early", verdict.why)
        verdict = bound.answer
    if bound is not None and bound.status is Status.PENDING:
        pending = next(p for p in run.pending.values() if p.call is bound)
        close(run, pending, "void", None, "it ran before anybody was asked")
        turn_down(run, bound, "approval", "a person allows it first")
        bound.answer = verdict = bound.answer
    if bound is not None and bound.status is Status.RUNNING:
        arrive(run, bound, outcome)
    else:
        follow(run)
    return verdict

"""After a crash: what was under way when the program stopped (S54)."""

from __future__ import annotations

from .own import Settled
from .run import Bound, Run, Status
from .teach import refuse
from .turns import end_turn, follow, settle


def recover(run: Run) -> None:
    """
    Settle what nobody saw the end of.

    Admitted calls are unknown (S24: the first of a read or idempotent tool is made again, and counts as no failure);
    questions to people stay open; calls that waited for a decision did not run; the turn is over.
    """
    if run.outcome is not None:
        return  # a deadline that had passed has ended it
    run.record("host", "recover", "", None, None)
    for bound in run.turn.calls if run.turn is not None else ():
        if bound.status is Status.DEFERRED:
            refuse(run, bound, "interrupted", by_gate=False)
    for bound in list(run.outstanding.values()):
        lose(run, bound)
    follow(run)
    if run.turn is not None:
        end_turn(run)
        follow(run)


def lose(run: Run, bound: Bound) -> None:
    """One call that was running, or whose outcome had come and was not applied yet."""
    if bound.status is Status.RUNNING:
        bound.outcome, bound.lost = Settled("unknown"), True
        bound.status = Status.ARRIVED
        run.commands.pop(bound.call_id, None)
    if bound.status is Status.ARRIVED:
        settle(run, bound)

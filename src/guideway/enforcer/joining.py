"""
Calls that come one by one, while others of the same reply are under way.

`Session.propose` takes the calls of a reply together.  Hooks of the seed hear of them one after the other, so here a
call joins the turn that is open; it is decided as the next call of that reply would be (S12 to S14).
"""

from __future__ import annotations

from datetime import datetime

from guideway.runtime.calls import ToolCall
from guideway.runtime.proposals import bind_all, foresee
from guideway.runtime.session import Session
from guideway.runtime.turns import advance_turn, decide_wave, react
from guideway.runtime.verdicts import Verdict


def join(session: Session, call: ToolCall, now: datetime) -> list[Verdict]:
    """
    Propose one call: in the turn that is open, else in one of its own.

    Returns its verdict, first, and new ones of other calls, such as those that a deadline has ended.
    """
    with session._inside() as run:
        is_open = run.turn is not None
    if not is_open:
        return session.propose([call], now=now)
    with session._inside() as run, session._verb(now, "propose", calls=[call], text="", usage=None):
        [bound] = bind_all(run, [call])
        if run.turn is not None:
            run.turn.calls.append(bound)
        decide_wave(run, [bound])
        advance_turn(run)
        react(run)
        return [bound.answer, *(verdict for verdict in run.verdicts if verdict.call_id != bound.call_id)]


def look(session: Session, call: ToolCall) -> Verdict:
    """What `join` would answer, with nothing changed."""
    with session._inside() as run:
        return foresee(run, call)


def root_state(session: Session) -> str:
    """The state of the playbook's own list, when the first cursor is inside a block."""
    with session._inside(thaw=False) as run:
        return run.root.state

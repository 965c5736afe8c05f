"""What time does (S7, S26): timers fire before the event that arrives at or after them."""

from __future__ import annotations

from datetime import UTC, datetime

from guideway.statemachine.errors import HostError

from .calls import told
from .ending import end_by_engine, publish
from .moves import take, void
from .run import Run, Status, Timer
from .turns import follow
from .verdicts import Wait

MOST = 10_000
"""Timers that may fire in one verb: a deadline that leads back to its own step, and years of silence, come to more."""


def utc(now: datetime | None) -> datetime | None:
    """
    The time in UTC.

    Raises:
        HostError: the time has no zone, so nobody can say when it is.
    """
    if now is None:
        return None
    if not isinstance(now, datetime) or now.tzinfo is None:
        raise HostError(f"`now` must be a datetime with a time zone, such as datetime.now(UTC), not {told(now)}")
    if not 1970 <= now.year <= 9000:
        raise HostError(f"`now` lies in the year {now.year}; from 1970 to 9000 there is room for every wait")
    return now.astimezone(UTC)


def let_pass(run: Run, now: datetime | None) -> None:
    """Move the clock on to `now`, never back, firing what falls due on the way, each at its own time."""
    now = utc(now)
    if now is None or run.now is None:
        run.now = run.now or now
        return
    fired = 0
    while timer := next_due(run, now):
        fired += 1
        if fired > MOST:
            end_by_engine(run, "failed:livelock", "failed:livelock", f"more than {MOST:,} timers fell due at once")
            publish(run)
            break
        run.timers.remove(timer)
        run.now = max(run.now, timer.due)
        run.moves = 0
        fire(run, timer)
    run.now = max(run.now, now)


def next_due(run: Run, now: datetime) -> Timer | None:
    """The first timer due by `now` that is not held: by (due, kind)."""
    ready = [t for t in run.timers if t.due <= now and not held(run, t)]
    return min(ready, key=lambda t: (t.due, t.kind), default=None)


def held(run: Run, timer: Timer) -> bool:
    """An outcome of the visit has arrived and waits to be applied: the timers of the visit wait, too (S15)."""
    return any(
        b.status is Status.ARRIVED and (b.step, b.visit) == (timer.step, timer.visit) for b in run.outstanding.values()
    )


def fire(run: Run, timer: Timer) -> None:
    """A deadline ends its visit; a wake issues the next try or round."""
    run.record("due", timer.kind, timer.step)
    if timer.kind == "timeout":
        time_out(run, timer)
    elif timer.kind == "wake":
        for key in [key for key, command in run.commands.items() if isinstance(command, Wait)]:
            del run.commands[key]
        run.fresh = True
    follow(run)


def time_out(run: Run, timer: Timer) -> None:
    """Calls of the visit become orphans, its approvals expire, the edge of `timeout` is taken (S26)."""
    for bound in run.outstanding.values():
        if (bound.step, bound.visit) == (timer.step, timer.visit) and (bound.line is not None or bound.automatic):
            bound.orphan = True
    for pending in list(run.pending.values()):
        if (pending.step, pending.visit) == (timer.step, timer.visit) and pending.of != "reconcile":
            void(run, pending.approval_id, "expired")
    take(run, "timeout")

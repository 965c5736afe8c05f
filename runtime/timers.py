"""What time does (S7, S26): timers fire before the event that arrives at or after them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from guideway.statemachine.errors import HostError

from .asking import remind
from .calls import told
from .cursors import Cursor
from .ending import end_by_engine, publish
from .issue import no_event, reject
from .leaving import path_of, void
from .moves import finish, take
from .run import Run, Status, Timer
from .turns import follow, start_macro_step
from .verdicts import Ask

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
        if fired > MOST + 10 * run.size:
            end_by_engine(
                run, run.root, "failed:livelock", "failed:livelock", "more timers fell due at once than there can be"
            )
            publish(run)
            break
        run.drop_timer(timer)
        run.now = max(run.now, timer.due)
        start_macro_step(run)
        fire(run, timer, now)
    run.now = max(run.now, now)


def next_due(run: Run, now: datetime) -> Timer | None:
    """The first timer due by `now` that is not held: by (due, cursor, kind)."""
    for timer in run.timers:
        if timer.due > now:
            return None
        if not held(run, timer):
            return timer
    return None


def held(run: Run, timer: Timer) -> bool:
    """An outcome of the visit, or of one inside it, has arrived and waits to be applied: its timers wait, too (S15)."""
    at = timer.cursor
    if at is None:
        return False
    arrived = (b.cursor for b in run.outstanding.values() if b.status is Status.ARRIVED and b.current)
    return any(cursor is not None and cursor.inside(at) for cursor in arrived)


def fire(run: Run, timer: Timer, now: datetime) -> None:
    """A deadline ends its visit, a question expires or is asked again, a wake goes on."""
    run.record("due", timer.kind, timer.step, path_of(timer.cursor))
    cursor = timer.cursor
    if timer.kind == "timeout" and cursor is not None:
        time_out(run, cursor)
    elif timer.kind == "expire":
        expire(run, timer.about)
    elif timer.kind == "remind":
        skip_missed(run, timer, now)
        remind(run, timer.about)
    elif timer.kind in ("due", "wake") and cursor is not None:
        run.commands.pop(timer.about, None)
        finish(run, cursor) if timer.kind == "due" else run.fresh.append(cursor)
    follow(run)


def time_out(run: Run, cursor: Cursor) -> None:
    """Calls of the visit become orphans, its approvals expire, the edge of `timeout` is taken (S26)."""
    for bound in run.outstanding.values():
        if bound.of(cursor) and (bound.line is not None or bound.automatic):
            bound.orphan = True
            run.strays += 1
    for pending in list(run.pending.values()):
        if pending.cursor is cursor and pending.of != "reconcile":
            void(run, pending.approval_id, "expired")
    take(run, cursor, "timeout")


def expire(run: Run, approval_id: str) -> None:
    """Nobody decided in time (S30): as a rejection, but for a step that says `on_timeout`."""
    pending = run.pending.get(approval_id)
    if pending is None:
        return
    bound, cursor = pending.call, pending.cursor
    if bound is None:
        void(run, approval_id, "expired")
        if cursor is not None:
            take(run, cursor, no_event(cursor, expired=True) or "rejected", "nobody decided in time")
        return
    pending.call = None
    void(run, approval_id, "expired")
    if run.turn is not None and not bound.automatic:
        run.turn.failed = True
    reject(run, bound, "expired")


def skip_missed(run: Run, timer: Timer, now: datetime) -> None:
    """Reminders nobody could be given, because no time was told meanwhile, come down to one: the latest."""
    step = timer.cursor.row.step if timer.cursor is not None else None
    every = step.ask.remind if step is not None and step.ask is not None else None
    known = run.commands.get(timer.about)
    if every is None or run.now is None or not isinstance(known, Ask):
        return
    others = min((t.due for t in run.timers if t is not timer), default=now)
    missed = int(max(0.0, (min(now, others) - run.now).total_seconds()) // every)
    if missed:
        run.now += timedelta(seconds=missed * every)
        run.commands[timer.about] = known._replace(reminders=known.reminders + missed)

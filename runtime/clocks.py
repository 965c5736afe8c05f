"""The time a driver tells its session."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits for it."""

    def now(self) -> datetime:
        """The time, in UTC."""
        ...

    def wait_until(self, due: datetime) -> None:
        """Come back when it is `due`."""
        ...


class WallClock:
    """The real time; waiting takes as long as it takes."""

    def now(self) -> datetime:
        """The time, in UTC."""
        return datetime.now(UTC)

    def wait_until(self, due: datetime) -> None:
        """Sleep."""
        while (left := (due - self.now()).total_seconds()) > 0:
            time.sleep(min(left, 60.0))


class LeapingClock:
    """
    The real time, but no wait takes any: the clock leaps over it.

    >>> clock = LeapingClock()
    >>> before = clock.now()
    >>> clock.wait_until(before + timedelta(hours=4))
    >>> clock.now() - before >= timedelta(hours=4)
    True
    """

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        """The time, in UTC, with all that was leapt over."""
        return datetime.now(UTC) + self._ahead

    def wait_until(self, due: datetime) -> None:
        """Leap."""
        self._ahead += max(due - self.now(), timedelta())


class StillClock:
    """
    A clock that stands still but when somebody waits: the same run has the same times.

    >>> clock = StillClock(datetime(2026, 1, 1, tzinfo=UTC))
    >>> clock.wait_until(datetime(2026, 1, 2, tzinfo=UTC))
    >>> clock.now().day
    2
    """

    def __init__(self, start: datetime) -> None:
        self._now = start

    def now(self) -> datetime:
        """The time it stands at."""
        return self._now

    def wait_until(self, due: datetime) -> None:
        """Move on to `due`."""
        self._now = max(self._now, due)

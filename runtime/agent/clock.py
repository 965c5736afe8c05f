"""The time an agent's run keeps: asked for at once, waited for without holding up the event loop."""

from __future__ import annotations

import asyncio
import inspect
from datetime import UTC, datetime
from typing import Any, Protocol

from guideway.runtime.clocks import Clock, WallClock


class AgentClock(Protocol):
    """Tells the time and waits for it, beside other tasks of the loop."""

    def now(self) -> datetime:
        """The time, in UTC."""
        ...

    async def wait(self, due: datetime) -> None:
        """Come back when it is `due`."""
        ...


class LoopClock:
    """The real time."""

    def now(self) -> datetime:
        """The time, in UTC."""
        return datetime.now(UTC)

    async def wait(self, due: datetime) -> None:
        """Sleep; other tasks go on."""
        while (left := (due - self.now()).total_seconds()) > 0:
            await asyncio.sleep(min(left, 3600.0))


class Borrowed:
    """A clock of the drivers' (`guideway.runtime.clocks`) for the loop: one that leaps does so when all else rests."""

    RESTS = 20
    """Rounds of the event loop that other tasks are given before time leaps."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> datetime:
        """The time, in UTC."""
        return self._clock.now()

    async def wait(self, due: datetime) -> None:
        """Let others go on, and leap."""
        for _ in range(self.RESTS):
            await asyncio.sleep(0)
        self._clock.wait_until(due)


def clock_of(given: Any) -> AgentClock:
    """
    The clock, fit for the loop; none: the real time.

    >>> type(clock_of(None)).__name__
    'LoopClock'
    """
    if given is None or isinstance(given, WallClock):
        return LoopClock()
    found: AgentClock = given if inspect.iscoroutinefunction(getattr(given, "wait", None)) else Borrowed(given)
    return found

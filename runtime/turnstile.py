"""
One at a time, without a lock on the fast path.

A session is moved by one thread at a time.  A lock says so at a cost that is a fifth of a gated call, so there is one
token instead, and taking it off a list is atomic.  At rest it lies in one of three places:

- in `free`: nothing is under way, and the fast path may be tried;
- in `held`, as the one call the fast path has admitted and not seen settle;
- with the general path, which is guarded by a lock proper.
"""

from __future__ import annotations

import time
from threading import RLock
from typing import Any

from guideway.statemachine.errors import HostError

Held = tuple[Any, ...]

PATIENCE = 10.0
"""Seconds: a verb of the fast path takes microseconds, so whoever waits longer waits for one that was killed."""


class Turnstile:
    """Lets one verb in.  Re-entrant for the thread that is inside, as a lock of that kind is."""

    __slots__ = ("_lock", "free", "held", "inside", "taken")

    def __init__(self) -> None:
        self._lock = RLock()
        self.free: list[None] = []
        self.held: list[Held] = []
        self.inside = True
        """the token is with the general path"""
        self.taken: Held | None = None
        """the call of the fast path that the general path has taken over, and not yet thawed"""

    def enter(self) -> None:
        """Wait for the token, wherever it is."""
        self._lock.acquire()
        until = time.monotonic() + PATIENCE if not self.inside else 0.0
        while not self.inside:
            try:
                self.free.pop()
                self.inside = True
            except IndexError:
                self._take_held(until)

    def _take_held(self, until: float) -> None:
        """Take over the call of the fast path; where another thread is just moving it, let that thread finish."""
        try:
            self.taken = self.held.pop()
            self.inside = True
        except IndexError:
            if time.monotonic() > until:
                self._lock.release()
                raise HostError("a verb of this session was cut off half way; restore it from a snapshot") from None
            time.sleep(0)

    def leave(self, ready: bool) -> None:
        """Put the token where it belongs; `ready` says that the next call may take the fast path."""
        if self.inside and self.taken is not None:
            held, self.taken, self.inside = self.taken, None, False
            self.held.append(held)
        elif self.inside and ready:
            self.inside = False
            self.free.append(None)
        self._lock.release()

    def take(self) -> Held | None:
        """The call to be thawed, once."""
        held, self.taken = self.taken, None
        return held

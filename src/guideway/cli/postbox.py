"""What people say to a run from other processes, while this one drives it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from guideway.runtime.clocks import Clock, WallClock
from guideway.runtime.journal import deliver
from guideway.runtime.mail import Mail
from guideway.runtime.narrate import Line
from guideway.runtime.session import Session
from guideway.runtime.situation import watches
from guideway.runtime.verdicts import Verdict

from .journals import Opened
from .past import refusal

PAUSE = 0.1
"""Seconds between two looks into the inbox."""
LOOK = timedelta(seconds=1)
"""How often a condition that is waited for is looked at."""


class Postbox(Mail):
    """
    The inbox of one run.

    Args:
        tell: is given a line for what does not count.
        patient: wait for people where nothing else is left to do.
        waiting: called when it begins to wait, and when what it waits for has changed.
    """

    def __init__(
        self, session: Session, run: str, found: Opened, clock: Clock, tell: Callable[[Line], None], *,
        patient: bool = False, waiting: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._session, self._run, self._found, self._clock = session, run, found, clock
        self._tell, self._waiting = tell, waiting
        self._patient = patient
        self._seen = 0
        """number of the last message that was looked at"""

    def _come(self) -> bool:
        return bool(self._found.journal.posted(self._run, self._seen))

    def take(self, now: datetime | None) -> Sequence[Verdict] | None:
        """Carry out what has come."""
        posted = self._found.journal.posted(self._run, self._seen)
        if not posted:
            return None
        self._seen = posted[-1].number
        verdicts: list[Verdict] = []
        for one in deliver(self._session, self._found.key, now=now):
            if not one.accepted:
                self._tell(refusal(one.verb, one.by, one.reason))
            verdicts += one.progress.verdicts if one.progress is not None else ()
        return verdicts

    def wait(self, due: datetime | None) -> bool:
        """Look into the inbox until it is due; a clock that leaps is left to itself."""
        if not isinstance(self._clock, WallClock):
            return False
        while not self._come():
            left = PAUSE if due is None else (due - self._clock.now()).total_seconds()
            if left <= 0:
                break
            time.sleep(min(PAUSE, left))
        return True

    def linger(self, due: datetime | None) -> bool:
        """Wait for people, if that was asked for."""
        if not self._patient:
            return False
        self._waiting()
        if watches(self._session):
            soon = self._clock.now() + LOOK
            due = min(due or soon, soon)
        return self.wait(due)

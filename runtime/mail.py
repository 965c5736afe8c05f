"""What people in other processes say to a run, as a driver hears it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from .verdicts import Verdict


class Mail:
    """
    Nobody says anything; override what you hear of.

    >>> Mail().take(None), Mail().wait(None), Mail().linger(None)
    (None, False, False)
    """

    def take(self, now: datetime | None) -> Sequence[Verdict] | None:
        """Carry out what has come, and return the new answers on calls; None where nothing has come."""
        return None

    def wait(self, due: datetime | None) -> bool:
        """Wait until something has come, or it is `due`; False: left to the clock."""
        return False

    def linger(self, due: datetime | None) -> bool:
        """The same where nothing else is left to do (no `due`: for as long as it takes); False: the drive is over."""
        return False

"""Those who are told what a driver does."""

from __future__ import annotations

from collections.abc import Sequence

from .records import Record
from .verdicts import Wait


class Watcher:
    """Every method is optional: override what you want to watch."""

    def happened(self, records: Sequence[Record]) -> None:
        """New records, told before an effect whose intent they carry (S57): raise, and the call does not run."""

    def waits(self, wait: Wait, seconds: float) -> None:
        """The driver waits, for this long."""

    def objected(self, approval_id: str, why: str) -> None:
        """A decision does not count."""

    def answered(self, text: str) -> None:
        """The user has said this to the agent's reply."""

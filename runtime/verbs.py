"""What a host has said to a session, verb by verb, for whoever keeps it (S8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from .records import Record


class Event(NamedTuple):
    """
    One verb that was carried out: its name, what it was given, and the time of the run then.

    `data` holds the arguments by their names, as the verb took them (`ToolCall`, `Succeeded` …).
    """

    verb: str
    data: Mapping[str, Any]
    now: datetime | None


class Recorder(Protocol):
    """Keeps what happens in a session; attached by `Session.attach`."""

    def keep(self, event: Event, records: Sequence[Record]) -> None:
        """
        Take the event, and what it made happen; called before the verb returns, so before any effect (S57).

        Raises:
            JournalError: it cannot be kept.  The session admits nothing any more then.
        """
        ...

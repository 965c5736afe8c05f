"""What a journal is: a place that keeps the lines of runs, in order, for good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from guideway.statemachine.errors import JournalError

__all__ = ["Journal", "JournalError", "MemoryJournal", "Message", "Stored"]


class Stored(NamedTuple):
    """One line as a store keeps it: `kind` is that of the entry, for finding the latest snapshot without reading."""

    seq: int
    kind: str
    text: str


class Message(NamedTuple):
    """A line that another process has posted to a run; `number` orders them."""

    number: int
    text: str


class Journal(Protocol):
    """
    Keeps lines.  It knows nothing of what they say.

    Whoever appends says which number comes first; a store refuses any other, so that of two processes that write to
    one run the second is refused at its first line.  What `append` was given is on the disk when it returns.
    """

    def append(self, run: str, lines: Sequence[Stored]) -> None:
        """
        Keep the lines, all or none, for good.

        Raises:
            JournalError: they do not follow the last line of the run, or cannot be kept.
        """
        ...

    def read(self, run: str, first: int = 0) -> Iterator[Stored]:
        """The lines of a run from number `first` on; a torn one at the end is left out."""
        ...

    def last(self, run: str, kind: str | None = None) -> Stored | None:
        """The last line of a run, or its last of one kind; None where there is none."""
        ...

    def runs(self) -> list[str]:
        """The runs that have lines, oldest first."""
        ...

    def post(self, run: str, text: str) -> None:
        """Leave a message for whoever drives the run."""
        ...

    def posted(self, run: str, after: int = 0) -> list[Message]:
        """The messages with a number above `after`, in order."""
        ...

    def close(self) -> None:
        """Let go of files."""
        ...


class MemoryJournal:
    """
    The protocol in twenty lines, for tests and for reading: nothing here survives the program.

    >>> journal = MemoryJournal()
    >>> journal.append("r", [Stored(0, "start", "{}")])
    >>> journal.append("r", [Stored(0, "start", "{}")])
    Traceback (most recent call last):
    guideway.statemachine.errors.JournalError: run r is at entry 1, not 0: another process writes to it
    """

    def __init__(self) -> None:
        self._lines: dict[str, list[Stored]] = {}
        self._mail: dict[str, list[Message]] = {}

    def append(self, run: str, lines: Sequence[Stored]) -> None:
        """Keep the lines in memory."""
        there = self._lines.setdefault(run, [])
        check_next(run, len(there), lines)
        there.extend(lines)

    def read(self, run: str, first: int = 0) -> Iterator[Stored]:
        """The lines."""
        yield from self._lines.get(run, [])[first:]

    def last(self, run: str, kind: str | None = None) -> Stored | None:
        """The last of them."""
        return next((s for s in reversed(self._lines.get(run, [])) if kind in (None, s.kind)), None)

    def runs(self) -> list[str]:
        """Their runs."""
        return list(self._lines)

    def post(self, run: str, text: str) -> None:
        """Keep a message."""
        box = self._mail.setdefault(run, [])
        box.append(Message(len(box) + 1, text))

    def posted(self, run: str, after: int = 0) -> list[Message]:
        """The messages."""
        return self._mail.get(run, [])[after:]

    def close(self) -> None:
        """Nothing to let go of."""


def check_next(run: str, stands: int, lines: Sequence[Stored]) -> None:
    """
    The lines follow what is there.

    Raises:
        JournalError: somebody else has written to the run meanwhile.
    """
    for number, stored in enumerate(lines, stands):
        if stored.seq != number:
            raise JournalError(f"run {run} is at entry {stands}, not {lines[0].seq}: another process writes to it")

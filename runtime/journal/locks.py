"""One writer to a file (flock, where the system has it)."""

from __future__ import annotations

from typing import BinaryIO

from guideway.statemachine.errors import JournalError


def hold(file: BinaryIO, *, wait: bool = False) -> None:
    """
    Hold the file alone until it is closed; the system lets go of it when the process ends, however it ends.

    Raises:
        OSError: another process holds it, and nobody wants to wait.
        JournalError: this system has no such locks.
    """
    try:
        import fcntl
    except ImportError:  # pragma: no cover - not on POSIX
        raise JournalError("JSON lines need the file locks of POSIX; use SqliteJournal on this system") from None
    fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)

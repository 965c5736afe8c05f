"""
The error tree: each branch says whose mistake it was.

A refused call is no error.  It is a verdict, and a run goes on after it.
"""

from __future__ import annotations

from collections.abc import Iterable

from .diagnostic import Diagnostic


class GuidewayError(Exception):
    """Anything that Guideway itself raises."""


class PlaybookError(GuidewayError):
    """
    The author's: the playbook cannot be used as it stands.

    `diagnostics` holds every finding of the reading, not only the first.
    """

    def __init__(self, message: str, diagnostics: Iterable[Diagnostic] = ()) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__(message)


class HostError(GuidewayError):
    """The embedding program's: a verb used out of order, an unknown call id, a missing input."""


class JournalError(GuidewayError):
    """The disk's: a record could not be written, or does not read back as it was written."""

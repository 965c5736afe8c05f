"""Exit statuses, and the two ways to leave a command early."""

from __future__ import annotations

from guideway.statemachine.errors import GuidewayError

CLEAN = 0
FOUND = 1
"""`check` has found an error; `run` has ended otherwise than in success."""
MISUSED = 2
WAITING = 3
"""`run` waits for a person."""
BROKEN = 70
"""A fault of Guideway's own (EX_SOFTWARE of sysexits.h)."""
INTERRUPTED = 130
"""Ctrl-C, as shells report it."""


class MisuseError(GuidewayError):
    """The command was given something that it cannot use; the message names the argument."""


class OutputError(GuidewayError):
    """What was to be written could not be, a full disk for one; the message names it."""


class UnusableError(GuidewayError):
    """The findings about a playbook have been printed already, and it cannot be used."""

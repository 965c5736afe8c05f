"""How a drive comes to its end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Why(StrEnum):
    """Why a drive came to its end."""

    ENDED = "ended"
    """the run has an outcome"""
    WAITING = "waiting"
    """for a person, a signal, or something to hold"""
    SILENT = "silent"
    """the agent had nothing more to say"""
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Finish:
    """How a drive ended; `text` says it to people."""

    why: Why
    text: str

"""
Runs that survive the program: start one in a journal, resume it, replay it, verify it, decide in it from elsewhere.

>>> from guideway.journal import MemoryJournal, start
"""

from guideway.runtime.journal import (
    Asked,
    Control,
    Delivered,
    Journal,
    JsonLinesJournal,
    MemoryJournal,
    Message,
    Migration,
    Replayed,
    SqliteJournal,
    Standing,
    Stored,
    Vault,
    Verified,
    deliver,
    make_key,
    migrate,
    notes,
    read_key,
    replay,
    resume,
    seal,
    standing,
    start,
    unseal,
    verify,
)

__all__ = [
    "Asked", "Control", "Delivered", "Journal", "JsonLinesJournal", "MemoryJournal", "Message", "Migration",
    "Replayed", "SqliteJournal", "Standing", "Stored", "Vault", "Verified", "deliver", "make_key", "migrate",
    "notes", "read_key", "replay", "resume", "seal", "standing", "start", "unseal", "verify",
]  # fmt: skip

"""What a host has put into the record of a run in words of its own (`Session.note`)."""

from __future__ import annotations

from typing import Any

from .entries import verified
from .sound import sound
from .store import Journal


@sound
def notes(journal: Journal, run: str, name: str, *, key: bytes | None = None) -> list[Any]:
    """
    The data of all notes of one name, oldest first, without what is sensitive.

    >>> import guideway
    >>> from guideway.runtime.journal import MemoryJournal, start
    >>> machine = guideway.load({"id": "t", "name": "T", "steps": [{"id": "agree", "approval": {"ask": "Go on?"}}]})
    >>> journal = MemoryJournal()
    >>> start(journal, machine, run_id="run-1").note("ticket", {"number": 7})
    >>> notes(journal, "run-1", "ticket")
    [{'number': 7}]

    Raises:
        JournalError: the entries are not those that were written.
    """
    entries = verified((stored.text for stored in journal.read(run)), run, key)
    records = (record for entry in entries for record in entry.body.get("records", ()))
    return [record.get("data") for record in records if record["kind"] == "noted" and record["name"] == name]

"""What a journal holds of a run, as the records that whoever watches one is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from guideway.runtime.answers_json import moment
from guideway.runtime.journal.entries import Entry, verified
from guideway.runtime.narrate import Line, Mark
from guideway.runtime.records import FIELDS, Record
from guideway.runtime.wording import printable

from .journals import Opened

OF_PEOPLE = ("approve", "reject", "answer", "happened", "did_not_happen", "signal")


def entries_of(found: Opened, run: str) -> Iterator[Entry]:
    """
    Every entry, held against the one before.

    Raises:
        JournalError: one is not what was written.
    """
    yield from verified((stored.text for stored in found.journal.read(run)), run, found.key)


def records_of(entry: Entry) -> list[Record]:
    """The records of an entry; what is sensitive was never written."""
    return [record_of(record) for record in entry.body.get("records", ())]


def record_of(named: Mapping[str, Any]) -> Record:
    """
    A record out of its JSON.

    >>> record_of({"kind": "due", "at": "2026-01-31T09:00:00Z", "timer": "timeout", "step": "a"})[2:]
    ('timeout', 'a', None)
    """
    kind = named["kind"]
    return (kind, moment(named.get("at")), *(named.get(field) for field in FIELDS[kind]))


def past_of(found: Opened, run: str) -> list[Record]:
    """All records of a run so far."""
    return [record for entry in entries_of(found, run) for record in records_of(entry)]


def refusals(entry: Entry) -> Iterator[Line]:
    """What people said in this entry and what did not count: that leaves no record of the engine's."""
    for record in entry.body.get("records", ()):
        if record["kind"] == "noted" and record["name"] == "message_refused":
            data = record["data"]
            yield refusal(data.get("verb", ""), data.get("by", ""), data.get("why", ""))
    if entry.body.get("message") and not entry.body.get("records") and entry.body.get("verb") in OF_PEOPLE:
        yield refusal(entry.body["verb"], entry.body["data"].get("by", ""), "")


def refusal(verb: str, by: str, why: str) -> Line:
    """
    A message that did not count.

    >>> refusal("approve", "mallory", "it is not signed with the key of this run").text
    '`approve` by mallory does not count: it is not signed with the key of this run'
    """
    who = f" by {printable(by)}" if by else ""
    what = f"`{printable(verb)}`" if verb else "a message"
    return Line(Mark.FAULT, f"{what}{who} does not count{': ' + printable(why, 300) if why else ''}", 1)

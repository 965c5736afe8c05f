"""What stands between a session and its journal: every verb, with what it made happen, before it returns (S8, S57)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from guideway.runtime.plan import plan_of
from guideway.runtime.records import Record, stamp, to_json
from guideway.runtime.redact import Redactor
from guideway.runtime.saving import write
from guideway.runtime.session import Session
from guideway.runtime.verbs import Event
from guideway.statemachine.errors import JournalError

from .asked import Asked
from .covering import Places
from .entries import Chain, Entry, line
from .store import Journal, Message, Stored
from .veil import Veil
from .verbs_json import event_json

FEWEST = 64
"""Events between two snapshots, at least."""
WINDOW = 10_000
"""Records that stay in memory, for whoever watches; those before are in the journal."""


@dataclass
class Before:
    """What was kept of a run before: since its last snapshot, and of messages."""

    events: int = 0
    covered: int = 0
    """their size, in characters"""
    size: int = 0
    """of the last snapshot"""
    heard: int = 0
    ids: set[str] = field(default_factory=set)


class Recorder:
    """
    Writes the verbs of one session to its journal.

    A snapshot follows once the events since the last one take more room than it does: so what is written stays linear
    in what happens, and going on after a crash reads no more than about twice the state.
    """

    def __init__(self, journal: Journal, chain: Chain, veil: Veil, redactor: Redactor, asked: Asked) -> None:
        self._journal, self._chain, self._asked = journal, chain, asked
        self._veil, self._redactor = veil, redactor
        self._session: Session | None = None
        self._places: Places | None = None
        self._events = self._bytes = self._size = 0
        self._failed = ""
        self._lost = False
        """since the last snapshot there was something that only the vault can give back"""
        self._message: tuple[int, str | None] | None = None
        """number and id of the message that is being carried out"""
        self.heard = 0
        """the number of the last message that was"""
        self.ids: set[str] = set()
        """the messages that were carried out"""

    @property
    def run(self) -> str:
        """The run."""
        return self._chain.run

    @property
    def key(self) -> bytes | None:
        """The key that the run is kept with."""
        return self._chain.key

    def shown(self, noted: Any) -> Any:
        """Something that was noted, with its secrets as far as they are to be had."""
        return self._veil.uncover_known(noted)

    def new_messages(self) -> list[Message]:
        """What people have said since the last message that was carried out."""
        return self._journal.posted(self.run, self.heard)

    @contextmanager
    def carrying_out(self, number: int, message_id: str | None) -> Iterator[None]:
        """What is kept inside is the doing of this message."""
        self._message = (number, message_id)
        try:
            yield
        finally:
            self._message = None

    def follow(self, session: Session, before: Before | None = None) -> None:
        """Keep what happens in this session from now on, after what was kept before."""
        before = before or Before()
        self._session = session
        self._places = Places(plan_of(session.machine).definition, self._veil, self._redactor)
        self._events, self._bytes, self._size = before.events, before.covered, before.size
        self.heard, self.ids = before.heard, set(before.ids)
        self._places.snapshot(write(session._run))
        self._asked.flush()
        self._asked.inside = lambda: session._run.busy
        session.attach(self)

    def begin(self, body: Mapping[str, Any]) -> None:
        """Write the first entry of a run."""
        self._append([self._chain.seal("start", body)])

    def migrated(self, body: Mapping[str, Any]) -> None:
        """Write that the run goes on with another version of its playbook, and where it stands then."""
        self._append([self._chain.seal("migrated", body), self._snapshot()])

    def keep(self, event: Event, records: Sequence[Record]) -> None:
        """Write one verb, and a snapshot where one is due; it is on the disk when this returns."""
        answers = self._asked.flush()
        if not records and self._message is None and event.verb != "propose":
            return  # it has moved nothing; a reply after the end still costs tokens
        entries = [self._chain.seal("event", self._body(event, records, answers))]
        self._events += 1
        self._bytes += len(line(entries[0]))
        if self._due():
            entries.append(self._snapshot())
        self._append(entries)

    def _body(self, event: Event, records: Sequence[Record], answers: list[Any]) -> dict[str, Any]:
        data, shown = self._veil.escape(event_json(event)), [to_json(record) for record in records]
        body: dict[str, Any] = {"verb": event.verb, "now": stamp(event.now)}
        before = self._veil.numbered
        if self._places is not None:
            self._places.watch([record for record in shown if record["kind"] == "decided"])
            data = self._places.event(event.verb, data)
            self._places.watch([record for record in shown if record["kind"] == "settled"])
        self._lost = self._lost or (self._veil.numbered > before and event.verb != "note")
        body["data"] = self._veil.cover(data)
        body["records"] = [self._redactor.record(record) for record in shown]
        if answers:
            body["asked"] = answers
        if self._message is not None:
            self.heard, message_id = self._message
            self.ids |= {message_id} if message_id else set()
            body["message"] = list(self._message)
        return body

    def _due(self) -> bool:
        return self._lost or (self._events >= FEWEST and self._bytes >= self._size)

    def _snapshot(self) -> Entry:
        """All there is to go on from; what is hidden in it is hidden as in events."""
        session, before = self._session, self._veil.numbered
        data = self._veil.escape(write(session._run)) if session is not None else {}
        if self._places is not None:
            data = self._places.snapshot(data)
        self._lost = self._veil.numbered > before
        body = {
            "state": self._veil.cover(data), "heard": self.heard, "messages": sorted(self.ids),
            "numbered": self._veil.numbered,
        }  # fmt: skip
        entry = self._chain.seal("snapshot", body)
        self._events, self._bytes, self._size = 0, 0, len(line(entry))
        return entry

    def _append(self, entries: Sequence[Entry]) -> None:
        if self._failed:
            raise JournalError(f"resume run {self._chain.run} from what its journal holds; before, {self._failed}")
        self._failed = "it was cut off while writing"  # until it went well: nobody knows what a failed write has left
        try:
            self._journal.append(self._chain.run, [Stored(entry.seq, entry.kind, line(entry)) for entry in entries])
            self._failed = ""
        except JournalError as fault:
            self._failed = str(fault)
            raise
        if self._session is not None and len(self._session._run.shown) > 2 * WINDOW:
            self._session.forget(keep=WINDOW)

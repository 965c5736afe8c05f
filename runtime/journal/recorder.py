"""What stands between a session and its journal: every verb, with what it made happen, before it returns (S8, S57)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from guideway.runtime.plan import plan_of
from guideway.runtime.records import Record, stamp, to_json
from guideway.runtime.redact import Redactor
from guideway.runtime.saving import write
from guideway.runtime.session import Session
from guideway.runtime.verbs import Event

from .asked import Asked
from .covering import Places
from .entries import Chain, Entry, line
from .store import Journal, Stored
from .veil import Veil
from .verbs_json import event_json

FEWEST = 64
"""Events between two snapshots, at least."""
WINDOW = 10_000
"""Records that stay in memory, for whoever watches; those before are in the journal."""


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
        self._lost = False
        """since the last snapshot there was something that only the vault can give back"""
        self.message: int | None = None
        """the number of the message that is being carried out"""
        self.heard = 0
        """the number of the last message that was"""

    def follow(self, session: Session, *, events: int = 0, size: int = 0, covered: int = 0, heard: int = 0) -> None:
        """Keep what happens in this session from now on; the numbers say what was kept before."""
        self._session = session
        self._places = Places(plan_of(session.machine).definition, self._veil, self._redactor)
        self._events, self._bytes, self._size, self.heard = events, covered, size, heard
        self._places.snapshot(write(session._run))
        self._asked.flush()
        self._asked.inside = lambda: session._run.busy
        session.attach(self)

    def begin(self, body: Mapping[str, Any]) -> None:
        """Write the first entry of a run."""
        self._append([self._chain.seal("start", body)])

    def keep(self, event: Event, records: Sequence[Record]) -> None:
        """Write one verb, and a snapshot where one is due; it is on the disk when this returns."""
        answers, heard = self._asked.flush(), self.message
        if not records and heard is None and event.verb != "propose":
            return  # it has moved nothing; a reply after the end still costs tokens
        entries = [self._chain.seal("event", self._body(event, records, answers))]
        self._events += 1
        self._bytes += len(line(entries[0]))
        if self._due():
            entries.append(self._snapshot())
        self._append(entries)

    def _body(self, event: Event, records: Sequence[Record], answers: list[Any]) -> dict[str, Any]:
        data, shown = event_json(event), [to_json(record) for record in records]
        body: dict[str, Any] = {"verb": event.verb, "now": stamp(event.now)}
        before = self._veil.numbered
        if self._places is not None:
            self._places.watch([record for record in shown if record["kind"] == "decided"])
            data = self._places.event(event.verb, data)
            self._places.watch([record for record in shown if record["kind"] == "settled"])
        self._lost = self._lost or self._veil.numbered > before
        body["data"] = self._veil.cover(data)
        body["records"] = [self._redactor.record(record) for record in shown]
        if answers:
            body["asked"] = answers
        if self.message is not None:
            body["message"] = self.heard = self.message
        return body

    def _due(self) -> bool:
        return self._lost or (self._events >= FEWEST and self._bytes >= self._size)

    def _snapshot(self) -> Entry:
        """All there is to go on from; what is hidden in it is hidden as in events."""
        session, before = self._session, self._veil.numbered
        data = write(session._run) if session is not None else {}
        if self._places is not None:
            data = self._places.snapshot(data)
        self._lost = self._veil.numbered > before
        body = {"state": self._veil.cover(data), "heard": self.heard, "numbered": self._veil.numbered}
        entry = self._chain.seal("snapshot", body)
        self._events, self._bytes, self._size = 0, 0, len(line(entry))
        return entry

    def _append(self, entries: Sequence[Entry]) -> None:
        self._journal.append(self._chain.run, [Stored(entry.seq, entry.kind, line(entry)) for entry in entries])
        if self._session is not None and len(self._session._run.shown) > 2 * WINDOW:
            self._session.forget(keep=WINDOW)

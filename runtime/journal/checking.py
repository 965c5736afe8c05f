"""Holding a journal against itself (`verify`) and against the machine (`replay`)."""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from guideway.runtime.plan import plan_of
from guideway.runtime.redact import Redactor
from guideway.runtime.run import Predicates
from guideway.runtime.session import Session
from guideway.statemachine.errors import JournalError
from guideway.statemachine.machine import Machine

from .asked import Asked
from .entries import Chain, Entry, parse, verified
from .resuming import Rebuilt, carried_out, fresh, given_again, started, take
from .store import Journal
from .veil import Vault, Veil


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found in order: `head` is the hash of the last entry, to be kept elsewhere."""

    run: str
    entries: int
    head: str
    outcome: str | None
    """None where the run has not ended"""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A run carried out once more: `events` made the same records; `trusted` belong to another version of it."""

    run: str
    events: int
    records: int
    trusted: int
    outcome: str | None


def verify(journal: Journal, run: str, *, head: str | None = None, key: bytes | None = None) -> Verified:
    """
    Read every entry of a run, and hold it against the one before.

    `head` is the hash that the run had when somebody looked before: it must still be there, so that a cut end is found.

    Raises:
        JournalError: an entry was changed, dropped, moved or put in, or the end was cut off.
    """
    count, last, outcome, seen = 0, "", None, head is None
    for entry in verified((stored.text for stored in journal.read(run)), run, key):
        count, last = count + 1, entry.hash
        seen = seen or hmac.compare_digest(entry.hash, head or "")
        outcome = ended(entry.body) or outcome
    if not count:
        raise JournalError(f"the journal holds no run {run!r}")
    if not seen:
        raise JournalError(f"run {run} holds no entry {head}: its end was cut off, or it was written anew")
    return Verified(run, count, last, outcome)


def ended(body: Mapping[str, Any]) -> str | None:
    """The outcome, if the entry published one."""
    return next((str(r["outcome"]) for r in body.get("records", ()) if r["kind"] == "ended"), None)


def replay(
    journal: Journal, run: str, machine: Machine, *, inputs: Mapping[str, Any] | None = None,
    predicates: Predicates | None = None, key: bytes | None = None, vault: Vault | None = None,
) -> Replayed:  # fmt: skip
    """
    Carry out every event of a run from its start, and hold the records it makes against those it made.

    Predicates are not asked again.  Nothing is run and nothing written.

    Raises:
        JournalError: an event went another way; the message names it, and both records.
        HostError: another machine, or a sensitive value is missing.
    """
    entries = verified((stored.text for stored in journal.read(run)), run, key)
    began = next(entries, None)
    if began is None:
        raise JournalError(f"the journal holds no run {run!r}")
    digest = plan_of(machine).definition.digest
    body = started(began, machine, digest if knows(journal, run, digest) else None)
    definition, given = plan_of(machine).definition, given_again(body, inputs or {})
    veil = Veil(run, body["nonce"], definition, given, vault)
    veil.confirm(body["checks"])
    asked = Asked(predicates)
    asked.feed(body.get("asked", ()))
    mine = body["digest"] == digest
    session = fresh(machine, run, body, veil, asked) if mine else Session.__new__(Session)
    rebuilt = Rebuilt(session, Chain(run), veil, Redactor(definition, given), asked)
    return carried_through(rebuilt, entries, machine, mine)


def knows(journal: Journal, run: str, digest: str) -> bool:
    """The run was moved to this version at some time."""
    lines = (stored for stored in journal.read(run) if stored.kind == "migrated")
    return any(parse(stored.text).body["digest"] == digest for stored in lines)


def carried_through(rebuilt: Rebuilt, entries: Iterable[Entry], machine: Machine, mine: bool) -> Replayed:
    """All events that were carried out on this version of the playbook; `mine`: the run was started on it."""
    digest, moved, count = plan_of(machine).definition.digest, False, Counter[str]()
    for entry in entries:
        if entry.kind == "migrated":
            mine = moved = entry.body["digest"] == digest
        elif entry.kind == "snapshot" and moved:
            take(rebuilt, entry, machine, at_snapshot=True)
            moved = False
        elif entry.kind == "event" and not mine:
            count["trusted"] += 1
        elif entry.kind == "event":
            difference = carried_out(rebuilt, entry)
            if difference is not None:
                raise JournalError(difference)
            count["events"] += 1
            count["records"] += len(entry.body["records"])
    outcome = rebuilt.session.outcome if mine else None
    return Replayed(rebuilt.chain.run, count["events"], count["records"], count["trusted"], outcome)

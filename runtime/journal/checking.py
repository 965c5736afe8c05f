"""Holding a journal against itself (`verify`) and against the machine (`replay`)."""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from guideway.runtime.plan import plan_of
from guideway.runtime.records import to_json
from guideway.runtime.run import Predicates
from guideway.statemachine.errors import JournalError
from guideway.statemachine.machine import Machine

from .entries import Entry, parse, verified
from .resuming import Rebuilt, at_start, carried_out, differences, entries_of, started, take
from .sound import sound
from .store import Journal
from .veil import Vault


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


@sound
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


@sound
def replay(
    journal: Journal, run: str, machine: Machine, *, inputs: Mapping[str, Any] | None = None,
    predicates: Predicates | None = None, key: bytes | None = None, vault: Vault | None = None,
) -> Replayed:  # fmt: skip
    """
    Carry out every event of a run from its start, and hold the records it makes against those it made.

    Predicates are not asked again.  Nothing is run and nothing written.

    Raises:
        JournalError: an event went another way; the message names it, and both records.  Or a snapshot is not what the
            events before it come to.
        HostError: another machine, or a sensitive value is missing.
    """
    began, entries = entries_of(journal, run, key)
    digest = plan_of(machine).definition.digest
    mine = started(began, machine, digest if knows(journal, run, digest) else None)["digest"] == digest
    rebuilt = at_start(began, machine, inputs, predicates, key, vault, anew=mine)
    if mine:
        refuse(next(differences(began, shown(rebuilt)), None))
    return carried_through(rebuilt, entries, machine, mine)


def refuse(why: str | None) -> None:
    """Raise it, if there is something."""
    if why is not None:
        raise JournalError(why)


def shown(rebuilt: Rebuilt) -> list[dict[str, Any]]:
    """The records that starting makes."""
    return [rebuilt.redactor.record(to_json(record)) for record in rebuilt.session.records]


def other_state(rebuilt: Rebuilt, entry: Entry) -> str | None:
    """Where a snapshot says something that the events before it do not come to."""
    was, now = rebuilt.veil.uncover(entry.body["state"]), rebuilt.session.snapshot.to_json()
    if entry.body["numbered"]:
        was, now = without_words(was), without_words(now)
    other = next((name for name in {**was, **now} if name not in was or was[name] != now.get(name)), None)
    where = f"entry {entry.seq} of run {rebuilt.chain.run}"
    return None if other is None else f"{where} is a snapshot of another run: the events come to another `{other}`"


def without_words(state: Mapping[str, Any]) -> dict[str, Any]:
    """A snapshot without the sentences that repeat arguments: where these are hidden, nothing gives them back."""
    bound = [{**part, "answer": None} for part in state["bound"]]
    pending = [{**part, "ask": None} for part in state["pending"]]
    commands = [[*part[:2], None, *part[3:]] if part[0] == "Ask" else part for part in state["commands"]]
    return {**state, "bound": bound, "pending": pending, "commands": commands}


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
        elif entry.kind == "snapshot" and mine:
            refuse(other_state(rebuilt, entry))
        elif entry.kind == "event" and not mine:
            count["trusted"] += 1
        elif entry.kind == "event":
            refuse(carried_out(rebuilt, entry))
            count["events"] += 1
            count["records"] += len(entry.body["records"])
    outcome = rebuilt.session.outcome if mine else None
    return Replayed(rebuilt.chain.run, count["events"], count["records"], count["trusted"], outcome)

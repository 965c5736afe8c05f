"""
Going on with a run from its journal, in another process (S54).

What the run was is the last snapshot, and the events after it carried out once more; they must make the same records as
they did at first.  What was under way then is unknown, and is settled as S54 says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from guideway.runtime.answers_json import moment
from guideway.runtime.marks import HIDDEN
from guideway.runtime.plan import plan_of
from guideway.runtime.records import to_json
from guideway.runtime.redact import Redactor
from guideway.runtime.run import Predicates
from guideway.runtime.session import Session
from guideway.statemachine.errors import HostError, JournalError
from guideway.statemachine.machine import Machine

from .asked import Asked
from .entries import SCHEMA, Chain, Entry, line, parse, verified
from .recorder import Before, Recorder
from .sound import sound
from .store import Journal
from .veil import Vault, Veil
from .verbs_json import again


@dataclass
class Rebuilt:
    """A run as it stood when its last entry was written."""

    session: Session
    chain: Chain
    veil: Veil
    redactor: Redactor
    asked: Asked
    before: Before = field(default_factory=Before)


def resume(
    journal: Journal,
    run: str,
    machine: Machine,
    *,
    inputs: Mapping[str, Any] | None = None,
    now: datetime | None = None,
    predicates: Predicates | None = None,
    key: bytes | None = None,
    vault: Vault | None = None,
) -> Session:
    """
    Go on with a run whose program has stopped.

    Calls that were under way are unknown: of a tool that only reads, or is idempotent, the call is made again; of any
    other a person reconciles, or `on_unknown` is taken.  Deadlines that have passed fire at `now`.  A run that has
    ended comes back ended.

    Args:
        inputs: the sensitive inputs once more; the others are in the journal.
        vault: where sensitive arguments and results were put, if they were.

    Raises:
        HostError: another machine than the run was started with, or a sensitive input is missing.
        JournalError: there is no such run, or its entries are not those that were written.
    """
    rebuilt = rebuild(journal, run, machine, inputs=inputs, predicates=predicates, key=key, vault=vault)
    session = rebuilt.session
    recorder = Recorder(journal, rebuilt.chain, rebuilt.veil, rebuilt.redactor, rebuilt.asked)
    sound(recorder.follow)(session, rebuilt.before)
    if session.outcome is None:
        session.interrupted(now)
    return session


@sound
def rebuild(
    journal: Journal, run: str, machine: Machine, *, inputs: Mapping[str, Any] | None = None,
    predicates: Predicates | None = None, key: bytes | None = None, vault: Vault | None = None,
) -> Rebuilt:  # fmt: skip
    """The run as it stood, not attached to anything; see `resume`."""
    began, entries = entries_of(journal, run, key)
    started(began, machine, moved(journal, run))
    latest = latest_snapshot(journal, run)
    rebuilt = at_start(began, machine, inputs, predicates, key, vault, anew=latest is None)
    for entry in entries:
        rebuilt.chain.seq, rebuilt.chain.head = entry.seq + 1, entry.hash
        if latest is not None and entry.seq < latest:
            continue
        take(rebuilt, entry, machine, at_snapshot=entry.seq == latest)
    return rebuilt


def entries_of(journal: Journal, run: str, key: bytes | None) -> tuple[Entry, Iterator[Entry]]:
    """
    The first entry of a run, and those after it.

    Raises:
        JournalError: there is no such run, or its entries are not those that were written.
    """
    entries = verified((stored.text for stored in journal.read(run)), run, key)
    began = next(entries, None)
    if began is None:
        raise JournalError(f"the journal holds no run {run!r}")
    return began, entries


def at_start(
    began: Entry, machine: Machine, inputs: Mapping[str, Any] | None, predicates: Predicates | None,
    key: bytes | None, vault: Vault | None, *, anew: bool,
) -> Rebuilt:  # fmt: skip
    """What a run is gone on with, secrets confirmed; with `anew` its session at the start, else one is to be taken."""
    body, definition = began.body, plan_of(machine).definition
    given = given_again(body, inputs or {})
    veil = Veil(began.run, body["nonce"], definition, given, vault, key)
    veil.confirm(body["checks"])
    asked = Asked(predicates)
    asked.feed(body.get("asked", ()))
    session = fresh(machine, began.run, body, veil, asked) if anew else Session.__new__(Session)
    return Rebuilt(session, Chain(began.run, key, 1, began.hash), veil, Redactor(definition, given), asked)


def given_again(body: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of the start; those that hold a mark count only where they are given again."""
    mark = f"{HIDDEN}{{{body['nonce']}."
    kept = {name: value for name, value in body["inputs"].items() if mark not in json.dumps(value, ensure_ascii=False)}
    return {**kept, **inputs}


def latest_snapshot(journal: Journal, run: str) -> int | None:
    """The number of the last snapshot."""
    stored = journal.last(run, "snapshot")
    return None if stored is None else stored.seq


def moved(journal: Journal, run: str) -> str | None:
    """The digest of the version that the run was moved to last."""
    stored = journal.last(run, "migrated")
    return None if stored is None else str(parse(stored.text).body["digest"])


def started(entry: Entry, machine: Machine, moved_to: str | None = None) -> Mapping[str, Any]:
    """
    What a run was started with; the machine must be the one that it runs on, which another one may have become.

    Raises:
        JournalError: it is no start, or of a later version.
        HostError: it is of another machine.
    """
    body = entry.body
    if entry.kind != "start" or body.get("schema") != SCHEMA:
        raise JournalError(f"run {entry.run} was written by another version of guideway (schema {body.get('schema')})")
    definition = plan_of(machine).definition
    digest = moved_to or body["digest"]
    if digest != definition.digest:
        raise HostError(
            f"run {entry.run} runs on another version of `{body['playbook']}` (digest {digest[:12]}, "
            f"and this one is {definition.digest[:12]}); resume it with that one, or migrate it"
        )
    return body


def fresh(machine: Machine, run: str, body: Mapping[str, Any], veil: Veil, asked: Asked) -> Session:
    """The run at its start."""
    return Session(
        machine, inputs=veil.uncover(body["inputs"]), now=moment(body["now"]), run_id=run,
        started_by=body["started_by"], predicates=asked or None, mode=body["mode"],
    )  # fmt: skip


def take(rebuilt: Rebuilt, entry: Entry, machine: Machine, *, at_snapshot: bool) -> None:
    """Take one entry over: the last snapshot is where the run stands, an event is carried out."""
    if at_snapshot:
        rebuilt.veil.numbered = entry.body["numbered"]
        state = rebuilt.veil.uncover(entry.body["state"])
        rebuilt.session = Session.restore(machine, state, predicates=rebuilt.asked or None)
        body = entry.body
        rebuilt.before = Before(size=len(line(entry)), heard=body["heard"], ids=set(body["messages"]))
        return
    if entry.kind == "event":
        difference = carried_out(rebuilt, entry)
        if difference is not None:
            raise JournalError(difference)
        rebuilt.before.events += 1
        rebuilt.before.covered += len(line(entry))


def carried_out(rebuilt: Rebuilt, entry: Entry) -> str | None:
    """Carry an event out once more; says where it went another way than at first."""
    body, session = entry.body, rebuilt.session
    known = session._run.forgotten + len(session.records)
    rebuilt.asked.feed(body.get("asked", ()))
    if message := body.get("message"):
        rebuilt.before.heard = message[0]
        rebuilt.before.ids |= {message[1]} if message[1] else set()
    uncover = rebuilt.veil.uncover_known if body["verb"] == "note" else rebuilt.veil.uncover
    again(session, body["verb"], uncover(body["data"]), moment(body["now"]))
    made = [rebuilt.redactor.record(to_json(record)) for record in session.since(known)]
    session.forget()
    return next(differences(entry, made), None)


def differences(entry: Entry, made: list[dict[str, Any]]) -> Iterator[str]:
    """The first record that is not as it was."""
    was = entry.body["records"]
    for number, (then, now) in enumerate(zip(was, made, strict=False)):
        if then != now:
            yield f"entry {entry.seq} of run {entry.run} went another way: record {number} was {then}, and is {now}"
    if len(was) != len(made):
        yield f"entry {entry.seq} of run {entry.run} made {len(was)} records, and makes {len(made)} now"

"""The first entry of a run: what it was started with."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from guideway.runtime.calls import told
from guideway.runtime.facts import copy
from guideway.runtime.own import clean
from guideway.runtime.plan import plan_of
from guideway.runtime.records import stamp, to_json
from guideway.runtime.redact import Redactor
from guideway.runtime.run import Predicates
from guideway.runtime.session import Session
from guideway.statemachine.errors import HostError
from guideway.statemachine.machine import Machine

from .asked import Asked
from .entries import SCHEMA, Chain
from .recorder import Recorder
from .store import Journal
from .veil import Vault, Veil


def start(
    journal: Journal,
    machine: Machine,
    *,
    run_id: str | None = None,
    inputs: Mapping[str, Any] | None = None,
    now: datetime | None = None,
    started_by: str = "",
    predicates: Predicates | None = None,
    mode: str = "enforce",
    key: bytes | None = None,
    vault: Vault | None = None,
) -> Session:
    """
    Start a run that is kept: every verb is on the disk, with what it made happen, before it returns.

    `run_id` must be new to the journal; left out, one is drawn.  With a `key` the entries cannot be forged by whoever
    does not have it.

    >>> import guideway
    >>> from guideway.runtime.journal import MemoryJournal
    >>> machine = guideway.load({"id": "t", "name": "T", "steps": [
    ...     {"id": "look", "description": "Look it up", "expected_tools": ["query_siem"]}]})
    >>> journal = MemoryJournal()
    >>> session = start(journal, machine, run_id="run-1")
    >>> [verdict] = session.propose([guideway.ToolCall("query_siem", {}, call_id="c1")])
    >>> [stored.kind for stored in journal.read("run-1")]
    ['start', 'event']

    Raises:
        HostError: as for `Session`; or the run exists.
        JournalError: it cannot be kept.
    """
    run = f"run-{secrets.token_hex(6)}" if run_id is None else checked_id(run_id)
    if journal.last(run) is not None:
        raise HostError(f"the journal holds a run {run!r} already; resume it, or give the new one another run_id")
    asked, definition = Asked(predicates), plan_of(machine).definition
    session = Session(
        machine, inputs=inputs, now=now, run_id=run, started_by=started_by, predicates=asked or None, mode=mode
    )
    given = copy(dict(inputs or {}))
    veil = Veil(run, secrets.token_hex(8), definition, given, vault, key)
    redactor = Redactor(definition, given)
    recorder = Recorder(journal, Chain(run, key), veil, redactor, asked)
    body = {
        "schema": SCHEMA, "playbook": definition.id, "digest": definition.digest, "mode": mode,
        "started_by": started_by, "now": stamp(session.now), "inputs": veil.cover(veil.escape(given)),
        "nonce": veil._nonce,
        "checks": veil.checks(), "asked": asked.flush(),
        "records": [redactor.record(to_json(record)) for record in session.records],
    }  # fmt: skip
    recorder.begin(body)
    recorder.follow(session)
    return session


LONGEST_ID = 120
"""Characters of the name of a run: a file is called after it."""


def checked_id(run: object) -> str:
    """
    The name of a run, if it can be one everywhere.

    Raises:
        HostError: it is no text, empty, too long, or no Unicode text.
    """
    if not isinstance(run, str) or not 0 < len(run) <= LONGEST_ID or clean(run) != run:
        raise HostError(f"the id of a run is a text of 1 to {LONGEST_ID} characters, not {told(run)}")
    return run

"""Where a run stands, as its journal tells it to whoever has no machine: out of what was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from guideway.statemachine.errors import JournalError

from .entries import Entry, verified
from .sound import sound
from .store import Journal


@dataclass(frozen=True, slots=True)
class Asked:
    """An open question, as it may be shown: `of` is `step`, `call`, `reconcile` or `ask`; `said` who has allowed it."""

    approval_id: str
    of: str
    step: str
    ask: str
    approvers: tuple[str, ...] = ()
    tool: str | None = None
    args: Any = None
    said: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    needed: int = 1
    """how many persons must allow it"""


@dataclass
class Standing:
    """A run in brief."""

    run: str
    playbook: str
    digest: str
    mode: str
    started: str | None
    started_by: str
    last: str | None = None
    """time of its last event"""
    entries: int = 0
    outcome: str | None = None
    questions: dict[str, Asked] = field(default_factory=dict)
    decided: dict[str, str] = field(default_factory=dict)
    """questions that are open no more -> how they were decided, as far back as was read"""
    running: dict[str, str] = field(default_factory=dict)
    """calls that were admitted and not reported -> their tools"""


@sound
def standing(journal: Journal, run: str, key: bytes | None = None) -> Standing:
    """
    Read where a run stands.

    Raises:
        JournalError: there is no such run, or its entries are not those that were written.
    """
    found: Standing | None = None
    for entry in verified((stored.text for stored in journal.read(run)), run, key):
        if found is None:
            body = entry.body
            found = Standing(run, body["playbook"], body["digest"], body["mode"], body["now"], body["started_by"])
        found.entries += 1
        found.last = entry.body.get("now") or found.last
        for record in records(entry):
            note(found, record)
    if found is None:
        raise JournalError(f"the journal holds no run {run!r}")
    return found


def records(entry: Entry) -> Iterator[Mapping[str, Any]]:
    """The records of an entry."""
    yield from entry.body.get("records", ())


def note(found: Standing, record: Mapping[str, Any]) -> None:
    """What a record says of questions and of the end."""
    asked = record.get("approval_id", "")
    match record["kind"]:
        case "asked":
            found.decided.pop(asked, None)
            found.questions[asked] = Asked(
                asked, record["of"], record["step"], record["ask"], tuple(record["approvers"]), record.get("tool"),
                record.get("args"), (), tuple(record.get("excluded", ())), record.get("needed", 1),
            )  # fmt: skip
        case "allowed" if asked in found.questions:
            before = found.questions[asked]
            found.questions[asked] = replace(before, said=(*before.said, record["by"]))
        case "answered":
            found.questions.pop(asked, None)
            found.decided[asked] = record["decision"]
        case "decided" if record["verdict"] in ("allow", "illegal"):
            found.running[record["call_id"]] = record["tool"]
        case "settled":
            found.running.pop(record["call_id"], None)
        case "ended":
            found.outcome = record["outcome"]

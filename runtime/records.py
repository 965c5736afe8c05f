"""
The record of a run, in order.

In memory a record is a bare tuple, because appending one is part of every gated call.  It becomes JSON, and a link of
a hash chain, when it leaves the process (S57): each line holds the SHA-256 of the line before it, so that a line
changed, dropped or moved is seen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from guideway.statemachine.canonical import canonical, read
from guideway.statemachine.errors import JournalError

Record = tuple[Any, ...]

GENESIS = "0" * 64

FIELDS: Mapping[str, tuple[str, ...]] = {
    "started": ("playbook", "digest", "run", "started_by", "state", "inputs"),
    "turn": ("number", "text", "tokens"),
    "decided": (
        "call_id", "tool", "args", "verdict", "step", "state", "code", "detail", "rule", "because", "frame",
    ),
    "arrived": ("call_id", "outcome"),
    "settled": ("call_id", "tool", "outcome", "detail", "counts", "step", "frame"),
    "moved": ("source", "event", "target", "step", "why", "frame"),
    "asked": ("approval_id", "of", "step", "tool", "args", "ask", "approvers", "frame", "excluded", "needed"),
    "allowed": ("approval_id", "by", "groups", "note", "step", "frame"),
    "edited": ("approval_id", "by", "tool", "args", "step", "frame"),
    "answered": ("approval_id", "decision", "by", "note", "step", "frame", "answer"),
    "due": ("timer", "step", "frame"),
    "signalled": ("signal", "data"),
    "claimed": ("confidence",),
    "host": ("verb", "step", "note", "frame"),
    "noted": ("name", "data"),
    "called": ("playbook", "step", "state", "inputs", "frame"),
    "returned": ("playbook", "outcome", "frame"),
    "closed": ("step", "event", "why", "frame"),
    "policy": ("policy", "standing", "frame"),
    "turn_ended": ("number", "effect"),
    "ending": ("state", "outcome"),
    "ended": ("state", "outcome"),
}  # fmt: skip
"""Kind of record -> names of its values, after `kind` and `at`.  A `frame` of none is that of the run itself."""


def spread(records: Iterable[Record]) -> Iterator[Record]:
    """
    Write out what the fast path notes in two: `admitted` (a turn and its one answer) and `passed` (its end).

    >>> [record[0] for record in spread([("passed", None, 1, "c1", "look", {}, "a", "b")])]
    ['settled', 'moved', 'turn_ended']
    """
    for record in records:
        if record[0] == "admitted":
            _, at, number, text, call_id, tool, args, step = record
            yield ("turn", at, number, text, 0)
            yield ("decided", at, call_id, tool, args, "allow", step, step, None, None, None, None, None)
        elif record[0] == "passed":
            _, at, number, call_id, tool, result, step, target = record
            yield ("settled", at, call_id, tool, "ok", {"result": result}, True, step, None)
            if target is not None:
                yield ("moved", at, step, "completed", target, step, None, None)
            yield ("turn_ended", at, number, None)
        else:
            yield record


def own_record(record: Record) -> Record:
    """A copy to hand out: who changes it changes neither what is recorded nor what was admitted."""
    return tuple(copied(value) if isinstance(value, dict | list) else value for value in record)


def copied(value: Any) -> Any:
    """A copy of what is JSON already, however deep it is inside of what records hold."""
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if type(value) is list else value


def to_json(record: Record) -> dict[str, Any]:
    """
    Name the values of a record.

    >>> to_json(("moved", None, "a", "completed", "b", "a", "", None))["target"]
    'b'
    """
    kind, at, *values = record
    named = {"kind": kind, "at": stamp(at)} | dict(zip(FIELDS[kind], values, strict=True))
    return {key: value for key, value in named.items() if value is not None}


def stamp(at: datetime | None) -> str | None:
    """RFC 3339 in UTC, or none."""
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def chain(records: Iterable[Record], previous: str = GENESIS) -> Iterator[dict[str, Any]]:
    """Number the records and link each to the one before it by SHA-256 over its canonical JSON."""
    for number, record in enumerate(records):
        line = {"seq": number, "previous": previous, **to_json(record)}
        previous = hashlib.sha256(canonical(line)).hexdigest()
        yield {**line, "hash": previous}


def lines(records: Iterable[Record]) -> Iterator[str]:
    """Write the chain as JSON lines."""
    for line in chain(records):
        yield written(line) + "\n"


def verify(text: str) -> list[dict[str, Any]]:
    """
    Read a trace back, link by link.

    Raises:
        JournalError: a line was changed, dropped or moved, naming it.
    """
    previous, found = GENESIS, list[dict[str, Any]]()
    if not text:
        return found
    for number, raw in enumerate(text.removesuffix("\n").split("\n"), 1):
        line = read_line(raw, number)
        claimed = line.pop("hash", None)
        if line.get("previous") != previous or hashlib.sha256(canonical(line)).hexdigest() != claimed:
            raise JournalError(f"line {number} of the trace is not the one that was written there")
        previous = claimed
        found.append(line)
    return found


def read_line(raw: str, number: int) -> dict[str, Any]:
    """
    One JSON line, just as `lines` writes it, or a `JournalError` that names it.

    What hashes the same but reads otherwise elsewhere (a key twice, `1.0` for `1`) has been tampered with.
    """
    try:
        line = read(raw)
    except ValueError:
        raise JournalError(f"line {number} of the trace is no JSON") from None
    if not isinstance(line, dict):
        raise JournalError(f"line {number} of the trace is no record")
    if written(line) != raw:
        raise JournalError(f"line {number} of the trace is not written as it was")
    return line


def written(line: Mapping[str, Any]) -> str:
    """The one way in which a line is written."""
    return json.dumps(line, ensure_ascii=False)

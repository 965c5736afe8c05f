"""
The entries of a journal: numbered, chained, written in one way.

The chain is SHA-256 over the canonical JSON (RFC 8785) of each entry and the hash of the one before it.  With a key it
is HMAC-SHA-256 (RFC 2104), so that who can write the file, but does not have the key, cannot forge an entry.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from guideway.statemachine.canonical import canonical, normal, read
from guideway.statemachine.errors import JournalError

from .keys import derived

SCHEMA = 1
"""Version of what is written; a reader refuses one it does not know."""
GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One entry of one run.

    `kind` is `start`, `event` (a verb with the records it made), `snapshot` or `migrated`.
    """

    run: str
    seq: int
    kind: str
    body: Mapping[str, Any]
    previous: str
    hash: str


class Chain:
    """
    Where the writing of a run stands: the next number, and the hash to link to.

    >>> chain = Chain("run-1")
    >>> chain.seal("start", {"schema": 1}).seq, chain.seal("event", {}).seq
    (0, 1)
    """

    def __init__(self, run: str, key: bytes | None = None, seq: int = 0, head: str = GENESIS) -> None:
        self.run, self.seq, self.head = run, seq, head
        self._key = key

    def seal(self, kind: str, body: Mapping[str, Any]) -> Entry:
        """Make the next entry."""
        body = normal(body)
        made = digest(self.run, self.seq, kind, body, self.head, self._key)
        entry = Entry(self.run, self.seq, kind, body, self.head, made)
        self.seq, self.head = self.seq + 1, made
        return entry


def digest(run: str, seq: int, kind: str, body: Mapping[str, Any], previous: str, key: bytes | None) -> str:
    """The hash of an entry."""
    content = canonical({"run": run, "seq": seq, "kind": kind, "body": body, "previous": previous})
    if key is None:
        return hashlib.sha256(content).hexdigest()
    return hmac.new(derived(key, "entries"), content, hashlib.sha256).hexdigest()


def line(entry: Entry) -> str:
    """The one way in which an entry is written, without the end of the line."""
    return json.dumps(
        {"run": entry.run, "seq": entry.seq, "kind": entry.kind, "body": entry.body, "previous": entry.previous,
         "hash": entry.hash}, ensure_ascii=False, separators=(",", ":"),
    )  # fmt: skip


def parse(raw: str, what: str = "an entry") -> Entry:
    """
    Read an entry back.

    Raises:
        JournalError: it is none, or not written as entries are.
    """
    try:
        data = read(raw)
        entry = Entry(**data)
    except (ValueError, TypeError):
        raise JournalError(f"{what} of the journal cannot be read") from None
    kinds = (str, int, str, dict, str, str)
    values = (entry.run, entry.seq, entry.kind, entry.body, entry.previous, entry.hash)
    if not all(type(value) is kind for value, kind in zip(values, kinds, strict=True)) or line(entry) != raw:
        raise JournalError(f"{what} of the journal is not written as it was")
    return entry


def verified(
    raw: Iterable[str], run: str, key: bytes | None = None, first: int = 0, previous: str | None = GENESIS
) -> Iterator[Entry]:  # fmt: skip
    """
    The entries of a run, each held against the one before it.  `previous` None trusts the link of the first.

    Raises:
        JournalError: one was changed, dropped, moved or put in, or the key is another.
    """
    for number, text in enumerate(raw, first):
        entry = parse(text, f"entry {number} of run {run}")
        made = digest(entry.run, entry.seq, entry.kind, entry.body, entry.previous, key)
        linked = previous is None or entry.previous == previous
        if entry.run != run or entry.seq != number or not linked or not hmac.compare_digest(made, entry.hash):
            other = "" if key is None else ", or it was written with another key"
            raise JournalError(f"entry {number} of run {run} is not the one that was written there{other}")
        previous = entry.hash
        yield entry

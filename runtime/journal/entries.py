"""
The entries of a journal: numbered, chained, written in one way.

An entry is written as canonical JSON (RFC 8785), and its hash put behind: the SHA-256 of that text, in which stands the
hash of the entry before.  With a key it
is HMAC-SHA-256 (RFC 2104), so that who can write the file, but does not have the key, cannot forge an entry.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from guideway.statemachine.canonical import MAX_DEPTH, canonical, normal
from guideway.statemachine.errors import JournalError

from .keys import derived

SCHEMA = 1
"""Version of what is written; a reader refuses one it does not know."""
GENESIS = "0" * 64
EXACT = 17
"""Digits (with a sign) from which on a number may be a double."""
DEEPEST = MAX_DEPTH + 40
"""Arguments and results may be as deep as JSON may be, and stand deep inside an entry."""
ENDING = len(',"hash":""}') + 64


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One entry of one run, and the `text` that it is written as.

    `kind` is `start`, `event` (a verb with the records it made), `snapshot` or `migrated`.
    """

    run: str
    seq: int
    kind: str
    body: Mapping[str, Any]
    previous: str
    hash: str
    text: str = field(repr=False)


class Chain:
    """
    Where the writing of a run stands: the next number, and the hash to link to.

    >>> chain = Chain("run-1")
    >>> chain.seal("start", {"schema": 1}).seq, chain.seal("event", {}).seq
    (0, 1)
    """

    def __init__(self, run: str, key: bytes | None = None, seq: int = 0, head: str = GENESIS) -> None:
        self.run, self.seq, self.head, self.key = run, seq, head, key
        self._key = None if key is None else derived(key, "entries")

    def seal(self, kind: str, body: Mapping[str, Any]) -> Entry:
        """
        Make the next entry.

        Raises:
            JournalError: it is no JSON, which nothing that a session has taken can be.
        """
        content = {"run": self.run, "seq": self.seq, "kind": kind, "body": body, "previous": self.head}
        try:
            unsealed = canonical(content, DEEPEST)
        except ValueError as fault:
            raise JournalError(f"entry {self.seq} of run {self.run} cannot be written: {fault}") from None
        made = digest(unsealed, self._key)
        text = f'{unsealed[:-1].decode()},"hash":"{made}"}}'
        entry = Entry(self.run, self.seq, kind, body, self.head, made, text)
        self.seq, self.head = self.seq + 1, made
        return entry


def digest(unsealed: bytes, key: bytes | None) -> str:
    """The hash of an entry, which is written without it."""
    if key is None:
        return hashlib.sha256(unsealed).hexdigest()
    return hmac.new(key, unsealed, hashlib.sha256).hexdigest()


def line(entry: Entry) -> str:
    """The one way in which an entry is written, without the end of the line."""
    return entry.text


def parse(raw: str, what: str = "an entry") -> Entry:
    """
    Read an entry back.

    Raises:
        JournalError: it is none, or not written as entries are.
    """
    try:
        entry = Entry(**json.loads(raw, parse_int=integer), text=raw)
    except (ValueError, TypeError, RecursionError):
        raise JournalError(f"{what} of the journal cannot be read") from None
    kinds = (str, int, str, dict, str, str)
    values = (entry.run, entry.seq, entry.kind, entry.body, entry.previous, entry.hash)
    if not all(type(value) is kind for value, kind in zip(values, kinds, strict=True)):
        raise JournalError(f"{what} of the journal is not written as it was")
    return entry


def integer(text: str) -> int | float:
    """A number as it was: RFC 8785 writes a large double without a point."""
    number: int | float = int(text) if len(text) < EXACT else normal(int(text))
    return number


def verified(
    raw: Iterable[str], run: str, key: bytes | None = None, first: int = 0, previous: str | None = GENESIS
) -> Iterator[Entry]:  # fmt: skip
    """
    The entries of a run, each held against the one before it.  `previous` None trusts the link of the first.

    Raises:
        JournalError: one was changed, dropped, moved or put in, or the key is another.
    """
    secret = None if key is None else derived(key, "entries")
    for number, text in enumerate(raw, first):
        entry = parse(text, f"entry {number} of run {run}")
        linked = previous is None or entry.previous == previous
        if entry.run != run or entry.seq != number or not linked or not sealed(entry, secret):
            other = "" if key is None else ", or it was written with another key"
            raise JournalError(f"entry {number} of run {run} is not the one that was written there{other}")
        previous = entry.hash
        yield entry


def sealed(entry: Entry, secret: bytes | None) -> bool:
    """
    The hash is that of the text.

    Which is compared byte for byte, so that nothing need be written anew to read a long run.
    """
    unsealed, rest = entry.text[:-ENDING], entry.text[-ENDING:]
    made = digest(f"{unsealed}}}".encode("utf-8", "surrogatepass"), secret)
    return hmac.compare_digest(f',"hash":"{made}"}}'.encode(), rest.encode("utf-8", "surrogatepass"))

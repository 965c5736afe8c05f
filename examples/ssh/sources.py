"""Who knocked, how often, and whether we know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .records import Event, Log, Record, events, evidence, read_log, seconds_between

ACCOUNTS_SHOWN = 20
"""Accounts listed for each source, most tried first; the number of all is kept."""


@dataclass(slots=True)
class Tally:
    """The attempts of one source. An attempt is a guessed password, or a connection that named an unknown user
    and left before guessing one (all that a server without password logins ever sees)."""

    address: str
    known_user: int = 0
    unknown_user: int = 0
    name_only: int = 0
    refused_keys: int = 0
    accounts: Counter[str] = field(default_factory=Counter)
    attempts_at: list[Record] = field(default_factory=list)
    key_login: Record | None = None

    @property
    def attempts(self) -> int:
        """Guesses plus names tried without one."""
        return self.known_user + self.unknown_user + self.name_only

    @property
    def known_by(self) -> Record | None:
        """The key login that came before every attempt, if there is one: a key cannot be guessed at the door."""
        first = self.attempts_at[0].number if self.attempts_at else 0
        return self.key_login if self.key_login and self.key_login.number < first else None


def find_sources(log: str, minimum: int) -> dict[str, Any]:
    """Find the sources with at least `minimum` attempts, most first, with counts by kind, times and evidence.

    `hostile` are the sources over the threshold that nothing vouches for; `known` are those from which a public key
    was accepted before their first failed attempt.

    Raises:
        ValueError: the log cannot be read, or `minimum` is below 1.
    """
    if minimum < 1:
        message = f"minimum is {minimum}; give a number of attempts of 1 or more"
        raise ValueError(message)
    book = read_log(log)
    tallies = [tally for tally in tally_sources(book).values() if tally.attempts]
    over = sorted((t for t in tallies if t.attempts >= minimum), key=lambda t: (-t.attempts, t.address))
    below = [t for t in tallies if t.attempts < minimum]
    return {
        "log": log,
        "lines": book.lines,
        "unread": book.unread,
        "first": book.records[0].stamp if book.records else "",
        "last": book.records[-1].stamp if book.records else "",
        "minimum": minimum,
        "attempts": sum(t.attempts for t in tallies),
        "sources_seen": len(tallies),
        "below": {"sources": len(below), "attempts": sum(t.attempts for t in below)},
        "addresses": [t.address for t in over],
        "hostile": [t.address for t in over if t.known_by is None],
        "known": [t.address for t in over if t.known_by is not None],
        "sources": [describe(t) for t in over],
    }


def tally_sources(book: Log) -> dict[str, Tally]:
    """Count every source of the log.

    A name-only attempt is held back until its connection (the process id) proves to guess no password.
    """
    tallies: dict[str, Tally] = {}
    names: dict[tuple[str, str], Event] = {}
    name_only: list[Event] = []
    for event in events(book):
        tally = tallies.setdefault(event.source, Tally(event.source))
        connection = (event.source, event.record.pid)
        if event.kind == "unknown_user":
            if earlier := names.pop(connection, None):
                name_only.append(earlier)
            names[connection] = event
        elif event.guess:
            names.pop(connection, None)
            count_guess(tally, event)
        elif event.kind == "failed":
            tally.refused_keys += event.record.times
        elif event.method == "publickey" and tally.key_login is None:
            tally.key_login = event.record
    count_names(tallies, [*name_only, *names.values()])
    return tallies


def count_guess(tally: Tally, event: Event) -> None:
    """Add a guessed password; `message repeated N times` stands for N more."""
    times = event.record.times
    if event.unknown:
        tally.unknown_user += times
    else:
        tally.known_user += times
    tally.accounts[event.account] += times
    tally.attempts_at.append(event.record)


def count_names(tallies: dict[str, Tally], left: Iterable[Event]) -> None:
    """Add the connections that named an unknown user and guessed nothing."""
    for event in left:
        tally = tallies[event.source]
        tally.name_only += event.record.times
        tally.accounts[event.account] += event.record.times
        tally.attempts_at.append(event.record)
        tally.attempts_at.sort(key=lambda record: record.number)


def describe(tally: Tally) -> dict[str, Any]:
    """A tally as plain JSON."""
    first, last = tally.attempts_at[0], tally.attempts_at[-1]
    shown = sorted(tally.accounts.items(), key=lambda item: (-item[1], item[0]))[:ACCOUNTS_SHOWN]
    vouched = tally.known_by
    return {
        "address": tally.address,
        "attempts": tally.attempts,
        "kinds": {"known_user": tally.known_user, "unknown_user": tally.unknown_user, "name_only": tally.name_only},
        "refused_keys": tally.refused_keys,
        "accounts_tried": len(tally.accounts),
        "accounts": [{"account": account, "attempts": attempts} for account, attempts in shown],
        "first": first.stamp,
        "last": last.stamp,
        "seconds": seconds_between(first.stamp, last.stamp),
        "known": vouched is not None,
        "known_by": evidence(vouched) if vouched else [],
        "evidence": evidence(*tally.attempts_at[:2], *tally.attempts_at[-2:]),
    }

"""Did guessing end in a login?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from .records import Event, Log, Record, address, events, evidence, read_log, seconds_between

_CLOSED = "pam_unix(sshd:session): session closed for user "


@dataclass(slots=True)
class Run:
    """Guesses in a row: from one source (at any account), or from one source at one account."""

    guesses: int = 0
    first: Record | None = None
    last: Record | None = None

    def add(self, record: Record) -> None:
        """Count one line of guesses."""
        self.guesses += record.times
        self.first = self.first or record
        self.last = record


@dataclass(frozen=True, slots=True)
class Breach:
    """A login by password that came after at least the threshold of guesses in a row."""

    login: Event
    run: Run


def find_logins(log: str, sources: list[str], minimum: int) -> dict[str, Any]:
    """Find what `sources` logged in to, and the logins that guessing led to.

    The rule: a login by password counts as guessed when the same source had failed at least `minimum` times in a row
    just before it - in a row means without a login of that source in between (any account: spraying), or without a
    login to that account in between (one account). Order is the order of lines, since the stamps carry no year.

    Raises:
        ValueError: the log cannot be read.
    """
    book = read_log(log)
    watched = {address(source) for source in sources}
    accepted = [event for event in events(book) if event.kind == "accepted"]
    breaches = find_breaches(book, watched, minimum)
    return {
        "by_source": [by_source(source, accepted) for source in map(address, sources)],
        "breaches": [describe(breach, book, accepted) for breach in breaches],
        "accounts": list(dict.fromkeys(breach.login.account for breach in breaches)),
        "first_line": breaches[0].login.record.number if breaches else None,
    }


def find_breaches(book: Log, watched: set[str], minimum: int) -> list[Breach]:
    """The guessed logins of the watched sources, in the order of lines."""
    at_source: dict[str, Run] = {}
    at_account: dict[tuple[str, str], Run] = {}
    found = []
    for event in events(book):
        if event.source not in watched:
            continue
        pair = (event.source, event.account)
        if event.guess:
            at_source.setdefault(event.source, Run()).add(event.record)
            at_account.setdefault(pair, Run()).add(event.record)
        elif event.kind == "accepted":
            run = max(at_account.pop(pair, Run()), at_source.pop(event.source, Run()), key=lambda run: run.guesses)
            if event.by_password and run.guesses >= minimum:
                found.append(Breach(event, run))
    return found


def by_source(source: str, accepted: list[Event]) -> dict[str, Any]:
    """How often a source logged in, how, and as whom."""
    mine = [event for event in accepted if event.source == source]
    return {
        "source": source,
        "logins": len(mine),
        "methods": sorted({event.method for event in mine}),
        "accounts": sorted({event.account for event in mine}),
        "first": mine[0].record.stamp if mine else "",
        "last": mine[-1].record.stamp if mine else "",
    }


def describe(breach: Breach, book: Log, accepted: list[Event]) -> dict[str, Any]:
    """A guessed login as plain JSON, with what speaks for and against an intruder."""
    login, run = breach.login, breach.run
    first, last = run.first or login.record, run.last or login.record
    before = [e for e in accepted if e.source == login.source and e.record.number < first.number]
    same = [event for event in accepted if event.account == login.account]
    later = Counter(event.source for event in same if event.record.number > login.record.number)
    closed = session_end(book, login)
    return {
        "source": login.source,
        "account": login.account,
        "method": login.method,
        "time": login.record.stamp,
        "line": login.record.number,
        "guesses": run.guesses,
        "first_guess": first.stamp,
        "last_guess": last.stamp,
        "seconds": seconds_between(first.stamp, login.record.stamp),
        "earlier_logins": sum(event.account == login.account for event in before),
        "earlier_logins_of_source": len(before),
        "later_logins": [{"source": source, "logins": count} for source, count in sorted(later.items())],
        "closed": closed.stamp if closed else "",
        "sudo": sudo_commands(book, login),
        "evidence": evidence(first, last, login.record, *([closed] if closed else [])),
    }


def session_end(book: Log, login: Event) -> Record | None:
    """The line that closes the session of `login` (same process), if the log holds it."""
    wanted = _CLOSED + login.account
    for record in book.records:
        if record.number > login.record.number and record.pid == login.record.pid and record.message == wanted:
            return record
    return None


def sudo_commands(book: Log, login: Event) -> list[dict[str, object]]:
    """Lines of sudo commands run by the account after `login`."""
    later = (r for r in book.records if r.program == "sudo" and r.number > login.record.number)
    mine = [r for r in later if "COMMAND=" in r.message and r.message.split(" : ")[0].strip() == login.account]
    return evidence(*mine)

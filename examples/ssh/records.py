"""Read an sshd auth log into records.

The text of the log is untrusted: whoever knocks at port 22 chooses the user name that is written down. So every
pattern is anchored at both ends and the source is read from the *last* ` from ADDRESS port N ssh2`, which sshd itself
writes; a user called ``x from 203.0.113.9 port 1 ssh2`` forges nothing.

Formats: traditional syslog stamps (``Mar 27 13:06:56``, which carry no year) and ISO 8601 stamps. The messages are
those of OpenSSH ``auth.c:auth_log`` and of rsyslog's repeated-message reduction.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

MAX_LINE = 8192
"""Longest line read, in characters (rsyslog's own default limit); longer ones are counted as unread."""

_LINE = re.compile(
    r"(?P<stamp>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|"
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?) \S+ "
    r"(?P<program>[^\s:\[]+)(?:\[(?P<pid>\d+)\])?: (?P<message>.*)"
)
_REPEATED = re.compile(r"message repeated (\d{1,6}) times: \[ (.*)\]")
_TAIL = r" from (?P<source>\S+) port \d+(?: ssh\d?)?(?:: .*| \[preauth\])?"
_FAILED = re.compile(r"Failed (?P<method>\S+) for (?P<unknown>invalid user )?(?P<account>.*)" + _TAIL)
_ACCEPTED = re.compile(r"Accepted (?P<method>\S+) for (?P<account>.*)" + _TAIL)
_UNKNOWN_USER = re.compile(r"(?:Invalid|Illegal) user (?P<account>.*) from (?P<source>\S+)(?: port \d+)?")
_SSHD = frozenset({"sshd", "sshd-session"})
_NO_GUESS = frozenset({"publickey", "hostbased", "none"})


@dataclass(frozen=True, slots=True)
class Record:
    """One line of the log. `number` counts from 1; `times` is above 1 for ``message repeated N times``."""

    number: int
    stamp: str
    program: str
    pid: str
    message: str
    text: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Log:
    """A log that was read: its records in the order of lines, how many lines it has, how many were unreadable."""

    records: tuple[Record, ...]
    lines: int
    unread: int


@dataclass(frozen=True, slots=True)
class Event:
    """What sshd said of one knock: `kind` is ``failed``, ``accepted`` or ``unknown_user``."""

    kind: str
    record: Record
    source: str
    account: str
    method: str = ""
    unknown: bool = False

    @property
    def guess(self) -> bool:
        """Whether a password was guessed. A key that is refused is no guess: clients offer every key they hold."""
        return self.kind == "failed" and self.method not in _NO_GUESS

    @property
    def by_password(self) -> bool:
        """Whether this login could have been reached by guessing."""
        return self.kind == "accepted" and self.method not in _NO_GUESS


def read_log(path: str) -> Log:
    """Read the log at `path`. Lines end at line feeds only, so numbers agree with ``sed -n 12p``.

    Raises:
        ValueError: the file is missing, is no file, or cannot be opened; the message says what to do.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"cannot read the log {path!r}: {reason}; give the path of an sshd auth log"
        raise ValueError(message) from error
    lines = data.decode("utf-8", errors="backslashreplace").split("\n")
    if lines[-1] == "":
        lines.pop()
    records = [record for number, line in enumerate(lines, 1) if (record := _record(number, line.rstrip("\r")))]
    blank = sum(not line.strip() for line in lines)
    return Log(tuple(records), len(lines), len(lines) - blank - len(records))


def _record(number: int, line: str) -> Record | None:
    if len(line) > MAX_LINE or (match := _LINE.fullmatch(line)) is None:
        return None
    message, times = match["message"], 1
    if repeated := _REPEATED.fullmatch(message):
        times, message = int(repeated[1]), repeated[2]
    return Record(number, match["stamp"], match["program"], match["pid"] or "", message, line, times)


def events(log: Log) -> Iterator[Event]:
    """What sshd said about failures, logins and unknown users, in the order of lines."""
    for record in log.records:
        if record.program in _SSHD and (event := _event(record)):
            yield event


def _event(record: Record) -> Event | None:
    if match := _FAILED.fullmatch(record.message):
        source, unknown = address(match["source"]), match["unknown"] is not None
        return Event("failed", record, source, match["account"], match["method"], unknown)
    if match := _ACCEPTED.fullmatch(record.message):
        return Event("accepted", record, address(match["source"]), match["account"], match["method"])
    if match := _UNKNOWN_USER.fullmatch(record.message):
        return Event("unknown_user", record, address(match["source"]), match["account"], unknown=True)
    return None


def address(text: str) -> str:
    """One spelling for each source: IPv6 compressed, IPv4-mapped as IPv4; a host name stays as it is.

    >>> address("2001:DB8:0:0::1"), address("::ffff:198.18.0.9"), address("mail.example")
    ('2001:db8::1', '198.18.0.9', 'mail.example')
    """
    try:
        ip = ipaddress.ip_address(text)
    except ValueError:
        return text
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return str(mapped or ip)


def seconds_between(first: str, last: str) -> int | None:
    """Seconds from one stamp to another, or None where the log does not say (no year: across New Year).

    >>> seconds_between("Mar 30 15:54:19", "Mar 30 16:01:36")
    437
    """
    try:
        span = _time(last) - _time(first)
    except (ValueError, TypeError):
        return None
    return int(span.total_seconds()) if span.total_seconds() >= 0 else None


def _time(stamp: str) -> datetime:
    if stamp[0].isdigit():
        return datetime.fromisoformat(stamp)
    return datetime.strptime(f"2000 {stamp}", "%Y %b %d %H:%M:%S")


def evidence(*records: Record) -> list[dict[str, object]]:
    """Records as line numbers with the lines as they stand, each once, in order."""
    unique = {record.number: record for record in records}
    return [{"line": number, "text": unique[number].text} for number in sorted(unique)]

"""
Moments, lengths of time and time zones, from text and back.

A moment is an aware `datetime` in UTC, a length of time a `timedelta`; both keep microseconds, and finer digits
are dropped.  Texts may come from data, so every reader takes any string and answers None for what it cannot read.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache

_LONGEST_TEXT = 64
_MOMENT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(h|ms|us|µs|ns|m|s)")
_NANOSECONDS = {"h": 3_600_000_000_000, "m": 60_000_000_000, "s": 1_000_000_000,
                "ms": 1_000_000, "us": 1_000, "µs": 1_000, "ns": 1}  # fmt: skip
_LONGEST_DURATION = timedelta(seconds=315_576_000_000)  # 10,000 years, the limit of the CEL specification
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}")
_OFFSET = re.compile(r"([+-])([0-9]{2}):([0-9]{2})")


def parse_timestamp(text: str) -> datetime | None:
    """
    Read an RFC 3339 time.

    >>> parse_timestamp("2026-01-31T10:00:00+01:00")
    datetime.datetime(2026, 1, 31, 9, 0, tzinfo=datetime.timezone.utc)
    >>> parse_timestamp("yesterday") is None
    True
    """
    match = _MOMENT.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    if match is None:
        return None
    *numbers, fraction, sign, hours, minutes = match.groups()
    micro = int((fraction or "").ljust(6, "0")[:6])
    try:
        year, month, day, hour, minute, second = map(int, numbers)
        moment = datetime(year, month, day, hour, minute, second, micro, UTC)
        return moment - _offset(sign, hours, minutes) if sign else moment
    except (ValueError, OverflowError):
        return None


def _offset(sign: str, hours: str, minutes: str) -> timedelta:
    if int(hours) > 23 or int(minutes) > 59:
        raise ValueError("no such offset")
    distance = timedelta(hours=int(hours), minutes=int(minutes))
    return -distance if sign == "-" else distance


def parse_duration(text: str) -> timedelta | None:
    """
    Read a CEL duration: numbers with the units `h m s ms us ns`, one sign in front.

    >>> parse_duration("1h30m"), parse_duration("-1.5s"), parse_duration("1d")
    (datetime.timedelta(seconds=5400), datetime.timedelta(days=-1, seconds=86398, microseconds=500000), None)
    """
    if not 0 < len(text) <= _LONGEST_TEXT:
        return None
    if text.lstrip("+-") == "0" and len(text) <= 2:
        return timedelta(0)
    place = 1 if text[0] in "+-" else 0
    total = 0
    if place == len(text):
        return None
    while place < len(text):
        match = _PART.match(text, place)
        if match is None:
            return None
        whole, _, fraction = match.group(1).partition(".")
        unit = _NANOSECONDS[match.group(2)]
        total += int(whole or "0") * unit + int(fraction or "0") * unit // 10 ** len(fraction)
        place = match.end()
    return _limited(-total if text[0] == "-" else total)


def _limited(nanoseconds: int) -> timedelta | None:
    microseconds = abs(nanoseconds) // 1000
    if microseconds > _LONGEST_DURATION // timedelta(microseconds=1):
        return None
    length = timedelta(microseconds=microseconds)
    return -length if nanoseconds < 0 else length


def within(length: timedelta) -> timedelta | None:
    """Give the length back if it is within ten thousand years, CEL's limit; else None."""
    return length if -_LONGEST_DURATION <= length <= _LONGEST_DURATION else None


@lru_cache(maxsize=256)
def zone(name: str) -> tzinfo | None:
    """
    Find a time zone by its IANA name, or by an offset such as `+05:30`; None when there is none.

    >>> zone("UTC"), zone("Mars/Olympus") is None
    (datetime.timezone.utc, True)
    """
    if name == "UTC":
        return UTC
    if offset := _OFFSET.fullmatch(name):
        try:
            return timezone(_offset(*offset.groups()))
        except ValueError:
            return None
    if len(name) > _LONGEST_TEXT or not _ZONE.fullmatch(name):
        return None  # nothing that could be a path on the disk reaches the search for zone files
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def utc(moment: datetime) -> datetime:
    """Turn any moment into UTC; one without a zone is taken as UTC already."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def timestamp_text(moment: datetime) -> str:
    """
    Write a moment as RFC 3339.

    >>> timestamp_text(datetime(2026, 1, 31, 9, 0, tzinfo=UTC))
    '2026-01-31T09:00:00Z'
    """
    text = moment.astimezone(UTC).replace(tzinfo=None).isoformat()
    return (text.rstrip("0") if "." in text else text) + "Z"


def duration_text(length: timedelta) -> str:
    """
    Write a length of time in seconds, as CEL does.

    >>> duration_text(timedelta(minutes=90)), duration_text(timedelta(seconds=-1.5))
    ('5400s', '-1.5s')
    """
    microseconds = length // timedelta(microseconds=1)
    whole, rest = divmod(abs(microseconds), 1_000_000)
    text = f"{whole}.{rest:06}".rstrip("0").rstrip(".") if rest else str(whole)
    return f"{'-' if microseconds < 0 else ''}{text}s"

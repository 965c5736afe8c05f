"""Texts as they are shown: what can be seen of them, shortened; and times."""

from __future__ import annotations

LABEL = 40
"""The longest guard an arrow shows, in characters."""
NOTE = 72
"""The longest note a box shows."""

_JOINER = "\u200d"


def clean(text: str) -> str:
    """
    Keep what can be seen: control characters, line ends and direction marks become spaces.

    >>> clean("wipe\\x1b[31m\\ndisk")
    'wipe [31m disk'
    """
    return " ".join("".join(c if c.isprintable() or c == _JOINER else " " for c in text).split())


def short(text: str, limit: int = LABEL) -> str:
    """
    Cut a text to `limit` characters.

    >>> short("facts.lookup.score >= 20", 12)
    'facts.looku…'
    """
    text = clean(text)
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def duration(seconds: float) -> str:
    """
    Write a time as the format does.

    >>> duration(5400), duration(0.5)
    ('1h30m', '0.5s')
    """
    if seconds != int(seconds) or seconds < 1:
        return f"{seconds:g}s"
    left, parts = int(seconds), []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts)

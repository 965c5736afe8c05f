"""Where in a pattern the fault lies: RE2 names the piece, not the place."""

from __future__ import annotations

from guideway.statemachine.patterns import PatternError, pattern


def place_of(source: str, message: str) -> int:
    r"""
    The character, from 0, at which a pattern stops being one, as far as RE2's message tells.

    >>> place_of("a**", "bad repetition operator: **"), place_of(r"ab\q", r"invalid escape sequence: \q")
    (1, 2)
    """
    fault, _, piece = message.partition(": ")
    if fault == "missing )":
        return _open_bracket(source)
    if fault == "unexpected )":
        return _shortest(source, fault) - 1
    if fault == "trailing \\":
        return len(source) - 1
    start = source.find(piece) if piece else -1
    while start >= 0:
        if _fault(source[: start + len(piece)]) == message:
            return start
        start = source.find(piece, start + 1)
    return max(source.find(piece), 0)


def _fault(source: str) -> str | None:
    try:
        pattern(source)
    except PatternError as fault:
        return str(fault)
    return None


def _shortest(source: str, fault: str) -> int:
    """The length of the shortest beginning that has the fault."""
    return next((n for n in range(1, len(source) + 1) if (_fault(source[:n]) or "").startswith(fault)), 1)


def _open_bracket(source: str) -> int:
    """The last bracket that is still open at the end."""
    open_at, in_class, skip = list[int](), False, False
    for place, sign in enumerate(source):
        if skip or sign == "\\":
            skip = not skip
        elif in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
        elif sign == "(":
            open_at.append(place)
        elif sign == ")" and open_at:
            open_at.pop()
    return open_at[-1] if open_at else 0

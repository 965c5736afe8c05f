"""Escapes of JSON strings: `\\/`, surrogate pairs joined, everything else that is wrong reported where it stands."""

from __future__ import annotations

import re

from .builder import Builder
from .scalars import control_in

_PART = re.compile(
    r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\(.)|([\x00-\x1f])", re.DOTALL
)
_LETTERS = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def unescape(source: str, out: Builder, line: int, column: int) -> str:
    r"""
    The value of what stands between the quotes; `column` is that of its first character.

    >>> from .limits import Limits
    >>> unescape(r"a\/b \ud83d\ude00", Builder("a.json", Limits()), 1, 2)
    'a/b 😀'
    """
    value = _PART.sub(lambda found: _sign(found, out, line, column + found.start()), source)
    if bad := control_in(value):
        out.report("GW017", bad[0], line, column - 1, bad[1])
    return value


def _sign(found: re.Match[str], out: Builder, line: int, column: int) -> str:
    """The character that one escape (or a raw control character) stands for."""
    high, low, digits, letter, raw = found.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    if digits:
        code = int(digits, 16)
        if not 0xD800 <= code <= 0xDFFF:
            return chr(code)
        help_ = "write both halves of the pair, or the character itself"
        out.report("GW006", f"`\\u{digits}` is half of a surrogate pair and no character", line, column, help_)
        return "\ufffd"
    if raw:
        out.report("GW006", f"U+{ord(raw):04X} stands raw in a string", line, column, r"write an escape, such as \t")
        return "\t" if raw == "\t" else "\ufffd"
    if letter in _LETTERS:
        return _LETTERS[letter]
    out.report(
        "GW006", f"`\\{letter}` is no escape of JSON", line, column, f"for a backslash write two: `\\\\{letter}`"
    )
    return "\\" + letter

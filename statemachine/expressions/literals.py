"""Strings and numbers as they are written."""

from __future__ import annotations

from .errors import ExpressionError

LEAST, GREATEST = -(2**63), 2**63 - 1
"""Ints are 64 bits wide."""

_SIMPLE = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "?": "?", '"': '"', "'": "'", "`": "`",
}  # fmt: skip
_HEX_DIGITS = {"x": 2, "X": 2, "u": 4, "U": 8}


def string_end(source: str, quote_at: int, raw: bool) -> int:
    """
    Find the offset after the closing quote; raise `ExpressionError` when there is none on the line.

    >>> string_end("'a' + b", 0, raw=False)
    3
    """
    quote, place = source[quote_at], quote_at + 1
    while place < len(source) and source[place] not in "\n\r":
        if source[place] == quote:
            return place + 1
        place += 2 if source[place] == "\\" and not raw else 1
    raise ExpressionError("the string is not closed", quote_at, f"end it with `{quote}` on the same line")


def string_value(source: str, start: int, end: int) -> str:
    r"""
    Decode the string literal at `source[start:end]`, its prefix and quotes included.

    >>> string_value(r"'tab\tand \u00e9'", 0, 17)
    'tab\tand é'
    """
    if source[start] in "rR":
        return source[start + 2 : end - 1]
    text: list[str] = []
    place = start + 1
    while place < end - 1:
        if source[place] == "\\":
            character, place = _escape(source, place, end - 1)
        else:
            character, place = source[place], place + 1
        text.append(character)
    return "".join(text)


def _escape(source: str, place: int, end: int) -> tuple[str, int]:
    kind = source[place + 1]
    if kind in _SIMPLE:
        return _SIMPLE[kind], place + 2
    if kind in _HEX_DIGITS:
        return _code(source, place, place + 2, _HEX_DIGITS[kind], 16, end)
    if kind in "0123":
        return _code(source, place, place + 1, 3, 8, end)
    raise ExpressionError(f"`\\{kind}` is no escape", place, 'write `\\\\` for a backslash, or a raw string: `r"\\d+"`')


def _code(source: str, place: int, first: int, digits: int, base: int, end: int) -> tuple[str, int]:
    text = source[first : first + digits]
    legal = "01234567" if base == 8 else "0123456789abcdefABCDEF"
    if first + digits > end or any(digit not in legal for digit in text):
        kind = "octal" if base == 8 else "hexadecimal"
        raise ExpressionError(f"the escape needs {digits} {kind} digits", place)
    number = int(text, base)
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        raise ExpressionError(f"U+{number:04X} is no character", place)
    return chr(number), first + digits


def int_value(text: str, offset: int, negative: bool) -> int:
    """
    Read a decimal or `0x` literal; raise `ExpressionError` outside 64 bits.

    >>> int_value("0x1F", 0, negative=True)
    -31
    """
    hexadecimal = text[:2] in ("0x", "0X")
    digits = (text[2:] if hexadecimal else text).lstrip("0") or "0"
    number = int(digits, 16 if hexadecimal else 10) if len(digits) <= 20 else GREATEST + 2
    number = -number if negative else number
    if not LEAST <= number <= GREATEST:
        raise ExpressionError("the int does not fit into 64 bits", offset, f"ints go from {LEAST} to {GREATEST}")
    return number


def float_value(text: str, offset: int, negative: bool) -> float:
    """
    Read a float literal; raise `ExpressionError` when it is too large.

    >>> float_value("1.5e3", 0, negative=False)
    1500.0
    """
    number = float(text)
    if number == float("inf"):
        raise ExpressionError("the float is too large", offset, "floats end at about 1.8e308")
    return -number if negative else number

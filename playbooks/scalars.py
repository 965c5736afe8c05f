"""
What an unquoted YAML word means: the YAML 1.2 core schema (yaml.org/spec/1.2.2, section 10.3), without octal.

Where the core schema and the YAML 1.1 that most tools still speak disagree about a number, neither reading is
taken: the author is asked to quote.

- `true True TRUE false False FALSE` are the booleans; `yes no on off y n` are words.
- `null Null NULL ~` and nothing at all are null.
- `12`, `-3`, `+4`, `0x1F` are integers; `1.5`, `.5`, `5.`, `1e3` floats.
- `1:30` (base 60 in YAML 1.1), dates, times, `1_000` and `0b11` are text.
- Errors: `012`, `007.5` (octal or decimal?), `0o17`, an integer of more than 18 digits, `1e999`, `.inf`, `.nan`.
"""

from __future__ import annotations

import re

MAX_DIGITS = 18
EXACT = 2**53
"""Integers up to here are the same to every reader of JSON (RFC 7493)."""
"""Digits of the largest integer taken: it fits 64 bits in every language that may read the file after us."""

CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", "")),
}
NUMBER_STARTS = frozenset("0123456789+-.")

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
_OCTAL = re.compile(r"0o[0-7]+")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class NumberError(ValueError):
    """An unquoted word that looks like a number which readers of YAML or JSON disagree about; `str()` says why."""


def number(text: str) -> int | float | str:
    """
    Read a plain scalar that begins like a number; text that is none comes back as it is.

    >>> number("12"), number("0x1F"), number("1e3"), number("1:30"), number("2024-01-01")
    (12, 31, 1000.0, '1:30', '2024-01-01')
    >>> number("012")
    Traceback (most recent call last):
    guideway.playbooks.scalars.NumberError: begins with a zero: octal to some readers, decimal to others
    """
    if _INT.fullmatch(text):
        return _whole(text, 10)
    if _FLOAT.fullmatch(text):
        return real(text)
    if _HEX.fullmatch(text):
        return _whole(text, 16)
    if _LEADING_ZERO.fullmatch(text) or _OCTAL.fullmatch(text):
        raise NumberError("begins with a zero: octal to some readers, decimal to others")
    if _NOT_FINITE.fullmatch(text):
        raise NumberError("is no number that JSON can hold")
    return text


def real(text: str) -> float:
    """
    Read a float; one too large for 64 bits is refused instead of becoming infinite.

    >>> real("2.50")
    2.5
    """
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise NumberError("is too large for a 64-bit float")
    return value


def _whole(text: str, base: int) -> int:
    digits = len(text.lstrip("+-")) if base == 10 else (len(text) - 2) * 6 // 5
    if digits > MAX_DIGITS:
        raise NumberError(f"has more than {MAX_DIGITS} digits" if base == 10 else "has more than 15 hexadecimal digits")
    value = int(text, base)
    if abs(value) > EXACT:
        raise NumberError("lies beyond ±2^53, which numbers of JSON hold exactly")
    return value


def whole(text: str) -> int:
    """
    Read a decimal integer of at most 18 digits.

    >>> whole("-7")
    -7
    """
    return _whole(text, 10)


def quoted(text: str) -> str:
    """
    Write a text as a YAML string, in the quotes that need the fewest changes.

    >>> print(quoted("!facts.ok"), quoted('x == "a"'), quoted("it's a \\"b\\""))
    "!facts.ok" 'x == "a"' 'it''s a "b"'
    """
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'


def short(text: str, limit: int = 60) -> str:
    """
    Cut a text for a message, and show its line breaks.

    >>> short("a" * 100, 10)
    'aaaaaaaaa…'
    """
    head = text[: limit + 1].replace("\r", "").replace("\n", "⏎")
    return head if len(head) <= limit else head[: limit - 1] + "…"


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")


def control_in(text: str) -> tuple[str, str] | None:
    r"""
    The message and the repair for a control character that an escape stood for; None where there is none.

    >>> control_in("\bSTOP")[0]
    'text holds the control character U+0008: in double quotes `\\b` means backspace'
    """
    found = _CONTROL.search(text)
    if found is None:
        return None
    sign = found.group()
    message = f"text holds the control character U+{ord(sign):04X}"
    if sign == "\b":
        return (
            message + ": in double quotes `\\b` means backspace",
            "for the pattern's word boundary write `\\\\b`, or in YAML use single quotes: '\\b'",
        )
    return message, "delete the escape; if a backslash was meant, write two"

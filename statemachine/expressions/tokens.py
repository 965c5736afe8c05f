"""Text to tokens.  The whole text is read before parsing begins; it is short (`LONGEST`)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import ExpressionError
from .hints import AFTER_OPERATORS, BEFORE_OPERATORS
from .literals import string_end

LONGEST = 4096
"""Longest source of one expression, in code points."""

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n\f]+)
    |   (?P<prefix>[rRbB]{1,2}(?=["']))
    |   (?P<quote>["'])
    |   (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |   (?P<int>0[xX][0-9a-fA-F]+)
    |   (?P<float>[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
    |   (?P<decimal>[0-9]+)
    |   (?P<op>&&|\|\||[=!<>]=|[-+*/%!<>?:()\[\].,])""",
    re.VERBOSE,
)
_OPTIONAL_CHAIN = re.compile(r"\?\.[A-Za-z_]")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the text; `kind` is `name int float string op end`, and for `op` the text says which."""

    kind: str
    text: str
    start: int
    end: int


def tokens(source: str) -> list[Token]:
    """
    Cut the text into words, the last one of kind `end`.

    Raises `ExpressionError` at the first character that begins no word.

    >>> [t.text for t in tokens('args.a == "x"')]
    ['args', '.', 'a', '==', '"x"', '']
    """
    if len(source) > LONGEST:
        raise ExpressionError(
            f"the expression has {len(source)} characters; at most {LONGEST} are read", LONGEST,
            "name its parts under `terms`",
        )  # fmt: skip
    found: list[Token] = []
    place = 0
    while place < len(source):
        _refuse_foreign_operator(source, place)
        match = _TOKEN.match(source, place)
        if match is None:
            raise _no_token(source, place)
        token = _token(source, str(match.lastgroup), place, match.end())
        if token.kind != "space":
            found.append(token)
        place = token.end
    return [*found, Token("end", "", len(source), len(source))]


def _token(source: str, kind: str, start: int, end: int) -> Token:
    if kind in ("prefix", "quote"):
        return _string(source, start, end if kind == "prefix" else start)
    if kind in ("int", "decimal", "float"):
        _refuse_unit(source, start, end)
        kind = "float" if kind == "float" else "int"
    text = source[start:end]
    if kind == "name" and text.startswith("__"):
        raise ExpressionError(
            f"`{text}` begins with two underscores; such names are refused", start,
            "a field of data that is called so is read as `x[\"__name\"]`",
        )  # fmt: skip
    return Token(kind, text, start, end)


def _string(source: str, start: int, quote_at: int) -> Token:
    prefix = source[start:quote_at].lower()
    if "b" in prefix:
        raise ExpressionError("there are no bytes here", start, "write a string: leave the `b` out")
    if len(prefix) > 1:
        raise ExpressionError(f"`{source[start:quote_at]}` begins no string", start, 'a raw string is `r"…"`')
    end = string_end(source, quote_at, bool(prefix))
    half = next((i for i in range(start, end) if "\ud800" <= source[i] <= "\udfff"), None)
    if half is not None:
        raise ExpressionError("half a surrogate pair is no character", half)
    return Token("string", source[start:end], start, end)


def _refuse_unit(source: str, start: int, end: int) -> None:
    tail = re.match(r"[A-Za-z_]+[A-Za-z0-9_]*", source[end:])
    if tail is None:
        return
    whole = source[start:end] + tail.group()
    if tail.group() in ("u", "U"):
        raise ExpressionError(f"`{whole}`: there are no unsigned ints", start, f"write `{source[start:end]}`")
    if re.fullmatch(r"(?:[0-9.]+(?:h|m|s|ms|us|ns|d))+", whole):
        raise ExpressionError(f"`{whole}` is no number", start, f'write `duration("{whole.replace("d", "h")}")`'
                              if "d" not in whole else 'write the days as hours: `duration("24h")`')  # fmt: skip
    raise ExpressionError(f"`{whole}` is no number and no name", start, f'a field called so is read as `x["{whole}"]`')


def _refuse_foreign_operator(source: str, place: int) -> None:
    for text, message, help in BEFORE_OPERATORS:
        if source.startswith(text, place):
            raise ExpressionError(message, place, help)
    if _OPTIONAL_CHAIN.match(source, place):
        raise ExpressionError("`?.` is no operator", place, "write `default(x.y, other)` or test with `has(x.y)`")


def _no_token(source: str, place: int) -> ExpressionError:
    character = source[place]
    if character in AFTER_OPERATORS:
        message, help = AFTER_OPERATORS[character]
        return ExpressionError(message, place, help)
    if character.isalpha():
        return ExpressionError(
            f"`{character}` begins no name: names are ASCII letters, digits and `_`", place,
            f'read such a field as `x["{character}…"]`',
        )  # fmt: skip
    shown = f"`{character}`" if character.isprintable() else f"the character U+{ord(character):04X}"
    return ExpressionError(f"{shown} has no place in an expression", place)

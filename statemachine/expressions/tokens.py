"""Text to tokens.  The whole text is read before parsing begins; it is short (`LONGEST`)."""

from __future__ import annotations

import re
from typing import NamedTuple

from .errors import ExpressionError
from .hints import FOREIGN_CHARACTERS, FOREIGN_OPERATORS
from .literals import string_end

LONGEST = 4096
"""Longest source of one expression, in code points."""

_TOKEN = re.compile(
    r"""[ \t\r\n\f]*(?:
        (?P<name>[A-Za-z_][A-Za-z0-9_]*+)(?!["'])
    |   (?P<foreign>[=!]==|=~|<>|\*\*|//|\?\?|\{\{|\}\}|\$\{|\$\.|->|=>|\+\+|\?\.(?=[A-Za-z_]))
    |   (?P<op>&&|\|\||[=!<>]=|\.(?![0-9])|[-+*/%!<>?:()\[\],])
    |   (?P<prefix>[rRbB]{1,2}(?=["']))
    |   (?P<quote>["'])
    |   (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |   (?P<int>0[xX][0-9a-fA-F]+)
    |   (?P<float>[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
    |   (?P<decimal>[0-9]+)
    |   (?P<dot>\.)
    |   (?P<end>\Z))""",
    re.VERBOSE,
)


class Token(NamedTuple):
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
    place, kind = 0, ""
    while kind != "end":
        match = _TOKEN.match(source, place)
        if match is None:
            raise _no_token(source, place)
        kind = str(match.lastgroup)
        start, place = match.span(kind)
        text = match[kind]
        if kind == "op" or (kind == "name" and not text.startswith("__")):
            found.append(Token(kind, text, start, place))
        else:
            found.append(token := _rarer(source, kind, start, place))
            place = token.end
    return found


def _rarer(source: str, kind: str, start: int, end: int) -> Token:
    """Make the tokens that need a second look."""
    text = source[start:end]
    if kind in ("prefix", "quote"):
        return _string(source, start, end if kind == "prefix" else start)
    if kind == "foreign":
        raise ExpressionError(FOREIGN_OPERATORS[text][0], start, FOREIGN_OPERATORS[text][1])
    if kind in ("name", "word") and text.startswith("__"):
        raise ExpressionError(
            f"`{text}` begins with two underscores; such names are refused", start,
            "a field of data that is called so is read as `x[\"__name\"]`",
        )  # fmt: skip
    if kind in ("int", "decimal", "float"):
        _refuse_unit(source, start, end)
        return Token("float" if kind == "float" else "int", text, start, end)
    return Token({"word": "name", "dot": "op"}.get(kind, kind), text, start, end)


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


def _no_token(source: str, place: int) -> ExpressionError:
    place += len(source[place:]) - len(source[place:].lstrip(" \t\r\n\f"))
    character = source[place]
    if character in FOREIGN_CHARACTERS:
        message, help = FOREIGN_CHARACTERS[character]
        return ExpressionError(message, place, help)
    if character.isalpha():
        return ExpressionError(
            f"`{character}` begins no name: names are ASCII letters, digits and `_`", place,
            f'read such a field as `x["{character}…"]`',
        )  # fmt: skip
    shown = f"`{character}`" if character.isprintable() else f"the character U+{ord(character):04X}"
    return ExpressionError(f"{shown} has no place in an expression", place)

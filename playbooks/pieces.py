"""
The values on one line of broken YAML, found without a parser.

libyaml stops at the first character that makes no sense, which often stands far behind the mistake.  To name it, the
words on the line must be told apart as the author meant them.  This is a guess, used only to word a message and to
read on; it never decides what a sound text means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEAD = re.compile(r"""[ ]*(?:-[ ]+)*(?:(?:"[^"]*"|'[^']*'|[^\s"'{\[#][^:]*?):(?=\s|$)[ \t]*)?""")
_KEY = re.compile(r"""(?:"[^"]*"|'[^']*'|[\w.\-]+)[ ]*:(?=\s|$)[ \t]*""")
_COMMENT = re.compile(r"(?<![ \t])[ \t]+#.*$")
_CLOSERS = {"{": "}", "[": "]", "(": ")"}


@dataclass(frozen=True, slots=True)
class Piece:
    """One value as it stands on its line; `start` and `end` are indexes into the whole text."""

    start: int
    end: int
    text: str
    in_brackets: bool


def pieces_of(line: str, offset: int, in_brackets: bool) -> list[Piece]:
    """
    The values on a line that begins at `offset`; `in_brackets` when it began inside `[` or `{`.

    >>> [p.text for p in pieces_of("  - id: a: b", 0, False)]
    ['a: b']
    >>> [p.text for p in pieces_of("x: {when: a in [b, c], goto: d}", 0, False)]
    ['a in [b, c]', 'd']
    """
    head = _HEAD.match(line)
    start = head.end() if head else 0
    rest = line[start:]
    opens = rest.startswith(("{", "[")) and not rest.startswith("{{")
    if in_brackets or opens:
        spans = _flow(line, start if opens else len(line) - len(line.lstrip()))
    else:
        spans = iter([(start, len(_COMMENT.sub("", line).rstrip()))])
    flow = in_brackets or opens
    return [Piece(offset + a, offset + b, line[a:b], flow) for a, b in spans if b > a]


def _flow(line: str, at: int) -> Iterator[tuple[int, int]]:
    while at < len(line):
        sign = line[at]
        if sign in " \t,]}[" or (sign == "{" and not line.startswith("{{", at)):
            at += 1
            continue
        key = _KEY.match(line, at)
        if key:
            at = key.end()
            sign = line[at : at + 1]
            if sign in {"{", "["} and not line.startswith("{{", at):
                continue
        end = _end_of_value(line, at)
        yield at, at + len(line[at:end].rstrip())
        at = max(end, at + 1)


def _end_of_value(line: str, at: int) -> int:
    """Where a value between brackets ends: at a comma or a bracket that it did not open itself."""
    closers: list[str] = []
    quote = ""
    for i in range(at, len(line)):
        sign = line[i]
        if quote:
            quote = "" if sign == quote else quote
        elif sign == '"' or (sign == "'" and (i == at or not line[i - 1].isalnum())):
            quote = sign
        elif sign in _CLOSERS:
            closers.append(_CLOSERS[sign])
        elif closers and sign == closers[-1]:
            closers.pop()
        elif not closers and sign in ",]}":
            return i
    return len(line)


def after_quotes(piece: str) -> str | None:
    """
    What stands behind the closing quote of a quoted value; None where the quote never closes.

    >>> after_quotes("'don't'"), after_quotes('"a"'), after_quotes('"a')
    ("t'", '', None)
    """
    pattern = r'"(?:[^"\\]|\\.)*"' if piece[0] == '"' else r"'(?:[^']|'')*'"
    found = re.match(pattern, piece)
    return None if found is None else piece[found.end() :].strip()

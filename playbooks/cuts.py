"""Unquoted text that YAML cuts short: at ` #`, where a comment begins, and between brackets at a comma."""

from __future__ import annotations

import re
from typing import Any

from guideway.statemachine.diagnostic import Level

from .builder import Builder
from .hints import Hint
from .places import line_at
from .scalars import quoted, short

_COMMENT = re.compile(r"(?<![ \t])[ \t]+#")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_WORD = re.compile(r"\w")


class CutError(Exception):
    """A text was cut short where no syntax error shows it; read again with the hint's repair made."""

    def __init__(self, hint: Hint) -> None:
        self.hint = hint
        super().__init__(hint.message)


class Cuts:
    """Watches the ends of unquoted texts of one source; raises `CutError` while repairs are still to be had."""

    def __init__(self, text: str, out: Builder, can_repair: bool) -> None:
        self._text = text
        self._out = out
        self._can_repair = can_repair
        self.comments = frozenset(m.start() for m in _COMMENT.finditer(text)) if "#" in text else frozenset()

    def nothing(self, mark: Any) -> None:
        """A value that is empty because what was meant begins with `#`: `channel: #general`."""
        if mark.index not in self.comments:
            return
        rest = self._rest_of_line(mark.index)
        written = rest.strip()
        if _WORD.match(written, 1):
            column = mark.column + 1 + len(rest) - len(rest.lstrip())
            self._tell(mark.line + 1, column, "value is empty: ` #` begins a comment", written, Level.WARNING)

    def check(self, value: str, mark: Any, end: int) -> None:
        """A text that ends inside a quote or bracket, or at a number sign."""
        text, start = self._text, mark.index
        shown = short(value[-30:])
        tail = self._rest_of_line(end)
        closer = _open_until(value)
        is_open = closer != "" and closer in tail
        if end in self.comments:
            whole = text[start:end] + tail.rstrip()
            message = f"text ends at `{shown}`: ` #` begins a comment"
            if is_open:
                self._cut(mark, message, whole)
            elif tail.lstrip()[1:2].isdigit():
                self._tell(mark.line + 1, mark.column + 1, message, whole, Level.WARNING)
        elif is_open:
            whole = (text[start:end] + tail[: _rest_of_value(tail)]).rstrip()
            self._cut(mark, f"text ends at `{shown}`: between brackets a comma ends it", whole)

    def _cut(self, mark: Any, message: str, whole: str) -> None:
        if self._can_repair and "\n" not in whole and "\r" not in whole:
            help_ = f"quote the whole value: {quoted(short(whole, 100))}"
            raise CutError(Hint("GW018", message, mark.index, help_, mark.index, mark.index + len(whole), whole))
        self._tell(mark.line + 1, mark.column + 1, message, whole, Level.ERROR)

    def _rest_of_line(self, index: int) -> str:
        start, line = line_at(self._text, index)
        return line[index - start :]

    def _tell(self, line: int, column: int, message: str, whole: str, level: Level) -> None:
        self._out.report("GW018", message, line, column, f"quote the whole value: {quoted(short(whole))}", level=level)


def _open_until(value: str) -> str:
    """
    The sign that would close the quote or bracket still open at the end.  An apostrophe inside a word opens nothing.

    >>> _open_until("args.x == 'ops"), _open_until("the user's own"), _open_until("size(a"), _open_until("a) (b")
    ("'", '', ')', ')')
    """
    quote = ""
    closers: list[str] = []
    for i, sign in enumerate(value):
        if quote:
            quote = "" if sign == quote else quote
        elif sign == '"' or (sign == "'" and (i == 0 or not value[i - 1].isalnum())):
            quote = sign
        elif sign in _CLOSERS:
            closers.append(_CLOSERS[sign])
        elif closers and sign == closers[-1]:
            closers.pop()
    return quote or (closers[-1] if closers else "")


def _rest_of_value(tail: str) -> int:
    """
    How far a cut text goes on: past the bracket that closes what is open, to the next comma or bracket.

    >>> tail = ", y) > 1, goto: b}"
    >>> tail[:_rest_of_value(tail)]
    ', y) > 1'
    """
    depth = 1
    for i, sign in enumerate(tail):
        if depth == 0 and sign in ",]}":
            return i
        depth = max(depth + (sign in "([") - (sign in ")]"), 0)
    return len(tail)

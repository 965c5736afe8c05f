"""
A JSON reader that keeps places and goes on after a fault (RFC 8259).

Its own tokenizer, because the one of the standard library keeps no places, recurses and stops at the first fault.  It
takes what people write by mistake (trailing commas, comments, single quotes, bare words), reports it, and reads on.
"""

from __future__ import annotations

import re
from typing import NoReturn

from .builder import Builder
from .json_strings import unescape
from .nodes import Node
from .scalars import NumberError, real, short, whole

_BLANK = re.compile(r"[ \t\r\n]+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_SIMPLE = re.compile(r'"([^"\\\x00-\x1f]*)"')
_STRING = re.compile(r'"((?:[^"\\\r\n]++|\\.)*+)"')  # possessive: nothing is kept to go back to
_SINGLE = re.compile(r"'((?:[^'\\\r\n]++|\\.)*+)'")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?(?![\w.+-])")
_WORD = re.compile(r"[^\s,:\[\]{}\"']+")
_COMMENT = re.compile(r"//[^\r\n]*|#[^\r\n]*|/\*[\s\S]*?\*/")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_PYTHON_WORDS: dict[str, bool | None] = {"True": True, "False": False, "None": None, "undefined": None}


class JsonStop(Exception):  # noqa: N818 - it ends the reading, the finding is told already
    """The rest cannot be read."""


class JsonEvents:
    """One pass over one text."""

    def __init__(self, text: str, out: Builder) -> None:
        self.text = text
        self.out = out
        self.at = 0
        self.line = 1
        self.line_start = 0
        self.brackets: list[tuple[str, int, int]] = []
        self.comma: tuple[int, int] | None = None  # the comma that waits for an item

    def run(self) -> None:
        """Build the tree; raises `JsonStop` where nothing more can be read, `SpentError` when the budget is spent."""
        self._skip()
        if self.at == len(self.text):
            return
        self._value()
        while self.brackets:
            self._skip()
            self._inside()
        self._skip()
        if self.at < len(self.text):
            message = f"text after the end of the playbook: `{short(self._word())}`"
            self._stop(message, "delete what follows the last bracket")

    @property
    def column(self) -> int:
        """Of the next character."""
        return self.at - self.line_start + 1

    def _tell(self, message: str, help_: str, place: tuple[int, int] | None = None) -> None:
        line, column = place or (self.line, self.column)
        self.out.report("GW006", message, line, column, help_)

    def _stop(self, message: str, help_: str, place: tuple[int, int] | None = None) -> NoReturn:
        self._tell(message, help_, place)
        raise JsonStop

    def _skip(self) -> None:
        """Blanks, and comments with a finding."""
        while True:
            found = _BLANK.match(self.text, self.at)
            if found is None:
                if not self.text.startswith(("//", "/*", "#"), self.at):
                    return
                found = _COMMENT.match(self.text, self.at)
                if found is None:
                    self._stop("a comment is never closed", "JSON has no comments; delete it")
                self._tell("JSON has no comments", "delete it, or save the file as .yaml and write `# …`")
            self._move(found.end())

    def _move(self, end: int) -> None:
        for found in _LINE_END.finditer(self.text, self.at, end):
            self.line += 1
            self.line_start = found.end()
        self.at = end

    def _word(self) -> str:
        found = _WORD.match(self.text, self.at)
        found = found or _SIMPLE.match(self.text, self.at)
        return found.group() if found else self.text[self.at : self.at + 1]

    def _inside(self) -> None:
        """One item of the innermost bracket, or its end.  Commas are taken after the item they follow."""
        sign = self.text[self.at : self.at + 1]
        if sign == "":
            opened, line, column = self.brackets[-1]
            self._stop(f"`{opened}` is never closed", f"add `{'}' if opened == '{' else ']'}`", (line, column))
        if sign in "]}":
            self._close(sign)
        elif self.brackets[-1][0] == "[":
            self._value()
        else:
            self._key()
            self._skip()
            self._value()

    def _close(self, sign: str) -> None:
        opened, line, column = self.brackets[-1]
        if (opened == "{") != (sign == "}"):
            self._stop(
                f"`{sign}` closes `{opened}` of line {line}, column {column}",
                f"write `{'}' if opened == '{' else ']'}`",
            )
        if self.comma is not None:
            self._tell("a comma stands before the closing bracket", "delete the comma", self.comma)
        self.brackets.pop()
        self.out.close()
        self.at += 1
        self._after()

    def _after(self) -> None:
        """After an item: a comma, or the end of its bracket."""
        self.comma = None
        if not self.brackets:
            return
        self._skip()
        sign = self.text[self.at : self.at + 1]
        if sign == ",":
            self.comma = (self.line, self.column)
            self.at += 1
            self._skip()
            while self.text.startswith(",", self.at):
                self._tell("two commas follow each other", "delete one of them")
                self.at += 1
                self._skip()
        elif sign == ":":
            self._stop("a colon stands where a comma or a closing bracket was expected", "quote the text around it")
        elif sign not in {"]", "}", ""}:
            self._tell(f"a comma is missing before `{short(self._word())}`", "add a comma")

    def _key(self) -> None:
        line, column = self.line, self.column
        sign = self.text[self.at]
        if sign in "\"'":
            key, _ = self._string()
        elif sign in "[{:,":
            self._stop(f"a key was expected, `{sign}` stands here", 'write `"key": value`')
        else:
            key = self._word()
            self._tell(f"key `{short(key)}` is not quoted", f'write "{short(key)}"')
            self.at += len(key)
        self.out.key(key, line, column)
        self._skip()
        if self.text.startswith(":", self.at):
            self.at += 1
        elif self.text[self.at : self.at + 1] in {"", ",", "]", "}"}:
            self._stop(f"key `{short(key)}` has no value", 'write `"key": value`')
        else:
            self._tell(f"key `{short(key)}` has no colon behind it", 'write `"key": value`')
        self.comma = None

    def _value(self) -> None:
        line, column = self.line, self.column
        sign = self.text[self.at : self.at + 1]
        if sign in {"{", "["}:
            self.brackets.append((sign, line, column))
            self.out.open({} if sign == "{" else [], line, column)
            self.at += 1
            self.comma = None
            self._skip()
            if self.text.startswith(",", self.at):
                self._tell("a comma stands before the first item", "delete the comma")
                self.at += 1
            return
        if sign in {'"', "'"}:
            value, source = self._string()
            self.out.scalar(Node(value, line, column, sign, source))
        elif sign in {"", ",", ":", "]", "}"}:
            self._no_value(sign)
        else:
            self._bare(line, column)
        self._after()

    def _no_value(self, sign: str) -> None:
        if sign == "" and self.brackets:
            opened, line, column = self.brackets[-1]
            self._stop(f"`{opened}` is never closed", f"add `{'}' if opened == '{' else ']'}`", (line, column))
        if sign == "" or sign == ":" or not self.brackets:
            self._stop(f"a value was expected, `{sign}` stands here", "write a value, or `null`")
        self._tell(f"a value was expected, `{sign}` stands here", "write a value, or `null`")
        self.out.scalar(Node(None, self.line, self.column))

    def _string(self) -> tuple[str, str | None]:
        """A string: its value, and its source where an escape makes them differ."""
        text, at = self.text, self.at
        if found := _SIMPLE.match(text, at):
            self.at = found.end()
            return found.group(1), None
        found = (_STRING if text[at] == '"' else _SINGLE).match(text, at)
        if found is None:
            self._stop(
                f"the {'string' if text[at] == chr(34) else 'text'} that begins here is not closed on its line",
                'close it with `"`; write a line break as \\n',
            )
        if text[at] == "'":
            self._tell("JSON strings stand in double quotes", 'write "…"')
        value = unescape(found.group(1), self.out, self.line, self.column + 1)
        source = found.group()
        self.at = found.end()
        return value, source if len(value) + 2 != len(source) else None

    def _bare(self, line: int, column: int) -> None:
        """A number or a word."""
        found = _NUMBER.match(self.text, self.at)
        word = found.group() if found else self._word()
        self.at += len(word)
        if word in _WORDS:
            self.out.scalar(Node(_WORDS[word], line, column, "", word))
            return
        if found is None:
            self._odd_word(word, line, column)
            return
        try:
            value = real(word) if found.group(1) or found.group(2) else whole(word)
        except NumberError as why:
            help_ = "write it as a string if it is a name"
            self.out.report("GW015", f"number `{short(word)}` {why}", line, column, help_)
            self.out.scalar(Node(word, line, column, "", None))
            return
        self.out.scalar(Node(value, line, column, "", word))

    def _odd_word(self, word: str, line: int, column: int) -> None:
        shown, place = short(word), (line, column)
        if word in _PYTHON_WORDS:
            value = _PYTHON_WORDS[word]
            right = "null" if value is None else str(value).lower()
            self._tell(f"`{shown}` is no JSON word", f"write {right}", place)
            self.out.scalar(Node(value, line, column, "", word))
            return
        if word.lstrip("+-") in {"NaN", "Infinity", "inf", "nan", "Inf"}:
            message = f"`{shown}` is no number that JSON can hold"
            self.out.report("GW015", message, line, column, "write a number or null")
        elif re.fullmatch(r"[-+]?0[0-9]+", word):
            self.out.report(
                "GW015",
                f"number `{shown}` begins with a zero: octal to some readers, decimal to others",
                line,
                column,
                f'write "{shown}" if it is a name',
            )
        else:
            self._tell(f"text `{shown}` is not quoted", f'write "{shown}"', place)
        self.out.scalar(Node(word, line, column))

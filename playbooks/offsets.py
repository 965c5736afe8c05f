"""
From a character of a text's value back to its place in the source.

Between the value of a YAML string and its source stand folds, escapes and indentation, but all of them only add, drop
or change blanks: the k-th visible character of one is the k-th visible unit of the other.
"""

from __future__ import annotations

import re

_UNITS = {
    # one unit a visible character, or several characters of source that stand for one of the value
    "": re.compile(r"\S"),
    "|": re.compile(r"\S"),
    ">": re.compile(r"\S"),
    "'": re.compile(r"''|\S"),
    '"': re.compile(
        r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
        r"|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\r\n|[\s\S])|\S"
    ),
}
_BLANK_LETTERS = frozenset("ntvfrNLP_ \t\r\n")  # of escapes; the rest stand for something visible
_LINE = re.compile(r"\r\n|\r|\n")


def content_place(value: str, offset: int, source: str, style: str, start: tuple[int, int]) -> tuple[int, int]:
    r"""
    The place of `value[offset]`, where `source` is the text as written, with its quotes, from `start` on.

    >>> content_place("a &&\nb\n", 5, "|\n    a &&\n    b\n", "|", (3, 9))
    (5, 5)
    >>> content_place('say "x"', 5, r'"say \"x\""', '"', (1, 1))
    (1, 8)
    """
    visible = sum(not c.isspace() for c in value[:offset])
    blank = offset >= len(value) or value[offset].isspace()
    index = _body(source, style)
    for unit in _UNITS[style].finditer(source, index):
        if style == '"' and _is_blank(unit.group()):
            continue
        if visible == 0:
            if not blank:
                index = unit.start()
            break
        visible -= 1
        index = unit.end()
    return _advance(source, index, start)


def _is_blank(unit: str) -> bool:
    """Whether a unit of a double-quoted text is an escape that stands for a blank."""
    if unit[0] != "\\":
        return False
    if unit[1] in "xuU" and len(unit) < 12:
        code = int(unit[2:], 16)
        return code <= 0x10FFFF and chr(code).isspace()
    return unit[1] in _BLANK_LETTERS


def _body(source: str, style: str) -> int:
    """Where the content begins: after the opening quote, or after the line of a block sign."""
    if style in {"|", ">"}:
        line = _LINE.search(source)
        return line.end() if line else len(source)
    return 1 if style else 0


def _advance(source: str, index: int, start: tuple[int, int]) -> tuple[int, int]:
    lines = list(_LINE.finditer(source, 0, index))
    if not lines:
        return start[0], start[1] + index
    return start[0] + len(lines), index - lines[-1].end() + 1

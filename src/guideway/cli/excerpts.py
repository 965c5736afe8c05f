"""Findings as people read them: the line, a mark under the place, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from unicodedata import combining, east_asian_width

from guideway.statemachine.diagnostic import Diagnostic, Level
from guideway.statemachine.span import Span, escaped

from .streams import paint

COLOURS = {Level.ERROR: "bold red", Level.WARNING: "bold yellow", Level.INFORMATION: "bold blue"}
WIDEST = 100
"""Columns shown of a long line."""
LARGEST = 64_000_000
"""Bytes of a file past which no line is shown."""


class Excerpts:
    """Lines of sources, by file; texts that are no files are given."""

    def __init__(self, texts: dict[str, str] | None = None) -> None:
        self._texts = texts or {}
        self._lines = cache(self._read)

    def line(self, span: Span) -> str | None:
        """The line of a place, without its end."""
        lines = self._lines(span.file)
        return lines[span.line - 1] if 0 < span.line <= len(lines) else None

    def _read(self, file: str) -> list[str]:
        text = self._texts.get(file)
        if text is None:
            try:
                path = Path(file)
                readable = path.is_file() and path.stat().st_size <= LARGEST  # a pipe would be waited for
                text = path.read_bytes().decode("utf-8-sig", "replace") if readable else ""
            except (OSError, ValueError):
                return []
        return re.split("\r\n|[\n\r\x85\u2028\u2029]", text)


def human(finding: Diagnostic, excerpts: Excerpts, colour: bool) -> str:
    """
    One finding in full.

    >>> finding = Diagnostic("GW020", Level.ERROR, "unknown key `nam`", Span("<t>", 2, 1), "did you mean `name`?")
    >>> print(human(finding, Excerpts({"<t>": "id: a\\nnam: A"}), colour=False))
    error[GW020]: unknown key `nam`
     --> <t>:2:1
      |
    2 | nam: A
      | ^
      = help: did you mean `name`?
    """
    style = COLOURS[finding.level]
    head = paint(f"{finding.level.value}[{finding.code}]", style, colour)
    return "\n".join([f"{head}: {paint(finding.message, 'bold', colour)}", *_body(finding, excerpts, style, colour)])


def _body(finding: Diagnostic, excerpts: Excerpts, style: str, colour: bool) -> Iterator[str]:
    margin = " " * len(str(max(span.line for span in (finding.span, *(r.span for r in finding.related)))))
    yield from _place(finding.span, excerpts, margin, style, colour)
    for related in finding.related:
        yield f"{margin} {paint('=', 'blue', colour)} {related.message}:"
        yield from _place(related.span, excerpts, margin, "blue", colour)
    if finding.witness:
        yield f"{margin} {paint('=', 'blue', colour)} shown by: {', '.join(finding.witness)}"
    if finding.help:
        yield f"{margin} {paint('=', 'blue', colour)} help: {finding.help}"


def _place(span: Span, excerpts: Excerpts, margin: str, style: str, colour: bool) -> Iterator[str]:
    yield f"{margin}{paint('-->', 'blue', colour)} {escaped(span)}"
    line = excerpts.line(span)
    if line is None:
        return
    bar = paint("|", "blue", colour)
    shown, before = window(line, span.column)
    yield f"{margin} {bar}"
    yield f"{paint(str(span.line).rjust(len(margin)), 'blue', colour)} {bar} {shown}"
    yield f"{margin} {bar} {' ' * before}{paint('^', style, colour)}"


def window(line: str, column: int) -> tuple[str, int]:
    r"""
    Cut a line to what is worth showing, and say how many cells stand before the column.

    >>> window("a\tb", 3), window("名: x", 4)
    (('a b', 2), ('名: x', 4))
    """
    start = max(0, column - 1 - WIDEST // 2) if len(line) > WIDEST else 0
    part = line[start : start + WIDEST]
    lead = "…" if start else ""
    tail = "…" if start + WIDEST < len(line) else ""
    return lead + visible(part) + tail, len(lead) + sum(map(cells, visible(part[: column - 1 - start])))


def visible(text: str) -> str:
    """Tabs as one space, and what cannot be seen as a dot."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "·" for c in text)


def cells(character: str) -> int:
    """How many cells of a terminal a character takes."""
    return 0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1

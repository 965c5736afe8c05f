"""Markdown from untrusted text: nothing in it may become markup, and nothing in it may be invisible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def visible(text: str) -> str:
    """Control, bidirectional and other unprintable characters as escapes; the rest as it is.

    >>> visible("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def code(text: str) -> str:
    """Text as inline code that also stands in a table cell; an empty text is named.

    >>> code("a`b"), code(""), code("a|b")
    ('``a`b``', '(empty)', '`a\\\\|b`')
    """
    shown = visible(text).replace("|", "\\|")
    if not shown.strip():
        return f"({len(text)} spaces)" if text else "(empty)"
    ticks = "`" * (_longest_run(shown, "`") + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fenced(lines: Iterable[str], language: str = "text") -> list[str]:
    """A code block whose fence is longer than any run of backticks inside it."""
    shown = [visible(line) for line in lines]
    fence = "`" * max(3, *(_longest_run(line, "`") + 1 for line in shown), 3)
    return [f"{fence}{language}", *shown, fence, ""]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table; numbers stand to the right. The cells are Markdown already."""
    body = [list(row) for row in rows]
    right = [bool(body) and all(isinstance(row[i], int) for row in body) for i in range(len(head))]
    rule = ["---:" if is_right else "---" for is_right in right]
    return [_row(head), _row(rule), *(_row(row) for row in body), ""]


def _row(cells: Iterable[object]) -> str:
    shown = (f"{cell:,}" if isinstance(cell, int) else str(cell).replace("|", "\\|") for cell in cells)
    return "| " + " | ".join(shown) + " |"


def _longest_run(text: str, char: str) -> int:
    longest = run = 0
    for c in text:
        run = run + 1 if c == char else 0
        longest = max(longest, run)
    return longest

"""Places in a text: lines end at LF, CR LF or CR; columns count code points; both from 1."""

from __future__ import annotations


def place_of(text: str, index: int) -> tuple[int, int]:
    r"""
    Line and column of a character.

    >>> place_of("a\r\nbc", 4)
    (2, 2)
    """
    before = text[:index]
    ends = before.count("\n") + before.count("\r") - before.count("\r\n")
    if text[index : index + 1] == "\n" and before.endswith("\r"):
        ends -= 1  # between CR and LF: still on the line that they end
        before = before[:-1]
    return ends + 1, index - max(before.rfind("\n"), before.rfind("\r"))


def line_at(text: str, index: int) -> tuple[int, str]:
    r"""
    The start of the line around a character, and its text without the line break.

    >>> line_at("a\nbcd\ne", 3)
    (2, 'bcd')
    """
    start = max(text.rfind("\n", 0, index), text.rfind("\r", 0, index)) + 1
    ends = [end for end in (text.find("\n", index), text.find("\r", index)) if end >= 0]
    return start, text[start : min(ends, default=len(text))]

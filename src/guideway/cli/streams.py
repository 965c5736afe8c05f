"""Writing to people: terminals, pipes that close, encodings that lack a character."""

from __future__ import annotations

import os
import sys
from typing import TextIO

PLAIN = {"→": "->", "✓": "ok", "✗": "x", "•": "*", "·": ".", "…": "...", "—": "-"}
"""What stands for a character where the encoding lacks it; all others are shown as escapes."""

STYLES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "bold": "1"}


def write(text: str, stream: TextIO | None = None) -> None:
    """Write a text in whatever encoding the stream has."""
    stream = stream or sys.stdout
    try:
        stream.write(text)
    except UnicodeEncodeError:
        stream.write(fitting(text, stream.encoding or "ascii"))


def say(text: str) -> None:
    """A line on standard error; where nobody reads it, it is lost."""
    try:
        write(text + "\n", sys.stderr)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass


def fitting(text: str, encoding: str) -> str:
    r"""
    The text in characters that the encoding has.

    >>> fitting("a → é 🙂", "latin-1")
    'a -> é \\U0001f642'
    """
    plain = "".join(PLAIN.get(c, c) for c in text)
    return plain.encode(encoding, "backslashreplace").decode(encoding)


def is_terminal(stream: TextIO) -> bool:
    """Whether a person sees the stream as it is written."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def coloured(stream: TextIO) -> bool:
    """Colour only on terminals, and not where `NO_COLOR` asks for none (https://no-color.org)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, styles: str, colour: bool) -> str:
    r"""
    Style a text by words of `STYLES`.

    >>> paint("error", "bold red", True), paint("error", "red", False)
    ('\x1b[1;31merror\x1b[0m', 'error')
    """
    if not colour:
        return text
    return f"\x1b[{';'.join(STYLES[word] for word in styles.split())}m{text}\x1b[0m"

"""Writing to people: terminals, pipes that close, encodings that lack a character."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from .status import OutputError

PLAIN = {"→": "->", "✓": "ok", "✗": "x", "•": "*", "·": ".", "…": "...", "—": "-"}
"""What stands for a character where the encoding lacks it; all others are shown as escapes."""

STYLES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "bold": "1"}


def write(text: str, stream: TextIO | None = None) -> None:
    """
    Write a text in whatever encoding the stream has.

    Raises:
        OutputError: it cannot be written (a reader that has left is a `BrokenPipeError`).
    """
    with reported():
        _put(text, stream or sys.stdout)


def _put(text: str, stream: TextIO) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:
        stream.write(fitting(text, stream.encoding or "ascii"))


@contextmanager
def reported() -> Iterator[None]:
    """What standard output does not take is one sentence; that nobody reads it (any more) is none."""
    try:
        yield
    except OSError as fault:
        if nobody_reads(fault):
            raise BrokenPipeError from None
        raise OutputError(f"standard output cannot be written: {fault.strerror or fault}") from None


def nobody_reads(fault: Exception) -> bool:
    """The stream is closed, at this end or at the other, rather than full or broken."""
    return not isinstance(fault, OSError) or fault.errno in (errno.EPIPE, errno.EBADF, errno.ESHUTDOWN, None)


def say(text: str) -> None:
    """A line on standard error; where nobody reads it, it is lost."""
    with suppress(OSError, ValueError):
        _put(text + "\n", sys.stderr)
        sys.stderr.flush()


def complete_streams() -> None:
    """A process started with closed streams has none; then nothing is read, and what is written goes nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - the process closes it


def give_up_stdout() -> None:
    """Let what is still held for standard output go nowhere: the interpreter would try again, and complain."""
    with suppress(Exception):
        number = sys.stdout.fileno()
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)


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

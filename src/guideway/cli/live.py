"""Telling a run while it goes on: plain lines, or a terminal with colours and a line that says what is going on now."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from guideway.runtime.narrate import Line, Mark

from .status import OutputError
from .streams import coloured, give_up_stdout, is_terminal, reported, write

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

SIGNS: Mapping[Mark, str] = {
    Mark.HEAD: "", Mark.STEP: "→ ", Mark.BRANCH: "branch ", Mark.AGENT: "agent ", Mark.ALLOW: "allow ",
    Mark.DENY: "deny ", Mark.DEFER: "defer ", Mark.ASK: "ask ", Mark.ANSWER: "answer ", Mark.OK: "ok ",
    Mark.FAULT: "fault ", Mark.TIME: "time ", Mark.SIGNAL: "signal ", Mark.USER: "user ", Mark.END: "end ",
}  # fmt: skip
STYLES: Mapping[Mark, str] = {
    Mark.HEAD: "bold", Mark.STEP: "bold cyan", Mark.BRANCH: "blue", Mark.AGENT: "magenta", Mark.ALLOW: "",
    Mark.DENY: "bold red", Mark.DEFER: "yellow", Mark.ASK: "bold yellow", Mark.ANSWER: "yellow", Mark.OK: "green",
    Mark.FAULT: "red", Mark.TIME: "dim", Mark.SIGNAL: "yellow", Mark.USER: "cyan", Mark.END: "bold",
}  # fmt: skip
WIDTH = 7


def text_of(line: Line) -> str:
    """
    A line as text.

    >>> text_of(Line(Mark.STEP, "enrich")), text_of(Line(Mark.DENY, "f(): where", 1))
    ('→ enrich', '  deny   f(): where')
    """
    sign = SIGNS[line.mark]
    return "  " * line.indent + (sign.ljust(WIDTH) if line.indent else sign) + line.text


class Telling:
    """When the lines cannot be written any more the run goes on: its effects matter, its telling does not."""

    def __init__(self) -> None:
        self._open = True
        self.lost: str | None = None
        """why the telling broke off, unless there was just nobody to read it"""

    def tell(self, line: Line) -> None:
        """Show a line."""
        if not self._open:
            return
        try:
            with reported():
                self._show(line)
        except (BrokenPipeError, ValueError):
            self._open = False
            give_up_stdout()
        except OutputError as fault:
            self._open, self.lost = False, str(fault)
            give_up_stdout()

    def close(self) -> None:
        """Leave the stream as it was found."""

    def _show(self, line: Line) -> None:
        raise NotImplementedError


class PlainView(Telling):
    """A line each."""

    def _show(self, line: Line) -> None:
        """Write it out at once."""
        write(text_of(line) + "\n", sys.stdout)
        sys.stdout.flush()


class TerminalView(Telling):
    """Lines in colour, above one that says in which step the run is and for how long."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console

        self._console: Console = Console(
            file=sys.stdout, highlight=False, soft_wrap=True, no_color=not coloured(sys.stdout)
        )
        self._status: Status = self._console.status("starting", spinner="line")
        self._status.start()

    def _show(self, line: Line) -> None:
        """Print it, and keep the last line up to date."""
        from rich.markup import escape
        from rich.text import Text

        self._console.print(Text(text_of(line), style=STYLES[line.mark]))
        if line.mark in (Mark.STEP, Mark.ALLOW, Mark.TIME):
            self._status.update(escape(line.text[: max(20, self._console.width - 4)]))

    def close(self) -> None:
        """Take the last line away."""
        with suppress(OSError, ValueError):
            self._status.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Keep the terminal still while a person is asked."""
        with suppress(OSError, ValueError):
            self._status.stop()
        try:
            yield
        finally:
            with suppress(OSError, ValueError):
                self._status.start()


def view() -> PlainView | TerminalView:
    """A terminal gets colours and progress, anything else plain lines."""
    return TerminalView() if is_terminal(sys.stdout) else PlainView()

"""From an argument list to an exit status: one command is imported, run, and every mistake becomes one sentence."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any

import typer

from guideway.statemachine.span import escaped

from .status import BROKEN, CLEAN, FOUND, INTERRUPTED, MISUSED, OutputError, UnusableError
from .streams import complete_streams, give_up_stdout, reported, say, write

Version = Annotated[bool, typer.Option("--version", help="Say which version this is.")]

COMMANDS = {
    "check": "check",
    "compile": "compiling",
    "draw": "draw",
    "run": "run",
    "schema": "schema",
    "init": "init",
    "explain": "explain",
    "runs": "listing",
    "resume": "resume",
    "trace": "tracing",
    "replay": "replaying",
    "verify": "verifying",
    "approve": "approve",
    "reject": "reject",
    "answer": "answer",
    "reconcile": "reconcile",
    "signal": "signal",
}
"""Command -> the module here that holds its `command`."""

TRACEBACK = "GUIDEWAY_TRACEBACK"
"""Set to anything, a fault of Guideway's own is shown with its traceback."""


def run(argv: list[str]) -> int:
    """Run one command; see `main`."""
    name = argv[0] if argv and argv[0] in COMMANDS else ""
    said = f"guideway {name}".rstrip()
    complete_streams()
    try:
        status = dispatch(argv, name)
        with reported(), suppress(ValueError):  # a stream that a tool has closed is nobody's to flush
            sys.stdout.flush()
    except BrokenPipeError:
        give_up_stdout()
        return FOUND
    except KeyboardInterrupt:
        say(f"{said}: interrupted")
        return INTERRUPTED
    except Exception as fault:
        return _explain(plainly(fault), said)
    return status


def dispatch(argv: list[str], name: str) -> int:
    """Build the part of the command line that is needed, and call it."""
    app = typer.Typer(name="guideway", add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True)(_top)
    for command in [name] if name else COMMANDS:
        app.command(command)(import_module(f".{COMMANDS[command]}", __package__).command)
    root: Any = typer.main.get_command(app)
    if not argv:
        argv = ["--help"]
    status = root.main(args=argv, prog_name="guideway", standalone_mode=False)
    return status if isinstance(status, int) else CLEAN


def _top(version: Version = False) -> None:
    """Playbooks for agents, as state machines: checked before they run, enforced while they do, recorded always.

    Each command shows an example with --help. Begin with: guideway init, guideway check, guideway draw.
    """
    if version:
        from guideway import __version__

        write(f"guideway {__version__}\n")


def plainly(fault: Exception) -> Exception:
    """An error of writing that came by no name of a file is one of standard output."""
    if isinstance(fault, OSError) and fault.filename is None and fault.errno in FULL:
        return OutputError(f"standard output cannot be written: {fault.strerror}")
    return fault


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _explain(fault: Exception, said: str) -> int:
    """One sentence, and whose mistake it was."""
    from guideway.statemachine.errors import GuidewayError, JournalError

    if isinstance(fault, UnusableError):
        return MISUSED
    if isinstance(fault, OutputError):
        give_up_stdout()
    if isinstance(fault, GuidewayError):
        say(f"{said}: {escaped(fault)}")
        return FOUND if isinstance(fault, JournalError | OutputError) else MISUSED
    if isinstance(fault, typer.Abort):  # Ctrl-C, in older versions of typer
        return INTERRUPTED
    if (usage := _usage(fault)) is not None:
        say(f"{said}: {usage}; see {said} --help")
        return MISUSED
    if os.environ.get(TRACEBACK):
        import traceback

        say(traceback.format_exc().rstrip())
    say(
        f"{said}: a fault of Guideway's own ({type(fault).__name__}: {_line(fault)[:200]}); "
        f"please report it with the command and, from {TRACEBACK}=1, the traceback"
    )
    return BROKEN


def _usage(fault: Exception) -> str | None:
    """What typer says about the arguments; None where the exception is none of typer's."""
    click_error: type[Exception] = typer.BadParameter.__mro__[2]
    if not isinstance(fault, click_error):
        return None
    told: Any = fault
    return _line(told.format_message()).replace("Value error, ", "").rstrip(".")


def _line(text: object) -> str:
    """One line, with nothing in it that could move the cursor."""
    return escaped(" ".join(str(text).split()))

"""`guideway verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from guideway.runtime.wording import printable
from guideway.statemachine.errors import JournalError

from . import options
from .journals import known_run, opened
from .status import CLEAN, FOUND, MisuseError
from .streams import say, write

if TYPE_CHECKING:
    from guideway.runtime.journal import Verified


def command(
    journal: options.Journal,
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", help="The id of a run.")] = None,
    all_runs: Annotated[bool, typer.Option("--all", help="Every run of the journal.")] = False,
    head: Annotated[
        str | None, typer.Option(metavar="HASH", help="A hash printed before: it must still be there.")
    ] = None,
    key: options.Key = None,
) -> int:
    """Hold every entry of a run against the one before it, and print the hash of the last.

    Keep that hash elsewhere and give it with --head: then it is seen, too, if the end of the run was cut off.
    Exit status: 0 all is as it was written, 1 it is not, 2 misuse.

    Example: guideway verify run-1 --journal runs.db
    """
    from guideway.runtime.journal import verify

    if all_runs == (run is not None):
        raise MisuseError("RUN: name one, or give --all")
    if all_runs and head is not None:
        raise MisuseError("--head: it is the hash of one run; name that")
    status = CLEAN
    with opened(journal, key) as found:
        for each in found.journal.runs() if run is None else [known_run(found, run)]:
            try:
                write(told(verify(found.journal, each, head=head, key=found.key)))
            except JournalError as fault:
                say(f"guideway verify: {printable(str(fault), 500)}")
                status = FOUND
    return status


def told(found: Verified) -> str:
    """A line for a run that is in order."""
    return f"{found.head}  {printable(found.run)}: {found.entries} entries, {found.outcome or 'not ended'}\n"

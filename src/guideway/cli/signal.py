"""`guideway signal`."""

from __future__ import annotations

from typing import Annotated

import typer

from guideway.runtime.wording import printable

from . import options
from .deciding import desk, json_of, with_key
from .status import CLEAN
from .streams import write


def command(
    run: options.Run,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The signal.")],
    journal: options.Journal,
    data: Annotated[str | None, typer.Argument(metavar="[JSON]", help="What comes with it.")] = None,
    key: options.Key = None,
) -> int:
    """Tell a run of something outside that it waits for, or that ends it.

    Exit status: 0 left for the process that drives the run, 1 the journal is not what was written, 2 misuse, or the run
    is over.

    Example: guideway signal run-1 shipped '{"parcel": "p-9"}' --journal runs.db
    """
    value = None if data is None else json_of(data, "JSON")
    with desk(journal, key, run) as (control, found):
        with_key(found, control, run, "signal", {"name": name, "data": value})
        control.signal(run, name, value)
    write(f"the signal {printable(name)} is on its way to run {printable(run)}\n")
    return CLEAN

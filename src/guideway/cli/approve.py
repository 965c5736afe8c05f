"""`guideway approve`."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options
from .deciding import decide, object_of


def command(
    run: options.Run,
    journal: options.Journal,
    approval: options.Asked = None,
    by: options.By = None,
    group: options.Group = None,
    note: options.Note = "",
    args: Annotated[
        str | None, typer.Option(metavar="JSON", help="Allow the call with these arguments; it is gated again.")
    ] = None,
    key: options.Key = None,
) -> int:
    """Allow a step, or exactly the call that is shown; without APPROVAL, list what is asked.

    APPROVAL is the id of what is asked, or its step where that asks once. The decision is signed with the key of the
    journal, and carried out by the process that drives the run, which holds it against the rules once more.
    Exit status: 0 left for that process, 1 the journal is not what was written, 2 misuse, or it cannot count.

    Example: guideway approve run-1 'call c1' --by ines --group soc-lead --journal runs.db
    """
    edited = None if args is None else object_of(args, "--args")
    groups = tuple(group or ())
    return decide(
        journal, key, run, approval, by, "approve",
        lambda control, asked, who: control.approve(run, asked, by=who, groups=groups, note=note, args=edited),
        {"groups": list(groups), "note": note},
    )  # fmt: skip

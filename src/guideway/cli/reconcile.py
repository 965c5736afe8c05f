"""`guideway reconcile`."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options
from .deciding import decide, json_of
from .status import MisuseError


def command(
    run: options.Run,
    journal: options.Journal,
    approval: options.Asked = None,
    happened: Annotated[bool, typer.Option("--happened", help="It happened.")] = False,
    did_not_happen: Annotated[bool, typer.Option("--did-not-happen", help="It did not; it may be made again.")] = False,
    result: Annotated[str | None, typer.Option(metavar="JSON", help="What it returned.")] = None,
    by: options.By = None,
    note: options.Note = "",
    key: options.Key = None,
) -> int:
    """Say whether a call happened that nobody saw the end of. Without APPROVAL, list what is asked.

    Exit status: 0 left for the process that drives the run, 1 the journal is not what was written, 2 misuse, or it
    cannot count.

    Example: guideway reconcile run-1 'call c1' --happened --result '{"isolated": true}' --by ines --journal runs.db
    """
    if approval is not None and happened == did_not_happen:
        raise MisuseError("--happened: say that it did, or --did-not-happen")
    if result is not None and not happened:
        raise MisuseError("--result: only a call that --happened has one")
    value = None if result is None else json_of(result, "--result")
    if happened:
        return decide(
            journal, key, run, approval, by, "happened",
            lambda control, asked, who: control.happened(run, asked, value, by=who, note=note), {"note": note},
        )  # fmt: skip
    return decide(
        journal, key, run, approval, by, "did_not_happen",
        lambda control, asked, who: control.did_not_happen(run, asked, by=who, note=note), {"note": note},
    )  # fmt: skip

"""`guideway answer`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from guideway.statemachine.canonical import read

from . import options
from .deciding import decide
from .status import MisuseError


def command(
    run: options.Run,
    journal: options.Journal,
    approval: options.Asked = None,
    answer: Annotated[str, typer.Argument(metavar="[ANSWER]", help="One of the choices, or a text.")] = "",
    by: options.By = None,
    field: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="A field of the answer; may be repeated.")
    ] = None,
    group: options.Group = None,
    note: options.Note = "",
    key: options.Key = None,
) -> int:
    """Answer what an `ask` asks. Without APPROVAL, list what is asked.

    A field is JSON where it can be, else text: days=3 is a number, and 'pin="3"' a text.
    Exit status: 0 left for the process that drives the run, 1 the journal is not what was written, 2 misuse, or it
    cannot count.

    Example: guideway answer run-1 'ask sure@1' yes --field days=3 --by ann --journal runs.db
    """
    groups, fields = tuple(group or ()), fields_of(field or ())
    return decide(
        journal, key, run, approval, by, "answer",
        lambda control, asked, who: control.answer(
            run, asked, answer, by=who, fields=fields, groups=groups, note=note
        ),
        {"groups": list(groups), "note": note},
    )  # fmt: skip


def fields_of(given: Sequence[str]) -> dict[str, Any]:
    """
    The fields of an answer.

    >>> fields_of(["days=3", "who=ann", 'pin="3"'])
    {'days': 3, 'who': 'ann', 'pin': '3'}

    Raises:
        MisuseError: one is no pair, or is given twice.
    """
    fields: dict[str, Any] = {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise MisuseError(f"--field: {pair} must be written key=value")
        if name in fields:
            raise MisuseError(f"--field: {name} is given twice")
        try:
            fields[name] = read(text)
        except ValueError:
            fields[name] = text
    return fields

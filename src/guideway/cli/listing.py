"""`guideway runs`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from guideway.runtime.wording import printable
from guideway.statemachine.errors import JournalError

from . import options
from .journals import Opened, opened, opens, unopened
from .status import CLEAN, FOUND
from .streams import say, write

if TYPE_CHECKING:
    from guideway.runtime.journal import Standing

HEADS = ("RUN", "PLAYBOOK", "VERSION", "STATUS", "STARTED", "LAST", "OUTCOME OR WAITING FOR")


def command(
    journal: options.Journal,
    key: options.Key = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> int:
    """List the runs of a journal: what each is, how it stands, and for whom it waits.

    A run is ended, waiting (somebody is asked), or running: it has not ended, and may have been left.
    Exit status: 0 listed, 1 a run is not what was written, 2 misuse.

    Example: guideway runs --journal runs.db
    """
    with opened(journal, key) as found:
        faults: list[str] = []
        rows = list(standings(found, faults))
    if as_json:
        for row in rows:
            write(json.dumps(named(row), ensure_ascii=False) + "\n")
    else:
        write("".join(line + "\n" for line in table([HEADS, *map(cells, rows)])) if rows or faults else "no runs\n")
    for fault in faults:
        say(f"guideway runs: {fault}")
    return FOUND if faults else CLEAN


def standings(found: Opened, faults: list[str]) -> Iterator[Standing]:
    """Where each run stands; what cannot be read is named in `faults`."""
    from guideway.runtime.journal import standing

    for run in found.journal.runs():
        try:
            yield standing(found.journal, run, found.key)
        except JournalError as fault:
            said = str(fault) if opens(found, run) else unopened(found, run)
            faults.append(printable(said, 500))


def status_of(row: Standing) -> str:
    """How it stands."""
    return "ended" if row.outcome is not None else "waiting" if row.questions else "running"


def waits_for(row: Standing) -> list[str]:
    """Who is asked."""
    if row.outcome is not None:
        return []
    asked = [person for question in row.questions.values() for person in question.approvers or ("anybody",)]
    return list(dict.fromkeys(asked))


def named(row: Standing) -> dict[str, Any]:
    """A run as JSON."""
    return {
        "run": row.run, "playbook": row.playbook, "digest": row.digest, "mode": row.mode, "status": status_of(row),
        "outcome": row.outcome, "started": row.started, "started_by": row.started_by, "last": row.last,
        "entries": row.entries, "waits_for": waits_for(row),
        "asked": [] if row.outcome is not None else list(row.questions),
    }  # fmt: skip


def cells(row: Standing) -> tuple[str, ...]:
    """A run as a row."""
    last = row.outcome or ", ".join(waits_for(row))
    times = (seconds(row.started), seconds(row.last))
    return tuple(map(printable, (row.run, row.playbook, row.digest[:12], status_of(row), *times, last)))


def seconds(at: str | None) -> str:
    """
    A time without fractions of a second.

    >>> seconds("2026-01-31T09:00:00.123456Z"), seconds(None)
    ('2026-01-31T09:00:00Z', '')
    """
    return "" if at is None else f"{at[:19]}Z"


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """
    Rows in columns.

    >>> list(table([("RUN", "STATUS"), ("run-1", "ended")]))
    ['RUN    STATUS', 'run-1  ended']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()

"""`guideway reject`."""

from __future__ import annotations

from . import options
from .deciding import decide


def command(
    run: options.Run,
    journal: options.Journal,
    approval: options.Asked = None,
    by: options.By = None,
    group: options.Group = None,
    note: options.Note = "",
    key: options.Key = None,
) -> int:
    """Refuse a step or a call; one person is enough. Without APPROVAL, list what is asked.

    Exit status: 0 left for the process that drives the run, 1 the journal is not what was written, 2 misuse, or it
    cannot count.

    Example: guideway reject run-1 'call c1' --by ines --note "it is her laptop" --journal runs.db
    """
    groups = tuple(group or ())
    return decide(
        journal, key, run, approval, by, "reject",
        lambda control, asked, who: control.reject(run, asked, by=who, groups=groups, note=note),
        {"groups": list(groups), "note": note},
    )  # fmt: skip

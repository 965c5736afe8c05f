"""Figures and how they are shown."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One figure: what was done, at which size, by whom, and how long it took in the unit of its table."""

    work: str
    size: int
    peer: str
    value: float


def show(title: str, rows: list[Row]) -> None:
    """Print a table: a line per size and peer, with how many times ours it takes."""
    ours = {(row.work, row.size): row.value for row in rows if row.peer == "guideway"}
    print(f"\n{title}\n{'':30}{'size':>9}{'':27}{'figure':>11}{'ours/theirs':>13}")
    for row in rows:
        own = ours.get((row.work, row.size))
        ratio = "" if own is None or row.peer == "guideway" else f"{own / row.value:13.2f}"
        print(f"{row.work:30}{row.size:>9,}  {row.peer:25}{row.value:>11.2f}{ratio}")

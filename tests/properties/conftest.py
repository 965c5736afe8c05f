"""Shows at the end of the run, in a short line each, how much the property tests of the session have covered."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .counting import COUNTS

WIDTH = 118


def line(test: str, counter: Counter[str]) -> str:
    """The counts of a test, those of one kind (`verdict allow`, `verdict deny`) added up, cut to the width."""
    totals: dict[str, list[int]] = {}
    for what, number in counter.items():
        totals.setdefault(what.split()[0], []).append(number)
    told = ", ".join(
        f"{kind} {sum(numbers):,}" + (f" of {len(numbers)} kinds" if len(numbers) > 1 else "")
        for kind, numbers in totals.items()
    )
    text = f"{test}: {told}"
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the counts of each test; all of them, kind by kind, with `-v`."""
    if not COUNTS:
        return
    terminalreporter.section("what the property tests went through (all counts: -v)")
    for test, counter in COUNTS.items():
        terminalreporter.write_line(line(test, counter))
        if terminalreporter.verbosity > 0:
            for what, number in sorted(counter.items()):
                terminalreporter.write_line(f"    {what} {number:,}")

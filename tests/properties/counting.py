"""What the runs of these tests went through, counted, so that a reader sees that they are not empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

COUNTS: dict[str, Counter[str]] = {}
"""Test -> what it has seen.  `conftest.py` prints it at the end."""


def seen(test: str) -> Counter[str]:
    """The counter of a test, begun anew."""
    return COUNTS.setdefault(test, Counter())


def tally(counter: Counter[str], records: Iterable[tuple[Any, ...]]) -> None:
    """Count the events of one run."""
    counter["runs"] += 1
    deferred: set[str] = set()
    for kind, _, *values in records:
        if kind == "decided":
            counter[f"verdict {values[3]}"] += 1
            if values[3] == "defer":
                deferred.add(values[0])
            elif values[0] in deferred:
                deferred.discard(values[0])
                counter["decided in a later wave"] += 1
        elif kind == "settled":
            counter[f"outcome {values[2]}"] += 1
        elif kind == "asked":
            counter[f"asked {values[1]}"] += 1
        elif kind == "due":
            counter[f"timer {values[0]}"] += 1
        elif kind == "moved":
            counter["moves"] += 1
            counter[f"event {values[1].split()[0]}"] += 1
        elif kind in ("turn", "ended"):
            counter[{"turn": "turns", "ended": "ends"}[kind]] += 1

"""The nearest known name to one that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache


def nearest(word: str, known: Iterable[str]) -> str | None:
    """
    Find the name that was probably meant; None where no name is near.

    The distance is that of Damerau and Levenshtein in its restricted form (optimal string alignment: insert, delete,
    replace, swap neighbours), case apart; the shorter the word, the nearer a name must be.

    >>> nearest("expected_tool", ["optional_tools", "expected_tools"]), nearest("colour", ["when"])
    ('expected_tools', None)
    """
    return _nearest(word, tuple(known))


@lru_cache(maxsize=4096)
def _nearest(word: str, known: tuple[str, ...]) -> str | None:
    if len(word) > 100:
        return None
    limit = 1 if len(word) <= 4 else 2 if len(word) <= 8 else 3
    best: tuple[int, int, str] | None = None
    for name in known:
        if abs(len(name) - len(word)) <= limit and (far := distance(word.lower(), name.lower(), limit)) <= limit:
            rank = (far, -_shared(word, name), name)
            best = rank if best is None or rank < best else best
    return best[2] if best else None


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def distance(one: str, other: str, limit: int = 1_000_000) -> int:
    """
    How many single-character edits, or swaps of neighbours, lie between two words; past `limit` just more than that.

    >>> distance("wehn", "when"), distance("goto", "got"), distance("", "as")
    (1, 1, 2)
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        if min(row) > limit < min(before, default=limit):
            return limit + 1  # a swap reaches back two rows, so both have to be too far
        older, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]

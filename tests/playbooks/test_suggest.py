"""The nearest name: the distance against an independent definition, the choice against cases."""

from __future__ import annotations

from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guideway.playbooks.suggest import distance, nearest

WORD = st.text(alphabet="abc", max_size=7)


@lru_cache(maxsize=100_000)
def recursive(one: str, other: str) -> int:
    """The textbook recurrence of optimal string alignment, from the ends of both words."""
    if not one or not other:
        return len(one) + len(other)
    costs = [
        recursive(one[:-1], other) + 1,
        recursive(one, other[:-1]) + 1,
        recursive(one[:-1], other[:-1]) + (one[-1] != other[-1]),
    ]
    if len(one) > 1 and len(other) > 1 and one[-1] == other[-2] and one[-2] == other[-1]:
        costs.append(recursive(one[:-2], other[:-2]) + 1)
    return min(costs)


@given(WORD, WORD)
@settings(max_examples=500, deadline=None)
def test_the_distance_is_that_of_the_textbook(one: str, other: str) -> None:
    """Row by row or by recursion, it is the same number."""
    assert recursive(one, other) == distance(one, other)


@given(WORD, WORD, st.integers(min_value=0, max_value=4))
@settings(max_examples=500, deadline=None)
def test_a_limit_changes_nothing_below_it(one: str, other: str, limit: int) -> None:
    """Giving up early never calls a near word far, nor a far one near."""
    exact = recursive(one, other)

    assert (distance(one, other, limit) <= limit) == (exact <= limit)
    assert exact > limit or distance(one, other, limit) == exact


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("wehn", ["when", "where"], "when"),
        ("Timeout", ["timeout"], "timeout"),
        ("expected_tool", ["expected_tools", "optional_tools"], "expected_tools"),
        ("x", ["timeout"], None),
        ("host", ["const"], None),
        ("", ["a"], "a"),
        ("q" * 5000, ["q" * 4999], None),
        ("anything", [], None),
    ],
)
def test_the_name_that_was_meant(word: str, known: list[str], expected: str | None) -> None:
    """Near names are found, far ones are not guessed at."""
    assert expected == nearest(word, known)

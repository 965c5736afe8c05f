"""
A long list of steps, in columns.

A picture 30 boxes high cannot be read on any screen.  Where only one arrow leads on, it may go up to the top of a new
column: an arrow that does not constrain ranks, in the words of Graphviz.
"""

from __future__ import annotations

from itertools import accumulate
from math import ceil

from .picture import Arrow, Picture, Shape

HEIGHT = 10
"""Boxes in a column, about."""


def breaks(picture: Picture) -> frozenset[str]:
    """Give the ids of the arrows that lead from one column to another."""
    page = [
        node.id for node in picture.nodes if not node.shape.is_end and node.shape not in (Shape.START, Shape.ANYWHERE)
    ]
    if len(page) <= HEIGHT * 3 // 2:
        return frozenset()
    order = {id: place for place, id in enumerate(page)}
    inner = [arrow for arrow in picture.arrows if arrow.source in order and arrow.target in order]
    column = _columns(picture, page, _crossings(order, inner))
    return frozenset(arrow.id for arrow in inner if column[arrow.source] != column[arrow.target])


def _crossings(order: dict[str, int], inner: list[Arrow]) -> list[int]:
    """Count, after each box of the page, the arrows that pass from what is above to what is below, or back."""
    change = [0] * (len(order) + 1)
    for arrow in inner:
        low, high = sorted((order[arrow.source], order[arrow.target]))
        change[low] += 1
        change[high] -= 1
    return list(accumulate(change))


def _columns(picture: Picture, page: list[str], crossings: list[int]) -> dict[str, int]:
    """Number the column of each box: a new one where the old is full and a single arrow crosses."""
    framed = {id: around[0].id for id, around in picture.frames_around().items()}
    full = ceil(len(page) / ceil(len(page) / HEIGHT))
    column: dict[str, int] = {}
    height = number = 0
    for id, following, crossing in zip(page, [*page[1:], ""], crossings, strict=False):
        column[id] = number
        height += 1
        together = id in framed and framed[id] == framed.get(following)
        if height >= full and crossing <= 1 and not together:
            number, height = number + 1, 0
    return column

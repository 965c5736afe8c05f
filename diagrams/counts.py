"""
How often the edges that are drawn have been taken.

A run sends a cursor off along `forked` for every item and every round, and each block goes on along `joined`.  A
picture has an arrow for the first time, one that leads back, and one for a list with nothing in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from guideway.statemachine.definition import JOIN, Definition, State, StateKind

from .walk import Walk

Counts = Mapping[tuple[str, str, str], int]


def counted(definition: Definition, walk: Walk | None) -> Counts:
    """Count, by source, event and target, what a walk took."""
    if walk is None:
        return {}
    counts = dict(walk.taken)
    for state in definition.states.values():
        if state.kind in (StateKind.EACH, StateKind.LOOP):
            counts |= _shared_out(state, walk)
    return counts


def _shared_out(state: State, walk: Walk) -> Counts:
    """Share the beginnings of a block's list out among the first ones and those after."""
    ahead = state.edges["forked"][0]
    forked = state.name, "forked", ahead.target
    joined = state.name, "joined", state.name + JOIN
    visits, begun = walk.visited.get(state.name, 0), walk.taken.get(forked, 0)
    first = min(visits, begun)
    return {
        forked: first,
        (state.name + JOIN, "again", ahead.target): begun - first,
        joined: min(walk.taken.get(joined, 0), visits - first),
    }

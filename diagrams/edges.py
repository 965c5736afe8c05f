"""
Which edges are drawn, and where they begin and end.

What a block does by its lists is shown by the region they are drawn in: its cursor waits there, and where the lists
arrive by a failure is no box.  So the failures of a block, like all that happens to it as a whole, leave the edge of
its region, and what fails the block from inside leads where the block then goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from guideway.statemachine.definition import ANYWHERE, BLOCKS, FAILED, JOIN, Definition, Edge, State, StateKind

from .rooms import is_failed

_BY_DEFAULT = frozenset({"failed", "exhausted"})
"""What fails a block unless the author says otherwise."""


@dataclass(frozen=True, slots=True)
class Way:
    """An edge as it is drawn: from the box of `source` to that of `target`."""

    edge: Edge
    branches: tuple[Edge, ...]
    source: str
    target: str
    leaves: str = ""
    """the block from the edge of whose region it begins"""
    fails: str = ""
    """what fails by it, from inside of a block"""
    by_default: bool = False
    """it fails a block, and nobody wrote it"""
    branch: str = ""
    """the branch it begins, where that is called otherwise than the step it leads to"""


def ways(definition: Definition) -> Iterator[Way]:
    """Give every edge that needs an arrow, in the order of the page; those of `*` last."""
    for state in definition.states.values():
        for branches in state.edges.values():
            for edge in branches:
                if way := _way(definition, state, edge, branches):
                    yield way
    for edge in definition.anywhere:
        yield Way(edge, (edge,), ANYWHERE, edge.target)


def _way(definition: Definition, state: State, edge: Edge, branches: tuple[Edge, ...]) -> Way | None:
    block = state.step.id if state.step and (state.kind in BLOCKS or is_failed(state)) else ""
    target = definition.states[edge.target]
    if block and edge.event == "forked":
        return Way(edge, branches, state.name, edge.target, branch=_branch(state, edge, target))
    if block and edge.target in (block + JOIN, block + FAILED):
        empty = state.kind is StateKind.EACH and edge.target == block + JOIN
        return Way(edge, branches, state.name, edge.target) if empty else None
    failed = target.block if is_failed(target) else ""
    plain = len(branches) == 1 and edge.guard is None and edge.event in _BY_DEFAULT
    return Way(
        edge, branches, block or state.name, landing(definition, failed) if failed else edge.target, block,
        failing(definition, failed), bool(failed) and plain,
    )  # fmt: skip


def _branch(state: State, edge: Edge, head: State) -> str:
    parallel = state.step.parallel if state.step else None
    if parallel is None:
        return ""
    place = [other.target for other in state.edges["forked"]].index(edge.target)
    name = parallel.branches[place]
    return "" if head.step and head.step.id == name else name


def failing(definition: Definition, block: str) -> str:
    """Say what fails with a list of the block."""
    return f"a branch of {block} fails" if _bears(definition, block) else f"{block} fails" if block else ""


def _bears(definition: Definition, block: str) -> bool:
    """Say whether a list of the block may fail and the block still be done (S31)."""
    state = definition.states.get(block)
    parallel = state.step.parallel if state and state.step else None
    return parallel is not None and parallel.needed < len(parallel.branches)


def landing(definition: Definition, block: str) -> str:
    """Find where a run goes on once a list of the block has failed: a state, or nothing where that depends on more."""
    seen: set[str] = set()
    while block not in seen and not _bears(definition, block):
        seen.add(block)
        arrived = definition.states.get(block + FAILED)
        edges = [edge for branches in arrived.edges.values() for edge in branches] if arrived else []
        if len(edges) != 1 or edges[0].guard:
            return ""
        target = definition.states[edges[0].target]
        if not is_failed(target):
            return target.name
        block = target.block
    return ""

"""
The graph of a definition, and the questions flow checks ask of it.

The algorithms are those of networkx, which is imported only when a question is asked.  Edges of `*`, which every state
has, are left out unless asked for: limits and faults of the engine are reachable from everywhere and say nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .definition import ANYWHERE, Definition, Edge, State, StateKind
from .errors import HostError

if TYPE_CHECKING:
    import networkx

_SINK = ("sink",)
"""A node that no state can be: its name is no text."""


def graph(definition: Definition, *, anywhere: bool = False) -> networkx.MultiDiGraph[str]:
    """
    Draw up the whole machine as a `networkx.MultiDiGraph`.

    A node is a state's name, with `kind`, and `step`, `end`, `outcome`, `outcome_class` where it has them.  An edge has
    `event`, `guard` (its text), `branch` (its place in the branch list, from 0) and `edge`, and on `completed`
    `tools`: those that a step's completion needs.  With `anywhere` a node `*` of kind `anywhere` holds the edges of
    every state.
    """
    import networkx

    drawn: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(name=definition.name, initial=definition.initial)
    drawn.add_nodes_from((state.name, _about(state)) for state in definition.states.values())
    for state in definition.states.values():
        for branches in state.edges.values():
            for branch, edge in enumerate(branches):
                drawn.add_edge(edge.source, edge.target, **_of_edge(edge, branch), **_tools(state, edge))
    if anywhere:
        drawn.add_node(ANYWHERE, kind="anywhere")
        for branch, edge in enumerate(definition.anywhere):
            drawn.add_edge(ANYWHERE, edge.target, **_of_edge(edge, branch))
    return drawn


def reachable(definition: Definition, *, anywhere: bool = False) -> frozenset[str]:
    """Find the states some path of edges leads to from the initial one, whatever the guards say."""
    import networkx

    links = _links(definition, None, anywhere)
    found = networkx.descendants(links, definition.initial) | {definition.initial}
    return frozenset(found - {ANYWHERE})


def can_reach(definition: Definition, targets: Collection[str], *, anywhere: bool = False) -> frozenset[str]:
    """
    Find the states from which some path of edges leads to one of `targets`; the targets themselves are among them.

    Raises `HostError` for a target that is no state.
    """
    import networkx

    links = _links(definition, None, anywhere)
    _aim(links, definition, targets)
    return frozenset(networkx.ancestors(links, _SINK) - {ANYWHERE})


def shortest_path(
    definition: Definition, source: str, targets: Collection[str], *, events: Collection[str] | None = None
) -> tuple[Edge, ...] | None:
    """
    Find a path of fewest edges from `source` to one of `targets`, by edges of the given events only.

    None means that no path leads there.  Of parallel edges the first on the page is taken.
    A source that is a target gives the empty path.
    Raises `HostError` for a name that is no state.
    """
    import networkx

    _known(definition, [source])
    links = _links(definition, events, anywhere=False)
    _aim(links, definition, targets)
    try:
        names = networkx.shortest_path(links, source, _SINK)[:-1]
    except networkx.NetworkXNoPath:
        return None
    return tuple(links.edges[pair]["edge"] for pair in pairwise(names))


def _links(definition: Definition, events: Collection[str] | None, anywhere: bool) -> networkx.DiGraph[Any]:
    """Keep who leads to whom, each pair with its first edge."""
    import networkx

    links: networkx.DiGraph[Any] = networkx.DiGraph()
    links.add_nodes_from(definition.states)
    for state in definition.states.values():
        for edge in _edges(state, events):
            if not links.has_edge(edge.source, edge.target):
                links.add_edge(edge.source, edge.target, edge=edge)
    if anywhere:
        links.add_edges_from((s.name, ANYWHERE) for s in definition.states.values() if s.kind is not StateKind.END)
        links.add_edges_from((ANYWHERE, edge.target) for edge in definition.anywhere)
    return links


def _edges(state: State, events: Collection[str] | None) -> Iterator[Edge]:
    for event, branches in state.edges.items():
        if events is None or event in events:
            yield from branches


def _aim(links: networkx.DiGraph[Any], definition: Definition, targets: Collection[str]) -> None:
    _known(definition, targets)
    links.add_node(_SINK)
    links.add_edges_from((target, _SINK) for target in targets)


def _known(definition: Definition, names: Collection[str]) -> None:
    if unknown := next((name for name in names if name not in definition.states), None):
        raise HostError(f"`{definition.id}` has no state `{unknown}`")


def _about(state: State) -> dict[str, Any]:
    about: dict[str, Any] = {"kind": state.kind.value}
    if state.step is not None:
        about["step"] = state.step.id
    if state.end is not None:
        about["end"] = state.end.kind.value
        about["outcome"] = state.end.outcome
        about["outcome_class"] = state.end.outcome_class.value
    return about


def _of_edge(edge: Edge, branch: int) -> dict[str, Any]:
    return {"event": edge.event, "guard": edge.guard.source if edge.guard else None, "branch": branch, "edge": edge}


def _tools(state: State, edge: Edge) -> dict[str, Any]:
    step = state.step
    if edge.event != "completed" or step is None or state.kind is StateKind.ROUTER:
        return {}
    if step.call is not None:
        return {"tools": (step.call.tool,)}
    return {"tools": tuple(entry.tool for entry in step.work.entries if not entry.optional) if step.work else ()}

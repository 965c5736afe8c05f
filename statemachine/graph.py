"""
The graph of a definition, and the questions flow checks ask of it.

The algorithms are those of networkx, which is imported only when a question is asked.  Edges of `*`, which every state
has, are left out unless asked for: limits and faults of the engine are reachable from everywhere and say nothing.

A block is one node of many: its cursor waits in `S` while others go through the lists inside, and a path follows
those.  So `joined`, by which the waiting cursor goes on, is no way of its own but for an empty `for_each`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
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


def reachable(
    definition: Definition, *, anywhere: bool = False, more: Iterable[tuple[str, str]] = ()
) -> frozenset[str]:
    """
    Find the states some path of edges leads to from the initial one, whatever the guards say.

    `more` are pairs of states, each the beginning and the end of a way that no edge shows.
    """
    import networkx

    links = _links(definition, anywhere=anywhere)
    links.add_edges_from(more)
    found = networkx.descendants(links, definition.initial) | {definition.initial}
    return frozenset(found - {ANYWHERE})


def can_reach(
    definition: Definition,
    targets: Collection[str],
    *,
    anywhere: bool = False,
    more: Iterable[tuple[str, str]] = (),
) -> frozenset[str]:
    """
    Find the states from which some path of edges leads to one of `targets`; the targets themselves are among them.

    `more` are pairs of states, each the beginning and the end of a way that no edge shows.
    Raises `HostError` for a target that is no state.
    """
    import networkx

    links = _links(definition, anywhere=anywhere)
    links.add_edges_from(more)
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
    links = _links(definition, events, again=True)
    _aim(links, definition, targets)
    try:
        names = networkx.shortest_path(links, source, _SINK)[:-1]
    except networkx.NetworkXNoPath:
        return None
    return tuple(links.edges[pair]["edge"] for pair in pairwise(names))


def _links(
    definition: Definition, events: Collection[str] | None = None, *, anywhere: bool = False, again: bool = False
) -> networkx.DiGraph[Any]:
    """Keep who leads to whom, each pair with its first edge."""
    import networkx

    links: networkx.DiGraph[Any] = networkx.DiGraph()
    links.add_nodes_from(definition.states)
    for state in definition.states.values():
        for edge in ways(state, again=again):
            if (events is None or edge.event in events) and not links.has_edge(edge.source, edge.target):
                links.add_edge(edge.source, edge.target, edge=edge)
    if anywhere:
        links.add_edges_from((s.name, ANYWHERE) for s in definition.states.values() if s.kind is not StateKind.END)
        links.add_edges_from((ANYWHERE, edge.target) for edge in definition.anywhere)
    return links


def ways(state: State, *, again: bool = False) -> Iterator[Edge]:
    """
    Give the edges of a state that a run may follow; `again`: also those into another round of a block.

    What cannot happen is left out: the lists of a block lead to its join themselves, save for an empty list of items,
    and a question of which every answer has a way of its own is never merely completed.
    """
    for event, branches in state.edges.items():
        if not (_never(state, event) or (event == "again" and not again)):
            yield from branches


def _never(state: State, event: str) -> bool:
    if event == "joined":
        return state.kind is not StateKind.EACH
    if event != "completed" or state.kind is not StateKind.ASK or state.step is None or state.step.ask is None:
        return False
    labels = state.step.ask.choices
    return bool(labels) and all(f"answered {label}" in state.edges for label in labels)


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
    if edge.event != "completed" or step is None or state.kind in (StateKind.ROUTER, StateKind.JOIN):
        return {}
    if step.call is not None:
        return {"tools": (step.call.tool,)}
    return {"tools": tuple(entry.tool for entry in step.work.entries if not entry.optional) if step.work else ()}

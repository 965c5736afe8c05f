"""The graph of a definition."""

from __future__ import annotations

import subprocess
import sys
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guideway.statemachine.definition import Definition, Edge, End, EndKind, OutcomeClass, State, StateKind
from guideway.statemachine.errors import HostError
from guideway.statemachine.expressions import parse
from guideway.statemachine.graph import can_reach, graph, reachable, shortest_path
from guideway.statemachine.steps import Call, Entry, Step, Work

EVENTS = ("completed", "failed", "timeout")
drawn = st.lists(st.tuples(st.integers(0, 7), st.sampled_from(EVENTS), st.integers(0, 7)), max_size=20)


def machine(edges: list[tuple[int, str, int]], count: int = 8) -> Definition:
    """Build a machine of numbered routers; the last is an end without edges, `*` leads to it."""
    table: dict[str, dict[str, tuple[Edge, ...]]] = {str(n): {} for n in range(count - 1)}
    for source, event, target in edges:
        if source < count - 1:
            row = table[str(source)]
            row[event] = (*row.get(event, ()), Edge(str(source), event, str(target)))
    states = {name: State(name, StateKind.ROUTER, row) for name, row in table.items()}
    last = str(count - 1)
    states[last] = State(last, StateKind.END, end=End(EndKind.STOP, "x", OutcomeClass.STOPPED))
    return Definition("m", "M", "0", states, {}, anywhere=(Edge("*", "limit", last),))


def distances(definition: Definition, source: str, events: tuple[str, ...]) -> dict[str, int]:
    """Search breadth first, by hand."""
    found, waiting = {source: 0}, deque([source])
    while waiting:
        name = waiting.popleft()
        for event, branches in definition.states[name].edges.items():
            for edge in branches if event in events else ():
                if edge.target not in found:
                    found[edge.target] = found[name] + 1
                    waiting.append(edge.target)
    return found


@settings(deadline=None)
@given(drawn)
def test_reachable_states_are_those_a_search_finds(edges: list[tuple[int, str, int]]) -> None:
    """From the initial state, whatever the event; backwards, from any state."""
    definition = machine(edges)

    assert reachable(definition) == set(distances(definition, "0", EVENTS))
    for target in definition.states:
        expected = {name for name in definition.states if target in distances(definition, name, EVENTS)}
        assert can_reach(definition, [target]) == expected


@settings(deadline=None)
@given(drawn, st.sets(st.sampled_from(EVENTS)), st.sets(st.sampled_from("1234567"), min_size=1))
def test_a_shortest_path_is_a_path_and_none_is_shorter(
    edges: list[tuple[int, str, int]], events: set[str], targets: set[str]
) -> None:
    """Its edges are the machine's, join up, carry the events asked for; its length is the search's."""
    definition = machine(edges)
    found = distances(definition, "0", tuple(events))
    path = shortest_path(definition, "0", targets, events=events)

    if path is None:
        assert not targets & set(found)
        return
    assert len(path) == min(found[target] for target in targets if target in found)
    assert [edge.source for edge in path] == ["0", *(edge.target for edge in path)][: len(path)]
    assert all(edge in definition.states[edge.source].edges[edge.event] and edge.event in events for edge in path)
    assert not path or path[-1].target in targets


def test_edges_of_every_state_count_only_when_asked_for() -> None:
    """A limit makes its end reachable from each state that is no end, and from nowhere by default."""
    definition = machine([(0, "completed", 1)])

    assert reachable(definition) == {"0", "1"}
    assert reachable(definition, anywhere=True) == {"0", "1", "7"}
    assert can_reach(definition, ["7"]) == {"7"}
    assert can_reach(definition, ["7"], anywhere=True) == set(definition.states)


def test_a_source_that_is_a_target_needs_no_edge() -> None:
    """The empty path; and of parallel edges the first is taken."""
    definition = machine([(0, "failed", 1), (0, "completed", 1)])
    path = shortest_path(definition, "0", ["1"])

    assert shortest_path(definition, "0", ["0", "1"]) == ()
    assert path is not None
    assert [edge.event for edge in path] == ["failed"]


def test_a_name_that_is_no_state_is_the_callers_mistake() -> None:
    """The message names it."""
    for ask in (lambda d: can_reach(d, ["nowhere"]), lambda d: shortest_path(d, "0", ["nowhere"]),
                lambda d: shortest_path(d, "nowhere", ["0"])):  # fmt: skip
        with pytest.raises(HostError, match="no state `nowhere`"):
            ask(machine([]))


def test_the_graph_carries_what_the_machine_says() -> None:
    """Kinds, steps and outcomes on nodes; events, guards, branches and tools on edges; all edges, parallel ones too."""
    step = Step("look", work=Work((Entry("query"), Entry("help", optional=True))))
    call = Step("tell", call=Call("mail"))
    to_end = Edge("look", "completed", "success")
    states = {
        "look": State("look", StateKind.STEP, {
            "completed": (Edge("look", "completed", "tell", parse("1 < 2")), to_end),
            "failed": (Edge("look", "failed", "success"),),
        }, step),
        "tell": State("tell", StateKind.CALL, {"completed": (Edge("tell", "completed", "success"),)}, call),
        "success": State("success", StateKind.END, end=End(EndKind.GOAL, "done", OutcomeClass.SUCCESS)),
    }  # fmt: skip
    anywhere = (Edge("*", "limit", "success"),)
    definition = Definition("t", "Triage", "look", states, {"look": step, "tell": call}, anywhere=anywhere)
    whole = graph(definition)

    assert {name: whole.nodes[name] for name in whole} == {
        "look": {"kind": "step", "step": "look"},
        "tell": {"kind": "call", "step": "tell"},
        "success": {"kind": "end", "end": "goal", "outcome": "done", "outcome_class": "success"},
    }
    first = states["look"].edges["completed"][0]
    assert list(whole["look"]["tell"].values()) == [
        {"event": "completed", "guard": "1 < 2", "branch": 0, "tools": ("query",), "edge": first}
    ]
    assert [(e["event"], e["branch"]) for e in whole["look"]["success"].values()] == [("completed", 1), ("failed", 0)]
    assert [e["tools"] for e in whole["tell"]["success"].values()] == [("mail",)]
    assert "*" not in whole
    assert [e["event"] for e in graph(definition, anywhere=True)["*"]["success"].values()] == ["limit"]


def test_networkx_waits_until_it_is_asked() -> None:
    """Importing the module is light."""
    code = "import sys, guideway.statemachine.graph; sys.exit('networkx' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

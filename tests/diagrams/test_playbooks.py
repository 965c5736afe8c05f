"""Pictures of real playbooks, one for each construct that holds steps or people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import guideway
from guideway.diagrams.build import picture
from guideway.diagrams.dot import dot
from guideway.diagrams.mermaid import mermaid
from guideway.diagrams.picture import Picture, Role
from guideway.statemachine.definition import BLOCKS, Definition, Edge, State, StateKind

from .blocks import MACHINES
from .test_dot import groups, svg
from .test_mermaid import texts

FOLDER = Path(__file__).parent
PLAYBOOKS = sorted((FOLDER / "playbooks").glob("*.yaml"))
LIBRARY = sorted((FOLDER.parents[1] / "playbooks" / "library").glob("*.yaml"))


def machine_of(path: Path) -> Definition:
    """Compile a playbook."""
    definition = guideway.load(path).definition
    assert definition is not None
    return definition


@pytest.mark.parametrize("path", PLAYBOOKS, ids=lambda path: path.stem)
def test_the_picture_is_the_one_that_was_looked_at(path: Path) -> None:
    """Word for word the files in `golden`: a change of a picture is a change somebody has looked at."""
    drawn = picture(machine_of(path))

    assert (FOLDER / "golden" / f"{path.stem}.dot").read_text() == dot(drawn).source
    assert (FOLDER / "golden" / f"{path.stem}.mmd").read_text() == mermaid(drawn)


@pytest.mark.parametrize("path", PLAYBOOKS, ids=lambda path: path.stem)
def test_graphviz_and_mermaid_draw_it(path: Path) -> None:
    """The drawing of the one holds each box, arrow and frame once, that of the other the titles of all frames."""
    drawn = picture(machine_of(path))
    root = svg(drawn)
    shown = "".join(texts(mermaid(drawn)))

    assert set(groups(root, "node")) == {node.id for node in drawn.nodes}
    assert set(groups(root, "edge")) == {arrow.id for arrow in drawn.arrows}
    assert set(groups(root, "cluster")) == {frame.id for frame in drawn.frames}
    assert all(frame.title in shown for frame in drawn.frames)


@pytest.mark.parametrize("path", [*PLAYBOOKS, *LIBRARY], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_state_and_edge_of_a_playbook_is_represented(path: Path) -> None:
    """A state by one box; an edge by an arrow or a line, or by what the region of its block says."""
    assert_whole(machine_of(path))


@pytest.mark.parametrize("name", MACHINES)
def test_every_state_and_edge_of_a_block_is_represented(name: str) -> None:
    """The same for machines in which blocks fail in ways no playbook above does."""
    assert_whole(MACHINES[name]())


def assert_whole(definition: Definition) -> None:
    """Look for every state and every edge, by rules of this test's own."""
    drawn = picture(definition)
    box = {name: node.id for node in drawn.nodes for name in node.states}

    assert sorted(definition.states) == sorted(name for node in drawn.nodes for name in node.states)
    assert [
        edge
        for state in definition.states.values()
        for edge in edges_of(state)
        if not drawn_as_arrow(drawn, box, edge) and not said(drawn, box, definition, edge)
        and not stood_for(definition, state, edge) and not unhandled(definition, edge)
    ] == []  # fmt: skip


def edges_of(state: State) -> Iterator[Edge]:
    """Give all edges of a state."""
    for branches in state.edges.values():
        yield from branches


def drawn_as_arrow(drawn: Picture, box: dict[str, str], edge: Edge) -> bool:
    """Find an arrow between the boxes of its ends, or that the two are one box (a router and its step)."""
    pair = box[edge.source], box[edge.target]
    return pair[0] == pair[1] or any((arrow.source, arrow.target) == pair for arrow in drawn.arrows)


def said(drawn: Picture, box: dict[str, str], definition: Definition, edge: Edge) -> bool:
    """Find a line that names where it leads."""
    nodes = {node.id: node for node in drawn.nodes}
    target = (
        nodes[box[edge.target]].title if definition.states[edge.target].end else definition.states[edge.target].block
    )
    return any(line.role is Role.EXIT and target in line.text for line in nodes[box[edge.source]].lines)


def stood_for(definition: Definition, state: State, edge: Edge) -> bool:
    """Say whether the region of a block stands for the edge: it arrives by a failure, or the block goes on."""
    target = definition.states[edge.target]
    into = target.kind is StateKind.JOIN and target.name.endswith(".failed")
    return into or (state.kind in BLOCKS and edge.event == "joined" and state.kind is not StateKind.EACH)


def unhandled(definition: Definition, edge: Edge) -> bool:
    """Say whether it is a fault that no step handles: the box of those names them all."""
    return edge.target.startswith("failed:") and definition.states[edge.target].kind is StateKind.END

"""From a definition, and perhaps a walk, to a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from guideway.statemachine.definition import ANYWHERE, Definition, StateKind

from .arrows import Places, arrows
from .exits import shortened
from .picture import Arrow, Frame, Line, Node, Picture, Role, Shape, Tone
from .regions import frames, in_page_order
from .rooms import Room, rooms
from .texts import NOTE, clean, short
from .walk import Walk
from .words import lines_of, shape_of, title_of

MERGED = 6
"""How many of the ends in one box are named in it."""


def picture(definition: Definition, walk: Walk | None = None) -> Picture:
    """
    Draw a machine; with a walk, mark where it has been, where it is, and what was refused.

    States of a walk that the machine does not have are left out.
    """
    drawn = _numbered(definition, walk)
    nodes = [_start(definition, walk), *(node for node, _ in drawn)]
    if definition.anywhere:
        nodes.append(Node(f"n{len(nodes)}", Shape.ANYWHERE, "at any step", muted=True, tone=_tone(walk, False, False)))
    where = {name: node.id for node in nodes for name in node.states}
    if definition.anywhere:
        where[ANYWHERE] = nodes[-1].id
    framed = frames([(node.id, room) for node, room in drawn], definition.closing)
    entry = Arrow("a", nodes[0].id, where[definition.initial], tone=nodes[0].tone)
    edges = arrows(definition, walk, _places(nodes, where, drawn, framed))
    nodes = [replace(node, lines=(*node.lines, *edges.lines.get(node.id, ()))) for node in nodes]
    nodes, lines = shortened(nodes, [entry, *edges.arrows, *_closing(definition, where, walk)])
    numbered = tuple(replace(arrow, id=f"a{i}") for i, arrow in enumerate(lines))
    return Picture(clean(definition.name), tuple(nodes), numbered, framed, walk is not None)


def _closing(definition: Definition, where: dict[str, str], walk: Walk | None) -> Iterator[Arrow]:
    """Join the steps of `finally`, which run in order and have no edges."""
    for first, then in pairwise(definition.closing):
        visited = bool(walk and walk.visited.get(first) and walk.visited.get(then))
        yield Arrow("a", where[first], where[then], tone=_tone(walk, visited, False))


def _places(
    nodes: list[Node], where: dict[str, str], drawn: list[tuple[Node, Room]], framed: tuple[Frame, ...]
) -> Places:
    around = Picture("", (), (), framed).frames_around()
    block = {room.main.name: around[node.id][-1].id for node, room in drawn if room.begins}
    return Places(
        where,
        {node.id: place for place, node in enumerate(nodes)},
        faults=frozenset(node.id for node, room in drawn if room.merged == "failed"),
        merged=frozenset(node.id for node, room in drawn if room.merged),
        region=block,
        around={id: frozenset(frame.id for frame in outer) for id, outer in around.items()},
    )


def _numbered(definition: Definition, walk: Walk | None) -> list[tuple[Node, Room]]:
    page = in_page_order(rooms(definition, walk), definition.closing)
    return [(_node(f"n{i}", definition, room, walk), room) for i, room in enumerate(page, 1)]


def _start(definition: Definition, walk: Walk | None) -> Node:
    return Node("n0", Shape.START, "start", tone=_tone(walk, bool(walk and walk.visited), False))


def _node(id: str, definition: Definition, room: Room, walk: Walk | None) -> Node:
    names = tuple(state.name for state in room.states)
    if room.merged:
        return Node(id, shape_of(room.main), room.merged, tuple(_unwritten(definition, room)), names,
                    muted=True, tone=_tone(walk, False, False))  # fmt: skip
    main = room.main
    guarded = any(state.kind is StateKind.ROUTER for state in room.states)
    node = Node(id, shape_of(main), title_of(main), tuple(lines_of(definition, main, guarded=guarded)), names)
    if main.end and main.name != main.end.outcome:
        node = replace(node, lines=(Line(Role.NOTE, short(main.name)),))
    if main.step:
        node = replace(node, detail=clean(main.step.description))
    if walk is None:
        return node
    visited = any(walk.visited.get(name) for name in names) or walk.ended in names
    return replace(
        _as_it_ended(node, room, walk),
        tone=_tone(walk, visited, any(name in walk.current for name in names)),
        visits=walk.visited.get(main.name, 0),
        refused=sum(walk.refused.get(name, 0) for name in names),
    )


def _as_it_ended(node: Node, room: Room, walk: Walk) -> Node:
    """
    Say in the box of the end that was reached what was published, where that is not what stands on the page.

    A run that broke off says so in the box where it stood.
    """
    end, outcome = room.main.end, walk.outcome
    if outcome is None or walk.ended not in node.states or (end and outcome == end.outcome):
        return node
    shape = Shape.FAILED if outcome.startswith("failed") else Shape.STOPPED
    told = Line(Role.DANGER, f"ended {short(outcome, NOTE)}")
    return replace(node, shape=shape if end else node.shape, lines=(*node.lines, told))


def _tone(walk: Walk | None, visited: bool, current: bool) -> Tone:
    if walk is None:
        return Tone.PLAIN
    return Tone.CURRENT if current else Tone.WALKED if visited else Tone.DIMMED


def _unwritten(definition: Definition, room: Room) -> Iterator[Line]:
    """Name the ends of a merged box: the engine's own by name, those of steps by how many there are."""
    if room.merged == "failed":
        yield Line(Role.NOTE, "no step handles it")
    engine = {edge.target for edge in definition.anywhere}
    own = [state.name for state in room.states if state.name in engine or room.merged != "failed"]
    words = [short(name.removeprefix(f"{room.merged}:")) for name in own]
    spent = sum(state.name.startswith("failed:exhausted:") for state in room.states)
    failing = len(room.states) - len(own) - spent
    words += [f"a failing step ({failing})"] if failing else []
    words += [f"calls spent ({spent})"] if spent else []
    owing = sum(bool(policy.open or policy.least) for policy in definition.policies) if room.merged == "failed" else 0
    words += [f"a policy not kept ({owing})"] if owing else []
    yield from (Line(Role.LIMIT, word) for word in words[:MERGED])
    if len(words) > MERGED:
        yield Line(Role.LIMIT, f"… and {len(words) - MERGED} more")

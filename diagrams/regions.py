"""
Where the boxes stand: in the order of the page, those of a block in a region of their own.

A region begins with the box of its block and ends in the bar where its lists arrive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from guideway.statemachine.definition import StateKind

from .picture import Frame, FrameKind
from .rooms import Room
from .texts import clean

CLOSING = "finally"

Key = tuple[FrameKind, str]


def in_page_order(rooms: Iterable[Room], closing: Collection[str]) -> tuple[Room, ...]:
    """Put the rooms of a block between the one it begins with and its bar; those of `finally` after all other steps."""
    inside: dict[str, list[Room]] = {}
    for room in rooms:
        inside.setdefault(room.block, []).append(room)
    for members in inside.values():
        members.sort(key=lambda room: _late(room, closing))
    return tuple(_from(inside, ""))


def _late(room: Room, closing: Collection[str]) -> int:
    last = room.main.kind is StateKind.JOIN or room.main.name in closing
    return 2 if room.main.end else int(last)


def _from(inside: Mapping[str, list[Room]], block: str) -> Iterator[Room]:
    for room in inside.get(block, ()):
        yield room
        if room.begins:
            yield from _from(inside, room.begins)


def frames(drawn: Sequence[tuple[str, Room]], closing: Collection[str]) -> tuple[Frame, ...]:
    """Frame the boxes of a block, of `finally`, and of a step where it has more than one; outer frames come first."""
    boxes = Counter(_step(room) for _, room in drawn)
    members: dict[Key, list[str]] = {}
    around: dict[Key, str] = {}
    for id, room in drawn:
        if key := _key(room, closing, boxes):
            members.setdefault(key, []).append(id)
            around.setdefault(key, room.outer)
    ids = {key: f"f{number}" for number, key in enumerate(members)}
    return tuple(
        Frame(ids[kind, name], clean(name), tuple(nodes), kind, ids.get((FrameKind.BLOCK, around[kind, name]), ""))
        for (kind, name), nodes in members.items()
    )


def _step(room: Room) -> str:
    return room.main.step.id if room.main.step and not room.begins and room.main.kind is not StateKind.JOIN else ""


def _key(room: Room, closing: Collection[str], boxes: Mapping[str, int]) -> Key | None:
    step = _step(room)
    if step in closing:
        return FrameKind.CLOSING, CLOSING
    if step and boxes[step] > 1:
        return FrameKind.STEP, step
    if block := room.begins or room.block:
        return FrameKind.BLOCK, block
    return None

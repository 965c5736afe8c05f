"""
Exits that many boxes share.

`on_failure: escalated` for every step would draw a fan of arrows that hides the way.  Where an end has many arrows that
are not as planned, each box says in a line where it leads, and the end how many lead there.  A walked arrow stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .picture import Arrow, Line, Node, Role, Shape, Tone

CROWD = 4
"""From this many boxes on, arrows become lines."""


def shortened(nodes: Iterable[Node], arrows: Iterable[Arrow]) -> tuple[list[Node], list[Arrow]]:
    """Replace crowds of arrows into one end by a line in each of their boxes."""
    boxes = {node.id: node for node in nodes}
    crowds: dict[str, list[Arrow]] = {}
    for arrow in arrows:
        if boxes[arrow.target].shape.is_end and _sayable(arrow, boxes[arrow.source]):
            crowds.setdefault(arrow.target, []).append(arrow)
    said = {arrow.id for crowd in crowds.values() if len(crowd) >= CROWD for arrow in crowd}
    for target, crowd in crowds.items():
        if len(crowd) >= CROWD:
            _say(boxes, target, crowd)
    return list(boxes.values()), [arrow for arrow in arrows if arrow.id not in said]


def _sayable(arrow: Arrow, source: Node) -> bool:
    return arrow.dashed and arrow.tone is not Tone.WALKED and source.shape is not Shape.ANYWHERE


def _say(boxes: dict[str, Node], target: str, crowd: list[Arrow]) -> None:
    for arrow in crowd:
        words = "; ".join(arrow.labels)
        line = Line(Role.EXIT, f"{words} → {boxes[target].title}")
        boxes[arrow.source] = _with(boxes[arrow.source], line)
    boxes[target] = _with(boxes[target], Line(Role.NOTE, f"from {len(crowd)} boxes"))


def _with(node: Node, line: Line) -> Node:
    return replace(node, lines=(*node.lines, line))

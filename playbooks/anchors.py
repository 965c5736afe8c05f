"""
YAML anchors and aliases: legal, but what an alias stands for is counted each time it is used.

Each anchored value is measured once, when it ends, so ten lines that stand for a billion values cost ten lines.
"""

from __future__ import annotations

from .builder import Builder
from .nodes import Node


class Anchors:
    """The anchors of one document, their sizes and heights."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._nodes: dict[str, Node] = {}
        self._open: set[int] = set()
        self._measures: dict[int, tuple[int, int]] = {}  # id of a node -> (keys and values in it, its own height)
        self._kept: list[Node] = []  # alive, so that no other node gets the same id

    def mark(self, name: str, node: Node) -> None:
        """Remember `&name`; a container stays open until it closes."""
        self._nodes[name] = node
        self._kept.append(node)
        if node.kind == "scalar":
            self._measures[id(node)] = (1, 0)
        else:
            self._open.add(id(node))
            self._builder.on_close = self._closed

    def use(self, name: str, line: int, column: int) -> Node:
        """The node that `*name` stands for; a null one, with a finding, where there is none."""
        out = self._builder
        node = self._nodes.get(name)
        if node is None:
            out.report(
                "GW012",
                f"alias `*{name}` names no anchor that stands before it",
                line,
                column,
                f'write `&{name}` at the value first, or quote the text: "*{name}"',
            )
            return Node(None, line, column)
        if id(node) in self._open:
            out.report(
                "GW012",
                f"alias `*{name}` stands inside the very value that `&{name}` marks",
                line,
                column,
                "write the value out; a value cannot contain itself",
            )
            return Node(None, line, column)
        size, height = self._measures[id(node)]
        if out.dropped:
            return node
        if out.depth + height > out.limits.max_depth:
            out.too_deep(line, column)
            return Node(None, line, column)
        out.spend(line, column, size - 1)
        return node

    def _closed(self, node: Node) -> None:
        if id(node) in self._open:
            self._open.discard(id(node))
            self._measures[id(node)] = self._measure(node)

    def _measure(self, top: Node) -> tuple[int, int]:
        """Count below `top`; an anchored value inside is known already and is not walked again."""
        size, height = 1, 1
        work = [(top, 1)]
        while work:
            node, depth = work.pop()
            height = max(height, depth)
            is_map = type(node.value) is dict
            size += len(node.value) if is_map else 0
            for child in node.value.values() if is_map else node.value:
                known = self._measures.get(id(child))
                if known:
                    size += known[0]
                    height = max(height, depth + known[1])
                    continue
                size += 1
                if child.kind != "scalar":
                    work.append((child, depth + 1))
        return size, height

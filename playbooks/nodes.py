"""
The tree that reading makes: every key and every value keeps its place.

Nodes are cheap (a playbook of 10,000 steps has some 150,000), and nobody changes one once the reader has handed it out.
An alias shares the node of its anchor, so the place is where the words stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .offsets import content_place

Place = tuple[int, int]
Kind = Literal["scalar", "list", "map"]


class Node:
    """
    One value of the source and its place (line and column from 1, columns in code points).

    `value` is a plain JSON value for a scalar, `list[Node]` for a list, `dict[str, Node]` for a map.  `style` is the
    quote or block sign of a scalar: `'`, `"`, `|`, `>`, or empty for plain words and all of JSON that is no string;
    `data` marks what came from a Python dict and so has no place.

    >>> Node("enrich", 3, 9).text_offset(2)
    (3, 11)
    """

    __slots__ = ("column", "line", "more", "style", "value")

    def __init__(self, value: Any, line: int, column: int, style: str = "", more: Any = None) -> None:
        self.value = value
        self.line = line
        self.column = column
        self.style = style
        self.more = more  # a map: its key places; a scalar: its source, where value and style do not give it

    def __repr__(self) -> str:
        return f"<Node {self.kind} {self.line}:{self.column}>"

    @property
    def kind(self) -> Kind:
        """What the value is."""
        kind = type(self.value)
        return "map" if kind is dict else "list" if kind is list else "scalar"

    @property
    def key_places(self) -> dict[str, Place]:
        """Where each key of a map stands; empty for anything else."""
        return self.more if type(self.value) is dict else {}

    @property
    def text(self) -> str:
        """
        A scalar as the author wrote it, for messages that repair: `1.10` stays `1.10` though its value is 1.1.

        >>> Node(1.1, 1, 1, "", "1.10").text
        '1.10'
        """
        if isinstance(self.value, str):
            return self.value
        return str(self.more) if isinstance(self.more, str) else str(self.plain())

    def plain(self) -> Any:
        """
        The plain JSON value: nested dicts and lists, aliases copied out.  Does not recurse.

        >>> Node([Node(1, 1, 2), Node({"a": Node(None, 1, 8)}, 1, 5, "", {"a": (1, 6)})], 1, 1).plain()
        [1, {'a': None}]
        """
        holder: list[Any] = [None]
        work: list[tuple[Node, Any, Any]] = [(self, holder, 0)]
        while work:
            node, target, place = work.pop()
            value = node.value
            if type(value) is dict:
                target[place] = made = dict.fromkeys(value)
                work.extend((child, made, key) for key, child in value.items())
            elif type(value) is list:
                target[place] = items = [None] * len(value)
                work.extend((child, items, i) for i, child in enumerate(value))
            else:
                target[place] = value
        return holder[0]

    def at(self, path: Sequence[str | int]) -> Node:
        """
        Follow keys and indexes to the deepest node that exists.

        >>> steps = Node([Node("x", 2, 5)], 2, 3)
        >>> Node({"steps": steps}, 1, 1, "", {"steps": (1, 1)}).at(["steps", 0, "id"]).value
        'x'
        """
        node = self
        for part in path:
            value = node.value
            if type(value) is list:
                if not isinstance(part, int) or not 0 <= part < len(value):
                    break
            elif type(value) is not dict or part not in value:
                break
            node = value[part]
        return node

    def text_offset(self, offset: int) -> Place:
        """
        The place of the `offset`-th code point of a text (from 0) in the source.

        Exact for every visible character in every style, also across folded lines and escapes; a blank is placed
        right after the visible character before it.  Without a place (a dict) the answer is the node's own.

        >>> Node("a b", 1, 8, '"').text_offset(2)
        (1, 11)
        """
        if self.style == "data" or not isinstance(self.value, str):
            return self.line, self.column
        if self.more is None:
            return self.line, self.column + offset + (1 if self.style in {"'", '"'} else 0)
        return content_place(self.value, offset, self.more, self.style, (self.line, self.column))


def path_text(path: Sequence[str | int]) -> str:
    """
    Name a place inside a playbook the way messages do.

    >>> path_text(["steps", 3, "id"]), path_text([]), path_text(["tools", "mcp__x y"])
    ('steps[3].id', 'the playbook', 'tools["mcp__x y"]')
    """
    parts: list[str] = []
    for part in path:
        if isinstance(part, int):
            parts.append(f"[{part}]")
        elif part.replace("-", "_").isidentifier():
            parts.append(f".{part}" if parts else part)
        else:
            parts.append('["' + part.replace('"', '\\"') + '"]')
    return "".join(parts) or "the playbook"

"""From a Python dict or list to the tree, under the same limits; what JSON cannot hold is refused with its path."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from .builder import Builder, SpentError
from .nodes import Node, path_text
from .scalars import EXACT, control_in, short

_Step = tuple[str | int, Any]


def read_values(data: Any, out: Builder) -> None:
    """Walk the data depth first without recursion and build the tree; raises `SpentError` when a budget is spent."""
    walk = _Walk(out)
    walk.take(None, data)
    while walk.open:
        rest = walk.open[-1][1]
        step = next(rest, None)
        if step is None:
            walk.leave()
        else:
            walk.take(*step)


class _Walk:
    def __init__(self, out: Builder) -> None:
        self.out = out
        self.open: list[tuple[int, Iterator[_Step]]] = []  # id of each open container, and what is left of it
        self.inside: set[int] = set()
        self.path: list[str | int] = []
        self.bytes_left = out.limits.max_bytes

    def take(self, step: str | int | None, value: Any) -> None:
        """One item of the innermost container (or the whole: step None)."""
        if step is not None:
            self.path.append(step)
        if isinstance(step, str):
            self.out.key(step, 1, 1)
        if isinstance(value, dict | list | tuple):
            self.enter(value)
            return
        self.out.scalar(Node(self.scalar(value), 1, 1, "data"))
        if step is not None:
            self.path.pop()

    def enter(self, value: Any) -> None:
        is_map = isinstance(value, dict)
        if id(value) in self.inside:
            self.refuse(f"the {'dict' if is_map else 'list'} contains itself")
            self.out.scalar(Node(None, 1, 1, "data"))
        elif self.out.open({} if is_map else [], 1, 1, "data"):
            steps = self.items(value) if is_map else enumerate(value)
            self.open.append((id(value), iter(steps)))
            self.inside.add(id(value))
            return
        else:
            self.out.close()  # too deep: reported there, and nothing below it is read
        if self.path:
            self.path.pop()

    def leave(self) -> None:
        self.inside.discard(self.open.pop()[0])
        self.out.close()
        if self.path:
            self.path.pop()

    def items(self, value: dict[Any, Any]) -> Iterator[_Step]:
        for key, item in dict.items(value):
            if isinstance(key, str):
                yield self.text(key), item
            else:
                self.refuse(f"key {short(_shown(key))} is no text but {type(key).__name__}")

    def scalar(self, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int):
            if -EXACT <= value <= EXACT:
                return int(value)
            self.refuse("the integer lies beyond ±2^53, which numbers of JSON hold exactly; give it as text")
        elif isinstance(value, float):
            if math.isfinite(value):
                return float(value)
            self.refuse(f"{float(value)} is no number that JSON can hold")
        else:
            self.refuse(f"{type(value).__name__} is no JSON value")
        return None

    def text(self, value: str) -> str:
        value = str.__str__(value)
        self.bytes_left -= len(value)
        if self.bytes_left < 0:
            self.out.report(
                "GW002",
                f"the texts of the playbook are larger than {self.out.limits.max_bytes:,} bytes together",
                1,
                1,
                "split it with `imports`, or raise the limit",
            )
            raise SpentError
        if not value.isascii() and not _encodable(value):
            self.refuse("the text holds a lone surrogate, which is no character")
        elif not value.isprintable() and (found := control_in(value)):
            self.out.report("GW017", f"{path_text(self.path)}: {found[0]}", 1, 1, found[1])
        return value

    def refuse(self, message: str) -> None:
        self.out.report(
            "GW019", f"{path_text(self.path)}: {message}", 1, 1, "use dict, list, str, int, float, bool and None only"
        )


def _encodable(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _shown(key: Any) -> str:
    """A key for a message; never the text of a foreign object, whose `repr` may be anything."""
    return repr(key) if isinstance(key, int | float | bytes | None) else f"of type {type(key).__name__}"

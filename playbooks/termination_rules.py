"""Rules of `termination`: each item is one condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .faults import Fault, Path
from .terminations import CONDITION_KEYS

_LISTED = ", ".join(f"`{key}`" for key in CONDITION_KEYS)


def termination_faults(value: Any) -> Iterator[Fault]:
    """Check a list of conditions, or the one map that stands for it."""
    work: list[tuple[Any, Path, bool]] = [(value, ("termination",), True)]
    while work:
        item, path, outermost = work.pop()
        if isinstance(item, list):
            work.extend((part, (*path, index), outermost) for index, part in enumerate(item))
        elif isinstance(item, dict):
            yield from _item(item, path, outermost)
            for key in ("all", "any", "not"):
                parts = item.get(key)
                if isinstance(parts, list if key != "not" else dict):
                    work.append((parts, (*path, key), False))


def _item(item: dict[str, Any], path: Path, outermost: bool) -> Iterator[Fault]:
    found = [key for key in item if key in CONDITION_KEYS]
    if len(found) > 1:
        message = f"one condition to an item: `{found[0]}` and `{found[1]}` cannot stand in the same one"
        yield Fault("GW039", (*path, found[1]), message, "write `all: [{…}, {…}]`, or one item each", "key")
    elif not found and item.keys() <= {"where", "expect", "outcome"}:
        yield Fault("GW039", path, "a condition of `termination` names no condition", f"write one of {_LISTED}")
    for key in ("where", "expect"):
        if key in item and "tool_called" not in item and found:
            yield Fault("GW040", (*path, key), f"`{key}` stands beside `tool_called` only", "delete it", "key")
    if "outcome" in item and not outermost:
        message = "`outcome` inside `all`, `any` or `not`: the whole condition has one outcome"
        yield Fault("GW040", (*path, "outcome"), message, "write it beside the outermost condition", "key")
    for key in ("all", "any"):
        if item.get(key) == []:
            yield Fault("GW039", (*path, key), f"`{key}` lists no condition", "add one, or delete the item", "key")

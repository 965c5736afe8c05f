"""Facts: copies of what tools answered, kept only where some expression or template reads them (S5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guideway.statemachine.canonical import normal

HISTORY_LIMIT = 100
"""Newest results kept under `history.NAME`."""

Path = tuple[str, ...]
_PLAIN = frozenset({str, int, bool, type(None)})
_MOST = 2**53


def copy(value: Any) -> Any:
    """
    Copy a JSON value and give it its one form (S56): lists for tuples, ints for integral floats.

    Raises:
        ValueError: the value is not JSON; the message names the place in it.
    """
    kind = type(value)
    if kind is str or kind is int:
        return value if kind is int and -_MOST <= value <= _MOST else normal(value)
    if value is None or kind is bool:
        return value
    if kind is dict and not value:
        return {}
    return normal(value)


class Keeper:
    """Knows which paths of which results are read, and keeps just those."""

    def __init__(self, facts: Mapping[str, tuple[Path, ...]], history: Mapping[str, tuple[Path, ...]]) -> None:
        self.facts = facts
        self.history = history

    def wants(self, name: str) -> bool:
        """Something reads the fact, or its history."""
        return name in self.facts or name in self.history

    def store(self, name: str, result: Any, facts: dict[str, Any], history: dict[str, list[Any]]) -> None:
        """Keep a result, already copied, as the latest of its name."""
        if name in self.facts:
            facts[name] = project(result, self.facts[name])
        if name in self.history:
            history[name] = [*history.get(name, ()), project(result, self.history[name])][-HISTORY_LIMIT:]


def project(value: Any, paths: tuple[Path, ...]) -> Any:
    """
    Cut a value down to the paths that are read.  Lists are kept whole: an index may be computed.

    >>> project({"id": 7, "user": {"name": "a", "pin": 1}}, (("id",), ("user", "name")))
    {'id': 7, 'user': {'name': 'a'}}
    """
    if not isinstance(value, dict) or any(not path for path in paths):
        return value
    wanted: dict[str, list[Path]] = {}
    for head, *rest in paths:
        wanted.setdefault(head, []).append(tuple(rest))
    return {key: project(value[key], tuple(below)) for key, below in wanted.items() if key in value}

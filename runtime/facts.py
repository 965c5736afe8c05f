"""Facts: copies of what tools answered, kept only where some expression or template reads them (S5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from guideway.statemachine.canonical import normal

if TYPE_CHECKING:
    from .frames import Frame

HISTORY_LIMIT = 100
"""Newest results kept under `history.NAME`."""

Path = tuple[str, ...]
_MOST = 2**53


def copy(value: Any) -> Any:
    """
    Copy a JSON value and give it its one form (S56): lists for tuples, ints for integral floats.

    Raises:
        ValueError: the value is not JSON; the message names the place in it.
    """
    if type(value) is dict:
        for key, item in value.items():
            kind = type(item)
            if (
                type(key) is str
                and key.isascii()
                and (
                    (kind is str and item.isascii())
                    or (kind is int and -_MOST <= item <= _MOST)
                    or item is None
                    or kind is bool
                )
            ):
                continue
            return deep(value)
        return value.copy()
    return value if is_plain(value) else deep(value)


def deep(value: Any) -> Any:
    """Copy what is nested; a value of the host's that cannot even be read is no JSON."""
    try:
        return normal(value)
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"it cannot be read ({type(error).__name__})") from error


def is_plain(value: Any) -> bool:
    """A scalar that is in its one form already."""
    kind = type(value)
    if kind is str:
        return bool(value.isascii())
    return -_MOST <= value <= _MOST if kind is int else value is None or kind is bool


class Keeper:
    """Knows which paths of which results are read, and keeps just those."""

    def __init__(self, facts: Mapping[str, tuple[Path, ...]], history: Mapping[str, tuple[Path, ...]]) -> None:
        self.facts = facts
        self.history = history

    def wants(self, name: str) -> bool:
        """Something reads the fact, or its history."""
        return name in self.facts or name in self.history

    def store(self, frame: Frame, name: str, result: Any, history: bool = True) -> None:
        """Keep a result, already copied, as the latest of its name in the frame."""
        if name in self.facts:
            frame.write("facts", name, project(result, self.facts[name]))
        if history and name in self.history:
            kept = [*frame.history.get(name, ()), project(result, self.history[name])]
            frame.write("history", name, kept[-HISTORY_LIMIT:])


def keep_fact(frame: Frame, name: str, value: Any) -> None:
    """Keep a result in a frame; an item remembers its last one, and its histories go on from those around it."""
    keeper = frame.plan.keeper
    if frame.is_item:
        frame.latest = value
        if name in keeper.history and name not in frame.history:
            frame.write("history", name, list(frame.seen("history").get(name, ())))
    keeper.store(frame, name, value)


def keep_list(frame: Frame, name: str, items: list[Any]) -> None:
    """Keep what the rounds of a `repeat` collected: the latest fact of its step, and no part of its history."""
    if frame.is_item:
        frame.latest = items
    frame.plan.keeper.store(frame, name, items, history=False)


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

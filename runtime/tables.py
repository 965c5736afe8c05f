"""Tables that take no room while they are empty: a session that waits costs what it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class Table(Generic[T]):
    """
    A list or map of an object with slots, made when it is first looked at.

    The slot has the name of the attribute after an underscore; `empty_out` lets go of those with nothing in them.

    >>> class Desk:
    ...     __slots__ = ("_letters",)
    ...     letters = Table[list[str]](list)
    ...     def __init__(self) -> None:
    ...         self._letters = None
    >>> desk = Desk()
    >>> desk.letters.append("a"); desk.letters
    ['a']
    """

    __slots__ = ("_make", "_slot")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._slot = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._slot = f"_{name}"

    @overload
    def __get__(self, holder: None, owner: type) -> Self: ...
    @overload
    def __get__(self, holder: object, owner: type) -> T: ...
    def __get__(self, holder: object | None, owner: type) -> Any:
        if holder is None:
            return self
        table = getattr(holder, self._slot)
        if table is None:
            table = self._make()
            setattr(holder, self._slot, table)
        return table

    def __set__(self, holder: object, table: T) -> None:
        setattr(holder, self._slot, table)


def slots_of(kind: type) -> tuple[str, ...]:
    """The slots behind the tables of a class."""
    return tuple(f"_{name}" for name, value in vars(kind).items() if isinstance(value, Table))


def empty_out(holder: object, slots: tuple[str, ...]) -> None:
    """Let go of the tables that are empty."""
    for slot in slots:
        table = getattr(holder, slot)
        if table is not None and not table:
            setattr(holder, slot, None)

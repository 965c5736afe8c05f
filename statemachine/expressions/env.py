"""What one evaluation carries along."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from .unknown import Unknown

BUDGET = 100_000
"""Cost units of one evaluation.  A step of a macro costs one unit or more, longer texts and lists cost more."""

TOO_COSTLY = Unknown(f"the expression is too costly for this data (more than {BUDGET} units)")


class Env:
    """Scope, time, the budget left, the element a macro stands at, and the terms already evaluated."""

    __slots__ = ("item", "left", "now", "scope", "terms")

    def __init__(self, scope: Mapping[str, Any], now: datetime | None) -> None:
        self.scope = scope
        self.now = now
        self.left = BUDGET
        self.item: Any = None
        self.terms: dict[str, Any] | None = None

    def spend(self, units: int) -> bool:
        """Take from the budget; False when it is gone, and then it stays gone."""
        self.left -= units
        return self.left >= 0


Run: TypeAlias = Callable[[Env], Any]
"""A compiled node."""


class Lazy(ABC):
    """A root whose fields are evaluated when they are read."""

    __slots__ = ()

    @abstractmethod
    def look_up(self, name: str, env: Env) -> Any:
        """Give the value of one field, or an `Unknown`."""

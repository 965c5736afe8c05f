"""`parse` and the `Expression` it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from .compiling import compile_tree
from .env import TOO_COSTLY, Env, Run
from .nodes import Node
from .parser import tree_of
from .paths import Read, reads_of


@dataclass(frozen=True, slots=True)
class Expression:
    """
    A parsed expression: call it with a scope to get its value.

    Two expressions are equal when their texts are.  `tree` is for those who reason about expressions; `reads` is
    every longest fixed path in it, in the order of the text.

    >>> small = parse("args.hours <= 24 && args.host in inputs.hosts")
    >>> small({"args": {"hours": 8, "host": "a1"}, "inputs": {"hosts": ["a1", "a2"]}})
    True
    >>> small({"args": {"host": "a1"}, "inputs": {"hosts": ["a1"]}})
    Unknown(why='args.hours is missing')
    >>> [read.path for read in small.reads]
    [('args', 'hours'), ('args', 'host'), ('inputs', 'hosts')]
    """

    source: str
    tree: Node = field(repr=False, compare=False)
    reads: tuple[Read, ...] = field(repr=False, compare=False)
    run: Run = field(repr=False, compare=False)
    """The compiled form, over an `Env`; terms use it to share one budget."""

    def __call__(self, scope: Mapping[str, Any], now: datetime | None = None) -> Any:
        """
        Evaluate; give a value, or an `Unknown`, and never raise on JSON data.

        `scope` maps root names to JSON data; `now` is the time that `now` means (UTC where it has no zone).
        A value may be a `datetime` or a `timedelta`; `plain` turns those into text.
        """
        env = Env(scope, now)
        value = self.run(env)
        return value if env.left >= 0 else TOO_COSTLY

    def __str__(self) -> str:
        return self.source

    def __reduce__(self) -> tuple[Callable[[str], Expression], tuple[str]]:
        return parse, (self.source,)


@lru_cache(maxsize=4096)
def parse(source: str) -> Expression:
    """
    Read one expression.

    Raises `ExpressionError` with the offset of the fault and, where there is one, the repair.

    >>> parse("args.amount = 5")
    Traceback (most recent call last):
        ...
    guideway.statemachine.expressions.errors.ExpressionError: `=` is no operator
    """
    tree = tree_of(source)
    return Expression(source, tree, reads_of(tree), compile_tree(tree))

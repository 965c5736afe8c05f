"""Named expressions, evaluated when they are read, once per evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .env import TOO_COSTLY, Env, Lazy
from .expression import Expression
from .nodes import walk
from .unknown import Unknown

_STRIDE = 64
"""How many levels of nodes may lie between two terms that are evaluated on their own."""


class Terms(Lazy):
    """
    The value of `scope["terms"]`: a name is evaluated over the same scope when it is first read.

    All terms of one evaluation share its budget and a memo, so a long chain costs its length.  A term that reads
    itself is unknown (the compiler refuses it earlier; see `term_cycle`).

    >>> from guideway.statemachine.expressions import parse
    >>> terms = Terms({"small": parse("args.hours < 24"), "ours": parse("terms.small && args.own")})
    >>> parse("terms.ours")({"args": {"hours": 3, "own": True}, "terms": terms})
    True
    """

    __slots__ = ("_cyclic", "_expressions", "_prices", "_stones")

    def __init__(self, expressions: Mapping[str, Expression]) -> None:
        self._expressions = dict(expressions)
        self._prices = {name: 1 + sum(1 for _ in walk(term.tree)) // 8 for name, term in expressions.items()}
        self._stones, self._cyclic = _stepping_stones(self._expressions)

    def look_up(self, name: str, env: Env) -> Any:
        """Give the value of one term; deep chains are climbed from the bottom, so no stack grows with them."""
        if env.terms is None:
            env.terms = {}
        memo, waiting = env.terms, [name]
        while waiting:
            missing = [stone for stone in self._stones.get(waiting[-1], ()) if stone not in memo]
            if missing:
                waiting += missing
            else:
                self._evaluate(waiting.pop(), env, memo)
        return memo[name]

    def _evaluate(self, name: str, env: Env, memo: dict[str, Any]) -> None:
        if name in memo:
            return
        expression = self._expressions.get(name)
        if expression is None:
            memo[name] = Unknown(f"terms.{name} is missing")
        elif name in self._cyclic:
            memo[name] = Unknown(f"terms.{name} reads itself")
        else:
            memo[name] = expression.run(env) if env.spend(self._prices[name]) else TOO_COSTLY

    def __repr__(self) -> str:
        return f"Terms({self._expressions!r})"


def term_cycle(terms: Mapping[str, Expression]) -> tuple[str, ...] | None:
    """
    Find terms that read each other in a ring: the ring, its first name repeated at the end; None when there is none.

    >>> from guideway.statemachine.expressions import parse
    >>> term_cycle({"a": parse("terms.b"), "b": parse("!terms.a"), "c": parse("terms.a")})
    ('a', 'b', 'a')
    """
    for event, name, trail in _walk_terms(terms):
        if event == "again":
            return (*trail[trail.index(name) :], name)
    return None


def _reads(expression: Expression) -> list[str]:
    found = (read.path for read in expression.reads)
    return list(dict.fromkeys(str(path[1]) for path in found if path[0] == "terms" and len(path) > 1))


def _walk_terms(terms: Mapping[str, Expression]) -> Iterator[tuple[str, str, list[str]]]:
    """Walk depth first without recursion: `("done", name, …)` after all it reads, `("again", name, …)` on a ring."""
    finished: set[str] = set()
    for first in terms:
        trail: list[str] = []
        on_trail: set[str] = set()
        waiting: list[tuple[str, bool]] = [(first, False)]
        while waiting:
            name, leaving = waiting.pop()
            if leaving:
                trail.pop()
                on_trail.discard(name)
                finished.add(name)
                yield "done", name, trail
            elif name in on_trail:
                yield "again", name, trail
            elif name not in finished and name in terms:
                trail.append(name)
                on_trail.add(name)
                waiting.append((name, True))
                waiting += [(read, False) for read in reversed(_reads(terms[name]))]


def _stepping_stones(terms: Mapping[str, Expression]) -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
    """
    Give, for each term, the nearest terms below it that must be evaluated first; and the terms that reach a ring.

    A term is a stepping stone when the nesting of nodes passes a multiple of `_STRIDE` there.  Between stones lies
    less than two strides, so evaluation recurses no deeper than that however long the chain is.
    """
    height: dict[str, int] = {}
    stones: dict[str, tuple[str, ...]] = {}
    cyclic: set[str] = set()
    is_stone: set[str] = set()
    for event, name, _ in _walk_terms(terms):
        if event != "done":
            continue
        reads = [read for read in _reads(terms[name]) if read in terms]
        if any(read not in height or read in cyclic for read in reads):
            cyclic.add(name)
        below = [read for read in reads if read in height]
        under = max((height[read] for read in below), default=0)
        height[name] = under + max(depth for _, depth in walk(terms[name].tree))
        if height[name] // _STRIDE > under // _STRIDE:
            is_stone.add(name)
        nearest = [(read,) if read in is_stone else stones[read] for read in below]
        stones[name] = () if name in cyclic else tuple(dict.fromkeys(stone for some in nearest for stone in some))
    return stones, frozenset(cyclic)

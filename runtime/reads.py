"""What an expression depends on, terms followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from guideway.statemachine.expressions import Expression


def roots(expression: Expression, terms: Mapping[str, Expression]) -> frozenset[str]:
    """The root names it reads, its own and those of the terms it names."""
    return frozenset(str(path[0]) for path in paths(expression, terms))


def fact_names(expression: Expression, terms: Mapping[str, Expression]) -> frozenset[str]:
    """The facts (and histories) it reads by name; `*` where it reads all of them."""
    found = (path for path in paths(expression, terms) if path[0] in ("facts", "history"))
    return frozenset(str(path[1]) if len(path) > 1 else "*" for path in found)


def paths(expression: Expression, terms: Mapping[str, Expression]) -> Iterator[tuple[str | int, ...]]:
    """Every path read, each term visited once."""
    seen: set[str] = set()
    todo = [expression]
    while todo:
        for path in own_paths(todo.pop()):
            yield path
            if path[0] == "terms":
                names = [str(path[1])] if len(path) > 1 else list(terms)
                new = [name for name in names if name in terms and name not in seen]
                seen.update(new)
                todo += [terms[name] for name in new]


@lru_cache(maxsize=10_000)
def own_paths(expression: Expression) -> tuple[tuple[str | int, ...], ...]:
    """The paths of the expression itself."""
    return tuple(read.path for read in expression.reads)

"""Terms among themselves: which must be read before which, and what each one reaches."""

from __future__ import annotations

from collections.abc import Mapping

from guideway.statemachine.expressions.expression import Expression


def order_of(terms: Mapping[str, Expression]) -> list[str]:
    """
    Order terms so that each comes after those it reads.  There must be no ring among them.

    >>> from guideway.statemachine.expressions.expression import parse
    >>> order_of({"a": parse("terms.b"), "b": parse("run.calls > 3")})
    ['b', 'a']
    """
    done: dict[str, None] = {}
    for first in terms:
        waiting = [first]
        while waiting:
            missing = [other for other in reads(terms[waiting[-1]]) if other in terms and other not in done]
            if missing:
                waiting += missing
            else:
                done[waiting.pop()] = None
    return list(done)


def reads(expression: Expression) -> list[str]:
    """Name the terms that an expression reads itself."""
    return [str(read.path[1]) for read in expression.reads if read.path[0] == "terms" and len(read.path) > 1]


def roots_of(terms: Mapping[str, Expression]) -> dict[str, frozenset[str]]:
    """
    Say for each term which roots it reads, terms followed.  There must be no ring among them.

    >>> from guideway.statemachine.expressions.expression import parse
    >>> found = roots_of({"a": parse("terms.b"), "b": parse("claims.confidence > 0.5")})
    >>> sorted(found["a"])
    ['claims', 'terms']
    """
    found: dict[str, frozenset[str]] = {}
    for name in order_of(terms):
        own = frozenset(str(read.path[0]) for read in terms[name].reads)
        found[name] = own.union(*(found[other] for other in reads(terms[name]) if other in found))
    return found

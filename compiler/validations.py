"""`validation`: expressions that hold a step open, among notes that nobody can check."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from guideway.statemachine.expressions.errors import ExpressionError
from guideway.statemachine.expressions.expression import Expression, parse
from guideway.statemachine.expressions.names import ROOTS

from .findings import Path
from .page import validation_not_enforced
from .reading import Reader


def lower_validation(written: list[Any] | dict[str, Any], path: Path, reader: Reader) -> tuple[Expression, ...]:
    """Keep the entries that are expressions; report the others as not enforced (FORMAT section 3)."""
    found = []
    names = reader.items_in_reach(path) if written else {}
    for key, value in _entries(written):
        here = (*path, key)
        named = isinstance(key, str)
        why = "it is a setting of its own" if named and isinstance(value, bool) else not_an_expression(value, names)
        if why is not None:
            span = reader.findings.at(here)
            text = value if isinstance(value, str) else json.dumps(value)
            reader.findings.add(here, validation_not_enforced(text, span, why))
        elif (expression := reader.expression(_source(value), "validation", here)) is not None:
            found.append(expression)
    return tuple(found)


def _entries(written: list[Any] | dict[str, Any]) -> Iterator[tuple[str | int, Any]]:
    yield from written.items() if isinstance(written, Mapping) else enumerate(written)


def _source(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def not_an_expression(value: Any, items: Collection[str] = ()) -> str | None:
    """
    Say why an entry is a note and no expression; None where it is one.

    A word that stands for nothing (`done`) is a note, too: plans written for other engines hold such words.  `items`
    are the names of items that are read there.

    >>> not_an_expression("size(facts.look.hits) > 0") is None
    True
    >>> not_an_expression("at least one hit"), not_an_expression("done"), not_an_expression(3)
    ('it is no expression', 'it begins with no known name', 'it is no text')
    """
    if isinstance(value, bool):
        return None
    if not isinstance(value, str):
        return "it is no text"
    try:
        reads = parse(value).reads
    except ExpressionError:
        return "it is no expression"
    if any(read.path[0] not in ROOTS and read.path[0] not in items for read in reads):
        return "it begins with no known name"
    return None

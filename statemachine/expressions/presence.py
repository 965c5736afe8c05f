"""Which paths a condition shows to be there, so that what it protects may read them."""

from __future__ import annotations

from .nodes import Binary, Call, Index, Literal, Logic, Name, Node, Select, Unary
from .paths import Path, split


def path_of(node: Node) -> Path | None:
    """
    Give the path that a node reads if all of it is fixed, else None.

    The variable of a macro begins a path like a root does; it cannot have a root's name.
    """
    if not isinstance(node, (Name, Select, Index)):
        return None
    start, steps = split(node)
    return (start.name, *steps) if isinstance(start, Name) else None


NOT_NULL = -1
"""The step that marks, at the end of a path, that its value is not null; data has no such step."""


def is_shown(path: Path | None, shown: frozenset[Path], *, not_null: bool = False) -> bool:
    """
    Tell whether the path has a value (one that is not null), given what was shown.

    A longer path shows its beginnings, and shows them not null.

    >>> is_shown(("a",), frozenset({("a", "b")}), not_null=True), is_shown(("a", "b"), frozenset({("a",)}))
    (True, False)
    """
    if path is None:
        return False
    return any(known[: len(path)] == path and (not not_null or len(known) > len(path)) for known in shown)


def shown_by(node: Node, outcome: bool) -> frozenset[Path]:
    """
    Give the paths that have a value whenever the condition has this outcome, ending in `NOT_NULL` if it is not null.

    >>> from guideway.statemachine.expressions import parse
    >>> sorted(shown_by(parse("has(facts.a.b) && inputs.x != null").tree, True))
    [('facts', 'a', 'b'), ('inputs', 'x', -1)]
    """
    match node:
        case Unary(op="!", operand=operand):
            return shown_by(operand, not outcome)
        case Logic(op=op, items=items) if (op == "&&") is outcome:
            return frozenset[Path]().union(*(shown_by(item, outcome) for item in items))
        case Call(function="has", args=(path,)) if outcome:
            return _only(path)
        case Binary(op="!=", left=left, right=Literal(value=None)) if outcome:
            return _only(left, NOT_NULL)
        case Binary(op="==", left=left, right=Literal(value=None)) if not outcome:
            return _only(left, NOT_NULL)
    return frozenset()


def _only(node: Node, *mark: int) -> frozenset[Path]:
    path = path_of(node)
    return frozenset() if path is None else frozenset({(*path, *mark)})

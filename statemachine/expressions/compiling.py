"""
Tree to closures: each node becomes a function of the `Env`, built once and run many times.

Every closure is total: it answers with a value or an `Unknown`, whatever the data, and calls nothing that data
could bring along.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from operator import ge, gt, le, lt
from typing import Any

from .env import TOO_COSTLY, Env, Run
from .functions import compile_call
from .macros import compile_macro
from .nodes import (
    Binary,
    Call,
    Conditional,
    Index,
    Items,
    Literal,
    Logic,
    Macro,
    Name,
    Node,
    Select,
    Unary,
)
from .operators import ARITHMETIC, negate
from .paths import Path, follow, follow_root, split, take
from .unknown import Unknown
from .values import LONG, NUMBERS, any_of, contains, equal, kind, ordering

_ORDER: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_SAME_ORDER = frozenset({int, float, str, datetime, timedelta})


def compile_tree(node: Node) -> Run:
    """Compile any node; recursion is bounded by the depth of the tree."""
    match node:
        case Literal(value=value):
            return lambda env: value
        case Name() | Select() | Index():
            return _path(node)
        case Logic():
            return _logic(node)
        case Binary():
            return _binary(node)
        case Unary(op=op, operand=operand):
            return _not(compile_tree(operand)) if op == "!" else _negate(compile_tree(operand))
        case Conditional():
            return _conditional(node)
        case Items(items=items):
            return _items([compile_tree(item) for item in items])
        case Call():
            return compile_call(node, compile_tree)
        case Macro():
            return compile_macro(node, compile_tree)


def _path(node: Node) -> Run:
    start, steps = split(node)
    if isinstance(start, Name) and not start.bound:
        return follow_root(start.name, steps)
    shown: Path = (start.name,) if isinstance(start, Name) else ("…",)
    base = _start(start)
    return follow(base, shown, steps) if steps else base


def _start(node: Node) -> Run:
    if isinstance(node, Name):
        return lambda env: env.item
    if isinstance(node, Index):
        base, index = compile_tree(node.base), compile_tree(node.index)
        start, steps = split(node.base)
        shown: Path = (start.name, *steps) if isinstance(start, Name) else ("…", *steps)
        return lambda env: take(base(env), index(env), shown)
    return compile_tree(node)


def _not(operand: Run) -> Run:
    def run(env: Env) -> Any:
        value = operand(env)
        if value is True:
            return False
        if value is False:
            return True
        return value if type(value) is Unknown else Unknown(f"`!` wants a bool, not {kind(value)}")

    return run


def _negate(operand: Run) -> Run:
    return lambda env: negate(operand(env))


def _logic(node: Logic) -> Run:
    """Kleene's `&&` and `||`: the deciding value wins from either side, else the first doubt stands."""
    decides = node.op == "||"
    items = tuple(compile_tree(item) for item in node.items)
    op = node.op

    def run(env: Env) -> Any:
        doubt: Any = None
        for item in items:
            value = item(env)
            if value is decides:
                return decides
            if value is not (not decides) and doubt is None:
                doubt = value if type(value) is Unknown else Unknown(f"`{op}` wants bools, not {kind(value)}")
        return (not decides) if doubt is None else doubt

    return run


def _conditional(node: Conditional) -> Run:
    condition, then, otherwise = map(compile_tree, (node.condition, node.then, node.otherwise))

    def run(env: Env) -> Any:
        value = condition(env)
        if value is True:
            return then(env)
        if value is False:
            return otherwise(env)
        return value if type(value) is Unknown else Unknown(f"`?:` wants a bool, not {kind(value)}")

    return run


def _items(items: list[Run]) -> Run:
    def run(env: Env) -> Any:
        values = []
        for item in items:
            value = item(env)
            if type(value) is Unknown:
                return value
            values.append(value)
        return values

    return run


def _binary(node: Binary) -> Run:
    left = compile_tree(node.left)
    if node.op == "in" and isinstance(node.right, Items):
        return _among(left, node.right)
    right = compile_tree(node.right)
    if node.op in ("==", "!="):
        return _equality(left, right, node)
    if node.op == "in":
        return lambda env: contains(env, left(env), right(env))
    if node.op in _ORDER:
        return _order(node.op, left, right)
    arithmetic = ARITHMETIC[node.op]
    return lambda env: arithmetic(env, left(env), right(env))


def _among(left: Run, node: Items) -> Run:
    """`x in [a, b]`: an unknown element leaves a doubt, a found one settles it."""
    if all(isinstance(item, Literal) and isinstance(item.value, str) for item in node.items):
        words = frozenset(item.value for item in node.items if isinstance(item, Literal))

        def among_words(env: Env) -> Any:
            value = left(env)
            if type(value) is str:
                return value in words
            return value if type(value) is Unknown else False

        return among_words
    items = [compile_tree(item) for item in node.items]

    def among(env: Env) -> Any:
        value = left(env)
        return value if type(value) is Unknown else any_of(equal(env, value, item(env)) for item in items)

    return among


def _equality(left: Run, right: Run, node: Binary) -> Run:
    wanted = node.op == "=="
    if isinstance(node.right, Literal) and type(node.right.value) in (str, int):
        return _equals_constant(left, node.right.value, wanted)

    def run(env: Env) -> Any:
        same = equal(env, left(env), right(env))
        return same if type(same) is Unknown else same is wanted

    return run


def _equals_constant(left: Run, constant: Any, wanted: bool) -> Run:
    kinds = NUMBERS if type(constant) is int else frozenset({str})

    def run(env: Env) -> Any:
        value = left(env)
        if type(value) in kinds:
            return (value == constant) is wanted
        return value if type(value) is Unknown else not wanted

    return run


def _order(op: str, left: Run, right: Run) -> Run:
    compare = _ORDER[op]

    def run(env: Env) -> Any:
        a, b = left(env), right(env)
        if type(a) is type(b) and type(a) in _SAME_ORDER:
            if type(a) is str and len(a) > LONG and not env.spend(len(a) // LONG):
                return TOO_COSTLY
            return compare(a, b)
        fault = ordering(a, b, op)
        return compare(a, b) if fault is None else fault

    return run

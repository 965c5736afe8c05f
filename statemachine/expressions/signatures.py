"""What the functions and the arithmetic operators want, and what they give."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from .nodes import Binary, Call, Node, children
from .types import BOOL, DURATION, DYNAMIC, FLOAT, INT, NUMERIC, STRING, TIMESTAMP, Type, join, list_of


class Walker(Protocol):
    """The walk that asks; `inference.Inference` is one."""

    def of(self, node: Node) -> Type:
        """Infer a node."""

    def text(self, node: Node) -> str:
        """Quote a node."""

    def problem(self, message: str, node: Node, help: str | None = None) -> Type:
        """Note what can never work."""

    def doubt(self, message: str, node: Node, help: str | None = None) -> None:
        """Note what may be unknown."""

    def not_null(self, node: Node, t: Type) -> Type:
        """Need a value that is not null."""

    def provided(self) -> AbstractContextManager[None]:
        """Infer where an unknown is provided for."""


_WANTS: dict[str, tuple[str, ...]] = {
    "size": ("string", "list", "map"),
    "matches": ("string", "string"), "startsWith": ("string", "string"),
    "endsWith": ("string", "string"), "contains": ("string", "string"),
    "timestamp": ("string", "int", "number", "timestamp"),
    "duration": ("string", "duration"),
    "getDayOfWeek": ("timestamp",), "getHours": ("timestamp", "duration"),
    "double": ("int", "float", "number"),
}  # fmt: skip
_GIVES = {
    "size": INT, "timestamp": TIMESTAMP, "duration": DURATION, "getDayOfWeek": INT, "getHours": INT, "double": FLOAT,
}  # fmt: skip
_TIMES: dict[tuple[str, str, str], Type] = {
    ("timestamp", "+", "duration"): TIMESTAMP, ("duration", "+", "timestamp"): TIMESTAMP,
    ("duration", "+", "duration"): DURATION, ("duration", "-", "duration"): DURATION,
    ("timestamp", "-", "duration"): TIMESTAMP, ("timestamp", "-", "timestamp"): DURATION,
}  # fmt: skip


def call_type(walk: Walker, call: Call) -> Type:
    """Infer a call."""
    if call.function == "predicate":
        return BOOL
    if call.function == "has":
        with walk.provided():
            walk.of(call.args[0])
        return BOOL
    if call.function == "default":
        with walk.provided():
            first = walk.of(call.args[0])
        return join(first, walk.of(call.args[1]))
    operands = children(call)
    _want(walk, call, operands[0], _WANTS[call.function])
    for other in operands[1:]:
        _want(walk, call, other, ("string",))
    return _GIVES.get(call.function, BOOL)


def _want(walk: Walker, call: Call, node: Node, kinds: tuple[str, ...]) -> None:
    t = walk.not_null(node, walk.of(node))
    if t.kind == "dynamic" or t.kind in kinds:
        return
    help = None
    if call.function == "contains" and t.kind in ("list", "map") and node is call.receiver:
        help = f"write `{walk.text(call.args[0])[1:-1]} in {walk.text(node)[1:-1]}`"
    wanted = " or ".join(f"a {kind}" if kind != "int" else "an int" for kind in dict.fromkeys(kinds))
    walk.problem(f"{walk.text(node)} is {t}, `{call.function}` wants {wanted}", node, help)


def arithmetic(walk: Walker, node: Binary, left: Type, right: Type) -> Type:
    """Infer `+ - * / %`."""
    op = node.op
    if found := _TIMES.get((left.kind, op, right.kind)):
        return found
    if left.kind in NUMERIC and right.kind in NUMERIC:
        return _numbers(walk, node, left, right)
    if op == "+" and left.kind == right.kind == "string":
        return STRING
    if op == "+" and left.kind == right.kind == "list":
        return list_of(join(left.item or DYNAMIC, right.item or DYNAMIC))
    if "dynamic" in (left.kind, right.kind):
        return _half_known(walk, node, left, right)
    help = "inside a text, write `{{ x }}`" if op == "+" and "string" in (left.kind, right.kind) else None
    return walk.problem(
        f"{walk.text(node.left)} is {left}, {walk.text(node.right)} is {right}: `{op}` has no meaning between them",
        node.left, help,
    )  # fmt: skip


def _half_known(walk: Walker, node: Binary, left: Type, right: Type) -> Type:
    """One side is dynamic: the other must at least be something the operator takes."""
    known, at = (right, node.right) if left.kind == "dynamic" else (left, node.left)
    takes = {"int", "float", "number", "dynamic"}
    takes |= {"string", "list", "timestamp", "duration"} if node.op == "+" else set()
    takes |= {"timestamp", "duration"} if node.op == "-" else set()
    if known.kind not in takes:
        return walk.problem(f"{walk.text(at)} is {known}, `{node.op}` does not take that", at)
    return Type(known.kind) if known.kind in ("string", "list", "int", "float") else DYNAMIC


def _numbers(walk: Walker, node: Binary, left: Type, right: Type) -> Type:
    op, kinds = node.op, {left.kind, right.kind}
    if op == "%" and "float" in kinds:
        return walk.problem("`%` works on ints", node.left)
    if kinds == {"int", "float"}:
        whole = node.left if left.kind == "int" else node.right
        return walk.problem(
            f"{walk.text(node.left)} is {left}, {walk.text(node.right)} is {right}: "
            f"`{op}` does not mix them",
            node.left, f"write `double({walk.text(whole)[1:-1]})`",
        )  # fmt: skip
    if "number" in kinds:
        at = node.left if left.kind == "number" else node.right
        walk.doubt(f"{walk.text(at)} is a number, an int when it is whole: `{op}` does not mix ints and floats", at,
                   f"write `double({walk.text(at)[1:-1]})`, and floats on the other side")  # fmt: skip
        return Type("number")
    return Type(left.kind)


def truth_help(text: str, t: Type) -> str | None:
    """Say how to ask a yes or no about a value that is neither."""
    if t.kind in ("int", "number"):
        return f"write `{text} != 0`"
    if t.kind == "float":
        return f"write `{text} != 0.0`"
    if t.kind == "string":
        return f'write `{text} != ""`'
    return f"write `size({text}) > 0`" if t.kind in ("list", "map") else None

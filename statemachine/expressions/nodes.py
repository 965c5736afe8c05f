"""
The tree of an expression.

Every node knows where it stands: `offset` is its first code point, `end` the one after its last, both counted in
the source of the expression.  Parentheses leave no node; those around an operand lie inside the span of its
operator.  `a && b && c` is one `Logic` with three items, so a long list of conditions is no deep tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: `"x"`, `5`, `1.5`, `true`, `null`; `-5` is one, too."""

    value: str | int | float | bool | None
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class Name:
    """A root name such as `facts`, `now`, or the variable of a macro (`bound`)."""

    name: str
    bound: bool
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class Select:
    """`base.field`."""

    base: Node
    field: str
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class Index:
    """`base[index]`, of a list by position or of a map by key."""

    base: Node
    index: Node
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class Call:
    """`function(args)`, or `receiver.function(args)`."""

    function: str
    receiver: Node | None
    args: tuple[Node, ...]
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class Macro:
    """`receiver.all(variable, body)`, and likewise `exists`, `filter`, `map`."""

    macro: OneOf["all", "exists", "filter", "map"]
    receiver: Node
    variable: str
    body: Node
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class Items:
    """A list literal, `[a, b]`."""

    items: tuple[Node, ...]
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class Unary:
    """`!operand` or `-operand`."""

    op: OneOf["!", "-"]
    operand: Node
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class Binary:
    """`left op right`, op one of `== != < <= > >= in + - * / %`."""

    op: str
    left: Node
    right: Node
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class Logic:
    """`a && b && …` or `a || b || …`: two items or more."""

    op: OneOf["&&", "||"]
    items: tuple[Node, ...]
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? then : otherwise`."""

    condition: Node
    then: Node
    otherwise: Node
    offset: int
    end: int


Node: TypeAlias = Literal | Name | Select | Index | Call | Macro | Items | Unary | Binary | Logic | Conditional


def children(node: Node) -> tuple[Node, ...]:
    """Give the nodes right under `node`, in the order of the text."""
    match node:
        case Literal() | Name():
            return ()
        case Select(base=base):
            return (base,)
        case Index(base=base, index=index):
            return (base, index)
        case Call(receiver=receiver, args=args):
            return args if receiver is None else (receiver, *args)
        case Macro(receiver=receiver, body=body):
            return (receiver, body)
        case Items(items=items) | Logic(items=items):
            return items
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)


def walk(tree: Node) -> Iterator[tuple[Node, int]]:
    """Give every node with its depth (the root has 1), parents first; without recursion, so any tree will do."""
    waiting = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting += [(child, depth + 1) for child in reversed(children(node))]

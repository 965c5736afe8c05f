"""What is known of a value before any run: its type."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from typing import Literal as OneOf

Kind: TypeAlias = OneOf[
    "dynamic", "null", "bool", "int", "float", "number", "string", "list", "map", "timestamp", "duration"
]

NUMERIC = frozenset({"int", "float", "number"})
_WORDS = {"int": "an int", "null": "null", "dynamic": "of undeclared type"}


@dataclass(frozen=True, slots=True)
class Type:
    """
    The type of a value.

    `number` is JSON Schema's: an int or a float, known at run time only.  `item` belongs to lists; `fields`, `open`
    and `other` (the type of undeclared fields) to maps; `values` lists the constants where only these are possible.
    `nullable`: it may be null as well.  `optional`: it may be missing.

    >>> str(Type("int")), Type("string", values=("dev", "prod")).choices
    ('an int', 'one of "dev", "prod"')
    """

    kind: Kind
    item: Type | None = None
    fields: tuple[tuple[str, Type], ...] = ()
    open: bool = True
    other: Type | None = None
    values: tuple[Any, ...] | None = None
    nullable: bool = False
    optional: bool = False

    def field(self, name: str) -> Type | None:
        """Give the type of a declared field, or of any other field where one is given; None when there is none."""
        for known, found in self.fields:
            if known == name:
                return found
        return replace(self.other, optional=True) if self.other is not None else None

    @property
    def names(self) -> tuple[str, ...]:
        """The declared fields, in order."""
        return tuple(name for name, _ in self.fields)

    @property
    def choices(self) -> str:
        """The possible constants in words, or the kind where it is open."""
        if self.values is None:
            return str(self)
        return "one of " + ", ".join(json.dumps(value, ensure_ascii=False) for value in self.values)

    def __str__(self) -> str:
        return _WORDS.get(self.kind, f"a {self.kind}")


DYNAMIC = Type("dynamic")
NULL = Type("null")
BOOL = Type("bool")
INT = Type("int")
FLOAT = Type("float")
NUMBER = Type("number")
STRING = Type("string")
TIMESTAMP = Type("timestamp")
DURATION = Type("duration")


def list_of(item: Type) -> Type:
    """
    Make a list type.

    >>> list_of(STRING).item
    Type(kind='string', item=None, fields=(), open=True, other=None, values=None, nullable=False, optional=False)
    """
    return Type("list", item=item)


def map_of(fields: Mapping[str, Type], *, optional: Iterable[str] = (), open: bool = False) -> Type:
    """
    Make a map type with these fields; closed unless said otherwise.

    >>> map_of({"id": INT, "note": STRING}, optional=["note"]).field("note").optional
    True
    """
    absent = set(optional)
    return Type(
        "map",
        fields=tuple((name, replace(t, optional=True) if name in absent else t) for name, t in fields.items()),
        open=open,
    )


@dataclass(frozen=True, slots=True)
class TypeProblem:
    """One finding about types; `offset` is the code point in the source of the expression."""

    message: str
    offset: int
    help: str | None = None


def join(a: Type, b: Type) -> Type:
    """
    Give the type of a value that is one of the two.

    >>> join(INT, FLOAT).kind, join(STRING, NULL).nullable, join(STRING, INT).kind
    ('number', True, 'dynamic')
    """
    nullable, optional = a.nullable or b.nullable, a.optional or b.optional
    if "null" in (a.kind, b.kind):
        other = b if a.kind == "null" else a
        return replace(other, nullable=other.kind != "null", optional=optional)
    if a.kind == b.kind == "list":
        item = DYNAMIC if a.item is None or b.item is None else join(a.item, b.item)
        return Type("list", item=item, nullable=nullable, optional=optional)
    if _bare(a) == _bare(b):
        values = None if a.values is None or b.values is None else tuple(dict.fromkeys((*a.values, *b.values)))
        return replace(a, values=values, nullable=nullable, optional=optional)
    if a.kind in NUMERIC and b.kind in NUMERIC:
        return Type("number", nullable=nullable, optional=optional)
    if a.kind == b.kind:
        return Type(a.kind, nullable=nullable, optional=optional)
    return Type("dynamic", optional=optional)


def _bare(t: Type) -> Type:
    return replace(t, values=None, nullable=False, optional=False)


def may_equal(a: Type, b: Type) -> bool:
    """
    Tell whether values of the two types can ever be equal.

    >>> may_equal(INT, FLOAT), may_equal(INT, STRING), may_equal(BOOL, INT)
    (True, False, False)
    """
    if "dynamic" in (a.kind, b.kind) or "null" in (a.kind, b.kind) or (a.nullable and b.nullable):
        return True  # comparing with null is how one asks for it
    if a.kind != b.kind and not (a.kind in NUMERIC and b.kind in NUMERIC):
        return False
    if a.values is None or b.values is None or a.kind in ("list", "map"):
        return True
    return any(x == y and isinstance(x, bool) == isinstance(y, bool) for x in a.values for y in b.values)

"""
A light check of JSON Schemas: known keywords, values of the right type.

JSON Schema lets unknown keywords pass, so a misspelt `requried` asks for nothing; here it is an error.  The compiler
checks the rest against the metaschema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .faults import Fault, Path, short, value_text
from .json_schema_words import KEYWORDS, TYPE_WORDS
from .suggest import nearest

_NONE: frozenset[str] = frozenset()


def schema_faults(schema: Any, path: Path, own: frozenset[str] = _NONE) -> Iterator[Fault]:
    """Check a schema and those inside it; `own` keys at the outermost level are not JSON Schema's."""
    work: list[tuple[Any, Path, frozenset[str]]] = [(schema, path, own)]
    while work:
        here, at, ours = work.pop()
        if isinstance(here, bool):
            continue
        if not isinstance(here, dict):
            yield Fault("GW038", at, f"a JSON Schema is a map, not {value_text(here)}", _repair(here))
            continue
        inside: list[tuple[Any, Path, frozenset[str]]] = []
        for keyword, value in here.items():
            if keyword in ours or keyword.startswith("x-"):
                continue
            kind = KEYWORDS.get(keyword)
            if kind is None:
                yield _unknown(keyword, (*at, keyword))
            elif _fits(kind, value):
                inside += ((part, (*at, keyword, *step), _NONE) for part, step in _inner(kind, value))
            else:
                said = f"`{keyword}` of a JSON Schema must be {_WANTED[kind]}, not {value_text(value)}"
                yield Fault("GW038", (*at, keyword), said)
        work += reversed(inside)


def _repair(value: Any) -> str | None:
    return f"write `{{type: {value}}}`" if value in TYPE_WORDS else None


def _unknown(keyword: str, path: Path) -> Fault:
    meant = nearest(keyword, tuple(KEYWORDS))
    hint = f"; did you mean `{meant}`?" if meant else ""
    message = f"unknown key `{short(keyword)}` in a JSON Schema{hint}"
    return Fault("GW020", path, message, "properties stand under `properties`; your own notes begin with `x-`", "key")


def _inner(kind: str, value: Any) -> Iterator[tuple[Any, Path]]:
    if kind == "schema":
        yield value, ()
    elif kind == "schemas":
        yield from ((part, (index,)) for index, part in enumerate(value))
    elif kind == "named":
        yield from ((part, (name,)) for name, part in value.items())


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _types(value: Any) -> bool:
    words = value if isinstance(value, list) else [value]
    return bool(words) and all(isinstance(word, str) and word in TYPE_WORDS for word in words)


def _fits(kind: str, value: Any) -> bool:
    return _TESTS[kind](value)


_TESTS: Mapping[str, Callable[[Any], bool]] = {
    "any": lambda value: True,
    "type": _types,
    "list": lambda value: isinstance(value, list),
    "text": lambda value: isinstance(value, str),
    "number": _number,
    "positive": lambda value: _number(value) and value > 0,
    "count": lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    "flag": lambda value: isinstance(value, bool),
    "names": lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value),
    "map": lambda value: isinstance(value, dict),
    "named": lambda value: isinstance(value, dict),
    "schema": lambda value: True,  # its own turn says what is wrong with it
    "schemas": lambda value: isinstance(value, list) and bool(value),
}
_WANTED: Mapping[str, str] = {
    "type": f"one of {', '.join(TYPE_WORDS)}, or a list of them",
    "list": "a list",
    "text": "text",
    "number": "a number",
    "positive": "a number above 0",
    "count": "a whole number, 0 or more",
    "flag": "`true` or `false`",
    "names": "a list of names",
    "map": "a map",
    "named": "a map of names to schemas",
    "schemas": "a list of one schema or more",
}

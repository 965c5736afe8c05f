"""JSON Schema to types: as much of it as says something about types, and `dynamic` for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .plain import plain
from .types import BOOL, DYNAMIC, FLOAT, INT, NULL, NUMBER, STRING, Type, join

_SIMPLE = {"string": STRING, "integer": INT, "number": NUMBER, "boolean": BOOL, "null": NULL}
_DEEPEST = 40
_LARGEST = 20_000


def type_from_schema(schema: Mapping[str, Any] | bool) -> Type:
    """
    Read a JSON Schema (2020-12); what it leaves open is dynamic, and nothing in it raises.

    A map that lists its `properties` is taken at its word: reading another field is a slip, unless the schema itself
    says that there are more (`additionalProperties`, patterns, combinations).

    A `$ref` is followed inside the same document only (`#/$defs/…`).  `anyOf` and `oneOf` are dynamic, unless the
    alternatives are one type and null.

    >>> t = type_from_schema({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    >>> t.field("n").kind, t.open
    ('int', False)
    >>> type_from_schema({"anyOf": [{"type": "string"}, {"type": "null"}]}).nullable
    True
    """
    return _Reader(schema).of(schema)


_MORE = ("allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "unevaluatedProperties")


class _Reader:
    """
    One reading of one document.

    A recursive `$ref` is dynamic where it closes the ring, and a schema whose references multiply is dynamic past
    `_LARGEST` parts, so the time is bounded whatever the schema.
    """

    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = _LARGEST
        self._depth = 0
        self._following: set[str] = set()

    def of(self, schema: Any) -> Type:
        self._left -= 1
        if not isinstance(schema, Mapping) or self._depth >= _DEEPEST or self._left < 0:
            return DYNAMIC
        self._depth += 1
        found = self._of(schema)
        self._depth -= 1
        return found

    def _of(self, schema: Mapping[str, Any]) -> Type:
        if "$ref" in schema:
            return self._follow(schema["$ref"])
        if "const" in schema:
            return _constants([schema["const"]])
        if isinstance(schema.get("enum"), (list, tuple)):
            return _constants(schema["enum"])
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return self._any_of(schema[word])
        return self._typed(schema)

    def _follow(self, reference: Any) -> Type:
        target = _resolve(reference, self._root)
        if target is None or reference in self._following:
            return DYNAMIC
        self._following.add(reference)
        found = self.of(target)
        self._following.discard(reference)
        return found

    def _typed(self, schema: Mapping[str, Any]) -> Type:
        word = schema.get("type", "object" if "properties" in schema else "array" if "items" in schema else None)
        if isinstance(word, (list, tuple)):
            return self._any_of([{**schema, "type": one} for one in word])
        if word == "object":
            return self._object(schema)
        if word == "array":
            return Type("list", item=DYNAMIC if "prefixItems" in schema else self.of(schema.get("items", True)))
        return _SIMPLE.get(word, DYNAMIC) if isinstance(word, str) else DYNAMIC

    def _object(self, schema: Mapping[str, Any]) -> Type:
        properties = schema.get("properties", {})
        required = schema.get("required", ())
        required = required if isinstance(required, (list, tuple)) else ()
        if not isinstance(properties, Mapping):
            return Type("map")
        fields = tuple(
            (str(name), replace(self.of(part), optional=name not in required)) for name, part in properties.items()
        )
        rest = schema.get("additionalProperties", not fields or any(word in schema for word in _MORE))
        patterned = bool(schema.get("patternProperties"))
        other = self.of(rest) if isinstance(rest, Mapping) and not patterned else None
        return Type("map", fields=fields, open=rest is not False or patterned, other=other)

    def _any_of(self, parts: Any) -> Type:
        if not isinstance(parts, (list, tuple)) or not parts:
            return DYNAMIC
        found = [self.of(part) for part in parts]
        real = [t for t in found if t.kind != "null"]
        if not real:
            return NULL
        if len(real) > 1 and not {t.kind for t in real} <= {"int", "number"}:
            return DYNAMIC
        t = real[0] if len(real) == 1 else NUMBER
        return replace(t, nullable=True) if len(real) < len(found) and t.kind != "dynamic" else t


def _constants(values: Sequence[Any]) -> Type:
    if not values:
        return DYNAMIC
    total = _constant(plain(values[0]))
    for value in values[1:]:
        total = join(total, _constant(plain(value)))
    return total


def _constant(value: Any) -> Type:
    if value is None:
        return NULL
    for kind, t in ((bool, BOOL), (int, INT), (float, FLOAT), (str, STRING)):
        if isinstance(value, kind):
            return replace(t, values=(value,))
    if isinstance(value, list):
        return Type("list", item=DYNAMIC)
    return Type("map") if isinstance(value, dict) else DYNAMIC


def _resolve(reference: Any, root: Any) -> Any:
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    place = root
    for step in reference[2:].split("/") if len(reference) > 1 else ():
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(place, Mapping) or key not in place:
            return None
        place = place[key]
    return place

"""JSON Schema to types: as much of it as says something about types, and `dynamic` for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .plain import plain
from .types import BOOL, DYNAMIC, FLOAT, INT, NULL, NUMBER, STRING, Type, join

_SIMPLE = {"string": STRING, "integer": INT, "number": NUMBER, "boolean": BOOL, "null": NULL}
_DEEPEST = 40


def type_from_schema(schema: Mapping[str, Any] | bool) -> Type:
    """
    Read a JSON Schema (2020-12); what it leaves open is dynamic, and nothing in it raises.

    A `$ref` is followed inside the same document only (`#/$defs/…`).  `anyOf` and `oneOf` are dynamic, unless the
    alternatives are one type and null.

    >>> t = type_from_schema({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    >>> t.field("n").kind, t.open
    ('int', True)
    >>> type_from_schema({"anyOf": [{"type": "string"}, {"type": "null"}]}).nullable
    True
    """
    return _of(schema, schema, 0)


def _of(schema: Any, root: Any, depth: int) -> Type:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return DYNAMIC
    if "$ref" in schema:
        target = _resolve(schema["$ref"], root)
        return DYNAMIC if target is None else _of(target, root, depth + 1)
    if "const" in schema:
        return _constants([schema["const"]])
    if isinstance(schema.get("enum"), Sequence) and not isinstance(schema["enum"], str):
        return _constants(schema["enum"])
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return _any_of(schema[word], root, depth)
    return _typed(schema, root, depth)


def _typed(schema: Mapping[str, Any], root: Any, depth: int) -> Type:
    word = schema.get("type", "object" if "properties" in schema else "array" if "items" in schema else None)
    if isinstance(word, (list, tuple)):
        return _any_of([{**schema, "type": one} for one in word], root, depth)
    if word == "object":
        return _object(schema, root, depth)
    if word == "array":
        prefixed = "prefixItems" in schema
        return Type("list", item=DYNAMIC if prefixed else _of(schema.get("items", True), root, depth + 1))
    return _SIMPLE.get(word, DYNAMIC) if isinstance(word, str) else DYNAMIC


def _object(schema: Mapping[str, Any], root: Any, depth: int) -> Type:
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    required = required if isinstance(required, (list, tuple)) else ()
    if not isinstance(properties, Mapping):
        return Type("map")
    fields = tuple(
        (str(name), replace(_of(part, root, depth + 1), optional=name not in required))
        for name, part in properties.items()
    )
    rest = schema.get("additionalProperties", True)
    patterned = bool(schema.get("patternProperties"))
    other = _of(rest, root, depth + 1) if isinstance(rest, Mapping) and not patterned else None
    return Type("map", fields=fields, open=rest is not False or patterned, other=other)


def _any_of(parts: Any, root: Any, depth: int) -> Type:
    if not isinstance(parts, (list, tuple)) or not parts:
        return DYNAMIC
    found = [_of(part, root, depth + 1) for part in parts]
    real = [t for t in found if t.kind != "null"]
    if not real:
        return NULL
    kinds = {t.kind for t in real}
    if len(real) > 1 and not kinds <= {"int", "number"}:
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

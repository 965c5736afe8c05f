"""JSON Schemas that a playbook holds.  The only file of this room that knows jsonschema."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from guideway.statemachine.patterns import PatternError, pattern

Path = tuple[str | int, ...]

_NOWHERE: Registry[Any] = Registry()
"""Holds no schema and fetches none: a `$ref` may point into its own schema only, and never at the network."""


def schema_fault(schema: Mapping[str, Any]) -> tuple[str, Path] | None:
    """
    Say why a schema is none, and where in it; None where it is one.

    >>> schema_fault({"type": "number", "minimum": "low"})
    ('`"low"` is not of type `number`', ('minimum',))
    >>> schema_fault({"type": "object"}) is None
    True
    """
    try:
        Draft202012Validator.check_schema(schema, Draft202012Validator.FORMAT_CHECKER)
    except SchemaError as error:
        return _told(error), tuple(error.absolute_path)
    return next(_unusable(schema), None)


def no_arguments(schema: Mapping[str, Any]) -> tuple[str, Path] | None:
    """
    Say why no arguments can ever fit a schema of a tool's `parameters`; they are always a map.

    >>> no_arguments({"type": "string"})
    ('the arguments of a call are a map, and this takes none', ('type',))
    """
    kinds = schema.get("type", "object")
    if "object" not in (kinds if isinstance(kinds, list) else [kinds]):
        return "the arguments of a call are a map, and this takes none", ("type",)
    if schema.get("$ref") == "#":
        return "it refers to itself, and says nothing", ("$ref",)
    return None


def _unusable(schema: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
    """References that lead nowhere, and patterns that RE2 does not read: at run time they could only refuse."""
    whole = _NOWHERE.with_resource("", DRAFT202012.create_resource(schema)).resolver()
    for below, path in _schemas(schema):
        if "unevaluatedProperties" in below and "patternProperties" in below:
            yield "`unevaluatedProperties` is not decided beside `patternProperties`", (*path, "unevaluatedProperties")
        reference = below.get("$ref")
        if isinstance(reference, str):
            try:
                whole.lookup(reference)
            except Exception:
                yield f"the reference `{reference}` leads nowhere inside this schema", (*path, "$ref")
        for key in [below["pattern"]] if isinstance(below.get("pattern"), str) else []:
            if fault := _pattern_fault(key):
                yield fault, (*path, "pattern")
        for key in below.get("patternProperties", {}):
            if fault := _pattern_fault(key):
                yield fault, (*path, "patternProperties", key)


def _pattern_fault(source: str) -> str | None:
    try:
        pattern(source)
    except PatternError as why:
        return f"the pattern `{source}` is no RE2: {why}"
    return None


def _schemas(schema: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Path]]:
    """A schema and those in it, each with the way to it; what is data (`const`, `enum`, `default`) is passed over."""
    todo: list[tuple[Any, Path]] = [(schema, ())]
    while todo:
        found, path = todo.pop()
        if not isinstance(found, Mapping):
            continue
        yield found, path
        for key, value in found.items():
            if key in _MAPS and isinstance(value, Mapping):
                todo += [(below, (*path, key, name)) for name, below in value.items()]
            elif key in _LISTS and isinstance(value, list):
                todo += [(below, (*path, key, index)) for index, below in enumerate(value)]
            elif key not in _DATA:
                todo.append((value, (*path, key)))


_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_DATA = ("const", "enum", "default", "examples", "required", "dependentRequired")


def value_fault(value: Any, schema: Mapping[str, Any]) -> str | None:
    """
    Say why a value does not fit a schema, or why that cannot be told; None where it fits.

    >>> value_fault("high", {"type": "number"})
    '`"high"` is not of type `number`'
    >>> value_fault(1, {"$ref": "https://example.org/schema"})
    'a reference leads nowhere: https://example.org/schema'
    """
    try:
        error = best_match(Draft202012Validator(schema, registry=_NOWHERE).iter_errors(value))
    except Unresolvable as missing:
        return f"a reference leads nowhere: {missing.ref}"
    except RecursionError:
        return "the schema refers to itself without end"
    except re.error as fault:
        return f"a pattern of the schema is none: {fault}"
    return None if error is None else _told(error)


def _told(error: SchemaError | ValidationError) -> str:
    """Say in JSON's words what jsonschema says in Python's."""
    value = json.dumps(error.instance, ensure_ascii=False, default=str)
    if error.validator == "type":
        return f"`{value}` is not of type `{error.validator_value}`"
    if error.validator == "format":
        return f"`{value}` is no {error.validator_value}"
    return str(error.message)


def argument_faults(args: Collection[str], parameters: Mapping[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """
    Compare argument names with `parameters`: the names it does not have, those it requires and misses, all it has.

    A schema that lists its properties is taken at its word: a name beside them is unknown unless the schema itself is
    open (`additionalProperties`, `patternProperties`) or says more by reference or combination.

    >>> argument_faults(["a"], {"properties": {"b": {}}, "required": ["b"]})
    (['a'], ['b'], ['b'])
    """
    properties = parameters.get("properties")
    known = list(properties) if isinstance(properties, Mapping) else []
    closed = parameters.get("additionalProperties") is False or bool(known)
    is_open = bool(parameters.get("additionalProperties")) or any(word in parameters for word in _MORE)
    required = parameters.get("required", ())
    missing = [name for name in required if name not in args]
    unknown = [name for name in args if name not in known] if closed and not is_open else []
    return unknown, missing, known


_MORE = ("patternProperties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "unevaluatedProperties")

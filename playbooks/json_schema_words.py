"""The words of JSON Schema (draft 2020-12) that inputs, parameters and results are written in."""

from __future__ import annotations

from typing import Any

TYPE_WORDS = ("string", "number", "integer", "boolean", "object", "array", "null")

# What the value of a keyword must be.  `schema`, `schemas`, `named`: schemas again; `any`: free.
KEYWORDS: dict[str, str] = {
    **dict.fromkeys(("type",), "type"),
    **dict.fromkeys(("enum", "examples"), "list"),
    **dict.fromkeys(("const", "default", "example"), "any"),
    **dict.fromkeys(("title", "description", "format", "$comment", "$id", "$schema", "$anchor", "$ref"), "text"),
    **dict.fromkeys(("$dynamicRef", "$dynamicAnchor", "contentEncoding", "contentMediaType"), "text"),
    **dict.fromkeys(("pattern",), "text"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), "number"),
    **dict.fromkeys(("multipleOf",), "positive"),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"), "count"),
    **dict.fromkeys(("minProperties", "maxProperties"), "count"),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly", "sensitive"), "flag"),
    **dict.fromkeys(("required",), "names"),
    **dict.fromkeys(("dependentRequired", "$vocabulary"), "map"),
    **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"), "named"),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "unevaluatedItems", "items"), "schema"),
    **dict.fromkeys(("propertyNames", "contains", "not", "if", "then", "else", "contentSchema"), "schema"),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), "schemas"),
}
"""Keyword → what its value must be.  `sensitive` is ours; names beginning with `x-` are free."""


def schema_of_schemas(own: dict[str, Any]) -> dict[str, Any]:
    """A schema for one level of a JSON Schema, our `own` keys beside its keywords."""
    properties: dict[str, Any] = {word: _shallow(kind) for word, kind in KEYWORDS.items()} | own
    return {
        "type": "object",
        "properties": properties,
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }


def _shallow(kind: str) -> dict[str, Any]:
    words = {"enum": list(TYPE_WORDS)}
    shapes: dict[str, dict[str, Any]] = {
        "type": {"anyOf": [words, {"type": "array", "items": words, "minItems": 1}]},
        "list": {"type": "array"},
        "text": {"type": "string"},
        "number": {"type": "number"},
        "positive": {"type": "number", "exclusiveMinimum": 0},
        "count": {"type": "integer", "minimum": 0},
        "flag": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "string"}},
        "map": {"type": "object"},
        "named": {"type": "object", "additionalProperties": {"type": ["object", "boolean"]}},
        "schema": {"type": ["object", "boolean"]},
        "schemas": {"type": "array", "items": {"type": ["object", "boolean"]}, "minItems": 1},
    }
    return shapes.get(kind, {})

"""JSON Schemas of tool arguments, results and inputs.  The only file of this room that imports jsonschema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from guideway.statemachine.canonical import canonical
from guideway.statemachine.patterns import PatternError
from guideway.statemachine.patterns import pattern as compiled


def problem(schema: Mapping[str, Any] | None, value: Any) -> str | None:
    """
    Say what is wrong with `value`, or nothing.

    >>> problem({"type": "object", "required": ["user"]}, {})
    "'user' is a required property"
    """
    if schema is None:
        return None
    try:
        fault = next(validator(json.dumps(schema, sort_keys=True)).iter_errors(value), None)
    except Exception as error:
        return f"it cannot be checked against its schema ({type(error).__name__})"
    if fault is None:
        return None
    place = "".join(f"[{part!r}]" for part in fault.absolute_path)
    return f"{place}: {shorten(fault.message)}" if place else shorten(fault.message)


def shorten(message: str, limit: int = 300) -> str:
    """Keep a message readable when the value in it is not."""
    return message if len(message) <= limit else message[: limit - 1] + "…"


@lru_cache(maxsize=1_000)
def validator(schema: str) -> Any:
    """A validator that looks nothing up on the network and takes linear time, whatever a model sends."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend
    from referencing import Registry

    own = {
        "pattern": pattern,
        "patternProperties": pattern_properties,
        "additionalProperties": additional_properties,
        "uniqueItems": unique_items,
    }
    if "patternProperties" in schema:
        own["unevaluatedProperties"] = undecided
    safe = extend(Draft202012Validator, own)  # type: ignore[no-untyped-call]
    return safe(json.loads(schema), registry=Registry())


def pattern(_: Any, wanted: str, value: Any, __: Any) -> Iterator[Exception]:
    """`pattern`, without Python's `re`: the text was written by a model."""
    from jsonschema import ValidationError

    if isinstance(value, str) and not found(wanted, value):
        yield ValidationError(f"{value!r} does not match {wanted!r}")


def pattern_properties(checker: Any, wanted: Mapping[str, Any], value: Any, _: Any) -> Iterator[Any]:
    """`patternProperties`, for the same reason."""
    if isinstance(value, dict):
        for regex, below in wanted.items():
            for key, item in value.items():
                if found(regex, key):
                    yield from checker.descend(item, below, path=key, schema_path=regex)


def additional_properties(checker: Any, wanted: Any, value: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """`additionalProperties`: what neither `properties` nor a pattern names."""
    from jsonschema import ValidationError

    if not isinstance(value, dict):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extras = [key for key in value if key not in named and not any(found(regex, key) for regex in patterns)]
    if isinstance(wanted, dict):
        for key in extras:
            yield from checker.descend(value[key], wanted, path=key)
    elif wanted is False and extras:
        names = ", ".join(map(repr, extras[:3]))
        yield ValidationError(f"{names} {'is' if len(extras) == 1 else 'are'} not among the properties it takes")


def undecided(_: Any, __: Any, ___: Any, ____: Any) -> Iterator[Exception]:
    """`unevaluatedProperties` beside patterns: the library would match them with Python's `re`, so it is refused."""
    from jsonschema import ValidationError

    yield ValidationError("`unevaluatedProperties` cannot be decided beside `patternProperties`")


def unique_items(_: Any, wanted: bool, value: Any, __: Any) -> Iterator[Exception]:
    """`uniqueItems`, in linear time: the library compares every two, which a model could make last for minutes."""
    from jsonschema import ValidationError

    if wanted and isinstance(value, list) and len({canonical(item) for item in value}) < len(value):
        yield ValidationError("the list has equal items")


def found(regex: str, text: str) -> bool:
    """Match; a pattern that RE2 does not read matches nothing, so what it guards stays refused."""
    try:
        return compiled(regex).found_in(text) is True
    except PatternError:
        return False

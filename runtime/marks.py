"""Where a JSON Schema marks values as `sensitive`, at any depth of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .schemas import found

HIDDEN = "•••"
_ASIDE = ("allOf", "anyOf", "oneOf", "if", "then", "else", "not")
"""Keywords whose schemas speak of the same value.  Whether they apply does not matter: hiding too much is safe."""

Schema = Mapping[str, Any]


class Marks:
    """
    The places of one schema that are marked.

    >>> marks = Marks({"properties": {"opts": {"items": {"properties": {"key": {"sensitive": True}}}}}})
    >>> marks.hide({"opts": [{"key": "k-1", "name": "a"}], "key": 7})
    {'opts': [{'key': '•••', 'name': 'a'}], 'key': 7}
    """

    def __init__(self, schema: Schema | None) -> None:
        self._root: Schema = schema or {}
        self.any = '"sensitive": true' in json.dumps(self._root)
        """whether there are such places at all"""

    def hide(self, value: Any) -> Any:
        """A copy with every marked value hidden, whatever its type; of a map that is marked itself the keys stay."""
        if not self.any:
            return value
        clean = self._hide([self._root], value)
        return dict.fromkeys(value, HIDDEN) if clean == HIDDEN and isinstance(value, Mapping) else clean

    def _hide(self, schemas: Iterable[Any], value: Any) -> Any:
        applying = list(self._applying(schemas))
        if any(schema.get("sensitive") is True for schema in applying):
            return HIDDEN
        match value:
            case Mapping():
                return unique((self._key(applying, k), self._hide(of_key(applying, k), v)) for k, v in value.items())
            case list() | tuple():
                return [self._hide(of_item(applying, i), item) for i, item in enumerate(value)]
        return value

    def _key(self, applying: Sequence[Schema], key: str) -> str:
        names = self._applying(schema["propertyNames"] for schema in applying if "propertyNames" in schema)
        return HIDDEN if any(schema.get("sensitive") is True for schema in names) else key

    def _applying(self, schemas: Iterable[Any]) -> Iterator[Schema]:
        """The schemas and all that speak of the same value, references followed, each once."""
        seen: set[int] = set()
        waiting = list(schemas)
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, Mapping) or id(schema) in seen:
                continue
            seen.add(id(schema))
            yield schema
            for word in _ASIDE:
                below = schema.get(word, ())
                waiting += below if isinstance(below, list | tuple) else [below]
            waiting += dict(schema.get("dependentSchemas", {})).values()
            waiting += [self._target(schema[word]) for word in ("$ref", "$dynamicRef") if word in schema]

    def _target(self, reference: str) -> Any:
        """What a reference names; one that cannot be followed is taken for a mark."""
        here: Any = self._root
        if reference not in ("#", "") and not reference.startswith("#/"):
            return {"sensitive": True}
        for part in reference.split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            if isinstance(here, list | tuple):
                here = here[int(part)] if part.isdecimal() and int(part) < len(here) else None
            else:
                here = here.get(part) if isinstance(here, Mapping) else None
        return {"sensitive": True} if here is None else here


def of_key(applying: Iterable[Schema], key: str) -> Iterator[Any]:
    """The schemas of one value of a map."""
    for schema in applying:
        named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        fitting = [below for regex, below in patterns.items() if found(regex, key)]
        if key in named:
            yield named[key]
        yield from fitting
        if key not in named and not fitting:
            yield from (schema.get("additionalProperties"), schema.get("unevaluatedProperties"))


def of_item(applying: Iterable[Schema], index: int) -> Iterator[Any]:
    """The schemas of one item of a list."""
    for schema in applying:
        first = schema.get("prefixItems", ())
        yield first[index] if index < len(first) else schema.get("items")
        yield from (schema.get("contains"), schema.get("unevaluatedItems"))


def unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """
    A map in which keys that were hidden do not fall into one.

    >>> unique([("•••", 1), ("•••", 2), ("a", 3)])
    {'•••': 1, '••• (2)': 2, 'a': 3}
    """
    made: dict[str, Any] = {}
    for key, value in pairs:
        name, number = key, 1
        while name in made:
            number += 1
            name = f"{key} ({number})"
        made[name] = value
    return made

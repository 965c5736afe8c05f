"""Values of the language as plain JSON, and as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from .clock import duration_text, timestamp_text
from .unknown import Unknown
from .values import is_list, kind

DEEPEST_VALUE = 100
LARGEST_VALUE = 1_000_000
"""Cost units of one value: 1 a value, and 1 per 64 characters of a string."""
_EXACT = 2**53


def plain(value: Any) -> Any:
    """
    Copy a value as plain JSON data, or give an `Unknown` when it cannot be written as JSON.

    Moments and lengths of time become text; a float with an integral value within ±2^53 becomes an int (S56).
    The copy shares no list and no map with the original.

    >>> from datetime import timedelta
    >>> plain([1.0, 1.5, timedelta(minutes=90), None])
    [1, 1.5, '5400s', None]
    """
    return _Copy().of(value, 0)


def text_of(value: Any) -> Any:
    """
    Write a value into a text: strings as they are, all else as compact JSON; an `Unknown` stays one.

    >>> text_of("a b"), text_of(True), text_of([1, {"k": "é"}])
    ('a b', 'true', '[1,{"k":"é"}]')
    """
    copy = plain(value)
    if isinstance(copy, (str, Unknown)):
        return copy
    try:
        return json.dumps(copy, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return Unknown("the value holds a number that JSON cannot write")


class _Copy:
    """One copying; `left` is what the copy may still cost."""

    def __init__(self) -> None:
        self.left = LARGEST_VALUE

    def of(self, value: Any, depth: int) -> Any:
        self.left -= 1 + (len(value) // 64 if type(value) is str else 0)
        if self.left < 0:
            return Unknown("the value is too large to be written")
        if depth > DEEPEST_VALUE:
            return Unknown(f"the value is nested more than {DEEPEST_VALUE} deep")
        if isinstance(value, Mapping):
            return self._map(value, depth + 1)
        if is_list(value):
            return self._list(value, depth + 1)
        return _scalar(value)

    def _map(self, value: Mapping[str, Any], depth: int) -> Any:
        copy: dict[str, Any] = {}
        for key, field in value.items():
            copy[key] = made = self.of(field, depth)
            if type(made) is Unknown:
                return made
        return copy

    def _list(self, value: Any, depth: int) -> Any:
        copy: list[Any] = []
        for item in value:
            copy.append(made := self.of(item, depth))
            if type(made) is Unknown:
                return made
        return copy


def _scalar(value: Any) -> Any:
    if type(value) is float:
        return int(value) if value.is_integer() and abs(value) <= _EXACT else value
    if isinstance(value, datetime):
        return timestamp_text(value)
    if isinstance(value, timedelta):
        return duration_text(value)
    if value is None or isinstance(value, (str, int, Unknown)):
        return value
    return Unknown(f"{kind(value)} cannot be written as JSON")

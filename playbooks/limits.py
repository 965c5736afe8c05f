"""How much a reader takes in before it says no; every bound is a parameter."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """
    The bounds of reading, the same for YAML, JSON and dicts.

    `max_bytes` bounds the source in UTF-8 bytes (for a dict: the length of all its strings), `max_values` the keys
    and values once every alias is expanded, `max_depth` the nesting of lists and maps.

    >>> Limits(max_depth=3).max_values
    2000000
    """

    max_bytes: int = 32_000_000
    max_values: int = 2_000_000
    max_depth: int = 60

"""The names by which functions in a condition are written down and found again."""

from __future__ import annotations

from typing import Any

from guideway.statemachine.errors import HostError

_NAMELESS = "<lambda>"


def name_of(function: Any, *, strict: bool = True) -> str:
    """
    The name of a function.

    Raises:
        HostError: it has none; not raised unless `strict`.

    >>> name_of(len), name_of(lambda state: True, strict=False)
    ('len', '<lambda>')
    """
    name = getattr(function, "__name__", None)
    if isinstance(name, str) and name and name != _NAMELESS:
        return name
    if strict:
        raise HostError("a function without a name cannot be written down: define it with `def`, or give it a name")
    return _NAMELESS

"""
What values are and when two of them are equal.

JSON data is taken as Python holds it: `bool int float str None`, lists (or tuples), dicts (or any `Mapping`).
A bool is no number here, whatever Python says.  Moments and lengths of time are `datetime` and `timedelta`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from .env import TOO_COSTLY, Env
from .unknown import Unknown

_KINDS: dict[type, str] = {
    bool: "a bool", int: "an int", float: "a float", str: "a string", type(None): "null",
    list: "a list", tuple: "a list", dict: "a map", datetime: "a timestamp", timedelta: "a duration",
}  # fmt: skip
NUMBERS = frozenset({int, float})
_SCALARS = frozenset({bool, str, type(None), datetime, timedelta})
_ORDERED = frozenset({int, float, str, bool, datetime, timedelta})
LONG = 1024
"""Comparing longer strings than this costs budget."""


def kind(value: Any) -> str:
    """
    Name the kind of a value, with its article.

    >>> kind(True), kind([1]), kind(None), kind(object())
    ('a bool', 'a list', 'null', 'no JSON value')
    """
    found = _KINDS.get(type(value))
    if found is None:
        found = "a map" if isinstance(value, Mapping) else "no JSON value"
    return found


def is_list(value: Any) -> bool:
    """Tell whether the value is a list of the language."""
    return type(value) is list or isinstance(value, (list, tuple))


def ordering(a: Any, b: Any, op: str) -> Unknown | None:
    """Give the reason why two values have no order, or None when they have one."""
    ta, tb = type(a), type(b)
    if (ta is tb and ta in _ORDERED) or (ta in NUMBERS and tb in NUMBERS):
        return None
    if ta is Unknown:
        return a  # type: ignore[no-any-return]
    if tb is Unknown:
        return b  # type: ignore[no-any-return]
    return Unknown(f"`{op}` has no meaning between {kind(a)} and {kind(b)}")


def equal(env: Env, a: Any, b: Any) -> Any:
    """
    Compare for equality: True, False or an `Unknown`.

    Ints and floats compare by their number, also deep inside lists and maps; other kinds are never equal.
    """
    ta, tb = type(a), type(b)
    if ta is Unknown:
        return a
    if tb is Unknown:
        return b
    if ta in NUMBERS:
        return tb in NUMBERS and a == b
    if ta in _SCALARS:
        if ta is not tb:
            return False
        if ta is str and len(a) > LONG and not env.spend(len(a) // LONG):
            return TOO_COSTLY
        return a == b
    return _deep_equal(env, a, b)


def _deep_equal(env: Env, left: Any, right: Any) -> Any:
    """Compare containers without recursion: the depth of data is not ours to choose."""
    waiting = [(left, right)]
    while waiting:
        a, b = waiting.pop()
        if not env.spend(1):
            return TOO_COSTLY
        if isinstance(a, Mapping):
            if not isinstance(b, Mapping) or len(a) != len(b) or any(key not in b for key in a):
                return False
            waiting += [(value, b[key]) for key, value in a.items()]
        elif is_list(a):
            if not is_list(b) or len(a) != len(b):
                return False
            waiting += zip(a, b, strict=True)
        elif type(a) in NUMBERS or type(a) in _SCALARS:
            same = equal(env, a, b)
            if same is not True:
                return same
        else:
            return Unknown("`==` was asked about something that is no JSON value")
    return True


def contains(env: Env, needle: Any, holder: Any) -> Any:
    """`needle in holder`: an element of a list, or a key of a map."""
    if type(needle) is Unknown:
        return needle
    if type(holder) is Unknown:
        return holder
    if isinstance(holder, Mapping):
        return _has_key(holder, needle)
    if not is_list(holder):
        return Unknown(f"`in` looks into lists and maps, not into {kind(holder)}")
    if not env.spend(len(holder) // 16 + 1):
        return TOO_COSTLY
    if type(needle) is str and len(needle) <= LONG:
        return _holds(holder, needle)
    return any_of(equal(env, needle, element) for element in holder)


def _has_key(holder: Mapping[str, Any], needle: Any) -> Any:
    if type(needle) is str:
        return needle in holder
    if type(needle) is int or type(needle) is bool:
        return False  # CEL has such keys, JSON has none
    return Unknown(f"{kind(needle)} is no key of a map")


def _holds(holder: Any, needle: str) -> bool:
    """The C search; strings equal nothing but strings, so Python's notion of equality is ours here."""
    return needle in holder


def any_of(results: Any) -> Any:
    """
    Kleene's disjunction: True if any is, else the first `Unknown`, else False.

    >>> any_of([False, Unknown("a is missing"), True])
    True
    >>> any_of([False, Unknown("a is missing")])
    Unknown(why='a is missing')
    """
    doubt: Any = False
    for result in results:
        if result is True:
            return True
        if type(result) is Unknown and doubt is False:
            doubt = result
            if result is TOO_COSTLY:
                return result
    return doubt

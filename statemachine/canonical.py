"""
One text, hence one hash, for one JSON value: RFC 8785 (JSON Canonicalization Scheme) over I-JSON (RFC 7493).

S56: NaN, infinities, lone surrogates and duplicate keys are refused; a number with integral value within ±2^53 is an
int.  Integers beyond ±2^53 are the one hard case.  A receiver that reads numbers as doubles, as JSON's do, would round
them and come to another hash, so they are refused - but for those whose digits are just what RFC 8785 writes for a
double (100000000000000000000 for 1e20): to refuse them too would be to refuse our own output when it is read back.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Any, NoReturn

MAX_DEPTH = 200
"""Lists and maps inside one another.  Deeper data is hostile or a cycle."""

_EXACT = 2**53
_LONGEST = 24
_quote = json.JSONEncoder(ensure_ascii=False).encode
_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


class MalformedError(ValueError):
    """
    A value that is no I-JSON, or not what was expected at its place.

    >>> str(MalformedError("expected text, found 3").inside(0).inside("hints"))
    'hints[0]: expected text, found 3'
    """

    def __init__(self, problem: str) -> None:
        self.problem = problem
        self.path: list[str | int] = []
        super().__init__(problem)

    def inside(self, key: str | int) -> MalformedError:
        """Note that the place lies under `key`: called from the inside outwards."""
        self.path.append(key)
        return self

    def __str__(self) -> str:
        steps = [f"[{key}]" if isinstance(key, int) else _member(key) for key in reversed(self.path)]
        if len(steps) > _LONGEST:
            steps[_LONGEST // 2 : -_LONGEST // 2] = [" … "]
        where = "".join(steps).removeprefix(".")
        return f"{where}: {self.problem}" if where else self.problem


def normal(value: Any) -> Any:
    """
    Copy JSON data into its one normal form: plain dicts, lists and scalars, integral floats as ints.

    Raises `ValueError` (a `MalformedError`) with the path of the first thing that is not I-JSON, or lies deeper than
    `MAX_DEPTH`.

    >>> normal({"ports": (22, 80.0)})
    {'ports': [22, 80]}
    >>> normal({"ports": [float("nan")]})
    Traceback (most recent call last):
    ...
    guideway.statemachine.canonical.MalformedError: ports[0]: NaN is no JSON number
    """
    return _copy(value, MAX_DEPTH, [])


def canonical(value: Any, depth: int = MAX_DEPTH) -> bytes:
    """
    Write a value as RFC 8785 canonical JSON, in UTF-8.

    Raises `ValueError` as `normal` does; `depth` is for whoever puts data that was checked inside of something.

    >>> canonical({"b": 1.0, "a": [0.5, 1e-7, "€"]}).decode()
    '{"a":[0.5,1e-7,"€"],"b":1}'
    """
    special: list[Any] = []
    plain = _copy(value, depth, special)
    # The standard encoder writes the same text, many times faster, but for some numbers and the order of some keys.
    return (_write(plain) if special else _dumps(plain)).encode()


def digest(value: Any) -> str:
    """
    Hash a value: SHA-256 of its canonical JSON, in hex.

    >>> digest({"a": 1.0}) == digest({"a": 1})
    True
    """
    return hashlib.sha256(canonical(value)).hexdigest()


def read(text: str | bytes) -> Any:
    """
    Read I-JSON text into its normal form.

    Raises `ValueError` where `json.loads` does, and for duplicate keys, NaN, infinities and hostile nesting.

    >>> read('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    guideway.statemachine.canonical.MalformedError: the key "a" stands twice in one object
    """
    try:
        return normal(json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant))
    except RecursionError:
        raise MalformedError(f"nested deeper than {MAX_DEPTH} levels") from None


def _copy(value: Any, depth: int, special: list[Any]) -> Any:
    """Copy one value; note in `special` what only `_write` writes right."""
    kind = type(value)
    if (kind is str and value.isascii()) or kind is bool or value is None:
        return value
    if kind is dict or kind is list:
        return _container(value, depth - 1, special)
    match value:
        case str():
            return _text(value)
        case int():
            return _integer(int(value), special)
        case float():
            return _float(float(value), special)
        case list() | tuple() | Mapping():
            return _container(value, depth - 1, special)
    raise MalformedError(f"a Python {type(value).__name__} is no JSON value")


def _container(value: Any, depth: int, special: list[Any]) -> Any:
    if depth < 0:
        raise MalformedError(f"nested deeper than {MAX_DEPTH} levels")
    key: str | int = 0
    try:
        if not isinstance(value, Mapping):
            items: list[Any] = []
            for item in value:
                key = len(items)
                items.append(_copy(item, depth, special))
            return items
        members = {}
        for key, item in value.items():
            name = key if type(key) is str and key.isascii() else _key(key, special)
            members[name] = item if type(item) is str and item.isascii() else _copy(item, depth, special)
        return members
    except MalformedError as fault:
        raise fault.inside(key if isinstance(key, int | str) else repr(key)) from None
    except RecursionError:
        raise MalformedError("nested too deeply for the stack that is left") from None


def _text(value: str) -> str:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise MalformedError(f"{value!a} holds a lone surrogate, which is no Unicode text") from None
    return value if type(value) is str else str.__str__(value)


def _key(key: Any, special: list[Any]) -> str:
    if not isinstance(key, str):
        raise MalformedError(f"a key must be text, and {key!r} is not")
    if max(key, default="") >= "\ue000":  # from here on the order of UTF-16 is not that of code points
        special.append(key)
    return _text(key)


def _integer(value: int, special: list[Any]) -> int | float:
    if -_EXACT <= value <= _EXACT:
        return value
    # From 1e21 on a double is written with an exponent.  (The text of a huge int would take quadratic time, too.)
    if abs(value) < 10**21 and _number(float(value)) == str(value):
        special.append(value)
        return float(value)
    raise MalformedError("an integer beyond ±2^53 does not survive JSON: write it as text")


def _float(value: float, special: list[Any]) -> int | float:
    if not isfinite(value):
        raise MalformedError("NaN is no JSON number" if value != value else "infinity is no JSON number")
    if value.is_integer() and -_EXACT <= value <= _EXACT:
        return int(value)
    if _number(value) != repr(value):
        special.append(value)
    return value


def _write(value: Any) -> str:
    """Write a normal value."""
    match value:
        case float():
            return _number(value)
        case dict():
            members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
            return "{" + ",".join(f"{_quote(k)}:{_write(v)}" for k, v in members) + "}"
        case list():
            return "[" + ",".join(map(_write, value)) + "]"
    return _quote(value)


def _number(value: float) -> str:
    """
    Write a finite double as ECMAScript does (ECMA-262, Number::toString; RFC 8785 section 3.2.2.3).

    `repr` gives the same shortest digits; only the place of the point and the exponent are written in another way.
    """
    text = repr(value)
    if "e" not in text and not text.endswith(".0"):
        return text
    sign, figures, exponent = Decimal(text).as_tuple()
    digits = "".join(map(str, figures)).rstrip("0")
    point = len(figures) + int(exponent)
    minus = "-" if sign else ""
    if not digits:
        return "0"
    if len(digits) <= point <= 21:
        return minus + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{minus}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{minus}{digits[0]}{fraction}e{point - 1:+d}"


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise MalformedError(f"the key {_quote(twice)} stands twice in one object")
    return members


def _constant(word: str) -> NoReturn:
    raise MalformedError(f"{word} is no JSON number")


def _member(key: str) -> str:
    return f".{key}" if key.isidentifier() else f"[{_quote(key)}]"

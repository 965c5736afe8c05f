"""Arithmetic on values: every function here takes any two and answers with a value or an `Unknown`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from .clock import within
from .env import TOO_COSTLY, Env
from .literals import GREATEST, LEAST
from .unknown import Unknown
from .values import is_list, kind

_OVERFLOW = Unknown("the int does not fit into 64 bits")
_INFINITE = Unknown("the float is too large")
_BY_ZERO = Unknown("division by zero")
_OUT_OF_TIME = Unknown("the time is out of range")


def add(env: Env, a: Any, b: Any) -> Any:
    """`a + b`: numbers of one kind, strings, lists, times."""
    ta, tb = type(a), type(b)
    if ta is int and tb is int:
        return _int(a + b)
    if ta is float and tb is float:
        return _float(a + b)
    if ta is str and tb is str:
        return a + b if env.spend((len(a) + len(b)) // 10 + 1) else TOO_COSTLY
    if ta is timedelta or tb is timedelta:
        return _add_time(a, b)
    if is_list(a) and is_list(b):
        return [*a, *b] if env.spend(len(a) + len(b) + 1) else TOO_COSTLY
    return _refused("+", a, b)


def subtract(env: Env, a: Any, b: Any) -> Any:
    """`a - b`: numbers of one kind, times."""
    ta, tb = type(a), type(b)
    if ta is int and tb is int:
        return _int(a - b)
    if ta is float and tb is float:
        return _float(a - b)
    if tb is timedelta and ta in (timedelta, datetime):
        return _add_time(a, -b)
    if ta is datetime and tb is datetime:
        return _duration(a - b)
    return _refused("-", a, b)


def multiply(env: Env, a: Any, b: Any) -> Any:
    """`a * b`: numbers of one kind."""
    ta, tb = type(a), type(b)
    if ta is int and tb is int:
        return _int(a * b) if _fits(a) and _fits(b) else _OVERFLOW
    if ta is float and tb is float:
        return _float(a * b)
    return _refused("*", a, b)


def divide(env: Env, a: Any, b: Any) -> Any:
    """`a / b`: numbers of one kind; ints drop the rest, so `-7 / 2` is -3."""
    ta, tb = type(a), type(b)
    if ta is tb and ta in (int, float) and b == 0:
        return _BY_ZERO
    if ta is int and tb is int:
        if not (_fits(a) and _fits(b)):
            return _OVERFLOW
        return _int(abs(a) // abs(b) if (a < 0) == (b < 0) else -(abs(a) // abs(b)))
    if ta is float and tb is float:
        return _float(a / b)
    return _refused("/", a, b)


def remainder(env: Env, a: Any, b: Any) -> Any:
    """`a % b` on ints; the sign is that of `a`, so `-7 % 3` is -1."""
    if type(a) is int and type(b) is int:
        if b == 0:
            return _BY_ZERO
        if not (_fits(a) and _fits(b)):
            return _OVERFLOW
        return abs(a) % abs(b) if a >= 0 else -(abs(a) % abs(b))
    return _refused("%", a, b)


def negate(value: Any) -> Any:
    """`-value` of a number."""
    if type(value) is int:
        return _int(-value)
    if type(value) is float:
        return -value
    return value if type(value) is Unknown else Unknown(f"`-` wants a number, not {kind(value)}")


ARITHMETIC: dict[str, Callable[[Env, Any, Any], Any]] = {
    "+": add, "-": subtract, "*": multiply, "/": divide, "%": remainder,
}  # fmt: skip


def _fits(number: int) -> bool:
    return LEAST <= number <= GREATEST


def _int(number: int) -> Any:
    return number if LEAST <= number <= GREATEST else _OVERFLOW


def _float(number: float) -> Any:
    return number if isfinite(number) else _INFINITE


def _duration(length: timedelta) -> Any:
    return _OUT_OF_TIME if within(length) is None else length


def _add_time(a: Any, b: Any) -> Any:
    ta, tb = type(a), type(b)
    if ta not in (datetime, timedelta) or tb not in (datetime, timedelta):
        return _refused("+", a, b)
    try:
        total = a + b
    except OverflowError:
        return _OUT_OF_TIME
    return _duration(total) if type(total) is timedelta else total


def _refused(op: str, a: Any, b: Any) -> Unknown:
    if type(a) is Unknown:
        return a
    if type(b) is Unknown:
        return b
    if {type(a), type(b)} == {int, float}:
        return Unknown(f"`{op}` does not mix an int and a float; write the int with a point, or `double(x)`")
    return Unknown(f"`{op}` has no meaning between {kind(a)} and {kind(b)}")

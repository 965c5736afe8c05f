"""The functions, compiled.  Their names, shapes and short texts stand in `names.FUNCTIONS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from guideway.statemachine.patterns import PatternError, pattern

from .clock import parse_duration, parse_timestamp, zone
from .env import TOO_COSTLY, Env, Run
from .nodes import Call, Literal, Node, children
from .unknown import Unknown
from .values import is_list, kind


def compile_call(call: Call, compile_tree: Callable[[Node], Run]) -> Run:
    """Compile a call; its shape was checked when it was parsed."""
    if call.function == "predicate" and isinstance(call.args[0], Literal):
        return _predicate(str(call.args[0].value))
    operands = [compile_tree(child) for child in children(call)]
    if call.function == "has":
        return _has(operands[0])
    if call.function == "default":
        return _default(*operands)
    if call.function in _TEXT:
        return _text(call.function, *operands)
    if call.function in ("getHours", "getDayOfWeek"):
        return _calendar(call.function, operands)
    return _strict(_ONE[call.function], operands[0])


def _predicate(name: str) -> Run:
    unknown = Unknown(f'the predicate "{name}" was not supplied')

    def run(env: Env) -> Any:
        supplied = env.scope.get("predicate")
        value = supplied.get(name, unknown) if isinstance(supplied, Mapping) else unknown
        if isinstance(value, (bool, Unknown)):
            return value
        return Unknown(f'the predicate "{name}" gave {kind(value)}, not a bool')

    return run


def _has(path: Run) -> Run:
    return lambda env: type(path(env)) is not Unknown


def _default(path: Run, other: Run) -> Run:
    def run(env: Env) -> Any:
        value = path(env)
        return other(env) if type(value) is Unknown else value

    return run


def _strict(function: Callable[[Any], Any], operand: Run) -> Run:
    def run(env: Env) -> Any:
        value = operand(env)
        return value if type(value) is Unknown else function(value)

    return run


def _size(value: Any) -> Any:
    if isinstance(value, (str, Mapping)) or is_list(value):
        return len(value)
    return Unknown(f"`size` wants a string, a list or a map, not {kind(value)}")


def _timestamp(value: Any) -> Any:
    if type(value) is datetime:
        return value
    if type(value) is str:
        moment = parse_timestamp(value)
        return Unknown(f"{_short(value)} is no RFC 3339 time") if moment is None else moment
    if type(value) is int and abs(value) < 10**12:
        try:
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=value)
        except OverflowError:
            return Unknown("the time is out of range")
    return Unknown(f"`timestamp` wants RFC 3339 text or seconds since 1970, not {kind(value)}")


def _duration(value: Any) -> Any:
    if type(value) is timedelta:
        return value
    if type(value) is not str:
        return Unknown(f'`duration` wants text such as "1h30m", not {kind(value)}')
    length = parse_duration(value)
    return Unknown(f"{_short(value)} is no duration") if length is None else length


def _double(value: Any) -> Any:
    if type(value) is float:
        return value
    if type(value) is not int:
        return Unknown(f"`double` wants a number, not {kind(value)}")
    try:
        return float(value)
    except OverflowError:
        return Unknown("the float is too large")


_ONE: dict[str, Callable[[Any], Any]] = {
    "size": _size, "timestamp": _timestamp, "duration": _duration, "double": _double,
}  # fmt: skip


def _matches(text: str, source: str) -> Any:
    try:
        found = pattern(source).found_in(text)
    except PatternError as fault:
        return Unknown(f"{_short(source)} is no RE2 pattern: {fault}")
    return Unknown("the text holds half a surrogate pair, which is no character") if found is None else found


_TEXT: dict[str, Callable[[str, str], Any]] = {
    "matches": _matches,
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": str.__contains__,
}


def _text(name: str, receiver: Run, argument: Run) -> Run:
    function = _TEXT[name]

    def run(env: Env) -> Any:
        text, other = receiver(env), argument(env)
        if type(text) is str and type(other) is str:
            return function(text, other) if env.spend(len(text) // 100 + 1) else TOO_COSTLY
        for value in (text, other):
            if type(value) is Unknown:
                return value
        return Unknown(f"`{name}` wants two strings, not {kind(text)} and {kind(other)}")

    return run


def _calendar(name: str, operands: list[Run]) -> Run:
    moment = operands[0]
    zone_name = operands[1] if len(operands) > 1 else None

    def run(env: Env) -> Any:
        value = moment(env)
        if type(value) is timedelta and name == "getHours" and zone_name is None:
            return _whole_hours(value)
        if type(value) is not datetime:
            return value if type(value) is Unknown else Unknown(f"`{name}` wants a timestamp, not {kind(value)}")
        where = "UTC" if zone_name is None else zone_name(env)
        return where if type(where) is Unknown else _in_zone(name, value, where)

    return run


def _whole_hours(length: timedelta) -> int:
    hours = abs(length) // timedelta(hours=1)
    return -hours if length < timedelta(0) else hours


def _in_zone(name: str, moment: datetime, where: Any) -> Any:
    found = zone(where) if type(where) is str else None
    if found is None:
        return Unknown(f"{_short(where) if type(where) is str else kind(where)} is no time zone")
    try:
        local = moment.astimezone(found)
    except (OverflowError, ValueError):
        return Unknown("the time is out of range")
    return local.hour if name == "getHours" else local.isoweekday() % 7


def _short(text: str) -> str:
    return f'"{text}"' if len(text) <= 40 else f'"{text[:40]}…"'

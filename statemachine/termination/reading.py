"""Conditions read back from the JSON they were written to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from guideway.statemachine.errors import HostError

from .base import Named, TerminationCondition
from .called import ToolCalled
from .checks import shown
from .combine import DEEPEST, AndCondition, NotCondition, OrCondition
from .custom import CustomCondition
from .limits import MaxIterations, TimeLimit, TokenLimit
from .replies import ConfidenceMet, NoToolCalls, TextMention

_VALUES: Mapping[str, Callable[[Any], TerminationCondition]] = {
    "max_iterations": MaxIterations,
    "token_limit": TokenLimit,
    "time_limit": TimeLimit,
    "confidence_met": ConfidenceMet,
    "text_mention": TextMention,
}
_BESIDE = frozenset({"args", "predicate", "require_success", "where", "expect"})
_KEYS = (*_VALUES, "no_tool_calls", "tool_called", "custom", "all", "any", "not")


def read(data: Any, predicates: Named, place: str = "", depth: int = 0) -> TerminationCondition:
    """
    Read one condition.

    Raises:
        HostError: it is none; the message says where and why.
    """
    if not isinstance(data, Mapping):
        raise HostError(f"{_at(place)}a condition is an object, not {shown(data)}")
    keys = [key for key in data if key in _KEYS]
    if len(keys) != 1 or depth > DEEPEST:
        wrong = f"at most {DEEPEST} lie inside one another" if depth > DEEPEST else f"exactly one of {', '.join(_KEYS)}"
        raise HostError(f"{_at(place)}a condition has {wrong}; found {', '.join(map(str, data)) or 'nothing'}")
    key = keys[0]
    odd = [other for other in data if other != key and not (key == "tool_called" and other in _BESIDE)]
    if odd:
        raise HostError(f"{_at(place)}beside `{key}` nothing is known by the name of {shown(odd[0])}")
    if key in ("all", "any", "not"):
        return _combination(key, data[key], predicates, f"{place}.{key}" if place else key, depth)
    try:
        return _leaf(key, data, predicates)
    except HostError as fault:
        raise HostError(f"{_at(place)}{fault}") from None


def _combination(key: str, value: Any, predicates: Named, place: str, depth: int) -> TerminationCondition:
    if key == "not":
        return NotCondition(read(value, predicates, place, depth + 1))
    if not isinstance(value, list | tuple) or not value:
        raise HostError(f"{_at(place)}a list of conditions is expected, not {shown(value)}")
    parts = [read(part, predicates, f"{place}[{index}]", depth + 1) for index, part in enumerate(value)]
    return AndCondition(*parts) if key == "all" else OrCondition(*parts)


def _leaf(key: str, data: Mapping[str, Any], predicates: Named) -> TerminationCondition:
    value = data[key]
    if key in _VALUES:
        return _VALUES[key](value)
    if key == "custom":
        return CustomCondition(_function(value, predicates), name=value)
    if key == "tool_called":
        return _called(value, data, predicates)
    if value is not True:
        raise HostError(f"`no_tool_calls` is true, not {shown(value)}")
    return NoToolCalls()


def _called(name: Any, data: Mapping[str, Any], predicates: Named) -> ToolCalled:
    args = data.get("args")
    if "args" in data and not isinstance(args, Mapping):
        raise HostError(f"`args` is a map of arguments, not {shown(args)}")
    if "predicate" in data:
        if "args" in data:
            raise HostError("`args` and `predicate` beside one another: a condition has one of them")
        args = _function(data["predicate"], predicates)
    rest = {key: data[key] for key in ("where", "expect") if key in data}
    return ToolCalled(name, args, data.get("require_success", False), **rest)


def _function(name: Any, predicates: Named) -> Callable[..., Any]:
    if not isinstance(name, str) or name not in predicates:
        given = ", ".join(f"`{known}`" for known in predicates) or "none"
        raise HostError(f"the function {shown(name)} is not among those in `predicates` ({given})")
    return predicates[name]


def _at(place: str) -> str:
    return f"in `{place}`: " if place else ""

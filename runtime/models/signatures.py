"""A function's parameters, as far as a caller can give them by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from guideway.statemachine.errors import HostError

GIVE_A_TOOL = "give a Tool with `parameters` instead"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter."""

    name: str
    required: bool
    default: Any
    positional_only: bool = False


def parameters_of(function: Callable[..., Any], name: str) -> tuple[list[Parameter], str | None]:
    """
    The parameters that a model may give, and the name of a `**rest`, if the function has one.

    What `functools.partial` has bound by name is the host's, and no model's to give.

    Raises:
        HostError: the signature cannot be read, has `*args`, or is that of a method without its object.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as fault:
        raise HostError(f"the signature of the tool `{name}` cannot be read; {GIVE_A_TOOL}") from fault
    bound = function.keywords if isinstance(function, functools.partial) else {}
    found: list[Parameter] = []
    rest: str | None = None
    for each in signature.parameters.values():
        if each.kind is each.VAR_POSITIONAL:
            raise HostError(
                f"the tool `{name}` takes `*{each.name}`, and a model names its arguments; "
                f"take a list under a name, or {GIVE_A_TOOL}"
            )
        if each.kind is each.VAR_KEYWORD:
            rest = each.name
        elif each.name not in bound:
            required = each.default is each.empty
            found.append(Parameter(each.name, required, each.default, each.kind is each.POSITIONAL_ONLY))
    _check_method(function, name, found)
    return found, rest


def _check_method(function: Callable[..., Any], name: str, found: list[Parameter]) -> None:
    if inspect.isfunction(function) and found and found[0].name == "self" and "." in function.__qualname__:
        raise HostError(f"the tool `{name}` is a method without its object; give that of an object: thing.{name}")


def name_of(function: Callable[..., Any]) -> str:
    """
    The name under which a function is a tool, empty where it has none.

    >>> name_of(functools.partial(sorted, reverse=True)), name_of(lambda: 1)
    ('sorted', '')
    """
    inner = function.func if isinstance(function, functools.partial) else function
    name = getattr(inner, "__name__", None) or type(inner).__name__
    return name if name.isidentifier() else ""


def is_async(function: Callable[..., Any]) -> bool:
    """A call of it makes a coroutine, which belongs on the event loop."""
    inner = function.func if isinstance(function, functools.partial) else function
    return inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(getattr(inner, "__call__", None))  # noqa: B004

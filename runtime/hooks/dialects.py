"""Which dialect a hook speaks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from guideway.statemachine.errors import HostError

from .layers import Layer
from .methods import Hook
from .methods_layer import MethodsLayer
from .native import POINTS, NativeLayer
from .provider import METHODS as OF_PROVIDERS
from .provider import HookProvider
from .provider_layer import ProviderLayer
from .registry import Registry
from .registry_layer import RegistryLayer
from .verdict import AgentHooks
from .verdict_layer import VerdictLayer

Maker = Callable[[list[Any]], Layer]
KNOWN = (*POINTS, *OF_PROVIDERS)


def dialect_of(hook: Any) -> Maker:
    """
    The layer for a hook: by its base class, or, for a provider, by the names of its methods; else it is native.

    Raises:
        HostError: it is no hook.
    """
    if isinstance(hook, type):
        raise HostError(f"{hook.__name__} is a class; give an object of it, {hook.__name__}()")
    if isinstance(hook, AgentHooks):
        return VerdictLayer
    if isinstance(hook, Registry):
        return RegistryLayer
    if isinstance(hook, Hook):
        return MethodsLayer
    if isinstance(hook, HookProvider) or any(callable(getattr(hook, name, None)) for name in OF_PROVIDERS):
        check_names(hook)
        return ProviderLayer
    check_names(hook)
    if speaks_of_methods(hook):
        return MethodsLayer
    if not any(callable(getattr(hook, name, None)) for name in POINTS):
        raise HostError(f"{type(hook).__name__} is no hook: it has none of the methods {', '.join(POINTS)}")
    return NativeLayer


def speaks_of_methods(hook: Any) -> bool:
    """Its methods take what seed two's do: `ctx`, `call`, and of `after_tool` and `on_end` two of them."""
    for name in ("on_start", "before_model", "after_model", "before_tool", "after_tool", "on_end"):
        method = getattr(hook, name, None)
        if not callable(method):
            continue
        try:
            taken = list(inspect.signature(method).parameters)
        except (TypeError, ValueError):
            continue
        if taken[:1] in (["ctx"], ["call"]) or (name in ("after_tool", "on_end") and len(taken) == 2):
            return True
    return False


def check_names(hook: Any) -> None:
    """
    A misspelt method would never be asked.

    Raises:
        HostError: a method has nearly the name of one of a hook's.
    """
    for name in dir(hook):
        if name in KNOWN or not name.startswith(("on_", "befor", "after")) or not callable(getattr(hook, name)):
            continue
        near = get_close_matches(name, KNOWN, n=1, cutoff=0.75)
        if near:
            raise HostError(f"{type(hook).__name__}.{name} is no method of a hook; did you mean `{near[0]}`?")

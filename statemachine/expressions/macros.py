"""`all exists filter map`: bounded walks over a list, or over the keys of a map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .env import TOO_COSTLY, Env, Run
from .nodes import Macro, Node, walk
from .unknown import Unknown
from .values import is_list, kind

_Walk = Callable[[Env, Any, Run, int], Any]


def compile_macro(node: Macro, compile_tree: Callable[[Node], Run]) -> Run:
    """
    Compile a macro.

    The element stands in `env.item` while the body runs; what stood there is put back, so a term with a macro of
    its own can be read from within a body.
    """
    receiver, body = compile_tree(node.receiver), compile_tree(node.body)
    price = 1 + sum(1 for _ in walk(node.body)) // 8
    steps, name = _WALKS[node.macro], node.macro

    def run(env: Env) -> Any:
        holder = receiver(env)
        if type(holder) is Unknown:
            return holder
        if not is_list(holder) and not isinstance(holder, Mapping):
            return Unknown(f"`{name}` wants a list or a map, not {kind(holder)}")
        outer = env.item
        value = steps(env, holder, body, price)
        env.item = outer
        return value

    return run


def _search(decides: bool, name: str) -> _Walk:
    """`all` and `exists` are `&&` and `||` over the elements, with the same treatment of doubt."""

    def steps(env: Env, holder: Any, body: Run, price: int) -> Any:
        doubt: Any = None
        for element in holder:
            if not env.spend(price):
                return TOO_COSTLY
            env.item = element
            value = body(env)
            if value is decides:
                return decides
            if value is not (not decides) and doubt is None:
                doubt = value if type(value) is Unknown else _no_bool(name, value)
        return (not decides) if doubt is None else doubt

    return steps


def _filter(env: Env, holder: Any, body: Run, price: int) -> Any:
    kept = []
    for element in holder:
        if not env.spend(price):
            return TOO_COSTLY
        env.item = element
        value = body(env)
        if value is True:
            kept.append(element)
        elif value is not False:
            return value if type(value) is Unknown else _no_bool("filter", value)
    return kept


def _map(env: Env, holder: Any, body: Run, price: int) -> Any:
    made = []
    for element in holder:
        if not env.spend(price):
            return TOO_COSTLY
        env.item = element
        value = body(env)
        if type(value) is Unknown:
            return value
        made.append(value)
    return made


def _no_bool(name: str, value: Any) -> Unknown:
    return Unknown(f"the condition of `{name}` wants a bool, not {kind(value)}")


_WALKS: dict[str, _Walk] = {
    "all": _search(False, "all"), "exists": _search(True, "exists"), "filter": _filter, "map": _map,
}  # fmt: skip

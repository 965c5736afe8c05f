"""The arguments that a `ToolCalled` asks for: some that must agree, or a function of all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from guideway.statemachine.canonical import canonical, normal
from guideway.statemachine.errors import HostError
from guideway.statemachine.expressions import Expression, ExpressionError, parse
from guideway.statemachine.expressions.names import WORDS

from .checks import shown

Predicate = Callable[[Mapping[str, Any]], bool]
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


def wanted(args: object) -> Any:
    """
    A copy of the arguments that are asked for, or the function as it is.

    Raises:
        HostError: they are neither, or no JSON.
    """
    if args is None or (callable(args) and not isinstance(args, Mapping)):
        return args
    if not isinstance(args, Mapping):
        raise HostError(f"ToolCalled: args is a map of arguments, or a function of them, not {shown(args)}")
    try:
        return normal(args)
    except ValueError as fault:
        raise HostError(f"ToolCalled: args is no JSON: {fault}") from None


def identity(args: Any) -> Any:
    """What two conditions must share to ask for the same arguments: one text for a map, the function itself."""
    return canonical(args) if isinstance(args, dict) else args


def agree(args: Any, given: Mapping[str, Any]) -> bool | None:
    """
    Say whether a call has these arguments, in JSON's own sense of equal; None where a function cannot say.

    >>> agree({"n": 1}, {"n": 1.0, "more": 2}), agree({"n": 1}, {"n": True}), agree({"n": 1}, {})
    (True, False, False)
    """
    if args is None:
        return True
    if isinstance(args, dict):
        return all(key in given and same(value, given[key]) for key, value in args.items())
    try:
        answer = args(given)
    except Exception:
        return None
    return answer if isinstance(answer, bool) else None


def same(left: Any, right: Any) -> bool:
    """Two values are one and the same JSON."""
    try:
        return canonical(left) == canonical(right)
    except ValueError:
        return False


def rule(source: str | None, key: str, may_read: frozenset[str]) -> Expression | None:
    """
    Read `where` or `expect`.

    Raises:
        HostError: it is no expression, or reads what a condition outside of a playbook cannot know.
    """
    if source is None:
        return None
    try:
        expression = parse(source)
    except (ExpressionError, TypeError) as fault:
        at = f" at character {fault.offset}" if isinstance(fault, ExpressionError) else ""
        raise HostError(f"ToolCalled: `{key}` is no expression{at}: {fault}") from None
    for read in expression.reads:
        if read.path[0] not in may_read:
            known = " and ".join(f"`{name}`" for name in sorted(may_read))
            raise HostError(
                f"ToolCalled: `{key}` reads `{read.path[0]}`, and outside of a playbook knows only {known}; "
                "write the condition into the playbook's `termination`"
            )
    return expression


def expression_of(args: Mapping[str, Any]) -> str:
    """
    The arguments that are asked for, as a playbook's `where`.

    Raises:
        HostError: one is a map, or holds one, for which expressions have no way of writing.

    >>> expression_of({"host": "ws-7", "in": [1, -2]})
    'has(args.host) && args.host == "ws-7" && has(args["in"]) && args["in"] == [1, -2]'
    """
    pairs = [(_argument(key), _literal(key, value)) for key, value in args.items()]
    return " && ".join(f"has({place}) && {place} == {value}" for place, value in pairs)  # missing: no, not unknown


def _argument(key: str) -> str:
    plain = _PLAIN.fullmatch(key) and key not in WORDS
    return f"args.{key}" if plain else f"args[{_quoted(key)}]"


def _literal(key: str, value: Any) -> str:
    if isinstance(value, dict):
        raise HostError(
            f"expressions have no way of writing a map, and the argument `{key}` is or holds one: "
            f"compare its parts in `where`, such as {_argument(key)}.PART == …"
        )
    if isinstance(value, list):
        return f"[{', '.join(_literal(key, item) for item in value)}]"
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

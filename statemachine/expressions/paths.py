"""Paths: how they are read off the tree, shown in messages, and followed through data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from .env import Env, Lazy, Run
from .literals import GREATEST, LEAST
from .nodes import Call, Index, Literal, Macro, Name, Node, Select, children
from .unknown import Unknown
from .values import is_list, kind

Path: TypeAlias = tuple[str | int, ...]

_MISSING: Any = object()


class Read(NamedTuple):
    """
    One path that an expression reads, as far as it is fixed in the text.

    `tested` says that it stands inside `has(…)` or is the first argument of `default(…)`, so its absence is
    provided for.
    """

    path: Path
    offset: int
    tested: bool


def show(path: Iterable[str | int]) -> str:
    """
    Write a path as an author does.

    >>> show(("facts", "get-user", "roles", 0))
    'facts["get-user"].roles[0]'
    """
    text = ""
    for step in path:
        if isinstance(step, str) and (step == "…" or (step.isidentifier() and step.isascii())):
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text


def split(node: Node) -> tuple[Node, Path]:
    """
    Take the fixed steps off the end of a path: what they start from, and the steps.

    The start is a `Name`, or whatever else the first fixed step is taken from.
    """
    steps: list[str | int] = []
    while True:
        step = step_of(node)
        if step is None or not isinstance(node, (Select, Index)):
            return node, tuple(reversed(steps))
        steps.append(step)
        node = node.base


def step_of(node: Node) -> str | int | None:
    """Give the step that this node adds to a path; None when it adds none, or one known at run time only."""
    if isinstance(node, Select):
        return node.field
    if isinstance(node, Index) and isinstance(node.index, Literal):
        value = node.index.value
        if isinstance(value, str) or (type(value) is int and value >= 0):
            return value
    return None


def reads_of(tree: Node) -> tuple[Read, ...]:
    """Give every longest fixed path that the tree reads, in the order of the text."""
    found: list[Read] = []
    _collect(tree, False, found)
    return tuple(found)


def _collect(node: Node, tested: bool, found: list[Read]) -> None:
    start, steps = split(node)
    if isinstance(start, Name):
        if not start.bound:
            found.append(Read((start.name, *steps), start.offset, tested))
    elif steps:
        _collect(start, tested, found)
    elif isinstance(node, Call):
        _collect_call(node, tested, found)
    elif isinstance(node, Macro):
        _collect(node.receiver, tested, found)
        _collect(node.body, tested, found)
    else:
        for child in children(node):
            _collect(child, tested, found)


def _collect_call(call: Call, tested: bool, found: list[Read]) -> None:
    if call.function == "predicate" and isinstance(call.args[0], Literal):
        found.append(Read(("predicate", str(call.args[0].value)), call.offset, tested))
        return
    for place, child in enumerate(children(call)):
        provided = call.function == "has" or (call.function == "default" and place == 0)
        _collect(child, tested or provided, found)


def follow_root(root: str, steps: Path) -> Run:
    """Compile the reading of `root.step.step…` from the scope."""
    if root == "now":
        return _follow_now(steps)
    if root == "terms" and steps:
        return _follow_terms(steps)
    missing = Unknown(f"{show((root, *steps))} is missing")
    whole = (root, *steps)

    def one(env: Env) -> Any:
        holder = env.scope.get(root)
        if type(holder) is dict:
            return holder.get(key, missing)
        return _explain(env.scope, whole, 0)

    def several(env: Env) -> Any:
        value = env.scope.get(root)
        for step in steps:
            if type(value) is not dict:
                return _explain(env.scope, whole, 0)
            value = value.get(step, _MISSING)
        return _explain(env.scope, whole, 0) if value is _MISSING else value

    def none(env: Env) -> Any:
        value = env.scope.get(root, missing)
        return Unknown(f"{root} is read by its fields") if isinstance(value, Lazy) else value

    if not steps:
        return none
    key = steps[0]
    return one if len(steps) == 1 else several


def _follow_terms(steps: Path) -> Run:
    def run(env: Env) -> Any:
        holder = env.scope.get("terms")
        if not isinstance(holder, Lazy):
            return _explain(env.scope, ("terms", *steps), 0)
        value = holder.look_up(str(steps[0]), env)
        return _explain(value, ("terms", *steps), 2) if len(steps) > 1 else value

    return run


def _follow_now(steps: Path) -> Run:
    from .clock import utc

    unknown = Unknown("the time is not known here")
    no_fields = Unknown("now is a timestamp, it has no fields")

    def run(env: Env) -> Any:
        if env.now is None:
            return unknown
        return no_fields if steps else utc(env.now)

    return run


def follow(start: Run, shown: Path, steps: Path) -> Run:
    """Compile the reading of fixed steps from any other start; `shown` names the start in messages."""
    whole = (*shown, *steps)

    def run(env: Env) -> Any:
        value = start(env)
        return value if type(value) is Unknown else _explain(value, whole, len(shown))

    return run


def take(holder: Any, step: Any, before: Path) -> Any:
    """Take one step, known at run time only."""
    if type(holder) is Unknown:
        return holder
    if type(step) is Unknown:
        return step
    if type(step) is str or (type(step) is int and LEAST <= step <= GREATEST):
        return _step(holder, step, before)
    if type(step) is int:  # not to be written into a message: it may have any number of digits
        return Unknown(f"{show(before)}[…] is out of range")
    return Unknown(f"{show(before)}[…] wants a position or a key, not {kind(step)}")


def _explain(value: Any, path: Path, first: int) -> Any:
    """Follow the path slowly, through any mapping, and say where it ends if it does."""
    for place in range(first, len(path)):
        if type(value) is Unknown:
            return value
        value = _step(value, path[place], path[:place])
    return value


def _step(holder: Any, step: str | int, before: Path) -> Any:
    if isinstance(holder, Mapping):
        value = holder.get(step, _MISSING) if type(step) is str else _MISSING
        return Unknown(f"{show((*before, step))} is missing") if value is _MISSING else value
    if is_list(holder):
        if type(step) is int and 0 <= step < len(holder):
            return holder[step]
        if type(step) is int:
            return Unknown(f"{show((*before, step))} is out of range: the list has {len(holder)} items")
        return Unknown(f"{show(before)} is a list, it has no field `{step}`")
    what = f"field `{step}`" if type(step) is str else f"item {step}"
    return Unknown(f"{show(before) or 'the scope'} is {kind(holder)}, it has no {what}")

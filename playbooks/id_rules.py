"""Rules of names: every step and branch has one of its own, loop names can be read in expressions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Literal

from guideway.statemachine.expressions.names import ROOTS, WORDS

from .faults import Fault, Path, short
from .plain_steps import branches, inside, is_branch

_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*|_[A-Za-z0-9][A-Za-z0-9_]*")
_CONTROL_ARGUMENTS = ("result", "confidence", "step")
"""What `complete_step` takes besides the claims."""
_REGISTERS = ("confidence", "text")
"""What stands in `claims` besides the steps."""


def id_faults(steps: Iterable[tuple[dict[str, Any], Path]], taken: Collection[str]) -> Iterator[Fault]:
    """Check that ids are unique over the whole file, branches and `finally` included, and no word for an end."""
    first: dict[str, Path] = {}
    for name, path in _names(steps):
        earlier = first.setdefault(name, path)
        if name in taken:
            message = f"{_what(path)} `{name}` is the word for an end, so `next: {name}` would mean two things"
            yield Fault("GW027", path, message, f"rename the {_what(path).split()[0]}", _at(path))
        if earlier is not path:
            yield _twice(name, path, earlier)


def _twice(name: str, path: Path, earlier: Path) -> Fault:
    alike = is_branch(path) == is_branch(earlier)
    message = f"{_what(path)} `{name}` is used twice" if alike else f"`{name}` names a branch and a step"
    repair = (
        "rename one of the steps"
        if alike and not is_branch(path)
        else "rename one of them: steps and branches share one set of names"
    )
    return Fault("GW029", path, message, repair, _at(path), ((earlier, "first used here"),))


def _at(path: Path) -> Literal["key", "value"]:
    return "key" if is_branch(path) else "value"


def _what(path: Path) -> str:
    return "branch" if is_branch(path) else "step id"


def _names(steps: Iterable[tuple[dict[str, Any], Path]]) -> Iterator[tuple[str, Path]]:
    for step, path in steps:
        name = step.get("id")
        if type(name) is str and not is_branch(path):
            yield name, (*path, "id")
        if "parallel" in step:
            yield from ((name, (*path, "parallel", name)) for name in branches(step))


def name_faults(step: dict[str, Any], path: Path) -> Iterator[Fault]:
    """Check the id of a branch that is one step, the names of claims and the name of a loop's item."""
    name = step.get("id")
    if is_branch(path) and type(name) is str and name != path[-1]:
        message = f"a branch that is one step is called like the branch, `{short(str(path[-1]))}`; `id` says otherwise"
        yield Fault("GW040", (*path, "id"), message, "delete `id`, or rename the branch", "key")
    if isinstance(step.get("claims"), dict):
        yield from _claim_faults(step["claims"], path[-1] if is_branch(path) else name, path)
    loop = step.get("for_each")
    item = loop.get("as") if isinstance(loop, dict) else None
    if isinstance(item, str) and item:
        yield from _item_faults(item, (*path, "for_each", "as"))
        yield from _hidden(item, step, path)


def _claim_faults(claims: dict[str, Any], step_id: Any, path: Path) -> Iterator[Fault]:
    for word in _CONTROL_ARGUMENTS:
        if word in claims:
            message = f"a claim cannot be called `{word}`: that is an argument of `complete_step` already"
            yield Fault("GW027", (*path, "claims", word), message, "choose another word", "key")
    if claims and step_id in _REGISTERS:
        message = f"a step with `claims` cannot be called `{step_id}`: `claims.{step_id}` is no step's"
        yield Fault("GW027", (*path, "id"), message, "rename the step")


def _item_faults(name: str, path: Path) -> Iterator[Fault]:
    """An item is called by a word that expressions can read, and that means nothing else."""
    if name in ROOTS or name in WORDS:
        message = f"an item cannot be called `{name}`: expressions read something else by that name"
        yield Fault("GW027", path, message, "choose another word")
    elif not name.startswith("__") and not _PLAIN_WORD.fullmatch(name):
        plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
        repair = (
            f"write `{plain}`"
            if name.isascii() and _PLAIN_WORD.fullmatch(plain)
            else "use letters, digits and `_`, a letter first"
        )
        yield Fault("GW026", path, f"expressions cannot read an item called `{short(name)}`", repair)


def _hidden(name: str, step: dict[str, Any], path: Path) -> Iterator[Fault]:
    """A loop inside another calls its items otherwise."""
    for inner, at in inside(step, path):
        loop = inner.get("for_each")
        if isinstance(loop, dict) and loop.get("as") == name:
            message = f"the loop around this one calls its items `{name}` as well, and could not be read here"
            related = (((*path, "for_each", "as"), "the loop around it"),)
            yield Fault("GW040", (*at, "for_each", "as"), message, "choose another word", related=related)

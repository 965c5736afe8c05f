"""The steps of a playbook as plain data, at any depth, whatever else is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .faults import Path

LISTS = ("steps", "finally")


def plain_steps(data: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Path]]:
    """
    Every map that stands in the place of a step, in the order of the page, with its path.

    >>> for step, path in plain_steps({"steps": [{"parallel": {"a": {}, "b": [{}, 3]}}]}): print(path)
    ('steps', 0)
    ('steps', 0, 'parallel', 'a')
    ('steps', 0, 'parallel', 'b', 0)
    """
    for key in LISTS:
        yield from _listed(data.get(key), (key,))


def _listed(steps: Any, path: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    if type(steps) is not list:
        return
    for index, step in enumerate(steps):
        if type(step) is dict:
            yield step, (*path, index)
            if "parallel" in step or "steps" in step:
                yield from inside(step, (*path, index))


def inside(step: dict[str, Any], path: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """Every map in the place of a step that lies in this one, at any depth."""
    for name, branch in branches(step).items():
        here: Path = (*path, "parallel", name)
        if type(branch) is dict:
            yield branch, here
            yield from inside(branch, here)
        else:
            yield from _listed(branch, here)
    yield from _listed(step.get("steps"), (*path, "steps"))


def branches(step: dict[str, Any]) -> dict[str, Any]:
    """The branches of a step by name; none where there are none, or where `parallel` is no map."""
    found = step.get("parallel")
    return found if type(found) is dict else {}


def is_branch(path: Path) -> bool:
    """
    Tell a branch that is one step from a step of a list.

    >>> is_branch(("steps", 0, "parallel", "a")), is_branch(("steps", 0, "parallel", "a", 0))
    (True, False)
    """
    return len(path) > 1 and path[-2] == "parallel" and isinstance(path[-1], str)

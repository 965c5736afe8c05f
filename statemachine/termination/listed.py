"""Conditions in place of items in a playbook that is written as a dict."""

from __future__ import annotations

from typing import Any

from .base import TerminationCondition
from .combine import OrCondition


def items(condition: TerminationCondition) -> list[dict[str, Any]]:
    """
    The condition as a playbook's whole `termination`: each branch of an `|` is an item, so that it ends under its name.

    Raises:
        HostError: as `to_playbook`.

    >>> from guideway.termination import MaxIterations, NoToolCalls
    >>> items(NoToolCalls() | MaxIterations(3))
    [{'no_tool_calls': True}, {'max_iterations': 3}]
    """
    branches = condition.conditions if isinstance(condition, OrCondition) else (condition,)
    return [branch.to_playbook() for branch in branches]


def written_out(termination: Any) -> Any:
    """
    What stands under `termination`, with every condition in it written as a playbook writes it.

    Raises:
        HostError: as `to_playbook`.

    >>> from guideway.termination import MaxIterations, NoToolCalls
    >>> written_out([{"not": NoToolCalls()}, {"tool_called": "x"}, MaxIterations(3)])
    [{'not': {'no_tool_calls': True}}, {'tool_called': 'x'}, {'max_iterations': 3}]
    """
    if isinstance(termination, TerminationCondition):
        return items(termination)
    if isinstance(termination, list):
        return [made for item in termination for made in _item(item)]
    return _inside(termination)


def _item(item: Any) -> list[Any]:
    return items(item) if isinstance(item, TerminationCondition) else [_inside(item)]


def _inside(item: Any) -> Any:
    """Conditions below `all`, `any` and `not`, one level deep: deeper ones can be made of conditions themselves."""
    if not isinstance(item, dict):
        return item
    made = dict(item)
    for key in ("all", "any", "not"):
        value = made.get(key)
        if isinstance(value, list):
            made[key] = [part.to_playbook() if isinstance(part, TerminationCondition) else part for part in value]
        elif isinstance(value, TerminationCondition):
            made[key] = value.to_playbook()
    return made

"""What must hold before a run begins."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from difflib import get_close_matches
from typing import Any

from guideway.statemachine.definition import Definition
from guideway.statemachine.errors import HostError

from .facts import copy
from .schemas import problem


def check_start(definition: Definition, now: datetime | None) -> None:
    """
    Refuse to start without what the run will need.

    Raises:
        HostError: skills nobody resolved, or no `now` where the playbook keeps time (S7).
    """
    if definition.unresolved_skills:
        names = ", ".join(f"`{name}`" for name in definition.unresolved_skills)
        raise HostError(f"nobody said what tools these skills stand for: {names}; give load(..., skills={{...}})")
    if now is None and definition.timed:
        raise HostError(f"`{definition.id}` keeps time; start the session with now=datetime.now(UTC)")


def check_inputs(definition: Definition, given: Mapping[str, Any]) -> dict[str, Any]:
    """
    Copy the inputs, defaults filled in.

    Raises:
        HostError: one is missing, unknown, no JSON, or against its schema.
    """
    for name in given:
        if name not in definition.inputs:
            near = get_close_matches(name, definition.inputs, n=1)
            raise HostError(f"`{definition.id}` takes no input `{name}`" + (f"; did you mean `{near[0]}`?" if near else ""))
    values: dict[str, Any] = {}
    for name, declared in definition.inputs.items():
        if name in given:
            values[name] = check_one(name, declared.schema, given[name])
        elif declared.default is not None:
            values[name] = copy(declared.default)
        elif declared.required:
            raise HostError(f"`{definition.id}` needs the input `{name}`")
    return values


def check_one(name: str, schema: Mapping[str, Any], given: Any) -> Any:
    """A copy of one input that keeps its schema."""
    try:
        value = copy(given)
    except ValueError as error:
        raise HostError(f"input `{name}`: {error}") from None
    if wrong := problem(schema or None, value):
        raise HostError(f"input `{name}`: {wrong}")
    return value

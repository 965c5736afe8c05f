"""Short ways to compile in tests."""

from __future__ import annotations

from typing import Any

from guideway.compiler import compile_playbook
from guideway.playbooks.loader import load_playbook
from guideway.statemachine.definition import Definition


def lower(*steps: dict[str, Any], **top: Any) -> Definition:
    """Compile a playbook of these steps, which must be free of errors."""
    compiled = compile_playbook(load_playbook({"id": "p", "name": "P", "steps": list(steps), **top}))
    assert compiled.definition is not None, [str(finding) for finding in compiled.diagnostics]
    return compiled.definition


def agent(name: str, *tools: Any, **keys: Any) -> dict[str, Any]:
    """An agent's step."""
    return {"id": name, "description": name, "expected_tools": list(tools or [f"t_{name}"]), **keys}


def edges(definition: Definition, state: str) -> dict[str, list[tuple[str, str | None]]]:
    """The edges of a state: by event, its branches as (target, guard)."""
    return {
        event: [(edge.target, edge.guard.source if edge.guard else None) for edge in branches]
        for event, branches in definition.states[state].edges.items()
    }


def plain(definition: Definition, state: str) -> dict[str, str]:
    """The edges of a state that has one unguarded branch for each event."""
    found = edges(definition, state)
    assert all(len(branches) == 1 and branches[0][1] is None for branches in found.values()), found
    return {event: branches[0][0] for event, branches in found.items()}

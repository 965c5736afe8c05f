"""
What no single key can know: rules between keys, steps and lists.

They look at plain data, so that a broken step does not hide the faults of another; whatever has the wrong type is
passed over here, the models report it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .approval_rules import approval_faults
from .branch_rules import branch_faults
from .faults import Fault, Path, short
from .finally_rules import finally_faults
from .id_rules import id_faults
from .inputs import OWN_KEYS
from .plain_steps import plain_steps
from .policy_rules import policy_faults
from .schema_rules import schema_faults
from .step_rules import deadline_faults, step_faults
from .termination_rules import termination_faults

RESERVED = ("success", "stopped", "failed", "escalated", "done", "incomplete")
"""The words for ends that every playbook has; `incomplete` is given by the engine only."""
_ENGINE_ENDS = ("failed:", "stopped:", "incomplete:")


def rule_faults(data: dict[str, Any]) -> Iterator[Fault]:
    """Check a whole playbook, given as plain data in the flat form."""
    yield from _outcomes(maps(data.get("outcomes")))
    yield from _inputs(maps(data.get("inputs")))
    yield from _tools(maps(data.get("tools")))
    yield from _defaults(data.get("defaults"))
    yield from termination_faults(data.get("termination"))
    yield from policy_faults(data.get("policies"))
    steps = list(plain_steps(data))
    yield from id_faults(steps, frozenset(RESERVED).union(maps(data.get("outcomes"))))
    for step, path in steps:
        yield from step_faults(step, path)
    yield from finally_faults(data.get("finally"))


def maps(value: Any) -> dict[str, Any]:
    """The value if it is a map, else an empty one."""
    return value if isinstance(value, dict) else {}


def _outcomes(outcomes: dict[str, Any]) -> Iterator[Fault]:
    for word in outcomes:
        if word in RESERVED or word.startswith(_ENGINE_ENDS):
            yield Fault(
                "GW027",
                ("outcomes", word),
                f"outcome `{word}` is a word of the engine's own",
                "choose another word",
                "key",
            )


def _inputs(inputs: dict[str, Any]) -> Iterator[Fault]:
    for name, value in inputs.items():
        if isinstance(value, dict):
            own = [key for key in OWN_KEYS if key in value and not (key == "required" and isinstance(value[key], list))]
            yield from schema_faults(value, ("inputs", name), frozenset(own))


def _tools(tools: dict[str, Any]) -> Iterator[Fault]:
    for name, tool in tools.items():
        if not isinstance(tool, dict):
            continue
        path: Path = ("tools", name)
        for key in ("parameters", "result"):
            if isinstance(tool.get(key), dict):
                yield from schema_faults(tool[key], (*path, key))
        yield from branch_faults(tool, path)
        yield from approval_faults(tool, path)
        yield from _reversal(tool.get("undo"), path)


def _reversal(undo: Any, path: Path) -> Iterator[Fault]:
    name, here = (undo.get("tool"), ("undo", "tool")) if isinstance(undo, dict) else (undo, ("undo",))
    if isinstance(name, str) and "*" in name:
        message = f"`{short(name)}` is a pattern; a call is taken back by one tool"
        yield Fault("GW033", (*path, *here), message, "name the tool")


def _defaults(defaults: Any) -> Iterator[Fault]:
    if isinstance(defaults, dict):
        yield from branch_faults(defaults, ("defaults",))
        yield from deadline_faults(defaults, ("defaults",))

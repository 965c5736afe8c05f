"""
What no single key can know: rules between keys, steps and lists.

They look at plain data, so that a broken step does not hide the faults of another; whatever has the wrong type is
passed over here, the models report it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .branch_rules import branch_faults
from .faults import Fault, Path
from .inputs import OWN_KEYS
from .schema_rules import schema_faults
from .step_rules import approval_faults, deadline_faults, step_faults
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
    if data.get("strict_sequence") is False:
        message = "`strict_sequence: false` is not supported by this version yet"
        yield Fault(
            "GW045", ("strict_sequence",), message, "delete the key: the steps run in the order of the page", "key"
        )
    steps = data.get("steps")
    if isinstance(steps, list):
        taken = frozenset(RESERVED).union(maps(data.get("outcomes")))
        yield from _ids(steps, taken)
        for index, step in enumerate(steps):
            if isinstance(step, dict):
                yield from step_faults(step, ("steps", index))


def maps(value: Any) -> dict[str, Any]:
    """The value if it is a map, else an empty one."""
    return value if isinstance(value, dict) else {}


def _ids(steps: list[Any], taken: frozenset[str]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for index, step in enumerate(steps):
        name = step.get("id") if type(step) is dict else None
        if type(name) is not str:
            continue
        path: Path = ("steps", index, "id")
        if name in taken:
            message = f"step id `{name}` is the word for an end, so `next: {name}` would mean two things"
            yield Fault("GW027", path, message, "rename the step")
        earlier = first.setdefault(name, index)
        if earlier != index:
            origin: Path = ("steps", earlier, "id")
            yield Fault(
                "GW029",
                path,
                f"step id `{name}` is used twice",
                "rename one of the steps",
                related=((origin, "first used here"),),
            )


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


def _defaults(defaults: Any) -> Iterator[Fault]:
    if isinstance(defaults, dict):
        yield from branch_faults(defaults, ("defaults",))
        yield from deadline_faults(defaults, ("defaults",))

"""Rules of the kinds of steps: one kind to a step, its companions beside it, and no key that it would ignore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .faults import Fault, Path

_SINGLE = ("call", "switch", "ask", "wait", "playbook", "parallel", "for_each", "undo")
_AGENT = ("expected_tools", "optional_tools")
KIND_KEYS = (*_SINGLE, "repeat", "steps", *_AGENT)
"""The keys that say, or help to say, what a step does."""

_CLAIMED = ("claims", "required_probes")
_WORK = (*_CLAIMED, "validation", "min_tool_calls", "max_tool_calls", "order", "uses", "retry")
"""Keys about the calls of an agent or of the runtime: limits that a block would not keep."""
_LENIENT = ("call", "switch")
"""Kinds of the seed's time: beside them the keys of `_WORK` have always been taken."""


def kind_faults(step: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    """Check what the step does."""
    found = _kinds(step)
    for other in found[1:]:
        message = f"a step does one thing: `{found[0]}` and `{other}` cannot stand in the same step"
        yield Fault("GW030", (*path, other), message, _apart(found[0], other), "key")
    if "switch" in step and "next" in step:
        message = "`next` beside `switch` is never used: the branches of `switch` say where to go"
        yield Fault("GW040", (*path, "next"), message, "delete `next`, or move its target into a last branch", "key")
    if len(found) < 2:
        yield from _loops(step, path, found)
    yield from _companions(step, path)
    yield from _ignored(step, path, found)


def _kinds(step: Mapping[str, Any]) -> list[str]:
    """The kind keys, in the order of the page; `repeat` and `steps` only where they are the kind themselves."""
    found = [key for key in step if key in _SINGLE]
    if "repeat" in step and "call" not in step and ("steps" in step or found):
        found.append("repeat")
    elif "steps" in step and "for_each" not in step:
        found.append("steps")
    if "repeat" in step and "call" in step and "steps" in step:
        found.append("steps")
    return found + [key for key in _AGENT if step.get(key)][:1]


def _apart(first: str, other: str) -> str:
    loops = {"for_each", "repeat"}
    if first in loops and other in loops:
        return f"put the one inside the other: a step with `{other}` under `steps`"
    if first in loops or other in loops:
        loop, rest = (first, other) if first in loops else (other, first)
        return f"move `{rest}` into a step under `steps`, beside `{loop}`"
    return f"move `{other}` into a step of its own"


def _loops(step: Mapping[str, Any], path: Path, found: list[str]) -> Iterator[Fault]:
    if "for_each" in step and "steps" not in step:
        message = "`for_each` has nothing to do for each item: it stands beside `steps`"
        yield Fault("GW031", (*path, "for_each"), message, "add `steps: […]`", "key")
    if "repeat" in step and not step.keys() & {"call", "steps"}:
        message = "`repeat` has nothing to repeat: it stands beside `call` or `steps`"
        repair = "add `call: {tool: …}` or `steps: […]`, or use `retry` for failed calls"
        yield Fault("GW031", (*path, "repeat"), message, repair, "key")


def _companions(step: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    if step.get("join", "all") != "all" and "parallel" not in step:
        yield Fault("GW022", (*path, "join"), "`join` has no meaning without `parallel`", "delete it", "key")
    if step.get("with") and "playbook" not in step:
        if "call" in step:
            yield Fault("GW021", (*path, "with"), "unknown key `with` beside `call`; write `args` inside `call`",
                        None, "key")  # fmt: skip
        else:
            message = "`with` has no meaning without `playbook`"
            yield Fault("GW022", (*path, "with"), message, "add `playbook: ID`, or delete it", "key")


def _ignored(step: Mapping[str, Any], path: Path, found: list[str]) -> Iterator[Fault]:
    """A limit that is ignored is a gate left open."""
    if len(found) != 1 or found[0] in _AGENT:
        return
    for key in _CLAIMED if found[0] in _LENIENT or step.get("call") else _WORK:
        if step.get(key) not in (None, [], {}, "any"):
            message = f"`{key}` means nothing beside `{found[0]}`: it is about {_ABOUT.get(key, 'the calls of a step')}"
            yield Fault("GW040", (*path, key), message, _where_to(found[0]), "key")


_ABOUT = {
    "claims": "what an agent states",
    "required_probes": "what an agent looks at",
    "uses": "the tools of an agent",
    "order": "the tools of an agent",
}


def _where_to(kind: str) -> str:
    blocks = {"parallel", "for_each", "repeat", "steps"}
    return "write it on a step inside" if kind in blocks else "delete it, or write it on a step of its own"

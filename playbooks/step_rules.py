"""Rules between the keys of one step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .branch_rules import branch_faults
from .faults import Fault, Path, short
from .later import LATER
from .models import PlaybookStep

_LATER = LATER[PlaybookStep]
_AGENT = ("expected_tools", "optional_tools")
_PLAIN = frozenset({"id", "description", "expected_tools", "hints", "required", "max_tool_calls", "metadata", "next"})
"""Steps with only these keys need few of the rules; most steps of a large playbook are such."""


def step_faults(step: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    """Check one step, given as plain data."""
    if not _LATER.isdisjoint(step):
        return
    yield from _tool_names(step, path)
    if "description" not in step and not _says_itself(step):
        message = "a step for the agent without tools has no `description`"
        yield Fault("GW023", path, message, "say in `description` what the agent is to do")
    yield from branch_faults(step, path)
    if step.keys() <= _PLAIN:
        return
    yield from _kinds(step, path)
    yield from approval_faults(step, path)
    yield from deadline_faults(step, path)


def _says_itself(step: Mapping[str, Any]) -> bool:
    return any(step.get(key) is not None for key in ("call", "switch", "approval")) or bool(step.get("expected_tools"))


def _kinds(step: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    found = [key for key in ("call", "switch") if key in step] + [key for key in _AGENT if step.get(key)][:1]
    for other in found[1:]:
        message = f"a step does one thing: `{found[0]}` and `{other}` cannot stand in the same step"
        yield Fault("GW030", (*path, other), message, f"move `{other}` into a step of its own", "key")
    if "switch" in step and "next" in step:
        message = "`next` beside `switch` is never used: the branches of `switch` say where to go"
        yield Fault("GW040", (*path, "next"), message, "delete `next`, or move its target into a last branch", "key")
    if "repeat" in step and "call" not in step:
        message = "`repeat` has nothing to repeat: it stands beside `call`"
        yield Fault(
            "GW031", (*path, "repeat"), message, "add `call: {tool: …}`, or use `retry` for failed calls", "key"
        )


def _tool_names(step: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    for index, written in enumerate(_items(step, "expected_tools")):
        entry = written
        key: Path = ("expected_tools", index)
        if isinstance(entry, dict):
            entry, key = entry.get("tool"), (*key, "tool")
        if isinstance(entry, str) and "*" in entry:
            message = f"`{short(entry)}` is a pattern; an expected tool is one tool by its name"
            yield Fault("GW033", path + key, message, "name the tool, or move the pattern to `optional_tools`")
        yield from _waiver(written, (*path, "expected_tools", index))
    for index, entry in enumerate(_items(step, "optional_tools")):
        yield from _waiver(entry, (*path, "optional_tools", index))
    call = step.get("call")
    tool = call.get("tool") if isinstance(call, dict) else None
    if isinstance(tool, str) and "*" in tool:
        message = f"`{short(tool)}` is a pattern; a call is of one tool by its name"
        yield Fault("GW033", (*path, "call", "tool"), message, "name the tool")


def _items(step: Mapping[str, Any], key: str) -> list[Any]:
    items = step.get(key)
    return items if isinstance(items, list) else []


def _waiver(entry: Any, path: Path) -> Iterator[Fault]:
    if isinstance(entry, dict):
        yield from approval_faults(entry, path)


def approval_faults(owner: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    """Check the `approval` of a step, a tool or an entry: it asks something, or says why nothing is asked."""
    approval = owner.get("approval")
    here: Path = (*path, "approval")
    if approval == "none" or (isinstance(approval, dict) and approval.get("none") is True):
        reasons = (owner.get("because"), approval.get("because") if isinstance(approval, dict) else None)
        if not any(reasons):
            yield Fault(
                "GW036", here, "`approval: none` without a `because`", "write `approval: {none: true, because: …}`"
            )
        if isinstance(approval, dict) and approval.keys() & {"ask", "approvers"}:
            yield Fault(
                "GW040",
                here,
                "`none` says that nobody is asked, the other keys of `approval` that somebody is",
                "keep one",
            )
    elif isinstance(approval, dict) and not approval.keys() - {"because", "none"}:
        yield Fault("GW036", here, "`approval` asks nothing of nobody", "write `approval: {ask: …, approvers: […]}`")


def deadline_faults(owner: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    """`timeout` and `timeout_seconds` are one thing in two spellings."""
    if owner.get("timeout_seconds") is not None and "timeout" in owner:
        message = "`timeout` and `timeout_seconds` both say the deadline"
        yield Fault("GW040", (*path, "timeout_seconds"), message, "keep `timeout`", "key")

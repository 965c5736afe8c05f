"""Rules between the keys of one step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .approval_rules import approval_faults
from .block_rules import block_faults
from .branch_rules import branch_faults
from .faults import Fault, Path, short
from .id_rules import name_faults
from .kind_rules import kind_faults

SPEAKING = ("call", "switch", "approval", "ask", "wait", "playbook", "parallel", "for_each", "steps", "undo")
"""Kinds that say by themselves what is to be done."""
_PLAIN = frozenset({"id", "description", "expected_tools", "hints", "required", "max_tool_calls", "metadata", "next"})
"""Steps with only these keys need few of the rules; most steps of a large playbook are such."""


def step_faults(step: dict[str, Any], path: Path) -> Iterator[Fault]:
    """Check one step, given as plain data; the steps inside it have their own turn."""
    yield from _tool_names(step, path)
    if "description" not in step and not _says_itself(step):
        message = "a step for the agent without tools has no `description`"
        yield Fault("GW023", path, message, "say in `description` what the agent is to do")
    yield from branch_faults(step, path)
    if step.keys() <= _PLAIN and path[-2] != "parallel":
        return
    yield from name_faults(step, path)
    yield from kind_faults(step, path)
    yield from block_faults(step, path)
    yield from approval_faults(step, path)
    yield from deadline_faults(step, path)


def _says_itself(step: Mapping[str, Any]) -> bool:
    return any(step.get(key) is not None for key in SPEAKING) or bool(step.get("expected_tools"))


def _tool_names(step: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    for index, written in enumerate(_items(step, "expected_tools")):
        if type(written) is str and "*" not in written:
            continue
        entry = written
        key: Path = ("expected_tools", index)
        if isinstance(entry, dict):
            entry, key = entry.get("tool"), (*key, "tool")
        if isinstance(entry, str) and "*" in entry:
            message = f"`{short(entry)}` is a pattern; an expected tool is one tool by its name"
            yield Fault("GW033", path + key, message, "name the tool, or move the pattern to `optional_tools`")
        yield from _waiver(written, (*path, "expected_tools", index))
    for index, entry in enumerate(_items(step, "optional_tools") if "optional_tools" in step else ()):
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


def deadline_faults(owner: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    """`timeout` and `timeout_seconds` are one thing in two spellings."""
    if owner.get("timeout_seconds") is not None and "timeout" in owner:
        message = "`timeout` and `timeout_seconds` both say the deadline"
        yield Fault("GW040", (*path, "timeout_seconds"), message, "keep `timeout`", "key")

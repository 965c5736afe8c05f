"""The tools a model is offered: those that are legal now, and no other (D10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from guideway.runtime.models.messages import ToolSpec
from guideway.runtime.models.tool import Tool
from guideway.runtime.plan import plan_of
from guideway.runtime.session import Session
from guideway.runtime.situation import open_steps
from guideway.runtime.toolbox import find_tool
from guideway.runtime.verdicts import LegalCall
from guideway.statemachine.definition import Definition
from guideway.statemachine.tools import CONTROL, Effect, best_match, is_pattern

Toolset = Mapping[str, Tool]

COMPLETE = "Declare the step complete. Only what the step asks for completes it; this never stands in for a tool."
SKIP = "Leave the step out; it is not required."


def offered(session: Session, tools: Toolset, control: bool = True) -> tuple[ToolSpec, ...]:
    """
    What the model may call now, each tool once, in the order of the playbook.

    The gate decides on every call all the same: an offer says nothing of arguments.
    """
    definition = plan_of(session.machine).definition
    found: dict[str, ToolSpec] = {}
    for call in session.legal():
        if call.tool in CONTROL:
            if control:
                found.setdefault(call.tool, control_spec(session, call.tool))
            continue
        for tool in behind(tools, definition, call):
            found.setdefault(tool.name, spec_of(tool, definition, call.tool))
    for tool in extra(tools, definition):
        found.setdefault(tool.name, tool.spec)
    return tuple(found.values())


def behind(tools: Toolset, definition: Definition, call: LegalCall) -> Iterator[Tool]:
    """The agent's tools that a legal call stands for: one of that name, or all that its pattern matches."""
    if not is_pattern(call.tool):
        if (tool := tool_for(tools, definition, call.tool)) is not None:
            yield tool
        return
    named = {name for part in definition.playbooks for name in part.named_tools if not is_pattern(name)}
    yield from (tool for name, tool in tools.items() if name not in named and best_match(name, (call.tool,)))


def tool_for(tools: Toolset, definition: Definition, name: str) -> Tool | None:
    """The agent's tool behind a name of the playbook, or of one that it calls."""
    plain = cast("Mapping[str, Any]", tools)
    found = (find_tool(plain, part, name) for part in definition.playbooks)
    return next((cast("Tool", tool) for tool in found if tool is not None), None)


def spec_of(tool: Tool, definition: Definition, name: str) -> ToolSpec:
    """The tool as the model is told of it; where it says nothing of its parameters, the playbook does."""
    declared = definition.tool(name)
    if not (tool.parameters or {}).get("properties") and declared is not None and declared.parameters:
        return ToolSpec(tool.name, tool.description, declared.parameters)
    return tool.spec


def extra(tools: Toolset, definition: Definition) -> Iterator[Tool]:
    """With `allow_extra_tools`, the tools that no step names (S34)."""
    if not definition.extra_tools:
        return
    for name, tool in tools.items():
        declared = definition.tool(name)
        unknown = declared is None and definition.closed_alphabet
        forever = declared is not None and declared.effect is Effect.IRREVERSIBLE
        named = declared.name if declared is not None else name
        if not unknown and not forever and best_match(named, definition.named_tools) is None:
            yield tool


def control_spec(session: Session, name: str) -> ToolSpec:
    """`complete_step`, with the claims that the open steps declare; or `skip_step`."""
    steps = [step for step in open_steps(session) if any(call.tool == name for call in step.legal)]
    properties: dict[str, Any] = {}
    required: list[str] = []
    if len(steps) > 1:
        properties["step"] = {"enum": [step.step.id for step in steps], "description": "which of the open steps"}
        required.append("step")
    if name == "skip_step":
        properties["reason"] = {"type": "string", "description": "why it is left out"}
        return ToolSpec(name, SKIP, schema(properties, required))
    properties["result"] = {"type": "string", "description": "what came of the step, in a sentence"}
    properties["confidence"] = {"type": "number", "minimum": 0, "maximum": 1}
    for step in steps:
        properties |= {claim: dict(kind) for claim, kind in step.step.claims.items()}
    if len(steps) == 1:
        required += steps[0].step.claims
    return ToolSpec(name, COMPLETE, schema(properties, required))


def schema(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    """A JSON Schema of an object."""
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}

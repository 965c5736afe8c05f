"""Tools, from what their author wrote to what the machine holds."""

from __future__ import annotations

from collections.abc import Mapping

from guideway.playbooks.blocks import UndoSpec
from guideway.playbooks.tools_spec import ToolSpec
from guideway.statemachine.tools import CONTROL, Effect, Reversal, Tool, is_pattern

from .approvals import lower_approval
from .contracts import bad_schema, missing_argument, name_taken, unknown_argument
from .findings import Path
from .names import unknown_tool
from .reading import Reader

__all__ = ["check_arguments", "check_names", "check_schema", "lower_approval", "lower_tools"]


def lower_tools(reader: Reader) -> dict[str, Tool]:
    """Lower the `tools` of a playbook, by name."""
    check_names(reader)
    return {name: _tool(name, spec, reader) for name, spec in reader.scope.tools.items()}


def check_names(reader: Reader) -> None:
    """A call by its framework name must mean one tool only, and never a control tool."""
    taken: dict[str, str] = {name: name for name in reader.scope.tools}
    for name, spec in reader.scope.tools.items():
        if name in CONTROL:
            reader.findings.add(("tools", name), name_taken(name, name, reader.findings.key_at(("tools", name))))
        if spec.name is None or spec.name == name:
            continue
        path: Path = ("tools", name, "name")
        if spec.name in CONTROL or spec.name in taken:
            other = taken.get(spec.name, spec.name)
            reader.findings.add(path, name_taken(spec.name, other, reader.findings.at(path)))
        taken[spec.name] = name


def _tool(name: str, spec: ToolSpec, reader: Reader) -> Tool:
    path: Path = ("tools", name)
    for key, schema in (("parameters", spec.parameters), ("result", spec.result)):
        if schema is not None:
            check_schema(schema, f"the {key} of `{name}`", (*path, key), reader, arguments=key == "parameters")
    return Tool(
        name,
        Effect(spec.effect),
        spec.idempotent,
        spec.name,
        spec.parameters,
        spec.result,
        reader.expression(spec.where, "where", (*path, "where"), name),
        spec.because,
        lower_approval(spec.approval, "call", (*path, "approval"), reader, name),
        reader.findings.key_at(path),
        _undo(spec.undo, name, (*path, "undo"), reader),
    )


def check_schema(schema: dict[str, object], what: str, path: Path, reader: Reader, *, arguments: bool = False) -> bool:
    """Report a schema that is none, or one of arguments that no arguments can fit; tell whether it is one."""
    from .schemas import no_arguments, schema_fault  # jsonschema is heavy, and most playbooks hold no schema

    fault = schema_fault(schema) or (no_arguments(schema) if arguments else None)
    if fault is not None:
        message, inside = fault
        reader.findings.add(path, bad_schema(what, message, reader.findings.at((*path, *inside))))
    return fault is None


def _undo(spec: str | UndoSpec | None, name: str, path: Path, reader: Reader) -> Reversal | None:
    """Lower what takes a success of the tool `name` back; a pattern's serves every tool that matches it."""
    if spec is None:
        return None
    undoing, place = (spec, path) if isinstance(spec, str) else (spec.tool, (*path, "tool"))
    args = None if isinstance(spec, str) else spec.args
    _check_undoing(undoing, place, reader)
    if args is None:
        _check_same_arguments(name, undoing, place, reader)
    else:
        reader.templates(args, "undo", (*path, "args"), tool=name)
        check_arguments(undoing, args, path, reader)
    return Reversal(undoing, args)


def _check_undoing(tool: str, path: Path, reader: Reader) -> None:
    scope, findings = reader.scope, reader.findings
    if tool in CONTROL:
        findings.add(path, name_taken(tool, tool, findings.at(path)))
    elif is_pattern(tool) or not scope.knows_tool(tool):
        findings.add(path, unknown_tool(tool, findings.at(path), findings.offer(scope.tools)))


def _check_same_arguments(tool: str, undoing: str, path: Path, reader: Reader) -> None:
    """An undo without `args` is given those of the call itself: what it requires must be among what the tool takes."""
    taken, needed = (spec.parameters if (spec := reader.scope.spec(name)) else None for name in (tool, undoing))
    if taken is None or needed is None:
        return
    from .schemas import argument_faults  # jsonschema is heavy, and most playbooks hold no schema

    strange, _, _ = argument_faults(needed.get("required", ()), taken)
    for name in strange:
        reader.findings.add(path, missing_argument(undoing, name, reader.findings.at(path)))


def check_arguments(tool: str, args: Mapping[str, object], path: Path, reader: Reader) -> None:
    """Compare the arguments that the playbook gives a tool (`args` at `path`) with the tool's `parameters`."""
    spec = reader.scope.spec(tool)
    if spec is None or spec.parameters is None:
        return
    from .schemas import argument_faults  # jsonschema is heavy, and most playbooks hold no schema

    unknown, missing, known = argument_faults(args, spec.parameters)
    for name in unknown:
        at: Path = (*path, "args", name)
        reader.findings.add(at, unknown_argument(tool, name, reader.findings.key_at(at), known))
    for name in missing:
        reader.findings.add(path, missing_argument(tool, name, reader.findings.at((*path, "tool"))))

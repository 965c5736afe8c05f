"""Tools and approvals, from what their author wrote to what the machine holds."""

from __future__ import annotations

from guideway.playbooks.approvals import ApprovalSpec
from guideway.playbooks.tools_spec import ToolSpec
from guideway.statemachine.steps import Approval
from guideway.statemachine.tools import CONTROL, Effect, Tool

from .contracts import bad_schema, name_taken
from .findings import Path
from .reading import Reader


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
    )


def check_schema(schema: dict[str, object], what: str, path: Path, reader: Reader, *, arguments: bool = False) -> bool:
    """Report a schema that is none, or one of arguments that no arguments can fit; tell whether it is one."""
    from .schemas import no_arguments, schema_fault  # jsonschema is heavy, and most playbooks hold no schema

    fault = schema_fault(schema) or (no_arguments(schema) if arguments else None)
    if fault is not None:
        message, inside = fault
        reader.findings.add(path, bad_schema(what, message, reader.findings.at((*path, *inside))))
    return fault is None


def lower_approval(
    spec: ApprovalSpec | None, of: str, path: Path, reader: Reader, tool: str | None = None
) -> Approval | None:
    """Lower an approval `of` a step or of a call; None where there is none or it is waived."""
    if spec is None or spec.none:
        return None
    reader.template(spec.ask or "", f"{of} ask", (*path, "ask"), tool)
    for index, approver in enumerate(spec.approvers):
        reader.template(approver, f"{of} approvers", (*path, "approvers", index), tool)
    return Approval(spec.ask or "", tuple(spec.approvers), spec.because, reader.findings.at(path))

"""`approval`: who must allow what, one rule or a list of them (S29, S30)."""

from __future__ import annotations

from dataclasses import replace

from guideway.playbooks.approvals import ApprovalSpec, rules_of
from guideway.playbooks.values import seconds
from guideway.statemachine.approvals import Approval

from .findings import Path
from .reading import Reader


def lower_approval(
    spec: ApprovalSpec | list[ApprovalSpec] | None, of: str, path: Path, reader: Reader, tool: str | None = None
) -> Approval | None:
    """
    Lower an approval `of` a "step" or of a "call"; None where there is none or it is waived.

    A list of rules is its first rule, which holds the others: the first whose `when` is true decides.
    """
    listed = isinstance(spec, list)
    rules = [
        _rule(rule, of, (*path, index) if listed else path, reader, tool)
        for index, rule in enumerate(rules_of(spec))
        if not rule.none
    ]
    return replace(rules[0], more=tuple(rules[1:])) if rules else None


def _rule(spec: ApprovalSpec, of: str, path: Path, reader: Reader, tool: str | None) -> Approval:
    reader.template(spec.ask or "", f"{of} ask", (*path, "ask"), tool)
    for key, persons in (("approvers", spec.approvers), ("except", spec.excluded)):
        for index, person in enumerate(persons):
            reader.template(person, f"{of} {key}", (*path, key, index), tool)
    everyone = spec.count == "all"
    return Approval(
        spec.ask or "",
        tuple(spec.approvers),
        spec.because,
        reader.findings.at(path),
        reader.expression(spec.when, f"{of} when", (*path, "when"), tool),
        count=max(1, len(spec.approvers)) if everyone else _number(spec.count),
        everyone=everyone,
        excluded=spec.excluded,
        timeout=None if spec.timeout is None else seconds(spec.timeout),
    )


def _number(count: int | str | None) -> int:
    """One person decides where nothing else is said."""
    return count if isinstance(count, int) else 1

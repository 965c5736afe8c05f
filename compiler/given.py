"""What a step gives the playbook that it calls (`with`), against what that one declares (`inputs`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guideway.playbooks.models import Playbook, PlaybookStep

from .calls import missing_given, unfit_given, unknown_given
from .findings import Findings, Path
from .suggest import nearest


def check_given(step: PlaybookStep, path: Path, callee: Playbook, findings: Findings) -> None:
    """Report names that are no inputs, inputs that are missing, and plain values that do not fit."""
    meant: set[str | None] = set()
    for name, value in step.with_.items():
        here: Path = (*path, "with", name)
        spec = callee.inputs.get(name)
        if spec is None:
            findings.add(here, unknown_given(callee.id, name, findings.key_at(here), callee.inputs))
            meant.add(nearest(name, callee.inputs))
        elif spec.shape and not holds_template(value):
            from .schemas import value_fault  # jsonschema is heavy, and most playbooks hold no schema

            if (fault := value_fault(value, spec.shape)) is not None:
                findings.add(here, unfit_given(callee.id, name, fault, findings.at(here)))
    for name, spec in callee.inputs.items():
        if spec.required and not spec.has_default and name not in step.with_ and name not in meant:
            findings.add(path, missing_given(callee.id, name, findings.at((*path, "playbook"))))


def holds_template(value: Any) -> bool:
    """
    Tell whether a JSON value has a text with `{{ EXPR }}` in it, and so is not known beforehand.

    >>> holds_template({"ip": ["{{ inputs.ip }}"]}), holds_template({"hours": 24})
    (True, False)
    """
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str) and "{{" in part:
            return True
        if isinstance(part, Mapping):
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return False

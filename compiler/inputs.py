"""Inputs, and whether their defaults keep what their schemas say."""

from __future__ import annotations

from guideway.playbooks.inputs import InputSpec
from guideway.statemachine.definition import Input

from .contracts import default_against_schema
from .reading import Reader
from .tools import check_schema


def lower_inputs(reader: Reader) -> dict[str, Input]:
    """Lower the `inputs` of a playbook, by name."""
    return {name: _input(name, spec, reader) for name, spec in reader.scope.playbook.inputs.items()}


def _input(name: str, spec: InputSpec, reader: Reader) -> Input:
    path = ("inputs", name)
    plain = set(spec.shape) <= {"type"} and isinstance(spec.shape.get("type", ""), str)
    if (spec.shape and not plain and check_schema(spec.shape, f"the input `{name}`", path, reader)) or plain:
        _check_default(name, spec, reader)
    return Input(name, spec.shape, spec.required and not spec.has_default, spec.default, spec.sensitive)


def _check_default(name: str, spec: InputSpec, reader: Reader) -> None:
    if not spec.has_default or not spec.shape:
        return
    from .schemas import value_fault  # jsonschema is heavy, and most playbooks hold no schema

    fault = value_fault(spec.default, spec.shape)
    if fault is not None:
        path = ("inputs", name, "default")
        reader.findings.add(path, default_against_schema(name, fault, reader.findings.at(path)))

"""The machines that enforcers run, and what an enforcer has no way to carry out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from guideway.door import load
from guideway.playbooks.models import Playbook
from guideway.runtime.plan import plan_of
from guideway.statemachine.definition import Definition, StateKind
from guideway.statemachine.machine import Machine
from guideway.statemachine.steps import Entry, Step, Work
from guideway.statemachine.tools import Tool

HOLD: Mapping[str, Mapping[str, Any]] = {"by_the_host": {}}
"""A claim that nobody makes: the step is completed by the host's word alone."""

OF_OTHERS = {
    StateKind.CALL: "a `call`, which the runtime makes", StateKind.ASK: "an `ask`, which a person answers",
    StateKind.WAIT: "a `wait`", StateKind.UNDO: "an `undo`, which the runtime makes",
    StateKind.EACH: "a `for_each`", StateKind.FRAME: "a `playbook`, which is called",
}  # fmt: skip
"""Kinds of steps that need more than somebody who checks calls."""


def machine_of(playbook: Playbook, skills: Mapping[str, Sequence[str]]) -> Machine:
    """
    Compile the playbook for a hook.  Its turns are not those of the model, so `max_iterations` is the hook's to count.

    Raises:
        PlaybookError: the playbook cannot be used.
    """
    counted = playbook.model_copy(update={"max_iterations": None}) if playbook.max_iterations else playbook
    return load(counted, skills=skills)


def machine_by_hand(playbook: Playbook, skills: Mapping[str, Sequence[str]]) -> Machine:
    """
    Compile the playbook for a host that completes each step itself.

    Raises:
        PlaybookError: the playbook cannot be used.
    """
    return Machine.of(by_hand(definition_of(load(playbook, skills=skills))))


def definition_of(machine: Machine) -> Definition:
    """What the machine was made of."""
    return plan_of(machine).definition


def by_hand(definition: Definition) -> Definition:
    """
    The same definition, but no step of an agent's is over before the host says so.

    The gate still decides every call: expected tools become tools that the step admits, and its budget stays.
    """
    steps = {name: held(step) for name, step in definition.steps.items()}
    states = {
        name: replace(state, step=steps[state.step.id]) if state.step is not None and state.step.id in steps else state
        for name, state in definition.states.items()
    }
    return replace(definition, steps=steps, states=states)


def held(step: Step) -> Step:
    """The step, completed by the host alone."""
    if step.work is None:
        return step
    entries = tuple(replace(entry, optional=True) for entry in step.work.entries)
    return replace(step, work=Work(entries), claims=HOLD, min_calls=0, probes=(), validation=())


def foreign(definition: Definition, people: bool) -> str | None:
    """What only a `Session` with a host can carry out; with `people` somebody is there who decides on approvals."""
    kinds = (OF_OTHERS.get(state.kind) for part in definition.playbooks for state in part.states.values())
    found = next((kind for kind in kinds if kind), None)
    return found or (None if people else approval_in(definition))


def approval_in(definition: Definition) -> str | None:
    """An approval that a person gives."""
    for step in definition.steps.values():
        if step.approval is not None:
            return f"an approval (on the step `{step.id}`)"
    named: list[Tool | Entry] = [*definition.tools.values(), *entries_of(definition)]
    found = next((part for part in named if part.approval is not None), None)
    tool = getattr(found, "tool", None) or getattr(found, "name", "")
    return f"an approval (of `{tool}`)" if found is not None else None


def beyond_names(definition: Definition) -> str | None:
    """What a check of a bare name cannot decide: whatever reads arguments or results, or needs a person or a host."""
    for entry in entries_of(definition):
        if entry.where is not None or entry.expect is not None:
            return f"a rule on the calls of `{entry.tool}`"
    for tool in definition.tools.values():
        if tool.where is not None or tool.parameters is not None or tool.result is not None:
            return f"a rule on the calls of `{tool.name}`"
    for step in definition.steps.values():
        if step.validation or step.probes or step.when is not None or step.claims:
            return f"a condition in the step `{step.id}`"
    if definition.policies:
        return "policies"
    return foreign(definition, people=False)


def entries_of(definition: Definition) -> Iterator[Entry]:
    """Every line of the steps' lists of tools."""
    for step in definition.steps.values():
        yield from step.work.entries if step.work is not None else ()

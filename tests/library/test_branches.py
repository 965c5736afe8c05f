"""Every playbook of the library is run along every branch, with scripted tools, people and agents."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import guideway
from guideway import Machine
from guideway.diagrams.walk import Walk
from guideway.statemachine.definition import Definition, Edge, EndKind, State, StateKind
from guideway.statemachine.steps import Step

from .platform import PLATFORM
from .security import SECURITY
from .story import Fault, Story
from .world import Run, variations

ROOT = Path(__file__).resolve().parents[2]
STORIES = SECURITY | PLATFORM
TOLD = [pytest.param(name, story, id=f"{name}-{i}") for name, told in STORIES.items() for i, story in enumerate(told)]


def machine_of(name: str) -> Machine:
    """A playbook of the library."""
    return guideway.load(ROOT / "playbooks" / "library" / f"{name}.yaml")


def test_each_playbook_of_the_library_has_its_stories() -> None:
    """
    No playbook lies in the box that is not run here.
    """
    assert {file.stem for file in (ROOT / "playbooks" / "library").glob("*.yaml")} == set(STORIES)


@pytest.mark.parametrize(("name", "story"), TOLD)
def test_a_story_ends_as_it_says(name: str, story: Story) -> None:
    """
    With these answers of tools, people and agent, the run comes to this end.
    """
    assert story.outcome == Run(machine_of(name), story).play()


@pytest.mark.parametrize("name", STORIES)
def test_every_branch_is_walked(name: str) -> None:
    """
    Whatever goes wrong at whatever step, the run ends or waits for a person; and the runs take every branch there is.
    """
    machine = machine_of(name)
    definition = machine.definition
    assert definition is not None
    taken: Counter[tuple[str, str, str]] = Counter()
    for story in STORIES[name]:
        for fault in variations(machine, story):
            run = Run(machine, story, fault)
            run.play()
            taken |= Counter(Walk.from_records(run.records()).taken)

    assert [f"{e.source} {e.event} -> {e.target}" for e in branches(definition) if not walked(e, taken)] == []


def walked(edge: Edge, taken: Counter[tuple[str, str, str]]) -> bool:
    """Some run took the edge; one that leads to the next round or item was taken if a run was there twice."""
    if edge.event == "again":
        return taken[edge.source.removesuffix(".join"), "forked", edge.target] > 1
    return taken[edge.source, edge.event, edge.target] > 0


def branches(definition: Definition) -> list[Edge]:
    """The edges that a run can take and that lead where the author said."""
    edges = [(state, edge) for state in definition.states.values() for row in state.edges.values() for edge in row]
    return [edge for state, edge in edges if written(definition, edge) and possible(definition, state, edge)]


def written(definition: Definition, edge: Edge) -> bool:
    """The edge leads to no end that the engine supplies where the author said nothing."""
    end = definition.states[edge.target].end
    return end is None or end.kind is EndKind.GOAL


def possible(definition: Definition, state: State, edge: Edge) -> bool:
    """Something can happen that takes the edge."""
    step = state.step
    match edge.event:
        case "failed" if state.kind is StateKind.ROUTER:
            return False  # only where a value is missing that a declared result has
        case "completed" if state.kind is StateKind.ASK:
            return step is not None and not leads_on_by_answer(state, step)
        case "rejected" if step is not None and state.kind is not StateKind.APPROVAL:
            return asks_for_calls(definition, step)
        case "exhausted" if step is not None:
            return can_spend_in_vain(state, step)
        case _:
            return True


def leads_on_by_answer(state: State, step: Step) -> bool:
    """Each choice of the question has a target of its own."""
    choices = step.ask.choices if step.ask else ()
    return bool(choices) and all(f"answered {label}" in state.edges for label in choices)


def asks_for_calls(definition: Definition, step: Step) -> bool:
    """A call in the step, not the step as a whole, may need an approval."""
    entries = step.work.entries if step.work else ()
    named = [entry.tool for entry in entries] + ([step.call.tool] if step.call else [])
    declared = [definition.tool(tool) for tool in named]
    return any(entry.approval for entry in entries) or any(tool and tool.approval for tool in declared)


def can_spend_in_vain(state: State, step: Step) -> bool:
    """
    The calls of a visit can run out with an expected tool missing.

    A step that expects none is not exhausted; where a failed call leads away at once, only optional tools spend.
    """
    entries = step.work.entries if step.work else ()
    leaves_at_once = state.edges["failed"][0].target != f"failed:{step.id}"
    expects = any(not entry.optional for entry in entries)
    return expects and (not leaves_at_once or any(entry.optional for entry in entries))


def test_a_fault_changes_the_end() -> None:
    """
    The world does what the faults say: with each of them, a story ends otherwise than without.
    """
    machine, story = machine_of("canary-deploy"), STORIES["canary-deploy"][0]

    assert Run(machine, story).play() == "success"
    assert Run(machine, story, {"measure": Fault.FAILS}).play() == "rolled_back"
    assert Run(machine, story, {"agree.approval": Fault.REJECTED}).play() == "frozen"
    assert Run(machine, story, {"agree.approval": Fault.SILENT}).play() == "frozen"
    assert Run(machine, story, {"bake": Fault.HOST}).play() == "rolled_back"

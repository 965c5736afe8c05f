"""The shipped playbooks and the files beside their tools, read with nothing of the engine."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .shipped import (
    EXAMPLES,
    LIBRARY,
    ROOT,
    Step,
    called_by,
    entries_of,
    playbook,
    read,
    rules_of,
    steps_of,
    tools_named,
    tools_of,
)

TURNS = sorted((ROOT / "examples").glob("*/agent*.jsonl"))
CONTROL = {"complete_step", "skip_step"}
CLASSES = {"success", "failed", "stopped", "escalated", "done"}
EACH = pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
EACH_EXAMPLE = pytest.mark.parametrize("name", EXAMPLES)


def goals(value: Any) -> Iterator[str]:
    """The targets of a `next`, an `on_…` or a `switch`: one, or those of its branches."""
    for branch in value if isinstance(value, list) else [value]:
        yield branch["goto"] if isinstance(branch, dict) else branch


def targets(step: Step) -> set[str]:
    """Everywhere a step may go by name."""
    gone = {
        goal
        for key, value in step.items()
        if key in ("next", "switch") or key.startswith("on_")
        for goal in goals(value)
    }
    choices = step["ask"].get("choices", {}) if isinstance(step.get("ask"), dict) else {}
    return gone | (set(choices.values()) if isinstance(choices, dict) else set())


def test_each_folder_of_examples_is_one_of_a_playbook() -> None:
    """Each folder with tools belongs to a playbook of the library, and each is listed where the tests look."""
    assert {file.parent.name for file in (ROOT / "examples").glob("*/tools.py")} == set(EXAMPLES.values())
    assert set(EXAMPLES) <= {path.stem for path in LIBRARY}


@EACH
def test_ids_are_unique_and_no_outcome(path: Path) -> None:
    """The id is the file's name; step ids are unique and none is an outcome word."""
    found = read(path)
    ids = [step["id"] for step in steps_of(found)]

    assert found["id"] == path.stem
    assert len(ids) == len(set(ids))
    assert not set(ids) & {*found["outcomes"], *CLASSES}


@EACH
def test_every_target_and_outcome_is_used_and_known(path: Path) -> None:
    """Steps go to steps or outcomes only, and each declared outcome is reached by some edge."""
    found = read(path)
    gone = {target for step in [*steps_of(found), found.get("defaults", {})] for target in targets(step)}
    gone |= {branch["outcome"] for branch in found.get("termination", []) if "outcome" in branch}

    assert gone <= CLASSES | set(found["outcomes"]) | {step["id"] for step in steps_of(found)}
    assert set(found["outcomes"]) <= gone


@EACH
def test_tools_are_declared_and_used(path: Path) -> None:
    """The tools of a playbook are those that its steps name, and an effect that is said is a known one."""
    found = read(path)

    assert tools_named(found) == set(found["tools"])
    assert {spec.get("effect", "write") for spec in found["tools"].values()} <= {"read", "write", "irreversible"}


@EACH_EXAMPLE
def test_the_tools_of_an_example_are_those_of_its_playbooks(name: str) -> None:
    """There is a function for each tool of the playbook and of those it calls, and no other; parameters agree."""
    declared = {tool: spec for one in called_by(name) for tool, spec in playbook(one)["tools"].items()}
    functions = tools_of(name)

    assert set(declared) == set(functions)
    for tool, schema in ((tool, spec["parameters"]) for tool, spec in declared.items() if "parameters" in spec):
        known = inspect.signature(functions[tool]).parameters
        needed = {key for key, value in known.items() if value.default is inspect.Parameter.empty}
        assert set(schema["properties"]) <= set(known)
        assert needed <= set(schema["required"])


@EACH
def test_irreversible_tools_are_guarded_and_explained(path: Path) -> None:
    """An irreversible tool has a `where`, a `because`, and an approval of its own or on each step that calls it."""
    found = read(path)
    grave = {name: spec for name, spec in found["tools"].items() if spec.get("effect") == "irreversible"}

    for spec in grave.values():
        assert spec["where"] and spec["because"]
    for step in steps_of(found):
        for entry in entries_of(step):
            if entry["tool"] in grave:
                assert rules_of(step) or rules_of(entry) or rules_of(grave[entry["tool"]])


def may_say(entry: Step, step: Step, tools: dict[str, Step]) -> bool:
    """A recorded decision is one that its step, an entry of it or its tool asks for, of a person that is asked."""
    if "answer" in entry or "fields" in entry:
        asked = step["ask"]
        named = any("{{" in person or person == entry["by"] for person in asked["assignees"])
        return named and (not asked.get("choices") or entry["answer"] in asked["choices"])
    places = [step, *entries_of(step), *(tools[place["tool"]] for place in entries_of(step))]
    by = {person for place in places for rule in rules_of(place) for person in rule["approvers"]}
    told = "tool" not in entry or entry["tool"] in {place["tool"] for place in entries_of(step)}
    return told and entry["by"] in by and entry["decision"] in ("approve", "reject")


@EACH_EXAMPLE
def test_recorded_decisions_are_asked_for(name: str) -> None:
    """Each recorded decision belongs to a question of its step, and its person is among those asked."""
    found = playbook(name)
    steps = {step["id"]: step for step in steps_of(found)}
    files = sorted((ROOT / "examples" / EXAMPLES[name]).glob("approvals*.json"))

    assert files
    for entry in (entry for file in files for entry in json.loads(file.read_text(encoding="utf-8"))):
        assert may_say(entry, steps[entry["step"]], found["tools"]), entry


@pytest.mark.parametrize("turns", TURNS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_recorded_turns_call_tools_with_their_parameters(turns: Path) -> None:
    """Each recorded call is a control tool or one that an agent may be given, with arguments that it takes."""
    name = next(name for name, folder in EXAMPLES.items() if folder == turns.parent.name)
    functions, given = tools_of(name), set(playbook(name)["tools"])
    calls = [call for line in turns.read_text(encoding="utf-8").splitlines() for call in json.loads(line)["calls"]]

    assert calls
    for call in (call for call in calls if call["tool"] not in CONTROL):
        assert call["tool"] in given
        inspect.signature(functions[call["tool"]]).bind(**call["args"])

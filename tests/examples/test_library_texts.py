"""The shipped playbooks and the files beside their tools, read with nothing of the engine."""

from __future__ import annotations

import importlib.util
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
LIBRARY = sorted((ROOT / "playbooks" / "library").glob("*.yaml"))
FOLDERS = {
    "ssh-brute-force": "ssh",
    "phishing-triage": "phishing",
    "refund-request": "refund",
    "canary-deploy": "canary",
}
TURNS = sorted((ROOT / "examples").glob("*/*.jsonl"))
CONTROL = {"complete_step", "skip_step"}
EACH = pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)


def read(path: Path) -> dict[str, Any]:
    """A playbook as plain data."""
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data


def tools_of(path: Path) -> dict[str, Any]:
    """The example tools of a playbook, loaded by path."""
    file = ROOT / "examples" / FOLDERS[path.stem] / "tools.py"
    spec = importlib.util.spec_from_file_location(f"example_{path.stem.replace('-', '_')}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tools: dict[str, Any] = module.TOOLS
    return tools


def named_tools(step: dict[str, Any]) -> set[str]:
    """Every tool a step names."""
    entries = [*step.get("expected_tools", []), *step.get("optional_tools", [])]
    entries += [step["call"]] if "call" in step else []
    return {entry if isinstance(entry, str) else entry["tool"] for entry in entries}


def targets(step: dict[str, Any]) -> set[str]:
    """Everywhere a step may go by name."""
    places = [value for key, value in step.items() if key == "next" or key.startswith("on_")]
    places += [branch["goto"] for branch in step.get("switch", [])]
    return set(places)


def test_the_library_holds_the_four_playbooks() -> None:
    """Each playbook of the library has its example tools, and the other way round."""
    assert {path.stem for path in LIBRARY} == set(FOLDERS)


@EACH
def test_ids_are_unique_and_no_outcome(path: Path) -> None:
    """The id is the file's name; step ids are unique and none is an outcome word."""
    playbook = read(path)
    ids = [step["id"] for step in playbook["steps"]]

    assert playbook["id"] == path.stem
    assert len(ids) == len(set(ids))
    assert not set(ids) & {*playbook["outcomes"], "success", "failed", "stopped", "escalated", "done"}


@EACH
def test_every_target_and_outcome_is_used_and_known(path: Path) -> None:
    """Steps go to steps or outcomes only, and each declared outcome is reached by some edge."""
    playbook = read(path)
    ends = {*playbook["outcomes"], "success", "failed", "stopped", "escalated", "done"}
    gone = {target for step in playbook["steps"] for target in targets(step)}
    gone |= {value for key, value in playbook.get("defaults", {}).items() if key.startswith("on_")}
    gone |= {branch["outcome"] for branch in playbook.get("termination", []) if "outcome" in branch}

    assert gone <= ends | {step["id"] for step in playbook["steps"]}
    assert set(playbook["outcomes"]) <= gone


@EACH
def test_tools_are_declared_used_and_implemented(path: Path) -> None:
    """The tools of the playbook are those its steps name, each has an effect, a function and its parameters."""
    playbook = read(path)
    named = {tool for step in playbook["steps"] for tool in named_tools(step)} | set(playbook.get("optional_tools", []))
    functions = tools_of(path)

    assert named == set(playbook["tools"]) == set(functions)
    for name, spec in playbook["tools"].items():
        assert spec["effect"] in {"read", "write", "irreversible"}
        signature = inspect.signature(functions[name]).parameters
        needed = {key for key, value in signature.items() if value.default is inspect.Parameter.empty}
        assert set(spec["parameters"]["properties"]) <= set(signature)
        assert needed <= set(spec["parameters"]["required"])


@EACH
def test_irreversible_tools_are_guarded_and_explained(path: Path) -> None:
    """An irreversible tool has a `where`, a `because`, and an approval on each step that calls it."""
    playbook = read(path)
    grave = {name for name, spec in playbook["tools"].items() if spec["effect"] == "irreversible"}

    for name in grave:
        assert playbook["tools"][name]["where"] and playbook["tools"][name]["because"]
    for step in playbook["steps"]:
        if named_tools(step) & grave:
            entries = [e for e in step.get("expected_tools", []) if isinstance(e, dict) and e["tool"] in grave]
            assert "approval" in step or all("approval" in entry for entry in entries)


@EACH
def test_recorded_approvals_name_steps_that_ask(path: Path) -> None:
    """Each recorded approval belongs to a step with an approval, and its person is among the approvers."""
    file = ROOT / "examples" / FOLDERS[path.stem] / "approvals.json"
    steps = {step["id"]: step for step in read(path)["steps"]}

    for entry in json.loads(file.read_text(encoding="utf-8")):
        step = steps[entry["step"]]
        asked = [step, *(e for e in step.get("expected_tools", []) if isinstance(e, dict))]
        approvals = [place["approval"] for place in asked if "approval" in place]
        assert entry["decision"] in {"approve", "reject"}
        assert any(entry["by"] in approval["approvers"] for approval in approvals)
        assert "tool" not in entry or entry["tool"] in named_tools(step)


@pytest.mark.parametrize("turns", TURNS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_recorded_turns_call_tools_with_their_parameters(turns: Path) -> None:
    """Each recorded call is a control tool or a declared one, with the arguments its schema asks for."""
    stem = next(stem for stem, folder in FOLDERS.items() if folder == turns.parent.name)
    declared = read(ROOT / "playbooks" / "library" / f"{stem}.yaml")["tools"]
    calls = [call for line in turns.read_text(encoding="utf-8").splitlines() for call in json.loads(line)["calls"]]

    assert calls
    for call in calls:
        if call["tool"] not in CONTROL:
            schema = declared[call["tool"]]["parameters"]
            assert set(schema["required"]) <= set(call["args"]) <= set(schema["properties"])

"""The shipped playbooks and their example tools, as plain data: nothing of the engine is needed to read them."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "playbooks" / "library"
LIBRARY = sorted(FOLDER.glob("*.yaml"))
EXAMPLES = {
    "ssh-brute-force": "ssh",
    "phishing-triage": "phishing",
    "refund-desk": "refund",
    "canary-deploy": "canary",
    "suspicious-sign-in": "signin",
}
"""Playbook -> folder of its tools and recorded runs."""

Step = dict[str, Any]


class Words(yaml.SafeLoader):
    """Reads `yes`, `no`, `on` and `off` as words, as YAML 1.2 does."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - a table of the class it comes from
        first: [(tag, pattern) for tag, pattern in table if first in "tTfF" or not tag.endswith(":bool")]
        for first, table in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def read(path: Path) -> dict[str, Any]:
    """A playbook."""
    data: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=Words)  # noqa: S506 - a safe loader
    return data


def playbook(name: str) -> dict[str, Any]:
    """A playbook of the library, by its id."""
    return read(FOLDER / f"{name}.yaml")


def tools_of(name: str) -> dict[str, Callable[..., Any]]:
    """The example tools of a playbook, as new as at every start."""
    tools: dict[str, Callable[..., Any]] = runpy.run_path(str(ROOT / "examples" / EXAMPLES[name] / "tools.py"))["TOOLS"]
    return tools


def steps_of(playbook: dict[str, Any]) -> list[Step]:
    """Every step, those within others and those of `finally` too; a branch that is one step has the branch's name."""
    return [*nested(playbook["steps"]), *nested(playbook.get("finally", []))]


def nested(steps: list[Step]) -> Iterator[Step]:
    """The steps of a list, each with those within it."""
    for step in steps:
        yield step
        yield from nested(step.get("steps", []))
        for name, branch in step.get("parallel", {}).items():
            yield from nested(branch if isinstance(branch, list) else [{"id": name, **branch}])


def entries_of(step: Step) -> list[Step]:
    """The places of a step that name a tool."""
    entries = [
        *step.get("expected_tools", []),
        *step.get("optional_tools", []),
        *([step["call"]] if "call" in step else []),
    ]
    return [{"tool": entry} if isinstance(entry, str) else entry for entry in entries]


def tools_named(playbook: dict[str, Any]) -> set[str]:
    """Every tool that the playbook names where one is called, or taken back."""
    named = {entry["tool"] for step in steps_of(playbook) for entry in entries_of(step)}
    undone = [spec["undo"] for spec in playbook["tools"].values() if "undo" in spec]
    named |= {undo if isinstance(undo, str) else undo["tool"] for undo in undone}
    return named | set(playbook.get("optional_tools", []))


def called_by(name: str) -> set[str]:
    """A playbook, those it calls, and so on."""
    direct = {step["playbook"] for step in steps_of(playbook(name)) if "playbook" in step}
    return {name}.union(*(called_by(callee) for callee in direct))


def rules_of(place: Step) -> list[Step]:
    """The approval rules at a step, an entry or a tool, waivers left out."""
    said = place.get("approval", [])
    return [rule for rule in (said if isinstance(said, list) else [said]) if isinstance(rule, dict)]

"""The playbooks of the pages: files that check clean, run, and between them show every key."""

from __future__ import annotations

import io
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from guideway.cli import main
from guideway.cli.loading import skills_of
from guideway.door import check
from guideway.playbooks.approvals import ApprovalSpec
from guideway.playbooks.attempts import RepeatSpec, RetrySpec
from guideway.playbooks.base import Part
from guideway.playbooks.blocks import AskSpec, ForEachSpec, ProbeSpec, UndoSpec, WaitSpec
from guideway.playbooks.branches import Branch
from guideway.playbooks.inputs import OWN_KEYS
from guideway.playbooks.models import Playbook, PlaybookStep
from guideway.playbooks.policies import CountSpec, EventSpec, OrderSpec, PolicySpec, PredicateSpec, ResponseSpec
from guideway.playbooks.terminations import TerminationItem
from guideway.playbooks.tools_spec import CallSpec, ToolEntry, ToolSpec

from .pages import ROOT, Block, all_blocks

FOLDER = ROOT / "docs" / "playbooks"
FILES = sorted(FOLDER.rglob("*.yaml"))
TOLD = [ROOT / "docs" / "playbooks.md", *sorted((ROOT / "docs" / "language").glob("*.md"))]
"""The pages that explain the format."""
SKILLS = ROOT / "docs" / "host" / "skills.json"
MODELS = (Playbook, PlaybookStep, ToolSpec, ToolEntry, CallSpec, RetrySpec, RepeatSpec, ApprovalSpec, Branch,
          TerminationItem, AskSpec, CountSpec, EventSpec, ForEachSpec, OrderSpec, PolicySpec, PredicateSpec, ProbeSpec,
          ResponseSpec, UndoSpec, WaitSpec)  # fmt: skip
UNSHOWN = {"duration", "none"}
"""Written without the key: `wait: 10m`, `approval: none`."""

RUNS = {
    "nightly-backup": (("volume=home", "keep=2", "token=hunter2"), None, "copied"),
    "triage": (("host=ws-7",), "triage.jsonl", "contained"),
    "incident-notes": (("case_id=c-1",), "notes.jsonl", "filed"),
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_playbook_of_the_pages_checks_clean(file: Path) -> None:
    """
    Nothing is found in it, not even a warning.
    """
    assert check(file, skills=skills_of(str(SKILLS))) == []


@pytest.mark.parametrize("name", RUNS)
def test_a_playbook_of_the_pages_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    It ends as the page says, with the tools and decisions beside it.
    """
    monkeypatch.chdir(ROOT)
    inputs, script, outcome = RUNS[name]
    out = io.StringIO()
    argv = ["run", f"docs/playbooks/{name}.yaml", "--tools", "docs/host/tools.py", "--fast-forward"]
    argv += ["--approve", "file:docs/host/approvals.json", *(part for i in inputs for part in ("--input", i))]
    status = main(argv + (["--agent", f"scripted:docs/host/{script}"] if script else []), stdout=out, stderr=out)

    assert (0, f"end {outcome}") == (status, out.getvalue().splitlines()[-1])
    assert "hunter2" not in out.getvalue()


@pytest.mark.parametrize("block", all_blocks("yaml"), ids=str)
def test_yaml_of_a_page_stands_in_a_file_or_checks_clean(block: Block) -> None:
    """
    A block is a whole playbook that checks clean, or lines of one of the files.
    """
    if block.text.startswith("id:"):
        assert check(block.text, skills=skills_of(str(SKILLS))) == []
    else:
        wanted = textwrap.dedent(block.text).strip()
        files = [*FILES, *(ROOT / "playbooks" / "library").glob("*.yaml")]
        assert [file.name for file in files if wanted in unindented(file, wanted)] != []


def unindented(file: Path, wanted: str) -> str:
    """The text of a file, moved left by the indent at which the wanted lines begin."""
    text = file.read_text(encoding="utf-8")
    first = wanted.splitlines()[0]
    line = next((line for line in text.splitlines() if line.strip() == first.strip()), "")
    indent = len(line) - len(line.lstrip())
    return "\n".join(line[indent:] if not line[:indent].strip() else line for line in text.splitlines())


def keys_of(value: Any) -> Iterator[str]:
    """Every key of a value, at every level."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from keys_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys_of(item)


def written(model: type[Part]) -> Iterator[str]:
    """The keys of a part, as they are written."""
    for name, field in model.model_fields.items():
        yield str(field.validation_alias or name)


FORMAT = sorted(({key for model in MODELS for key in written(model)} | set(OWN_KEYS)) - UNSHOWN)


@pytest.mark.parametrize("key", FORMAT)
def test_every_key_is_shown_and_told(key: str) -> None:
    """
    Each key of the format stands in one of the playbooks, and on one of the pages that explain them.
    """
    shown = {key for file in FILES for key in keys_of(yaml.safe_load(file.read_text(encoding="utf-8")))}

    assert key in shown
    assert any(f"`{key}`" in page.read_text(encoding="utf-8") for page in TOLD)


def test_the_skills_file_is_plain_json() -> None:
    """
    The file that the pages hand to `--skills` maps names to lists.
    """
    assert {"siem", "notes"} == set(json.loads(SKILLS.read_text(encoding="utf-8")))

"""Playbooks that call others, on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from guideway.statemachine.artifact import load

Run = Callable[..., Any]

MAIN = "id: main\nname: Main\nsteps:\n  - {id: first, playbook: enrich}\n"
ENRICH = "id: enrich\nname: Enrich\nsteps:\n  - {id: look, call: {tool: lookup}}\n"


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """Two playbooks, one of which calls the other."""
    (tmp_path / "main.yaml").write_text(MAIN)
    (tmp_path / "enrich.yaml").write_text(ENRICH)
    return tmp_path


def test_a_playbook_is_checked_with_those_it_calls(guideway: Run, folder: Path) -> None:
    """Beside it, one file is enough; a finding names the file it stands in, with its line."""
    assert guideway("check", folder / "main.yaml").status == 0
    (folder / "enrich.yaml").write_text(ENRICH.replace("call:", "cal:"))
    result = guideway("check", folder / "main.yaml")

    assert result.status == 1
    assert f"{folder}/enrich.yaml:4:16" in result.out
    assert "4 |   - {id: look, cal: {tool: lookup}}" in result.out
    assert "the playbook `enrich` (enrich.yaml) has 1 error" in result.out


def test_several_files_link_among_themselves(guideway: Run, folder: Path) -> None:
    """A playbook elsewhere is found because it was named, and because its folder was."""
    other = folder / "other"
    other.mkdir()
    (folder / "enrich.yaml").rename(other / "enrich.yaml")

    assert guideway("check", folder / "main.yaml").status == 1
    assert guideway("check", folder / "main.yaml", other / "enrich.yaml").status == 0
    assert guideway("check", folder / "main.yaml", other).status == 0
    assert guideway("check", folder).status == 0


def test_what_lies_beside_goes_before_what_lies_elsewhere(guideway: Run, folder: Path) -> None:
    """Two folders with the same playbooks are checked together, each by itself."""
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "main.yaml").write_text(MAIN)
        (folder / name / "enrich.yaml").write_text(ENRICH)

    assert guideway("check", folder / "a", folder / "b").status == 0


def test_a_folder_that_is_named_is_the_root_of_its_playbooks(guideway: Run, folder: Path) -> None:
    """A path upwards is good within it, and no good where a file below is named alone."""
    (folder / "team").mkdir()
    path = folder / "team" / "main.yaml"
    path.write_text(MAIN.replace("steps:", "imports: {enrich: ../enrich.yaml}\nsteps:"))

    assert guideway("check", folder).status == 0
    assert "lies outside the folder of the first playbook" in guideway("check", path, "--format", "concise").out


def test_a_finding_of_a_playbook_that_is_called_is_told_once(guideway: Run, folder: Path) -> None:
    """Though it was checked by itself and as a part of another."""
    (folder / "enrich.yaml").write_text(ENRICH.replace("call:", "cal:"))
    whole = json.loads(guideway("check", folder, "--format", "json").out)
    places = [(Path(found["file"]).name, found["code"]) for found in whole["findings"]]

    assert whole["files"] == 2
    assert sorted(places) == [("enrich.yaml", "GW020"), ("main.yaml", "GW144")]


def test_standard_input_calls_what_lies_in_the_present_folder(
    guideway: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing beyond it."""
    assert guideway("check", "-", stdin=MAIN).status == 1
    monkeypatch.chdir(folder)

    assert guideway("check", "-", stdin=MAIN).status == 0


def test_an_artifact_holds_the_playbooks_that_are_called(guideway: Run, folder: Path) -> None:
    """Compiled, it needs no playbook any more."""
    assert guideway("compile", folder / "main.yaml").status == 0
    (folder / "enrich.yaml").unlink()

    assert list(load((folder / "main.machine.json").read_text()).callees) == ["enrich"]
    assert guideway("draw", folder / "main.machine.json").status == 0
    assert guideway("draw", folder / "main.yaml").status == 2


def test_a_compiled_machine_beside_a_playbook_is_none_itself(guideway: Run, folder: Path) -> None:
    """It has the same id, and is passed over."""
    assert guideway("compile", folder / "enrich.yaml").status == 0

    assert guideway("check", folder / "main.yaml").status == 0

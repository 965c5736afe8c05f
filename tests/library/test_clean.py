"""The playbooks in the box: clean, explained, and used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import guideway
from guideway.door import check
from guideway.statemachine.definition import Definition
from guideway.statemachine.tools import Effect

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = sorted((ROOT / "playbooks" / "library").glob("*.yaml"))
EACH = pytest.mark.parametrize("file", LIBRARY, ids=lambda file: file.stem)


def load(file: Path) -> Definition:
    """The definition of a playbook."""
    definition = guideway.load(file).definition
    assert definition is not None
    return definition


@EACH
def test_a_playbook_of_the_library_checks_clean(file: Path) -> None:
    """
    Nothing is found in it, not even a warning, and its id is the name of its file.
    """
    assert check(file) == []
    assert file.stem == load(file).id


@EACH
def test_what_cannot_be_taken_back_is_bound_and_explained(file: Path) -> None:
    """
    An irreversible tool of the library has a `where` and a `because`.
    """
    grave = [tool for tool in load(file).tools.values() if tool.effect is Effect.IRREVERSIBLE]

    assert [tool.name for tool in grave if tool.where is None or not tool.because] == []


@EACH
def test_every_tool_is_named_somewhere(file: Path) -> None:
    """
    No tool is declared that no step calls and no undo needs.
    """
    definition = load(file)
    text = file.read_text(encoding="utf-8")

    assert [tool for tool in definition.tools if len(re.findall(rf"\b{re.escape(tool)}\b", text)) < 2] == []


def test_the_page_of_the_library_tells_of_each() -> None:
    """
    The page of the library leads to every file, and each has a picture.
    """
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")

    assert [file.name for file in LIBRARY if f"(../playbooks/library/{file.name})" not in page] == []
    assert [file.stem for file in LIBRARY if f"(pictures/{file.stem}.svg)" not in page] == []
    assert len(LIBRARY) == 14

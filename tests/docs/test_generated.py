"""The parts of the documentation that are written by a program are up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from .pages import ROOT, copy_of_the_tree

AGAIN = "run: python docs/generate.py"


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATE = _generator()


def test_the_page_of_findings_is_that_of_the_code() -> None:
    """
    Every rule stands in it, with the essay that `guideway explain` prints.
    """
    assert GENERATE.diagnostics() == (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8"), AGAIN


@pytest.mark.parametrize("name", GENERATE.PICTURES)
def test_a_picture_shows_the_machine_of_today(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    It was drawn from the text that the playbook, and the run over it, give now.
    """
    monkeypatch.chdir(copy_of_the_tree(tmp_path))
    drawn = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")

    assert GENERATE.mark(GENERATE.dot(name, tmp_path)) == drawn.splitlines(keepends=True)[-1], AGAIN


@pytest.mark.parametrize("page", GENERATE.PAGES, ids=lambda page: page.name)
def test_a_page_shows_the_digests_of_today(page: Path) -> None:
    """
    A digest names its machine, so the one that a page shows is the one that the command prints.
    """
    text = page.read_text(encoding="utf-8")

    assert GENERATE.digests(text) == text, AGAIN


def test_there_are_digests_to_compare() -> None:
    """
    The pages show some, and a wrong one is put right.
    """
    assert sum(len(GENERATE.RUN.findall(page.read_text(encoding="utf-8"))) for page in GENERATE.PAGES) >= 3
    assert "000000000000" not in GENERATE.digests("[triage 000000000000] run run-1")


def test_every_picture_is_made_and_shown() -> None:
    """
    No picture lies there that nothing makes, and each stands on a page.
    """
    from .pages import PAGES, links

    shown = {Path(link).stem for page in PAGES for link in links(page) if link.endswith(".svg")}

    assert set(GENERATE.PICTURES) == {path.stem for path in (ROOT / "docs" / "pictures").iterdir()}
    assert set(GENERATE.PICTURES) == shown

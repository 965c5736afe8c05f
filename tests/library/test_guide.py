"""The language guide: each page shows a file as it is, each file checks clean, and nothing lies there unseen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import guideway
from guideway.door import check

from .guide import GUIDE as STORIES
from .story import Story
from .world import Run

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GUIDE = sorted(path for path in (DOCS / "language").glob("*.md") if path.name != "README.md")
COMING = sorted(DOCS.glob("coming-from-*.md"))
FILES = sorted([*(DOCS / "playbooks" / "language").glob("*.yaml"), *(DOCS / "playbooks" / "translated").glob("*.yaml")])
SHOWN = re.compile(r"^\[([\w-]+\.yaml)\]\(([^)]+)\):\n\n```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A link to a file, and under it the file."""


def name(path: Path) -> str:
    """The name of a case."""
    return path.stem


def shown_on(page: Path) -> dict[Path, str]:
    """The files that a page shows, with the text it shows of each."""
    text = page.read_text(encoding="utf-8")
    return {(page.parent / found[2]).resolve(): found[3] for found in SHOWN.finditer(text)}


@pytest.mark.parametrize("page", [*GUIDE, *COMING], ids=name)
def test_a_page_shows_its_playbook_as_it_is(page: Path) -> None:
    """
    A page shows at least one file, word for word, and no other YAML that claims to be a playbook.
    """
    shown = shown_on(page)

    assert {path: path.read_text(encoding="utf-8") for path in shown} == shown
    assert 0 < len(shown) == page.read_text(encoding="utf-8").count("```yaml\n")


@pytest.mark.parametrize("file", FILES, ids=name)
def test_a_playbook_of_the_guide_checks_clean(file: Path) -> None:
    """
    Nothing is found in it, not even a warning.
    """
    assert check(file) == []


def test_every_playbook_of_the_guide_is_shown() -> None:
    """
    No file lies there that no page shows.
    """
    assert set(FILES) == {path for page in [*GUIDE, *COMING] for path in shown_on(page)}


@pytest.mark.parametrize("page", GUIDE, ids=name)
def test_a_page_says_what_happens_and_where_the_traps_are(page: Path) -> None:
    """
    Each page has the same two headings, and says which rules it rests on.
    """
    text = page.read_text(encoding="utf-8")

    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["What happens when", "Traps"]
    assert page.stem == "probes" or re.search(r"\(S\d+", text)


def test_the_index_lists_every_page() -> None:
    """
    The index of the guide, and that of the documentation, lead to each of them.
    """
    index = (DOCS / "language" / "README.md").read_text(encoding="utf-8")
    top = (DOCS / "README.md").read_text(encoding="utf-8")

    assert [page.name for page in GUIDE if f"({page.name})" not in index] == []
    assert [page.name for page in COMING if f"(../{page.name})" not in index or f"({page.name})" not in top] == []


def test_a_page_that_shows_something_else_is_seen(tmp_path: Path) -> None:
    """
    The comparison reads what stands under a link, to the letter.
    """
    page = tmp_path / "page.md"
    page.write_text("[a.yaml](a.yaml):\n\n```yaml\nid: a\n```\n", encoding="utf-8")

    assert {tmp_path.resolve() / "a.yaml": "id: a\n"} == shown_on(page)


TOLD = [pytest.param(name, story, id=f"{name}-{i}") for name, told in STORIES.items() for i, story in enumerate(told)]


@pytest.mark.parametrize(("name", "story"), TOLD)
def test_a_playbook_of_the_guide_runs(name: str, story: Story) -> None:
    """
    With these answers of tools, people and agent, the run comes to the end that the page tells of.
    """
    [file] = [file for file in FILES if file.stem == name]

    assert story.outcome == Run(guideway.load(file), story).play()


def test_every_playbook_of_the_guide_has_its_stories() -> None:
    """
    No file of the guide is left out of the runs.
    """
    assert {file.stem for file in FILES} == set(STORIES)

"""Links lead somewhere, and no page says where it was written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .pages import PAGES, ROOT, anchors, links

REGISTRIES = re.compile(r"\b(pypi\.org|pythonhosted|npmjs|crates\.io|anaconda\.org|docker\.io|quay\.io)")
MACHINE = re.compile(r"(?<![\w.])/(?:work|home|root|tmp|Users|opt)/\w")
ADRS = sorted((ROOT / "docs" / "adr").glob("*.md"))
TEXTS = [*PAGES, *sorted((ROOT / "docs").rglob("*.svg")), *sorted((ROOT / "docs" / "playbooks").rglob("*.yaml"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    """
    A link within the repository names a file that is there, and a heading that is in it.
    """
    broken = []
    for link in links(page):
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)

    assert broken == []


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_names_a_registry_or_this_machine(page: Path) -> None:
    """
    No host of a package index, no absolute path of the machine it was written on.
    """
    text = page.read_text(encoding="utf-8")

    assert REGISTRIES.findall(text) + MACHINE.findall(text) == []


def test_records_of_decisions_are_numbered_and_listed() -> None:
    """
    They are numbered without a gap, hold the three headings, and the index names each.
    """
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")

    assert [f"{i:04}" for i in range(1, len(ADRS) + 1)] == [path.name[:4] for path in ADRS]
    for path in ADRS:
        assert {"context", "decision", "consequences"} <= anchors(path), path.name
        assert f"adr/{path.name}" in index, path.name


@pytest.mark.parametrize(
    "room", ["statemachine", "compiler", "runtime", "playbooks", "diagrams", "tests", "src/guideway", "examples",
             "benchmarks", "docs"]
)  # fmt: skip
def test_the_readme_has_a_line_for_each_folder(room: str) -> None:
    """
    Each top-level folder is there and is explained.
    """
    assert (ROOT / room).is_dir()
    assert f"| `{room}/` |" in (ROOT / "README.md").read_text(encoding="utf-8")

"""The pages a newcomer reads, taken apart: code blocks, links, headings."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "examples/README.md")]
    + list((ROOT / "docs").rglob("*.md"))
)
GENERATED = frozenset({"diagnostics.md"})
"""Pages whose blocks are bad on purpose; a test of their own holds them."""

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|<img[^>]* src=\"([^\"]+)\"")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block, and where it stands."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path, language: str) -> Iterator[Block]:
    """The blocks of a page in one language, in order."""
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        if found[1] == language:
            yield Block(page, text.count("\n", 0, found.start()) + 2, language, found[2])


def all_blocks(language: str) -> list[Block]:
    """Those of every page that a person has written."""
    return [block for page in PAGES if page.name not in GENERATED for block in blocks(page, language)]


def with_blocks(language: str) -> list[Path]:
    """The pages that have such blocks."""
    return list(dict.fromkeys(block.page for block in all_blocks(language)))


def links(page: Path) -> list[str]:
    """Where a page points to, code blocks left out."""
    return [found[1] or found[2] for found in _LINK.finditer(_BLOCK.sub("", page.read_text(encoding="utf-8")))]


def anchors(page: Path) -> set[str]:
    """
    The anchors of a page's headings, as readers of Markdown make them.
    """
    headings = _HEADING.findall(_BLOCK.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def copy_of_the_tree(folder: Path) -> Path:
    """A folder that looks like the repository and may be written to."""
    for name in ("docs", "examples", "playbooks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder

"""Every Python block of a page runs."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .pages import ROOT, blocks, copy_of_the_tree, with_blocks

EMBED = ROOT / "examples" / "embed.py"
WHOLE = [path.read_text(encoding="utf-8") for path in (EMBED, ROOT / "examples" / "agent.py")]
"""Programs that the README shows in full."""


@pytest.mark.parametrize("page", with_blocks("python"), ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The blocks of a page run one after the other in one namespace, and those with prompts print what is shown.
    """
    monkeypatch.chdir(copy_of_the_tree(tmp_path))
    names: dict[str, Any] = {"__name__": "page"}
    runner, said = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE), list[str]()
    for block in blocks(page, "python"):
        if block.text in WHOLE:
            continue  # a program, not a piece of a page; `test_shell` runs it
        if ">>>" in block.text:
            test = doctest.DocTestParser().get_doctest(block.text, names, str(block), str(page), block.line)
            runner.run(test, out=said.append, clear_globs=False)
            names = test.globs
        else:
            exec(compile(block.text, str(block), "exec"), names)  # noqa: S102

    assert "".join(said) == ""


@pytest.mark.parametrize("text", WHOLE, ids=["embed", "agent"])
def test_the_readme_shows_the_examples_as_they_are(text: str) -> None:
    """
    `examples/embed.py` and `agent.py` stand in the README in full, and are short.
    """
    assert f"```python\n{text}```" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 35


def test_the_example_shows_a_refusal_an_approval_and_an_end() -> None:
    """
    Run as the README says, it is refused twice, asks once, and ends contained.
    """
    done = subprocess.run([sys.executable, EMBED], capture_output=True, text=True, encoding="utf-8", check=True)

    assert done.stdout.count("did not run") == 2
    assert done.stdout.count("soc-lead says yes") == 1
    assert done.stdout.splitlines()[-1] == "contained"

"""Every command a page shows says what the page says it does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .pages import ROOT, Block, all_blocks, blocks, copy_of_the_tree, with_blocks

SEPARATOR = "\x1e"
LEFT_OUT = "[…]"
"""A line of its own: any lines, or none, stand here."""


def commands(block: Block) -> list[tuple[str, str]]:
    """Each command of a block with the output shown under it."""
    parts: list[tuple[str, str]] = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        end = next(i for i, line in enumerate(lines) if not line.endswith("\\")) + 1
        parts.append(("\n".join(lines[:end]), "\n".join(lines[end:])))
    return parts


def session(commands: list[str], folder: Path) -> list[str]:
    """What each command writes, run one after the other by one shell."""
    script = ""
    for command in commands:
        script += f"{command}\nstatus=$?; printf '{SEPARATOR}'; (exit $status)\n"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONUTF8": "1", "COLUMNS": "80", "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, encoding="utf-8", timeout=600, check=False,
    )  # fmt: skip
    return done.stdout.split(SEPARATOR)[:-1]


def plain(text: str) -> str:
    """Take out what differs from run to run: run ids, hashes, times; and blanks at the ends of lines."""
    text = re.sub(r"run-[0-9a-f]{12}", "run-ID", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "HASH", text)
    text = re.sub(r"(?<=[a-z] )[0-9a-f]{12}(?=\])", "HASH", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME", text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def pattern(shown: str) -> re.Pattern[str]:
    """Lines as they are shown, those left out being any."""
    lines = [r"(?:.*\n)*?" if line == LEFT_OUT else re.escape(line) + "\n" for line in plain(shown).splitlines()]
    return re.compile("".join(lines))


@pytest.mark.parametrize("page", with_blocks("console"), ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    """
    The commands of a page, run in order in a copy of the tree, print what stands under them.
    """
    folder = copy_of_the_tree(tmp_path)
    shown = [(command, output) for block in blocks(page, "console") for command, output in commands(block)]
    written = session([command for command, _ in shown], folder)

    assert len(written) == len(shown)
    for (command, expected), actual in zip(shown, written, strict=True):
        if not pattern(expected).fullmatch(plain(actual) + "\n" if actual.strip() else ""):
            assert (command, plain(expected)) == (command, plain(actual))


def test_the_comparison_can_fail() -> None:
    """
    A line left out without a mark, and a line that is not there, are both found.
    """
    assert pattern("a\n[…]\nd").fullmatch("a\nb\nc\nd\n")
    assert pattern("a\n[…]\nd").fullmatch("a\nd\n")
    assert not pattern("a\nd").fullmatch("a\nb\nd\n")
    assert not pattern("a\n[…]\ne").fullmatch("a\nb\nd\n")
    assert plain("[x 0123456789ab] run run-0123456789ab ") == "[x HASH] run run-ID"


def test_there_are_commands_to_run() -> None:
    """
    The pages show commands, and every block begins with one.
    """
    assert len([c for block in all_blocks("console") for c in commands(block)]) > 15
    assert [str(block) for block in all_blocks("console") if not block.text.startswith("$ ")] == []


def test_commands_that_are_only_named_exist() -> None:
    """
    Blocks of `sh` are not run here (they install, or run everything); what they name must exist.
    """
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for block in all_blocks("sh"):
        for target in re.findall(r"\bmake ([\w-]+)", block.text):
            assert f"\n{target}:" in makefile, f"{block}: make {target}"
        for path in re.findall(r"(?<![\w.])((?:docs|examples|playbooks|benchmarks|tests)/[\w./-]+)", block.text):
            assert (ROOT / path).exists(), f"{block}: {path}"

"""The corpus is the specification: files that must be reported word for word, and files that must be silent."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import guideway.compiler
from guideway.compiler import CATALOGUE
from guideway.playbooks.codes import Rule

from .corpus import files, report

HEADINGS = ("## What it finds", "## Why it matters", "## Example", "## Repair")


@pytest.mark.parametrize("path", files("err"), ids=lambda path: path.stem)
def test_a_bad_playbook_is_reported_word_for_word(path: Path) -> None:
    """Each file under `err` yields exactly the lines of the `.out` file beside it."""
    assert path.with_suffix(".out").read_text(encoding="utf-8") == report(path)


@pytest.mark.parametrize("path", files("ok"), ids=lambda path: path.stem)
def test_a_good_playbook_is_silent(path: Path) -> None:
    """Each file under `ok` yields nothing at all: no false alarms."""
    assert report(path) == ""


@pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.code)
def test_a_rule_has_a_bad_example_and_an_essay(rule: Rule) -> None:
    """No rule stands in the catalogue without a file that breaks it and all four parts of its essay."""
    shown = "".join(path.with_suffix(".out").read_text(encoding="utf-8") for path in files("err"))

    assert f"[{rule.code}]" in shown
    assert [heading for heading in HEADINGS if heading not in rule.essay] == []


def test_every_code_that_is_reported_is_in_the_catalogue() -> None:
    """`guideway explain` knows each code that the corpus shows."""
    shown = "".join(path.with_suffix(".out").read_text(encoding="utf-8") for path in files("err"))
    codes = {part.split("]")[0] for part in shown.split("[GW")[1:]}

    assert codes == {rule.code.removeprefix("GW") for rule in CATALOGUE}


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(guideway.compiler.__path__)])
def test_examples_in_docstrings_run(name: str) -> None:
    """Every example in a docstring of this room does what it shows."""
    module = importlib.import_module(f"guideway.compiler.{name}")

    assert doctest.testmod(module).failed == 0

"""The examples in the docstrings of the command line and of the driver run as they stand."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import guideway.cli

DRIVER = (
    "agents", "asks", "clocks", "decisions", "driver", "learning", "lines", "marks", "narrate", "narrator", "redact",
    "scripted", "signals", "situation", "talk", "tool_marks", "toolbox", "trace", "users", "wording",
)  # fmt: skip
MODULES = [
    "guideway.cli",
    *(f"guideway.cli.{found.name}" for found in pkgutil.iter_modules(guideway.cli.__path__)),
    *(f"guideway.runtime.{name}" for name in DRIVER),
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    """Each prints what it says."""
    assert doctest.testmod(import_module(name)).failed == 0


def test_there_are_examples_to_run() -> None:
    """The test above is not empty."""
    assert sum(doctest.testmod(import_module(name)).attempted for name in MODULES) > 30

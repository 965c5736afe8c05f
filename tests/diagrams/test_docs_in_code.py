"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import guideway.diagrams as package

NAMES = [f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__)]
NAMES += [f"guideway.statemachine.{name}" for name in ("canonical", "codec", "artifact", "graph")]


@pytest.mark.parametrize("name", NAMES)
def test_every_docstring_example_gives_what_it_says(name: str) -> None:
    """Each module's doctests pass."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0

"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import guideway.statemachine.expressions as package

ROOMS = [f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__)]


@pytest.mark.parametrize("name", ["guideway.statemachine.patterns", *ROOMS])
def test_every_docstring_example_gives_what_it_says(name: str) -> None:
    """Each module's doctests pass."""
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0

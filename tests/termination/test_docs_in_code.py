"""The examples in the docstrings of the algebra run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import guideway.statemachine.termination as room
import guideway.termination as door

MODULES = [
    "guideway.termination",
    "guideway.runtime.agent.reasons",
    *(f"{room.__name__}.{module.name}" for module in pkgutil.iter_modules(room.__path__)),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    """
    Each module's doctests pass.
    """
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_door_leads_to_every_public_name() -> None:
    """
    `guideway.termination` has all that the room has.
    """
    assert door.__all__ == room.__all__
    assert all(getattr(door, name) is getattr(room, name) for name in door.__all__)

"""
Playbooks: read with places, checked for shape, kept as frozen models.

The names here are loaded when they are first used, so that `import guideway` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .loader import PlaybookLoader, PlaybookLoadError, load_playbook
    from .models import Playbook, PlaybookStep, StepStatus
    from .schema import json_schema

_HOMES = {
    "Playbook": "models",
    "PlaybookLoadError": "loader",
    "PlaybookLoader": "loader",
    "PlaybookStep": "models",
    "StepStatus": "models",
    "json_schema": "schema",
    "load_playbook": "loader",
}

__all__ = [
    "Playbook",
    "PlaybookLoadError",
    "PlaybookLoader",
    "PlaybookStep",
    "StepStatus",
    "json_schema",
    "load_playbook",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)

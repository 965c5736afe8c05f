"""
Hooks: code of yours at fixed points of an agent's loop.

The native protocol is any object with some of `on_start`, `on_turn_start`, `on_turn_end`, `before_model`,
`after_model`, `before_tool`, `after_tool`, `on_end`, `on_event`, each given its point.  `provider`, `methods`,
`verdict` and `registry` are dialects; a list may mix them all.
"""

from guideway.runtime.hooks.dispatch import Hooks
from guideway.runtime.hooks.native import BUSINESS, DEFAULT, OBSERVABILITY, SECURITY
from guideway.runtime.hooks.points import (
    UNSET,
    AfterModel,
    AfterTool,
    AtEnd,
    BeforeModel,
    BeforeTool,
    End,
    Facts,
    HookFailedError,
    Observation,
    Start,
    Turned,
)

__all__ = [
    "BUSINESS", "DEFAULT", "OBSERVABILITY", "SECURITY", "UNSET", "AfterModel", "AfterTool", "AtEnd", "BeforeModel",
    "BeforeTool", "End", "Facts", "HookFailedError", "Hooks", "Observation", "Start", "Turned",
]  # fmt: skip

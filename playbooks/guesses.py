"""Words that authors bring from other formats, and what they are called here (FORMAT section 1)."""

from __future__ import annotations

from collections.abc import Mapping

from .attempts import RepeatSpec
from .base import Part
from .branches import Branch
from .models import Defaults, Playbook, PlaybookStep
from .terminations import TerminationItem
from .tools_spec import CallSpec, ToolEntry, ToolSpec

_ORDER = "steps run in the order of the page: put the step after the one it needs"
_LAST_BRANCH = "write a last branch without `when`: `- goto: STEP`"
_LOOP = "a loop over a list is `for_each`, which this version does not support yet; `repeat` beside `call` calls again"
_DONE = "write `next: done`"

_STEP: dict[str, str] = {
    "if": "write `when`",
    "condition": "write `when`",
    "tools": "write `expected_tools`",
    "title": "write `description`",
    "name": "write `id`, or `description` for a text that people read",
    "depends_on": _ORDER,
    "needs": _ORDER,
    "then": "write `next`",
    "goto": "write `next`; `goto` is the key of a branch",
    "else": f"{_LAST_BRANCH} in `next` or `switch`",
    "end": _DONE,
    "on_error": "write `on_failure`",
    "catch": "write `on_failure`",
    "loop": _LOOP,
    "foreach": _LOOP,
    "map": _LOOP,
    "register": "write `as` in an entry of `expected_tools`; the result of a `call` is `facts.STEP`",
    "save_as": "write `as` in an entry of `expected_tools`; the result of a `call` is `facts.STEP`",
    "retries": "write `retry`",
}

GUESSES: Mapping[type[Part], Mapping[str, str]] = {
    Playbook: {
        "title": "write `name`",
        "on_error": "write `on_failure` in `defaults`",
        "step_groups": "a playbook has `steps` or `step_groups`, never both",
    },
    PlaybookStep: _STEP,
    Defaults: {key: _STEP[key] for key in ("on_error", "catch", "retries")},
    Branch: {
        "if": "write `when`",
        "condition": "write `when`",
        "then": "write `goto`",
        "next": "write `goto`",
        "else": _LAST_BRANCH,
        "end": "write `goto: done`",
    },
    ToolEntry: {
        "if": "write `where`",
        "when": "write `where`: which calls may run",
        "register": "write `as`",
        "save_as": "write `as`",
        "retries": "write `retry` on the step",
        "on_error": "write `on_failure` on the step",
        "catch": "write `on_failure` on the step",
        "name": "write `tool`",
    },
    CallSpec: {
        "with": "write `args`",
        "register": "leave it out: the result of a `call` is `facts.STEP`",
        "save_as": "leave it out: the result of a `call` is `facts.STEP`",
        "retries": "write `retry` on the step",
        "on_error": "write `on_failure` on the step",
        "catch": "write `on_failure` on the step",
    },
    ToolSpec: {"if": "write `where`", "when": "write `where`: which calls may run"},
    RepeatSpec: {"while": "write `until` and the opposite condition", "max_attempts": "write `at_most`"},
    TerminationItem: {"if": "write one of the conditions, such as `tool_called`"},
}
"""Where → word → what to write instead."""


def guess(model: type[Part] | None, key: str) -> str | None:
    """
    What to write instead of a word of another format.

    >>> guess(PlaybookStep, "if"), guess(CallSpec, "with"), guess(PlaybookStep, "colour")
    ('write `when`', 'write `args`', None)
    """
    return GUESSES.get(model, {}).get(key) if model else None

"""Words that authors bring from other formats, and what they are called here (FORMAT section 1)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from .approvals import ApprovalSpec
from .attempts import RepeatSpec
from .base import Part
from .blocks import AskSpec, ForEachSpec, ProbeSpec, UndoSpec, WaitSpec
from .branches import Branch
from .models import Defaults, Playbook, PlaybookStep
from .policies import CountSpec, EventSpec, OrderSpec, PolicySpec, ResponseSpec
from .terminations import TerminationItem
from .tools_spec import CallSpec, ToolEntry, ToolSpec

_ORDER = "steps run in the order of the page: put the step after the one it needs"
_LAST_BRANCH = "write a last branch without `when`: `- goto: STEP`"
_LOOP = "write `for_each: {as: NAME, in: LIST}` and put what is done for each item under `steps`"
_DONE = "write `next: done`"
_NAMED = "write `as` in an entry of `expected_tools`; the result of a `call` is `facts.STEP`"
_ASK = "write `ask: {question: …}`"
_FINALLY = "write `finally` at the top of the playbook"


def _all(words: str, instead: str) -> dict[str, str]:
    """Several words for one thing."""
    return dict.fromkeys(words.split(), instead)


_STEP: dict[str, str] = {
    **_all("if condition", "write `when`"),
    "tools": "write `expected_tools`",
    "title": "write `description`",
    "name": "write `id`, or `description` for a text that people read",
    **_all("depends_on needs", _ORDER),
    "then": "write `next`",
    "goto": "write `next`; `goto` is the key of a branch",
    "else": f"{_LAST_BRANCH} in `next` or `switch`",
    "end": _DONE,
    **_all("on_error catch rescue", "write `on_failure`"),
    **_all("loop foreach forEach map with_items", _LOOP),
    "while": "write `repeat: {until: …, at_most: …}` and the opposite condition",
    **_all("register save_as", _NAMED),
    "retries": "write `retry`",
    **_all("branches concurrent fork", "write `parallel: {NAME: {…}}`"),
    **_all("block group", "write `steps`"),
    **_all("sleep delay pause", "write `wait: 10m`"),
    **_all("subplaybook sub_playbook call_playbook workflow", "write `playbook: ID`"),
    **_all("question prompt form", _ASK),
    **_all("rollback compensate", "write `undo: all`, or `undo: [TOOL]`"),
    **_all("finally always", _FINALLY),
}

GUESSES: Mapping[type[Part], Mapping[str, str]] = {
    Playbook: {
        "title": "write `name`",
        "on_error": "write `on_failure` in `defaults`",
        "step_groups": "a playbook has `steps` or `step_groups`, never both",
        **_all("rules constraints invariants", "write `policies`"),
        **_all("cleanup always on_exit", "write `finally`"),
        **_all("playbooks subplaybooks sub_playbooks", "write `imports: {ID: PATH}`"),
        "chat": "write `conversation`",
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
    ToolSpec: {
        **_all("if when", "write `where`: which calls may run"),
        **_all("rollback compensate reverse", "write `undo`"),
    },
    UndoSpec: {**_all("with parameters", "write `args`"), **_all("name call", "write `tool`")},
    ApprovalSpec: {
        **_all("question prompt text message", "write `ask`"),
        **_all("assignees groups", "write `approvers`"),
        **_all("if where", "write `when`"),
        **_all("min votes quorum at_least", "write `count`"),
        **_all("exclude excluding not", "write `except`"),
        "reason": "write `because`",
    },
    AskSpec: {
        **_all("ask prompt text message", "write `question`"),
        **_all("approvers to", "write `assignees`"),
        **_all("options answers buttons", "write `choices`"),
        **_all("form inputs", "write `fields`"),
        "reminder": "write `remind`",
        "timeout": "write it on the step, beside `ask`",
    },
    WaitSpec: {
        **_all("for seconds time", "write `wait: 10m`"),
        **_all("when condition", "write `until`"),
        **_all("event message", "write `signal`"),
        "timeout": "write it on the step, beside `wait`",
    },
    ForEachSpec: {
        **_all("item name var loop_var register", "write `as`"),
        **_all("items list over of", "write `in`"),
        **_all("max limit", "write `at_most`"),
        **_all("parallel parallelism max_concurrency", "write `concurrency`"),
        **_all("do steps", "write `steps` beside `for_each`"),
        **_all("result results", "write `collect`"),
    },
    RepeatSpec: {
        "while": "write `until` and the opposite condition",
        **_all("max_attempts max times limit", "write `at_most`"),
        **_all("delay interval", "write `wait`"),
        **_all("do steps", "write `steps` beside `repeat`"),
        **_all("result results", "write `collect`"),
    },
    ProbeSpec: _all("pattern regex matches", "write `match`"),
    PolicySpec: {
        **_all("absence forbid forbidden", "write `never`"),
        **_all("max limit", "write `at_most: {event: …, times: …}`"),
        "existence": "write `at_least: {event: …, times: 1}`",
        **_all("exclusive not_coexistence", "write `not_together: [ONE, OTHER]`"),
        "before": "write `precedence: {first: …, then: …}`",
        "reason": "write `because`",
        "name": "write `id`",
    },
    OrderSpec: {"before": "write `first`", **_all("next second after", "write `then`")},
    ResponseSpec: {**_all("first before on when", "write `after`"), **_all("then next", "write `eventually`")},
    CountSpec: {**_all("tool call", "write `event`"), **_all("count max n at_most at_least", "write `times`")},
    EventSpec: {
        **_all("if when args", "write `where`"),
        "result": "write `expect`",
        "name": "write `tool`",
    },
    TerminationItem: {
        "if": "write one of the conditions, such as `tool_called`",
        "predicate": "write `custom`",
        "event": "write `signal`",
    },
}
"""Where → word → what to write instead."""


_BESIDE_PLAYBOOK = _all("args inputs parameters", "write `with`")


def guess(model: type[Part] | None, key: str, beside: Collection[str] = ()) -> str | None:
    """
    What to write instead of a word of another format; `beside` are the other keys of the map.

    >>> guess(PlaybookStep, "if"), guess(CallSpec, "with"), guess(PlaybookStep, "colour")
    ('write `when`', 'write `args`', None)
    """
    if model is PlaybookStep and "playbook" in beside and key in _BESIDE_PLAYBOOK:
        return _BESIDE_PLAYBOOK[key]
    return GUESSES.get(model, {}).get(key) if model else None

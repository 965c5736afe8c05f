"""What a step that is no call and no agent's work holds: people, time, and the blocks other steps lie in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .expressions import Expression


@dataclass(frozen=True, slots=True)
class Ask:
    """
    A person does or answers something.

    `question` and `assignees` are texts that may hold `{{ EXPR }}`.  Each of `choices` that leads somewhere of its own
    has the edge `answered LABEL`.  `fields` are JSON Schemas.
    """

    question: str
    assignees: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    remind: float | None = None
    """Seconds between two reminders."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Exactly one of: `seconds` pass, `until` is true, the outside signal `signal` comes."""

    seconds: float | None = None
    until: Expression | None = None
    signal: str | None = None


@dataclass(frozen=True, slots=True)
class Parallel:
    """
    Branches that run side by side in one frame (S31); they are the edges `forked`, in the order of the page.

    The step is done when `needed` of those not in `optional` have arrived.
    """

    branches: tuple[str, ...]
    needed: int
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Each:
    """The steps inside once per item, at most `concurrency` at a time (S32).  The list is `items`, else `source`."""

    name: str
    """what an item is called in expressions"""
    source: Expression | None = None
    items: tuple[Any, ...] | None = None
    """JSON whose strings may hold `{{ EXPR }}`"""
    at_most: int = 1000
    concurrency: int = 1
    collect: Expression | None = None


@dataclass(frozen=True, slots=True)
class SubPlaybook:
    """Another playbook, called and returned from (S33); `inputs` is JSON whose strings may hold `{{ EXPR }}`."""

    playbook: str
    inputs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Undo:
    """Run the declared undos of what has succeeded, newest first; of `tools` only, where any are named (S30)."""

    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """Something a visit must have looked at: some successful call, as `TOOL {"args": …}`, matches the RE2 `match`."""

    name: str
    match: str
    description: str = ""

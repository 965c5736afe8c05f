"""What one step of a playbook asks for: the registers and contracts of its states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .approvals import Approval
from .blocks import Ask, Each, Parallel, Probe, SubPlaybook, Undo, Wait
from .expressions import Expression
from .span import Span


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One line of `expected_tools` or `optional_tools`.

    An expected entry is met by exactly `times` successes, or by at least one where `times` is not written
    (irreversible tools: 1, S18).  `tool` of an optional entry may be a pattern (`mcp__siem__*`).
    """

    tool: str
    optional: bool = False
    times: int | None = None
    where: Expression | None = None
    expect: Expression | None = None
    fact: str = ""
    """The name under which a success is kept: `as`, else the tool."""
    approval: Approval | None = None
    because: str | None = None
    span: Span | None = field(default=None, compare=False)
    waived: bool = False
    """`approval: none` was written here: not even the tool's own approval applies."""


@dataclass(frozen=True, slots=True)
class Work:
    """An agent's step: which calls it admits.  Expected entries come before optional ones."""

    entries: tuple[Entry, ...] = ()
    listed: bool = False
    """Expected tools must be called in the order of the list (`order: listed`)."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Try a failed read or idempotent call again, `at_most` times, after `wait` seconds times `backoff` ** tries."""

    at_most: int
    wait: float = 0.0
    backoff: float = 1.0
    when: Expression | None = None


@dataclass(frozen=True, slots=True)
class Repeat:
    """Go round until `until` is true: at most `at_most` rounds, `wait` seconds between two of them."""

    until: Expression
    at_most: int
    wait: float = 0.0
    collect: Expression | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A step whose call the runtime makes itself, with no model turn (S28)."""

    tool: str
    args: Mapping[str, Any] = field(default_factory=dict)
    """JSON whose strings may hold `{{ EXPR }}`."""
    expect: Expression | None = None
    repeat: Repeat | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """
    One step as its author wrote it, defaults applied.

    Its states share it: `S.entry` (the router that holds `when` and `max_visits`), `S.approval`, `S` itself, and, of a
    block, `S.join` and `S.failed`, where the steps inside arrive.
    `timeout` counts seconds from the entry of a visit.
    """

    id: str
    description: str = ""
    hints: tuple[str, ...] = ()
    required: bool = True
    when: Expression | None = None
    max_visits: int | None = None
    timeout: float | None = None
    approval: Approval | None = None
    work: Work | None = None
    call: Call | None = None
    validation: tuple[Expression, ...] = ()
    min_calls: int = 0
    max_calls: int | None = None
    retry: Retry | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    span: Span | None = field(default=None, compare=False)
    block: str = ""
    """The step whose block this one lies in, directly; none in the playbook's own list."""
    ask: Ask | None = None
    wait: Wait | None = None
    parallel: Parallel | None = None
    each: Each | None = None
    repeat: Repeat | None = None
    """Of a block of steps; that of a call is the call's."""
    playbook: SubPlaybook | None = None
    undo: Undo | None = None
    claims: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """JSON Schemas of what `complete_step` must carry."""
    probes: tuple[Probe, ...] = ()

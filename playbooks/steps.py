"""One step of a playbook, as its author wrote it."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from .approvals import Approval, waived
from .attempts import RepeatSpec
from .base import Maybe, fault
from .blocks import Ask, ForEachSpec, ProbeSpec, Undo, Wait
from .branches import Branch, Target
from .handlers import Count, Handlers, PositiveCount
from .shapes import Shape
from .tools_spec import CallSpec, Entry, ToolEntry
from .values import MAX_NAME, NAME_PATTERN, Expr, Name

Kind = Literal[
    "agent",
    "call",
    "approval",
    "switch",
    "ask",
    "wait",
    "playbook",
    "parallel",
    "for_each",
    "repeat",
    "section",
    "undo",
]
"""What a step does; `repeat` is a loop over steps (one over a call is a `call`)."""

_SingleKind = Literal["call", "switch", "ask", "wait", "playbook", "parallel", "for_each", "undo"]
_KIND_KEYS: tuple[_SingleKind, ...] = (
    "call", "switch", "ask", "wait", "playbook", "parallel", "for_each", "undo",
)  # fmt: skip
AGENT_KEYS = ("expected_tools", "optional_tools", "uses", "claims", "required_probes")
"""Keys that only mean something where an agent works."""


def _validation(value: Any) -> Any:
    """One expression stands for a list of one; a bare `true` is an expression."""
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, list | dict):
        return value
    if isinstance(value, str):
        return [value]
    raise fault("GW024", "must be an expression, or a list of expressions")


def _called_by_branch(value: Any) -> Any:
    """A branch that is one step is called by the name of the branch."""
    return {name: _named(name, part) for name, part in value.items()} if isinstance(value, dict) else value


def _named(name: Any, part: Any) -> Any:
    if not isinstance(part, dict) or "id" in part:
        return part
    # an ill-formed name is told of at the key, once
    sound = isinstance(name, str) and len(name) <= MAX_NAME and re.match(NAME_PATTERN, name)
    return {"id": name if sound else "branch", **part}


def _branch_form(value: Any) -> str | None:
    return "~steps" if isinstance(value, list) else "~step" if isinstance(value, dict | PlaybookStep) else None


OneOrMore = Annotated[
    Annotated["PlaybookStep", Tag("~step")] | Annotated[list["PlaybookStep"], Tag("~steps")],
    Discriminator(_branch_form, custom_error_type="GW024", custom_error_message="must be a step, or a list of steps"),
]
Branches = Annotated[dict[Name, OneOrMore], BeforeValidator(_called_by_branch)]
"""Branches by name, in the order of the page."""


def _join_form(value: Any) -> str | None:
    number = isinstance(value, int) and not isinstance(value, bool)
    return "~number" if number else "~word" if value in ("all", "any") else None


Join = Annotated[
    Annotated[PositiveCount, Tag("~number")] | Annotated[Literal["all", "any"], Tag("~word")],
    Discriminator(
        _join_form,
        custom_error_type="GW024",
        custom_error_message="must be `all`, `any`, or how many branches are needed",
    ),
]
"""How many branches have to arrive."""


class PlaybookStep(Handlers):
    """
    One step.  Its kind is the key it carries (`kind`); none: the agent works.

    >>> PlaybookStep(id="enrich", description="Look it up", expected_tools=["query_siem"]).kind
    'agent'
    """

    id: Name = Field(description="The name of the step, unique in the playbook.")
    description: str = Field(
        default="", description="What is to be done; may be left out where a tool or the kind of the step says it."
    )
    expected_tools: list[Entry] = Field(
        default_factory=list, description="The tools the agent must call; the step is done when each has succeeded."
    )
    optional_tools: list[Entry] = Field(
        default_factory=list, description="Tools (or patterns) the agent may call in this step as well."
    )
    order: Literal["any", "listed"] = Field(
        default="any", description="`listed`: the expected tools are called in the order of the list."
    )
    call: Maybe[CallSpec] = Field(default=None, description="A call the runtime makes itself, with no model turn.")
    repeat: Maybe[RepeatSpec] = Field(
        default=None, description="Beside `call` or `steps`: once more, until something holds."
    )
    approval: Maybe[Approval] = Field(default=None, description="A person allows what follows.")
    switch: Maybe[list[Branch]] = Field(default=None, description="A router: the first branch that is true is taken.")
    ask: Maybe[Ask] = Field(default=None, description="A person does something, or answers: text, or a map.")
    wait: Maybe[Wait] = Field(default=None, description="A pause: `10m`, `{until: EXPR}` or `{signal: NAME}`.")
    playbook: Maybe[Name] = Field(default=None, description="Another playbook, called and returned from.")
    with_: dict[str, Any] = Field(
        default_factory=dict,
        validation_alias="with",
        serialization_alias="with",
        description="Beside `playbook`: its inputs, by name.",
    )
    parallel: Maybe[Branches] = Field(
        default=None, description="Branches that run side by side: a step or a list of steps, by name."
    )
    join: Join = Field(default="all", description="Beside `parallel`: how many branches are needed: `all`, `any`, `2`.")
    for_each: Maybe[ForEachSpec] = Field(
        default=None, description="Beside `steps`: they run once for each item of a list."
    )
    steps: Maybe[list[PlaybookStep]] = Field(
        default=None, description="The steps of a section, or of the loop beside it."
    )
    undo: Maybe[Undo] = Field(
        default=None, description="Takes back what has succeeded, newest first: `all`, or a list of tools."
    )
    hints: list[str] = Field(default_factory=list, description="Advice for the agent.")
    required: bool = Field(default=True, description="`false`: the step may be skipped.")
    validation: Annotated[
        list[Any] | dict[str, Any],
        BeforeValidator(_validation, json_schema_input_type=list[Any] | dict[str, Any] | str | bool),
    ] = Field(default_factory=dict, description="Expressions that must be true before the step is done.")
    when: Maybe[Expr] = Field(default=None, description="A condition; where it is false the step is passed over.")
    next: Maybe[Target] = Field(default=None, description="Where to go after the step; left out: the following step.")
    uses: list[Name] = Field(default_factory=list, description="Skills whose tools become optional tools of this step.")
    min_tool_calls: Count | None = Field(
        default=None, description="How many calls must have succeeded before the step is done."
    )
    claims: dict[Name, Shape] = Field(
        default_factory=dict, description="What the agent has to state when it completes the step, by name."
    )
    required_probes: list[ProbeSpec] = Field(
        default_factory=list, description="What a visit must have looked at before the step is done."
    )
    metadata: dict[str, Any] = Field(default_factory=dict, description="Anything you like; never read by the engine.")

    @property
    def kind(self) -> Kind:
        """
        What the step does.

        An `approval` beside another kind, or beside anything an agent does, comes first and is not the kind.
        """
        for key in _KIND_KEYS:
            if getattr(self, key) is not None:
                return key
        if self.steps is not None:
            return "repeat" if self.repeat is not None else "section"
        asks = self.approval is not None and not waived(self.approval)
        return "approval" if asks and not any(getattr(self, key) for key in AGENT_KEYS) else "agent"

    @property
    def expected_entries(self) -> tuple[ToolEntry, ...]:
        """`expected_tools` with every bare name as an entry."""
        return tuple(map(_entry, self.expected_tools))

    @property
    def optional_entries(self) -> tuple[ToolEntry, ...]:
        """`optional_tools` with every bare name as an entry."""
        return tuple(map(_entry, self.optional_tools))


def _entry(written: str | ToolEntry) -> ToolEntry:
    return ToolEntry(tool=written) if isinstance(written, str) else written

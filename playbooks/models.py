"""
The playbook as its author wrote it.

These models are the single source of the format: keys, types, limits, descriptions.  The JSON Schema for editors, the
suggestions for misspelt keys and the tests are all derived from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr

from guideway.statemachine.diagnostic import Diagnostic
from guideway.statemachine.span import Span

from .approvals import Approval
from .attempts import RepeatSpec, Retry
from .base import Maybe, Part, fault
from .branches import Branch, Target
from .inputs import Input
from .source import Source
from .terminations import Termination
from .tools_spec import CallSpec, Entry, ToolEntry, ToolSpec
from .values import MAX_SECONDS, Duration, Expr, Name, ToolName

MAX_COUNT = 1_000_000_000
Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]
PositiveCount = Annotated[int, Field(ge=1, le=MAX_COUNT)]
Seconds = Annotated[float, Field(gt=0, le=MAX_SECONDS)]


class StepStatus(StrEnum):
    """How far a step has come in one run."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    SKIPPED = "skipped"
    FAILED = "failed"


class Handlers(Part):
    """The keys of exceptions and limits, which a step and `defaults` share."""

    max_tool_calls: Count | None = Field(
        default=None, description="How many calls a visit of the step may spend; 0 allows none."
    )
    max_visits: Maybe[PositiveCount] = Field(default=None, description="How many times a run may enter the step.")
    retry: Maybe[Retry] = Field(
        default=None, description="How often a failed call of a read or idempotent tool is tried again."
    )
    timeout: Maybe[Duration] = Field(default=None, description="The deadline of a visit: `90s`, `15m`, `1h30m`.")
    timeout_seconds: Seconds | None = Field(default=None, description="The deadline of a visit, in seconds.")
    on_failure: Maybe[Target] = Field(default=None, description="Where to go when the step fails.")
    on_reject: Maybe[Target] = Field(default=None, description="Where to go when a person says no.")
    on_timeout: Maybe[Target] = Field(default=None, description="Where to go when the deadline has passed.")
    on_exhausted: Maybe[Target] = Field(
        default=None, description="Where to go when `max_tool_calls` is spent and an expected tool is missing."
    )
    on_unknown: Maybe[Target] = Field(
        default=None, description="Where to go when nobody knows whether a call happened."
    )
    on_max_visits: Maybe[Target] = Field(default=None, description="Where to go instead, once `max_visits` is spent.")


class Defaults(Handlers):
    """Step keys for every step that takes them; a step's own key wins."""


def _validation(value: Any) -> Any:
    """One expression stands for a list of one; a bare `true` is an expression."""
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, list | dict):
        return value
    if isinstance(value, str):
        return [value]
    raise fault("GW024", "must be an expression, or a list of expressions")


class PlaybookStep(Handlers):
    """
    One step.  Its kind is the key it carries: `call`, `approval`, `switch`; none: the agent works.

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
    repeat: Maybe[RepeatSpec] = Field(default=None, description="Beside `call`: call again until something holds.")
    approval: Maybe[Approval] = Field(default=None, description="A person allows what follows.")
    switch: Maybe[list[Branch]] = Field(default=None, description="A router: the first branch that is true is taken.")
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
    metadata: dict[str, Any] = Field(default_factory=dict, description="Anything you like; never read by the engine.")

    @property
    def kind(self) -> Literal["agent", "call", "approval", "switch"]:
        """
        What the step does.

        An `approval` beside another kind, or beside tools, comes first and is not the kind.
        """
        if self.call is not None:
            return "call"
        if self.switch is not None:
            return "switch"
        alone = self.approval is not None and not self.approval.none
        return "approval" if alone and not (self.expected_tools or self.optional_tools or self.uses) else "agent"

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


class Playbook(Part):
    """
    A playbook: one list of steps, read from top to bottom.

    >>> playbook = Playbook(id="triage", name="Triage", steps=[PlaybookStep(id="look", description="Look")])
    >>> playbook.get_step_index("look"), playbook.get_step("gone")
    (0, None)
    """

    id: Name = Field(description="The name that other playbooks and commands use.")
    name: str = Field(min_length=1, description="The title people read.")
    description: str = Field(default="", description="What the playbook is for.")
    version: str = Field(default="1.0.0", description="Your version of it, free text.")
    tags: list[str] = Field(default_factory=list, description="Words to find it by.")
    metadata: dict[str, Any] = Field(default_factory=dict, description="Anything you like; never read by the engine.")
    inputs: dict[Name, Input] = Field(
        default_factory=dict, description="What a run is given: a type word or a JSON Schema, by name."
    )
    outcomes: dict[Name, Literal["success", "stopped", "failed", "escalated"]] = Field(
        default_factory=dict, description="Your own words for ends, each with its class."
    )
    defaults: Maybe[Defaults] = Field(default=None, description="Step keys for every step that takes them.")
    tools: Maybe[dict[ToolName, ToolSpec]] = Field(
        default=None, description="The tools there are; with it, a tool not listed is an error."
    )
    optional_tools: list[ToolName] = Field(
        default_factory=list, description="Tools (or patterns) that are legal in every step."
    )
    allow_extra_tools: bool = Field(default=False, description="Every tool that no step names is legal as well.")
    strict_sequence: bool = Field(default=True, description="The steps run in the order of the page.")
    terms: dict[Name, Expr] = Field(default_factory=dict, description="Named expressions, read as `terms.NAME`.")
    max_iterations: PositiveCount | None = Field(default=None, description="How many model turns a run may take.")
    max_refusals: PositiveCount = Field(
        default=5, description="How many turns in a row may be refused before the run stops."
    )
    max_nudges: Count = Field(default=3, description="How often a premature final answer is sent back.")
    termination: Termination = Field(default_factory=list, description="Conditions that end a run before its steps do.")
    steps: list[PlaybookStep] = Field(default_factory=list, description="What is done, in this order.")

    _source: Source = PrivateAttr(default_factory=Source)

    @property
    def file(self) -> str:
        """Where the playbook came from: a path, `<text>` or `<dict>`."""
        return self._source.file

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy, as pydantic does.  A changed copy is no longer what a reader has looked at, and is checked anew."""
        copied = super().model_copy(update=update, deep=deep)
        if update:
            copied._source = Source()
            copied.__dict__.pop("_places", None)
        return copied

    @property
    def built_by_hand(self) -> bool:
        """Made of Python objects: no reader has looked at it."""
        return self._source.document is None

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What reading and validating found: of a playbook that loaded, warnings at most."""
        return self._source.findings

    def span(self, path: Sequence[str | int] = ()) -> Span:
        """
        The place of a value, or of the deepest value on the way to it that was written.

        The path is that of the model: `("steps", 3, "expected_tools", 0, "where")`.

        >>> str(Playbook(id="triage", name="Triage").span(("steps", 0)))
        '<dict>:1:1'
        """
        return self._source.span(path)

    def key_span(self, path: Sequence[str | int]) -> Span:
        """The place of the key that holds the value at `path`."""
        return self._source.key_span(path)

    def text_span(self, path: Sequence[str | int], offset: int) -> Span:
        """The place of the `offset`-th character (from 0) of the text at `path`, for faults inside expressions."""
        return self._source.text_span(path, offset)

    def get_step(self, step_id: str) -> PlaybookStep | None:
        """Find a step by its id."""
        index = self._places.get(step_id)
        return None if index is None else self.steps[index]

    def get_step_index(self, step_id: str) -> int | None:
        """Find the position of a step by its id, from 0."""
        return self._places.get(step_id)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {step.id: index for index, step in reversed(list(enumerate(self.steps)))}

"""
The playbook as its author wrote it.

These models are the single source of the format: keys, types, limits, descriptions.  The JSON Schema for editors, the
suggestions for misspelt keys and the tests are all derived from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field, PrivateAttr

from guideway.statemachine.diagnostic import Diagnostic
from guideway.statemachine.span import Span

from .base import Maybe, Part
from .handlers import MAX_COUNT, Count, Defaults, Handlers, PositiveCount
from .inputs import Input
from .nesting import Path, walk
from .policies import PolicySpec, PredicateSpec
from .source import Source
from .steps import PlaybookStep
from .terminations import Termination
from .tools_spec import ToolSpec
from .values import Expr, Name, ToolName

__all__ = ["MAX_COUNT", "Defaults", "Handlers", "Playbook", "PlaybookStep", "StepStatus"]


class StepStatus(StrEnum):
    """How far a step has come in one run."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    SKIPPED = "skipped"
    FAILED = "failed"


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
    outputs: dict[Name, Expr] = Field(
        default_factory=dict, description="What the playbook gives to one that calls it: expressions, by name."
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
    predicates: dict[Name, PredicateSpec] = Field(
        default_factory=dict, description='Yes-or-no questions that the host answers, read as `predicate("NAME")`.'
    )
    imports: dict[Name, str] = Field(
        default_factory=dict, description="The playbooks that steps call: the path of each file, by id."
    )
    conversation: bool = Field(
        default=False, description="`true`: a reply without calls goes to the user and ends neither step nor run."
    )
    max_iterations: PositiveCount | None = Field(default=None, description="How many model turns a run may take.")
    max_refusals: PositiveCount = Field(
        default=5, description="How many turns in a row may be refused before the run stops."
    )
    max_nudges: Count = Field(default=3, description="How often a premature final answer is sent back.")
    termination: Termination = Field(default_factory=list, description="Conditions that end a run before its steps do.")
    policies: list[PolicySpec] = Field(default_factory=list, description="Rules over the whole run.")
    steps: list[PlaybookStep] = Field(default_factory=list, description="What is done, in this order.")

    finally_: list[PlaybookStep] = Field(
        default_factory=list,
        validation_alias="finally",
        serialization_alias="finally",
        description="`call` steps that run at every end; their failures change nothing.",
    )

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
            for cached in ("_by_id", "_places"):
                copied.__dict__.pop(cached, None)
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

    def walk(self) -> Iterator[tuple[PlaybookStep, Path]]:
        """
        Every step, nested ones after the one they lie in, with its path; those of `finally` last.

        >>> inner = PlaybookStep(id="inner", description="Look")
        >>> playbook = Playbook(id="p", name="P", steps=[PlaybookStep(id="outer", steps=[inner])])
        >>> [(step.id, path) for step, path in playbook.walk()]
        [('outer', ('steps', 0)), ('inner', ('steps', 0, 'steps', 0))]
        """
        yield from walk(self.steps, ("steps",))
        yield from walk(self.finally_, ("finally",))

    def get_step(self, step_id: str) -> PlaybookStep | None:
        """Find a step by its id, at any depth."""
        return self._by_id.get(step_id)

    def get_step_index(self, step_id: str) -> int | None:
        """Find the position of a step of the playbook's own list by its id, from 0."""
        return self._places.get(step_id)

    @cached_property
    def _by_id(self) -> dict[str, PlaybookStep]:
        return {step.id: step for step, _ in reversed(list(self.walk()))}

    @cached_property
    def _places(self) -> dict[str, int]:
        return {step.id: index for index, step in reversed(list(enumerate(self.steps)))}

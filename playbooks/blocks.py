"""Loops over lists, pauses, questions to people, probes: what a step of these kinds says."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, StringConstraints, Tag

from .base import Maybe, Part, fault
from .branches import Target
from .shapes import Shape
from .values import Duration, Expr, Name, ToolName

MAX_ITEMS = 1_000_000
MAX_SIDE_BY_SIDE = 1000
Label = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^\S(?:[^\n\r]*\S)?$")]
"""One answer of a question, as a person reads it."""


def _list_form(value: Any) -> str | None:
    return "~expression" if isinstance(value, str) else "~items" if isinstance(value, list) else None


Items = Annotated[
    Annotated[str, Tag("~expression")] | Annotated[list[Any], Tag("~items")],
    Discriminator(
        _list_form,
        custom_error_type="GW024",
        custom_error_message="must be a list, or the expression of one",
    ),
]
"""The items themselves, or an expression that gives them."""


class ForEachSpec(Part):
    """The steps inside run once for each item of a list."""

    as_: Name = Field(
        validation_alias="as", serialization_alias="as", description="What an item is called in the steps inside."
    )
    in_: Items = Field(
        validation_alias="in", serialization_alias="in", description="The list: an expression, or the items themselves."
    )
    at_most: int = Field(
        default=1000, ge=1, le=MAX_ITEMS, description="The longest list that is taken; a longer one fails the step."
    )
    concurrency: int = Field(
        default=1, ge=1, le=MAX_SIDE_BY_SIDE, description="How many items are worked on at a time."
    )
    collect: Maybe[Expr] = Field(default=None, description="What to keep of each item; left out: its last fact.")


class WaitSpec(Part):
    """Time, a condition, or an outside signal; exactly one of them."""

    duration: Maybe[Duration] = Field(default=None, description="How long to wait: `10m`; `wait: 10m` says the same.")
    until: Maybe[Expr] = Field(default=None, description="The condition to wait for.")
    signal: Maybe[Name] = Field(default=None, description="The outside signal to wait for.")


def _pause(value: Any) -> Any:
    """Turn `wait: 10m` into the map it stands for; a number keeps its own complaint."""
    if isinstance(value, list | bool):
        raise fault("GW024", "must be a duration, `{until: EXPR}` or `{signal: NAME}`", "write `wait: 10m`")
    return {"duration": value} if isinstance(value, str | int | float) else value


Wait = Annotated[WaitSpec, BeforeValidator(_pause, json_schema_input_type=Duration | WaitSpec)]
"""A duration, or a map."""


def _choices_form(value: Any) -> str | None:
    return "~targets" if isinstance(value, dict) else "~labels" if isinstance(value, list) else None


Choices = Annotated[
    Annotated[dict[Label, Target], Tag("~targets")] | Annotated[list[Label], Tag("~labels")],
    Discriminator(
        _choices_form,
        custom_error_type="GW024",
        custom_error_message="must be a list of answers, or a map of answers to targets",
    ),
]
"""The answers there are, with or without a way on for each."""


class AskSpec(Part):
    """A person does something, or answers."""

    question: str = Field(min_length=1, description="What the person reads; `{{ EXPR }}` inside is filled in.")
    assignees: list[str] = Field(
        default_factory=list, description="The groups or persons who are asked; left out: anybody the host lets answer."
    )
    choices: Maybe[Choices] = Field(
        default=None, description="The answers there are: a list, or a map of each to where it leads."
    )
    fields: Maybe[dict[Name, Shape]] = Field(
        default=None, description="What the person fills in: a type word or a JSON Schema, by name."
    )
    remind: Maybe[Duration] = Field(default=None, description="How long after each reminder the next one comes.")


def _question(value: Any) -> Any:
    """Turn `ask: TEXT` into the map it stands for."""
    if isinstance(value, list | bool | int | float):
        raise fault("GW024", "must be a question, or a map such as `{question: …, choices: […]}`", "write a text")
    return {"question": value} if isinstance(value, str) else value


Ask = Annotated[AskSpec, BeforeValidator(_question, json_schema_input_type=str | AskSpec)]
"""A question, or a map."""


class ProbeSpec(Part):
    """Something a visit of the step must have looked at."""

    name: Name = Field(description="What messages call the probe.")
    match: str = Field(
        min_length=1,
        description="A pattern (RE2) that some successful call matches, written as its tool and arguments.",
    )
    description: str = Field(default="", description="What is to be looked at, for people.")


class UndoSpec(Part):
    """The call that takes a success of the tool back."""

    tool: ToolName = Field(description="The tool that takes it back.")
    args: Maybe[dict[str, Any]] = Field(
        default=None, description="Its arguments, out of `args` and `result`; left out: those of the call itself."
    )


def _undo_form(value: Any) -> str | None:
    return "~name" if isinstance(value, str) else "~call" if isinstance(value, dict | UndoSpec) else None


Reversal = Annotated[
    Annotated[ToolName, Tag("~name")] | Annotated[UndoSpec, Tag("~call")],
    Discriminator(
        _undo_form,
        custom_error_type="GW024",
        custom_error_message="must be the name of a tool, or a map such as `{tool: T, args: {…}}`",
    ),
]
"""A tool, or a call."""


def _undone(value: Any) -> Any:
    """A single tool is a list of one, written in brackets."""
    if isinstance(value, str) and value != "all":
        raise fault("GW024", f'must be `all` or a list of tools, not the text "{value:.60}"', f"write `[{value:.60}]`")
    return value


def _undone_form(value: Any) -> str | None:
    return "~all" if value == "all" else "~tools" if isinstance(value, list) else None


Undo = Annotated[
    Annotated[Literal["all"], Tag("~all")] | Annotated[list[ToolName], Tag("~tools")],
    Discriminator(_undone_form, custom_error_type="GW024", custom_error_message="must be `all` or a list of tools"),
    BeforeValidator(_undone),
]
"""Everything that can be taken back, or the calls of some tools."""

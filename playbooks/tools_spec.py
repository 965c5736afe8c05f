"""Tools: what the alphabet says of them, how a step names them, how the runtime calls one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from .approvals import Approval
from .base import Maybe, Part
from .blocks import Reversal
from .branches import Target
from .values import Expr, Name, ToolName

JsonSchema = dict[str, Any]
MAX_TIMES = 1_000_000


class ToolSpec(Part):
    """What holds of a tool wherever it is used."""

    effect: Literal["read", "write", "irreversible"] = Field(
        default="write", description="What a call does to the world: `read`, `write` or `irreversible`."
    )
    idempotent: bool = Field(default=False, description="A second equal call does no harm, so it may be retried.")
    parameters: Maybe[JsonSchema] = Field(default=None, description="The JSON Schema of the arguments.")
    result: Maybe[JsonSchema] = Field(default=None, description="The JSON Schema of the result.")
    where: Maybe[Expr] = Field(
        default=None, description="Which calls may run at all; a call for which it is not true is refused."
    )
    because: Maybe[str] = Field(default=None, description="The reason for `where` or `approval`, told on a refusal.")
    undo: Maybe[Reversal] = Field(
        default=None, description="What takes a success back: a tool, or a tool with `args` out of `args` and `result`."
    )
    approval: Maybe[Approval] = Field(default=None, description="Who must allow each call, or `none` with a `because`.")
    on_unknown: Maybe[Target] = Field(
        default=None, description="Where to go when nobody knows whether a call happened."
    )
    name: Maybe[ToolName] = Field(default=None, description="The framework's own name of the tool, where it differs.")


class ToolEntry(Part):
    """One tool of a step's list, with the terms on which the step takes it."""

    tool: ToolName = Field(description="The tool; in `optional_tools` also a pattern such as `mcp__siem__*`.")
    where: Maybe[Expr] = Field(default=None, description="Which calls may run; it reads `args` and refuses the others.")
    expect: Maybe[Expr] = Field(
        default=None, description="Which successes count; it reads `result` after the call has run."
    )
    times: Maybe[Annotated[int, Field(ge=1, le=MAX_TIMES)]] = Field(
        default=None, description="How many successes the step wants, exactly; left out: one or more."
    )
    as_: Maybe[Name] = Field(
        default=None,
        validation_alias="as",
        serialization_alias="as",
        description="The name of the result: `facts.NAME`; left out: the tool's name.",
    )
    approval: Maybe[Approval] = Field(default=None, description="Who must allow each call of this entry.")
    because: Maybe[str] = Field(default=None, description="The reason for `where` or `approval`, told on a refusal.")


class CallSpec(Part):
    """A call that the runtime makes itself, with no model turn."""

    tool: ToolName = Field(description="The tool to call.")
    args: dict[str, Any] = Field(
        default_factory=dict, description="Its arguments; a text that is one `{{ EXPR }}` keeps the type of the value."
    )
    expect: Maybe[Expr] = Field(default=None, description="Whether the success counts; it reads `result`.")


def _form(value: Any) -> str | None:
    if isinstance(value, str):
        return "~name"
    return "~entry" if isinstance(value, dict | ToolEntry) else None


Entry = Annotated[
    Annotated[ToolName, Tag("~name")] | Annotated[ToolEntry, Tag("~entry")],
    Discriminator(
        _form,
        custom_error_type="GW024",
        custom_error_message="must be the name of a tool, or a map such as `{tool: T, where: …}`",
    ),
]
"""A tool's name, or an entry."""

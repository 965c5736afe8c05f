"""When a run ends before its steps do: the key `termination`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from .base import Maybe, Part
from .values import Duration, Expr, Name, ToolName

Count = Annotated[int, Field(ge=1)]


class TerminationItem(Part):
    """One condition: exactly one of the condition keys, `where` and `expect` beside `tool_called`, and an `outcome`."""

    max_iterations: Maybe[Count] = Field(default=None, description="The run has had this many model turns.")
    token_limit: Maybe[Count] = Field(default=None, description="The model has used this many tokens.")
    time_limit: Maybe[Duration] = Field(default=None, description="The run has lasted this long: `30m`.")
    no_tool_calls: Maybe[Literal[True]] = Field(default=None, description="The last turn held text and no call.")
    tool_called: Maybe[ToolName] = Field(default=None, description="A call of this tool has succeeded.")
    where: Maybe[Expr] = Field(default=None, description="Beside `tool_called`: only calls for which it is true.")
    expect: Maybe[Expr] = Field(default=None, description="Beside `tool_called`: only results for which it is true.")
    confidence_met: Maybe[Annotated[float, Field(ge=0, le=1)]] = Field(
        default=None, description="The model claims at least this confidence, from 0 to 1."
    )
    text_mention: Maybe[str] = Field(default=None, description="The last text matches this pattern (RE2).")
    signal: Maybe[Name] = Field(default=None, description="This outside signal has come.")
    custom: Maybe[Name] = Field(default=None, description="This predicate of `predicates` says yes.")
    all: Maybe[list[TerminationItem]] = Field(default=None, description="Every one of these holds.")
    any: Maybe[list[TerminationItem]] = Field(default=None, description="One of these holds.")
    not_: Maybe[TerminationItem] = Field(
        default=None, validation_alias="not", serialization_alias="not", description="This does not hold."
    )
    outcome: Maybe[Name] = Field(default=None, description="The outcome the run then ends with.")


CONDITION_KEYS = tuple(
    field.validation_alias or name
    for name, field in TerminationItem.model_fields.items()
    if name not in {"where", "expect", "outcome"}
)


def _written(value: Any) -> Any:
    """A single map stands for a list of one."""
    return [value] if isinstance(value, dict | TerminationItem) else value


class _MapOrList:
    """Show both forms in the schema."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        listed = handler(schema)
        return {"anyOf": [listed["items"], listed]}


Termination = Annotated[list[TerminationItem], BeforeValidator(_written), _MapOrList()]
"""A list is read as `any`, its first true item ends the run; a single map is a list of one."""

"""Who allows what: the key `approval` of steps, tools and entries."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from .base import Maybe, Part, fault


class ApprovalSpec(Part):
    """A person decides: on a step before anything else, on a tool or an entry on the exact call."""

    ask: Maybe[str] = Field(
        default=None, description="The question the person reads; `{{ EXPR }}` inside is filled in."
    )
    approvers: list[str] = Field(
        default_factory=list,
        description="The groups or persons who may decide; left out: anybody the host lets decide.",
    )
    because: Maybe[str] = Field(default=None, description="Why a person must decide, or why nobody need to.")
    none: bool = Field(default=False, description="`true` waives approval on purpose; needs a `because`.")


def _written(value: Any) -> Any:
    """Turn the word `none` into the map it stands for; a list of rules is for later."""
    if value == "none" and isinstance(value, str):
        return {"none": True}
    if isinstance(value, list):
        raise fault(
            "GW045",
            "holds a list of rules, which this version does not support yet",
            "write one rule: `approval: {ask: …, approvers: […]}`",
        )
    if isinstance(value, str):
        raise fault(
            "GW024", f'must be a map or the word `none`, not the text "{value:.40}"', "write `approval: {ask: …}`"
        )
    return value


class _WordOrMap:
    """Show both forms in the schema."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"const": "none"}, handler(schema)]}


Approval = Annotated[ApprovalSpec, BeforeValidator(_written), _WordOrMap()]
"""A map, or `none`."""

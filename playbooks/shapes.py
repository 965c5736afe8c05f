"""What a person or an agent hands in: names with the JSON Schema of each (`claims`, `fields`)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from .base import fault
from .json_schema_words import TYPE_WORDS, schema_of_schemas


def of_word(word: str) -> dict[str, Any]:
    """
    Write a type word as the JSON Schema it stands for.

    >>> of_word("string")
    {'type': 'string'}
    """
    if word not in TYPE_WORDS:
        words = ", ".join(f"`{w}`" for w in TYPE_WORDS)
        raise fault("GW034", f"names no type: `{word:.60}`", f"write one of {words}, or a JSON Schema")
    return {"type": word}


def _written(value: Any) -> Any:
    if isinstance(value, str):
        return of_word(value)
    if value is None or isinstance(value, dict):
        return value
    raise fault("GW024", "must be a type word or a JSON Schema", "write a word such as `string`")


class _WordOrSchema:
    """Show both forms in the schema."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"enum": list(TYPE_WORDS)}, schema_of_schemas({})]}


Shape = Annotated[dict[str, Any], BeforeValidator(_written), _WordOrSchema()]
"""A JSON Schema, or a type word that stands for one."""

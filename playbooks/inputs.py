"""What the operator gives at the start: the key `inputs`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_serializer
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from .base import Part
from .json_schema_words import TYPE_WORDS, schema_of_schemas
from .shapes import of_word

OWN_KEYS = ("required", "default", "sensitive")


class InputSpec(Part):
    """
    One input: a JSON Schema (`shape`) and what is said beside it.

    >>> InputSpec.model_validate({"shape": {"type": "string"}}).model_dump()
    {'type': 'string'}
    """

    shape: dict[str, Any] = Field(default_factory=dict, description="The JSON Schema of the value.")
    required: bool = Field(default=True, description="Whether a run may not start without it.")
    default: Any = Field(default=None, description="The value where none is given.")
    sensitive: bool = Field(default=False, description="Redacted in journal, pictures and messages.")

    @property
    def has_default(self) -> bool:
        """A default was written, be it `null`."""
        return "default" in self.model_fields_set

    @model_serializer(mode="plain")
    def _written_form(self) -> dict[str, Any]:
        own = {key: getattr(self, key) for key in OWN_KEYS if key in self.model_fields_set}
        if self.has_default and not self.required:
            del own["required"]
        return {**self.shape, **own}


def _written(value: Any) -> Any:
    """Part our own keys from those of JSON Schema; a word stands for a type."""
    if isinstance(value, str):
        return {"shape": of_word(value)}
    if not isinstance(value, dict):
        return value
    own = {key: value[key] for key in OWN_KEYS if key in value}
    if isinstance(own.get("required"), list):  # that one is JSON Schema's
        del own["required"]
    if "default" in own:
        own.setdefault("required", False)
    return {**own, "shape": {key: part for key, part in value.items() if key not in own}}


class _WordOrSchema:
    """Show both forms in the schema."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        own = {
            "required": {"type": ["boolean", "array"], "description": InputSpec.model_fields["required"].description},
            "default": {"description": InputSpec.model_fields["default"].description},
            "sensitive": {"type": "boolean", "description": InputSpec.model_fields["sensitive"].description},
        }
        return {"anyOf": [{"enum": list(TYPE_WORDS)}, schema_of_schemas(own)]}


Input = Annotated[InputSpec, BeforeValidator(_written), _WordOrSchema()]
"""A type word, or a JSON Schema with `required`, `default`, `sensitive` beside it."""

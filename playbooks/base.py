"""What every part of a playbook has in common: frozen, closed against unknown keys, strict about types."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import get_annotations
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, model_serializer
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema


class Part(BaseModel):
    """
    One map of the format.  The attributes are its keys; a key that is a word of Python ends in `_` here (`as_`).

    An unknown key is an error: in a gate, a misspelt key that is ignored opens the gate.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        allow_inf_nan=False,
    )

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """Show what was said, and nothing else."""
        return ((name, getattr(self, name)) for name in written_order(type(self)) if name in self.model_fields_set)

    @model_serializer(mode="wrap")
    def _as_written(self, handler: Any) -> dict[str, Any]:
        """Leave out what was not said, so that a dump loads again."""
        said, fields = self.model_fields_set, type(self).model_fields
        unsaid = {field.serialization_alias or name for name, field in fields.items() if name not in said}
        dumped: dict[str, Any] = handler(self)
        return {key: value for key, value in dumped.items() if value is not None or key not in unsaid}


def written_order(model: type[Part]) -> list[str]:
    """The fields in the order people write them: those of the model itself before those it inherits."""
    own = get_annotations(model)
    return sorted(model.model_fields, key=lambda name: name not in own)


def fault(code: str, predicate: str, repair: str = "") -> PydanticCustomError:
    """
    Make a validation error that keeps its own code.

    The predicate goes on from the name of the key: "must be …".
    """
    return PydanticCustomError(code, "{predicate}", {"predicate": predicate, "repair": repair})


def _said(value: Any) -> Any:
    if value is None:
        raise fault("GW037", "has no value", "write one, or delete the key")
    return value


class _Written:
    """A key that may be left out, but has a value where it is written: an empty `where:` must not open a gate."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_said, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        shown = handler(schema)
        forms: list[JsonSchemaValue] = [form for form in shown["anyOf"] if form != {"type": "null"}]
        return forms[0] if len(forms) == 1 else {**shown, "anyOf": forms}


T = TypeVar("T")
Maybe = Annotated[T | None, _Written()]
"""`None` means that the key was not written; an explicit `null` is an error."""

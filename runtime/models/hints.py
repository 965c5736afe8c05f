"""Type hints as JSON Schema, arguments held against them, results as JSON; here alone is pydantic imported."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_jsonable_python

from guideway.statemachine.canonical import normal
from guideway.statemachine.errors import HostError

from .signatures import Parameter, parameters_of

MOST_PROBLEMS = 5


class ArgumentsError(ValueError):
    """Arguments that a tool does not take; the text names each, and is meant for the model."""


class _Schema(GenerateJsonSchema):
    """Without the titles that pydantic makes up from names, and silent on defaults that are no JSON."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - it is pydantic's own

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Hints:
    """What a function's signature says of its arguments."""

    schema: Mapping[str, Any]
    """a JSON Schema of type object"""
    model: type[BaseModel]
    names: Mapping[str, str]
    """field of the model -> name of the parameter"""
    positional: tuple[Parameter, ...]

    def bind(self, args: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """
        Positional and named arguments to call the function with; those not given are left to its own defaults.

        A value is taken as it is or refused, never changed into another: `"24"` is no whole number, since the gate
        judged the text.  JSON stands for richer types where JSON has none: an ISO text for a datetime, an object for
        a dataclass.

        Raises:
            ArgumentsError: they are not what the function takes.
        """
        try:
            read = self.model.model_validate_json(json.dumps(args), strict=True)
        except ValidationError as fault:
            raise ArgumentsError(self._problems(fault)) from None
        named = {self.names[key]: value for key, value in vars(read).items() if key in read.model_fields_set}
        named |= read.__pydantic_extra__ or {}
        return [named.pop(each.name, each.default) for each in self.positional], named

    def _problems(self, fault: ValidationError) -> str:
        found = fault.errors(include_url=False, include_context=False, include_input=False)
        more = [f"and {len(found) - MOST_PROBLEMS} more"] if len(found) > MOST_PROBLEMS else []
        return "; ".join([*(self._problem(each) for each in found[:MOST_PROBLEMS]), *more])

    def _problem(self, found: Mapping[str, Any]) -> str:
        place = ".".join(str(part) for part in found["loc"])
        if found["type"] == "missing":
            return f"`{place}` is missing"
        if found["type"] == "extra_forbidden":
            takes = ", ".join(f"`{name}`" for name in self.names.values()) or "none"
            return f"there is no argument `{place}`; it takes {takes}" if "." not in place else f"`{place}` is unknown"
        return f"`{place}`: {found['msg'][:1].lower()}{found['msg'][1:]}"


def hints_of(function: Callable[..., Any], name: str, descriptions: Mapping[str, str]) -> Hints:
    """
    Read a function's signature.  A parameter without a hint takes any JSON.

    Raises:
        HostError: it takes `*args`, or a type that no JSON Schema tells of; or its hints name something unknown.
    """
    parameters, rest = parameters_of(function, name)
    types = _types(function, name)
    fields: dict[str, Any] = {
        f"p{number}": (_hint(types, each.name), _field(each, descriptions, types.get(each.name)))
        for number, each in enumerate(parameters)
    }
    try:
        model = create_model(name, __base__=_base(rest, types), **fields)
        schema = model.model_json_schema(schema_generator=_Schema)
    except (PydanticUserError, TypeError, NameError) as fault:
        said = str(fault).split("\n")[0]
        raise HostError(
            f"the tool `{name}` takes something that no JSON Schema can tell of: {said}; "
            f"give a Tool with `parameters`, or bind the value with functools.partial"
        ) from fault
    schema = {
        "type": "object",
        "properties": {},
        **{k: v for k, v in schema.items() if k not in ("title", "description")},
    }
    names = {f"p{number}": each.name for number, each in enumerate(parameters)}
    return Hints(schema, model, names, tuple(each for each in parameters if each.positional_only))


def _types(function: Callable[..., Any], name: str) -> dict[str, Any]:
    inner = function.func if isinstance(function, partial) else function
    inner = inspect.unwrap(inner)
    if not inspect.isroutine(inner):
        inner = type(inner).__call__  # an object that can be called
    written = {key: hint for key, hint in inspect.get_annotations(inner).items() if key != "return"}
    holder: Any = SimpleNamespace(__annotations__=written)  # what it returns may be known to type checkers only
    try:
        return get_type_hints(holder, getattr(inner, "__globals__", {}), include_extras=True)
    except Exception as fault:
        raise HostError(
            f"the hints of the tool `{name}` cannot be read: {fault}; types in them must be importable at run time"
        ) from fault


def _hint(types: Mapping[str, Any], name: str) -> Any:
    return types.get(name, Any)


def _field(parameter: Parameter, descriptions: Mapping[str, str], hint: Any) -> Any:
    """A field of the model; an `Annotated[int, "how far back"]` describes itself."""
    said = [note for note in getattr(hint, "__metadata__", ()) if isinstance(note, str)]
    options: dict[str, Any] = {"alias": parameter.name}
    if text := descriptions.get(parameter.name) or "".join(said[:1]):
        options["description"] = text
    return Field(**options) if parameter.required else Field(parameter.default, **options)


def _base(rest: str | None, types: Mapping[str, Any]) -> type[BaseModel]:
    """Unknown arguments are refused, unless the function has a `**rest` for them."""
    if rest is None:
        return type("Arguments", (BaseModel,), {"model_config": ConfigDict(extra="forbid"), "__module__": __name__})
    body = {
        "model_config": ConfigDict(extra="allow"),
        "__annotations__": {"__pydantic_extra__": dict[str, _hint(types, rest)]},  # type: ignore[misc]
        "__module__": __name__,
    }
    return type("Arguments", (BaseModel,), body)


def as_json(value: Any) -> Any:
    """
    A copy of a tool's result as JSON: dataclasses, models, datetimes, Enums, sets … in the form that JSON has for them.

    Raises:
        ValueError: there is none, or it holds what no JSON number or text can be.

    >>> from datetime import date
    >>> as_json({"day": date(2026, 12, 1), "hosts": ("a", "b")})
    {'day': '2026-12-01', 'hosts': ['a', 'b']}
    """
    try:
        return normal(value)
    except ValueError:
        if inspect.isgenerator(value) or inspect.isasyncgen(value):
            raise ValueError("a generator is no JSON; return a list") from None
        return normal(to_jsonable_python(value))

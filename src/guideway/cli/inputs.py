"""Inputs of a run, from the command line and from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from guideway.statemachine.canonical import read

from .loading import file_of, text_of
from .status import MisuseError

if TYPE_CHECKING:
    from guideway.statemachine.definition import Definition, Input

AS_JSON = frozenset({"integer", "number", "boolean", "array", "object", "null"})


def inputs_of(
    definition: Definition, given: Sequence[str], file: str | None, kept: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """
    Gather the inputs: those of the file, and over them those of `--input`; of a run that is resumed, beside those kept.

    Raises:
        MisuseError: one is unknown, written twice, not of its type, or kept already.
    """
    values = {} if file is None else of_file(definition, file)
    seen: set[str] = set()
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise MisuseError(f"--input: {pair} must be written key=value")
        if name in seen:
            raise MisuseError(f"--input: {name} is given twice")
        seen.add(name)
        values[name] = parsed(declared(definition, name, "--input"), text)
    if kept is not None:
        return with_kept(definition, values, kept)
    for name, wanted in definition.inputs.items():
        if wanted.required and wanted.default is None and name not in values:
            raise MisuseError(f"--input: `{definition.id}` needs the input `{name}`; give --input {name}=…")
    return values


def with_kept(definition: Definition, values: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a run that is resumed: those that its journal does not hold are given again."""
    for name in values:
        if name in kept:
            raise MisuseError(f"--input: the journal holds `{name}`; only sensitive inputs are given again")
    return {**kept, **values}


def of_file(definition: Definition, file: str) -> dict[str, Any]:
    """Read a JSON object of inputs."""
    file_of(file, "--inputs")
    try:
        values = read(text_of(file, "--inputs"))
    except ValueError as fault:
        raise MisuseError(f"--inputs: {file} is no JSON: {fault}") from None
    if not isinstance(values, dict):
        raise MisuseError(f"--inputs: {file} must hold one JSON object, input by input")
    for name in values:
        declared(definition, name, "--inputs")
    return values


def declared(definition: Definition, name: str, argument: str) -> Input:
    """The input of that name."""
    found = definition.inputs.get(name)
    if found is None:
        near = get_close_matches(name, definition.inputs, n=1)
        known = ", ".join(f"`{known}`" for known in definition.inputs) or "none"
        hint = f"did you mean `{near[0]}`?" if near else f"known: {known}"
        raise MisuseError(f"{argument}: `{definition.id}` takes no input `{name}`; {hint}")
    return found


def parsed(wanted: Input, text: str) -> Any:
    """
    Read one value by the type its schema names: text stays as it is, all else is JSON.

    An input of no type is JSON where it can be, and text where not.

    Raises:
        MisuseError: the text is no JSON.

    >>> from guideway.statemachine.definition import Input
    >>> parsed(Input("hours", {"type": "integer"}), "24"), parsed(Input("host", {"type": "string"}), "24")
    (24, '24')
    """
    types = types_of(wanted.schema)
    if "string" in types:
        return text
    try:
        return read(text)
    except ValueError as fault:
        if not types & AS_JSON:
            return text
        kind = " or ".join(sorted(types))
        said = "" if wanted.sensitive else f", and {text or 'nothing'} is not ({fault})"
        raise MisuseError(f"--input: `{wanted.name}` must be JSON of type {kind}{said}") from None


def types_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """The types a schema names."""
    named = schema.get("type", ())
    return frozenset({named} if isinstance(named, str) else named)

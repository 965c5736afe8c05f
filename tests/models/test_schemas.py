"""What a model is told of a tool: name, description and schema, from plain typed functions."""

# ruff: noqa: D103 - the functions whose hints are read say nothing else
from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from guideway.runtime.models.tool import Tool, tool_of, toolset
from guideway.statemachine.errors import HostError


class Level(Enum):
    """How bad it is."""

    LOW = "low"
    HIGH = "high"


@dataclass
class Host:
    """A machine."""

    name: str
    address: str | None = None


class Window(TypedDict):
    """A stretch of time."""

    hours: int


class Alert(BaseModel):
    """What came in."""

    id: str
    hosts: list[Host] = []


def shape(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The schema of the first parameter, with what it refers to put in its place."""
    schema = tool_of(function).spec.parameters
    [first, *_] = schema["properties"].values()
    if "$ref" in first:
        return schema["$defs"][first["$ref"].rpartition("/")[2]]  # type: ignore[no-any-return]
    return first  # type: ignore[no-any-return]


def plain(x: int) -> None: ...
def optional(x: int | None = None) -> None: ...
def literal(x: Literal["a", "b"]) -> None: ...
def enum(x: Level) -> None: ...
def listed(x: list[str]) -> None: ...
def dated(x: datetime) -> None: ...
def bounded(x: Annotated[int, Field(ge=1, description="how many")] = 1) -> None: ...
def noted(x: Annotated[int, "how many"]) -> None: ...
def unhinted(x) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001
def host(x: Host) -> None: ...
def window(x: Window) -> None: ...
def alert(x: Alert) -> None: ...


@pytest.mark.parametrize(
    ("function", "part"),
    [
        (plain, {"type": "integer"}),
        (optional, {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}),
        (literal, {"type": "string", "enum": ["a", "b"]}),
        (enum, {"type": "string", "enum": ["low", "high"]}),
        (listed, {"type": "array", "items": {"type": "string"}}),
        (dated, {"type": "string", "format": "date-time"}),
        (bounded, {"type": "integer", "minimum": 1, "description": "how many", "default": 1}),
        (noted, {"type": "integer", "description": "how many"}),
        (host, {"type": "object", "required": ["name"]}),
        (window, {"type": "object", "required": ["hours"]}),
        (alert, {"type": "object", "required": ["id"]}),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_hint_becomes_a_schema(function: Callable[..., Any], part: Mapping[str, Any]) -> None:
    """
    Each kind of hint says in JSON Schema what it says in Python.
    """
    assert shape(function).items() >= part.items()


def test_a_parameter_without_a_hint_takes_anything() -> None:
    """
    No hint, no demand; but the argument must be there.
    """
    schema = tool_of(unhinted).spec.parameters

    assert (schema["properties"], schema["required"]) == ({"x": {}}, ["x"])


def test_a_function_says_its_name_and_purpose() -> None:
    """
    Name and description come from the function; unknown arguments are refused by the schema too.
    """

    def query_siem(query: str, hours: int = 24) -> list[str]:
        """Search the SIEM.

        Args:
            query: what to look for
        """
        return []

    spec = tool_of(query_siem).spec

    assert (spec.name, spec.description) == ("query_siem", "Search the SIEM.")
    assert spec.parameters == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "what to look for"},
            "hours": {"type": "integer", "default": 24},
        },
        "required": ["query"],
        "additionalProperties": False,
    }


def test_a_function_without_parameters() -> None:
    """
    It has the empty schema of an object.
    """

    def now() -> str:
        return "now"

    parameters = tool_of(now).spec.parameters

    assert (parameters["type"], parameters["properties"]) == ("object", {})


def test_names_that_pydantic_keeps_for_itself_are_fine() -> None:
    """
    Parameters may be called `schema`, `copy`, `model_config` or `_x`.
    """

    def odd(schema: str, copy: int = 1, model_config: int = 2, _x: int = 3) -> None: ...

    assert list(tool_of(odd).spec.parameters["properties"]) == ["schema", "copy", "model_config", "_x"]


def returns_unknown(x: int) -> NotThere: ...  # type: ignore[name-defined]  # noqa: F821


def test_what_a_function_returns_need_not_be_known() -> None:
    """
    A type imported for type checkers only may stand behind the arrow.
    """
    assert list(tool_of(returns_unknown).spec.parameters["properties"]) == ["x"]


def test_a_decorated_function_is_read_through_its_decorator() -> None:
    """
    `functools.wraps` keeps name, docstring and hints.
    """

    @functools.wraps(plain)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return plain(*args, **kwargs)

    assert tool_of(wrapper).spec == tool_of(plain).spec


class Siem:
    """An object with a method, and one that can be called."""

    def query(self, hours: int) -> int:
        """Search."""
        return hours

    async def __call__(self, hours: int) -> int:
        """Search too."""
        return hours


def test_methods_objects_and_partials() -> None:
    """
    A method has no `self` to give, an object is named after its class, and what a partial binds is not the model's.
    """
    bound = functools.partial(Siem().query, hours=24)

    specs = {tool.name: tool.spec for tool in (tool_of(Siem().query), tool_of(Siem()), tool_of(bound, "bound"))}

    assert specs["query"].description == "Search."
    assert list(specs["query"].parameters["properties"]) == ["hours"]
    assert specs["Siem"].description == "Search too."
    assert specs["bound"].parameters["properties"] == {}


class Context:
    """No JSON can be one."""


def star(*hosts: str) -> None: ...
def context(x: Context) -> None: ...
def unknown(x: NotThere) -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (star, r"takes `\*hosts`"),
        (print, r"takes `\*args`"),
        (context, "no JSON Schema can tell of"),
        (unknown, "NotThere"),
        (Siem.query, "method without its object"),
        (lambda x: x, r"write Tool\('name', function\)"),
        (int, "the class int"),
        (3, "a tool is a function"),
        ({"name": "x"}, "no function under `call`"),
        ({"name": "x", "call": len, "paramters": {}}, "unknown key `paramters`"),
        ({"name": "x", "call": len, "parameters": {"type": "array"}}, "of type object"),
        ({"name": "x", "call": len, "parameters": {"type": "object", "properties": 3}}, "no JSON Schema"),
        ({"call": len}, "needs a name"),
        (Tool("", len), "needs a name"),
    ],
    ids=str,
)
def test_what_can_be_no_tool_is_refused_with_the_way_out(given: Any, said: str) -> None:
    """
    The message names the tool, what is wrong, and what to give instead.
    """
    with pytest.raises(HostError, match=said):
        tool_of(given)


@pytest.mark.parametrize("key", ["parameters", "inputSchema", "input_schema"])
def test_a_map_as_other_protocols_have_it(key: str) -> None:
    """
    A tool of the Model Context Protocol, with a function beside it, is a tool; its own schema is the one that holds.
    """
    schema = {"type": "object", "properties": {"hours": {"type": "integer"}}, "required": ["hours"]}

    tool = tool_of({"name": "query", "description": "Search.", key: schema, "call": plain, "annotations": {"a": 1}})

    assert (tool.name, tool.description, tool.parameters) == ("query", "Search.", schema)


def test_a_tool_may_say_things_itself() -> None:
    """
    What a `Tool` says stands; what it leaves out is read from the function.
    """
    tool = tool_of(Tool("rate", lambda hours: 24 / hours, "Per hour.", effect="read"))

    assert (tool.description, tool.effect) == ("Per hour.", "read")
    assert list(tool.spec.parameters["properties"]) == ["hours"]
    assert tool_of(tool) == tool


def test_a_set_of_tools() -> None:
    """
    A list names tools by their functions, a map by its keys; two of one name are refused.
    """
    assert list(toolset([plain, optional])) == ["plain", "optional"]
    assert list(toolset({"a": plain, "b": lambda: 1})) == ["a", "b"]
    with pytest.raises(HostError, match="two tools are named `plain`"):
        toolset([plain, plain])

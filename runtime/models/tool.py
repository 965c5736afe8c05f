"""Tools as an agent holds them: a function, and what a model is told of it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from guideway.runtime.calls import told
from guideway.runtime.schemas import problem
from guideway.statemachine.canonical import normal
from guideway.statemachine.errors import GuidewayError, HostError

from .docstrings import told_of
from .messages import ToolSpec
from .signatures import name_of

if TYPE_CHECKING:
    from .hints import Hints

NAMES_OF_SCHEMA = ("parameters", "inputSchema", "input_schema")
NAMES_OF_CALL = ("call", "function")
PASSED_OVER = ("title", "annotations", "outputSchema", "icons", "execution", "meta", "_meta")
"""What a tool of the Model Context Protocol also says of itself, and nobody may rely on."""


class ToolError(GuidewayError):
    """
    Raised by a tool: it failed, and this is what the model is told, word for word.

    `type` is what a playbook's `on_error` may look at (`error.type`).
    """

    def __init__(self, message: str, type: str = "ToolError") -> None:
        self.type = type
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Tool:
    """
    A function under a name, with what a model is told of it.

    Leave `description` and `parameters` (a JSON Schema of type object) to be read from the function's docstring and
    hints (`tool_of`).  `effect` (`read`, `write` …) is the host's word on what a call does, for a playbook that says
    nothing of the tool.
    """

    name: str
    function: Callable[..., Any]
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    effect: str | None = None
    hints: Hints | None = field(default=None, repr=False, compare=False)
    """made by `tool_of`; None where `parameters` were given, which then decide"""

    @property
    def spec(self) -> ToolSpec:
        """What a model is told."""
        return ToolSpec(self.name, self.description, self.parameters or {"type": "object", "properties": {}})


AnyTool = Callable[..., Any] | Tool | Mapping[str, Any]


def tool_of(given: AnyTool, name: str = "") -> Tool:
    """
    Make a tool of a function, of a `Tool`, or of a map `{name, description, parameters, call}`.

    The name is the function's, the description its docstring's, the schema that of its hints; parameters are described
    by the docstring (Google, NumPy or reST) or by `Annotated`.

    Raises:
        HostError: it is none of these; it has no name; or no JSON Schema can tell what it takes.

    >>> def query_siem(hours: int = 24) -> dict:
    ...     '''Search the SIEM.
    ...
    ...     :param hours: how far back
    ...     '''
    >>> tool_of(query_siem).spec.parameters["properties"]
    {'hours': {'default': 24, 'description': 'how far back', 'type': 'integer'}}
    """
    tool = _tool(given, name)
    if not isinstance(tool.name, str) or not tool.name:
        raise HostError(f"a tool needs a name, and {_shown(tool.function)} has none; write Tool('name', function)")
    if not callable(tool.function) or inspect.isclass(tool.function):
        raise HostError(f"the tool `{tool.name}` must be a function, not {_shown(tool.function)}")
    said = told_of(_docstring(tool.function))
    tool = replace(tool, description=tool.description or said.text)
    if tool.parameters is None:
        from .hints import hints_of

        hints = hints_of(tool.function, tool.name, said.parameters)
        return replace(tool, parameters=hints.schema, hints=hints)
    return tool if tool.hints else replace(tool, parameters=_schema(tool))


def toolset(given: Iterable[AnyTool] | Mapping[str, Any]) -> dict[str, Tool]:
    """
    Make tools of all of these, by name; a map gives the names itself.

    Raises:
        HostError: one is no tool, or two have the same name.
    """
    named = given.items() if isinstance(given, Mapping) else (("", each) for each in given)
    found: dict[str, Tool] = {}
    for name, each in named:
        tool = tool_of(each, name)
        if tool.name in found:
            raise HostError(f"two tools are named `{tool.name}`; give one of them another name: Tool('name', function)")
        found[tool.name] = tool
    return found


def _tool(given: object, name: str) -> Tool:
    if isinstance(given, Tool):
        return replace(given, name=name) if name else given
    if isinstance(given, Mapping):
        return _of_map(given, name)
    if not callable(given):
        raise HostError(f"a tool is a function, a Tool, or a map with `name` and `call`; {_shown(given)} is none")
    return Tool(name or name_of(given), given)


def _of_map(given: Mapping[str, Any], name: str) -> Tool:
    """A tool as the Model Context Protocol describes it, with the function under `call`; that is called by keyword."""
    known = ("name", "description", *NAMES_OF_SCHEMA, *NAMES_OF_CALL, "effect")
    for key in given:
        if key not in known and key not in PASSED_OVER:
            raise HostError(
                f"the tool {told(given.get('name'))} has an unknown key `{key}`; known are {', '.join(known)}"
            )
    call = next((given[key] for key in NAMES_OF_CALL if key in given), None)
    if call is None:
        raise HostError(f"the tool {told(given.get('name'))} has no function under `call`")
    schema = next((given[key] for key in NAMES_OF_SCHEMA if given.get(key) is not None), None)
    return Tool(name or given.get("name", ""), call, given.get("description") or "", schema, given.get("effect"))


def _schema(tool: Tool) -> Mapping[str, Any]:
    """The schema given, as our own copy of JSON."""
    try:
        schema = normal(tool.parameters)
    except ValueError as fault:
        raise HostError(f"`parameters` of the tool `{tool.name}` is no JSON: {fault}") from None
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise HostError(f"`parameters` of the tool `{tool.name}` must be a JSON Schema of type object")
    if (wrong := problem(schema, {})) and "cannot be checked" in wrong:
        raise HostError(f"`parameters` of the tool `{tool.name}` is no JSON Schema: {wrong}")
    return {"type": "object", "properties": {}, **schema}


def _docstring(function: Callable[..., Any]) -> str | None:
    inner = function.func if isinstance(function, functools.partial) else function
    if inspect.isroutine(inner):
        return inspect.getdoc(inner)
    return inspect.getdoc(type(inner).__call__) if "__call__" in vars(type(inner)) else None


def _shown(value: object) -> str:
    if inspect.isclass(value):
        return f"the class {value.__name__}"
    return "a lambda" if getattr(value, "__name__", "") == "<lambda>" else told(value)

"""Tools as plain functions: where they come from, and what a call of one comes to."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from guideway.statemachine.canonical import normal
from guideway.statemachine.definition import Definition, StateKind
from guideway.statemachine.errors import HostError
from guideway.statemachine.steps import Step
from guideway.statemachine.tools import is_pattern

from .calls import Failed, Outcome, Succeeded

Tools = Mapping[str, Callable[..., Any]]
LONGEST_MESSAGE = 2_000
"""Characters kept of what a failing tool says."""


def load_tools(source: str) -> dict[str, Callable[..., Any]]:
    """
    Find tools in a module: its `TOOLS` (name -> function), else the public functions written in it.

    `source` is the path of a Python file or the dotted name of a module; importing it runs its code.

    Raises:
        HostError: there is no such module, it cannot be imported, or it holds no tools.

    >>> sorted(load_tools("shlex"))[:3]
    ['join', 'quote', 'split']
    """
    return load_functions(source, "TOOLS")


def load_functions(source: str, table: str) -> dict[str, Callable[..., Any]]:
    """
    Find functions in a module: those of the map named `table` (`TOOLS`, `PREDICATES`), else its own public ones.

    Raises:
        HostError: there is no such module, it cannot be imported, or it holds none.
    """
    module, what = _from_path(Path(source)) if _is_path(source) else _from_name(source), table.lower()
    found = getattr(module, table, None)
    if found is None:
        named = vars(module).items()
        found = {name: value for name, value in named if not name.startswith("_") and _own(value, module)}
    if not isinstance(found, Mapping) or not all(isinstance(name, str) and callable(found[name]) for name in found):
        raise HostError(f"`{table}` of {source} must map the names of {what} to functions")
    if not found:
        raise HostError(f"{source} holds no {what}: neither `{table}` nor a public function")
    return dict(found)


def _is_path(source: str) -> bool:
    return source.endswith(".py") or "/" in source or "\\" in source or Path(source).is_file()


def _own(value: Any, module: ModuleType) -> bool:
    return inspect.isfunction(value) and value.__module__ == module.__name__


def _from_path(path: Path) -> ModuleType:
    if path.is_dir():
        raise HostError(f"{path} is a folder; name a Python file")
    if not path.is_file():
        raise HostError(f"{path} {'is a pipe or a device' if path.exists() else 'does not exist'}; name a Python file")
    name = f"guideway_tools_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise HostError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickling look a module up by its name
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as fault:
        del sys.modules[name]
        raise HostError(f"{path} cannot be imported: {_said(fault)}") from fault
    return module


def _from_name(name: str) -> ModuleType:
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)  # as `python -m` would find it, but behind everything installed
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as fault:
        raise HostError(f"the module `{name}` cannot be imported: {_said(fault)}") from fault


def _said(fault: BaseException) -> str:
    return f"{type(fault).__name__}: {' '.join(message_of(fault).split())}"


def find_tool(tools: Tools, definition: Definition, name: str) -> Callable[..., Any] | None:
    """The function behind a tool of the playbook: under its own name, or the framework's (`name` in `tools`)."""
    found = tools.get(name)
    if found is None and (declared := definition.tool(name)) is not None and declared.alias:
        found = tools.get(declared.alias)
    if found is None:
        found = next((tools[t.name] for t in definition.tools.values() if t.alias == name and t.name in tools), None)
    return found


def missing_tools(definition: Definition, tools: Tools) -> Iterator[str]:
    """
    Say, a sentence each, which tools the playbook, and those it calls, cannot do without and nobody gave.

    Optional tools and patterns are passed over: a run may never need them.
    """
    told: set[str] = set()
    for part in definition.playbooks:
        whose = "" if part is definition else f" of `{part.id}`"
        for step in part.steps.values():
            for tool in needed(part, step):
                if tool not in told and find_tool(tools, part, tool) is None:
                    told.add(tool)
                    where = f" ({step.span})" if step.span else ""
                    yield f"no tool `{tool}` was given, and step `{step.id}`{whose} calls it{where}"


def needed(definition: Definition, step: Step) -> list[str]:
    """The tools a step cannot do without, those of an `undo` included."""
    if step.call is not None:
        return [step.call.tool]
    if step.undo is not None:
        undone = [tool for name in step.undo.tools or sorted(definition.named_tools) if (tool := definition.tool(name))]
        return [tool.undo.tool for tool in undone if tool.undo is not None]
    entries = step.work.entries if step.work else ()
    return [entry.tool for entry in entries if not entry.optional and not is_pattern(entry.tool)]


def first_agent_step(definition: Definition) -> str | None:
    """The first step of the page in which an agent works; else that of a playbook it calls."""
    states = (state for part in definition.playbooks for state in part.states.values())
    names = (state.step.id for state in states if state.kind is StateKind.STEP and state.step is not None)
    return next(names, None)


def call_tool(function: Callable[..., Any] | None, name: str, args: Mapping[str, Any]) -> Outcome:
    """
    Call a tool with a copy of its arguments.  What it raises is what came of the call, and no error of the caller's.

    That is so for whatever it raises (`SystemExit`, `GeneratorExit`, …), but for an interrupt, which is the user's.

    >>> call_tool(lambda hours: 24 / hours, "rate", {"hours": 0})
    Failed(error={'type': 'ZeroDivisionError', 'message': 'division by zero'})
    """
    if function is None:
        return Failed({"type": "NoSuchTool", "message": f"nobody gave a tool `{name}`"})
    try:
        result = function(**normal(args))
        if inspect.iscoroutine(result):
            result = _finished(result)
    except KeyboardInterrupt:
        raise
    except BaseException as fault:
        return Failed({"type": type(fault).__name__, "message": message_of(fault)})
    return Succeeded(result)


def _finished(coroutine: Any) -> Any:
    import asyncio

    return asyncio.run(coroutine)


def message_of(fault: BaseException) -> str:
    """What an exception says, as text that JSON can carry."""
    try:
        text = str(fault)
    except KeyboardInterrupt:
        raise
    except BaseException:  # an exception may be broken itself
        text = "it does not say why"
    clean = text.encode("utf-8", "replace").decode()
    return clean if len(clean) <= LONGEST_MESSAGE else clean[:LONGEST_MESSAGE] + "…"

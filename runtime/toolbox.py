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
    module = _from_path(Path(source)) if _is_path(source) else _from_name(source)
    tools = getattr(module, "TOOLS", None)
    if tools is None:
        named = vars(module).items()
        tools = {name: value for name, value in named if not name.startswith("_") and _own(value, module)}
    if not isinstance(tools, Mapping) or not all(isinstance(name, str) and callable(tools[name]) for name in tools):
        raise HostError(f"`TOOLS` of {source} must map the names of tools to functions")
    if not tools:
        raise HostError(f"{source} holds no tools: neither `TOOLS` nor a public function")
    return dict(tools)


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
    return f"{type(fault).__name__}: {' '.join(_message(fault).split())}"


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
    Say, a sentence each, which tools the playbook cannot do without and nobody gave.

    Optional tools and patterns are passed over: a run may never need them.
    """
    told: set[str] = set()
    for step in definition.steps.values():
        entries = step.work.entries if step.work else ()
        needed = [e.tool for e in entries if not e.optional and not is_pattern(e.tool)]
        for tool in [step.call.tool] if step.call else needed:
            if tool not in told and find_tool(tools, definition, tool) is None:
                told.add(tool)
                where = f" ({step.span})" if step.span else ""
                yield f"no tool `{tool}` was given, and step `{step.id}` calls it{where}"


def first_agent_step(definition: Definition) -> str | None:
    """The first step of the page in which an agent works."""
    names = (s.step.id for s in definition.states.values() if s.kind is StateKind.STEP and s.step is not None)
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
        return Failed({"type": type(fault).__name__, "message": _message(fault)})
    return Succeeded(result)


def _finished(coroutine: Any) -> Any:
    import asyncio

    return asyncio.run(coroutine)


def _message(fault: BaseException) -> str:
    """What the exception says, as text that JSON can carry."""
    try:
        text = str(fault)
    except KeyboardInterrupt:
        raise
    except BaseException:  # an exception may be broken itself
        text = "it does not say why"
    clean = text.encode("utf-8", "replace").decode()
    return clean if len(clean) <= LONGEST_MESSAGE else clean[:LONGEST_MESSAGE] + "…"

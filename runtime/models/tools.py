"""A call of a tool, from arguments to what came of it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from guideway.runtime.calls import Cancelled, Failed, Outcome, Substituted, Succeeded, Unknown
from guideway.runtime.schemas import problem
from guideway.runtime.toolbox import message_of
from guideway.statemachine.canonical import normal
from guideway.statemachine.errors import GuidewayError, HostError

from .signatures import is_async
from .threads import beside
from .tool import AnyTool, Tool, ToolError, tool_of, toolset

__all__ = [
    "AnyTool", "OnToolException", "Tool", "ToolError", "ToolRaisedError", "arguments", "failure", "run", "succeeded",
    "tool_of", "toolset",
]  # fmt: skip

OnToolException = Literal["fail", "raise"] | Callable[[BaseException], Any]
"""What an exception of a tool comes to: a failure that the model reads, the end of the run, or what a function says."""


class ToolRaisedError(GuidewayError):
    """A tool raised, and the run is to end for it.  The cause is what it raised; `outcome` is what to observe."""

    def __init__(self, tool: str, fault: BaseException) -> None:
        self.tool = tool
        self.outcome = failure(fault)
        super().__init__(f"the tool `{tool}` raised {type(fault).__name__}: {message_of(fault)}")


@dataclass(frozen=True, slots=True)
class _Raised:
    """Carried out of a worker thread as a value: asyncio cannot carry every exception (StopIteration hangs it)."""

    fault: BaseException


async def run(tool: Tool, args: Mapping[str, Any], on_tool_exception: OnToolException = "fail") -> Outcome:
    """
    Call a tool with a copy of the arguments.

    A function that is not asynchronous runs in a worker thread.  A cancelled wait for one does not stop it: what it
    does then, nobody knows (`Unknown`).  Interrupts and cancellation pass through.

    Raises:
        ToolRaisedError: the tool raised, and `on_tool_exception` is "raise"; or its own handler raised.

    >>> from guideway.runtime.models.tool import tool_of
    >>> def rate(hours: int) -> float: return 24 / hours
    >>> asyncio.run(run(tool_of(rate), {"hours": 0}))
    Failed(error={'type': 'ZeroDivisionError', 'message': 'division by zero'})
    >>> asyncio.run(run(tool_of(rate), {"hours": "2"})).error["message"]
    '`hours`: input should be a valid integer'
    """
    try:
        positional, named = arguments(tool, args)
    except Exception as fault:  # a validator of a program's own may raise anything
        return Failed({"type": "BadArguments", "message": message_of(fault)})
    result = await _called(tool, positional, named)
    if isinstance(result, _Raised):
        return await _answer(tool, result.fault, on_tool_exception)
    return succeeded(tool, result)


def arguments(tool: Tool, args: object) -> tuple[list[Any], dict[str, Any]]:
    """
    Positional and named arguments for the function, copied and held against its schema.

    Raises:
        ValueError: they are not what it takes; the text is for the model.
    """
    if not isinstance(args, Mapping):
        raise ValueError("the arguments are no JSON object")
    own = normal(args)
    if tool.hints is None:
        if wrong := problem(tool.parameters, own):
            raise ValueError(wrong)
        return [], own
    return tool.hints.bind(own)


async def _called(tool: Tool, positional: list[Any], named: dict[str, Any]) -> Any:
    try:
        if is_async(tool.function):
            return await tool.function(*positional, **named)
        result = await beside(partial(_caught, tool.function, positional, named), tool.name)
        return await result if inspect.isawaitable(result) else result
    except (KeyboardInterrupt, GeneratorExit):
        raise  # the second: the loop lets go of this coroutine
    except asyncio.CancelledError as fault:
        if _being_cancelled():
            raise
        return _Raised(fault)
    except BaseException as fault:
        return _Raised(fault)


def _caught(function: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> Any:
    try:
        return function(*positional, **named)
    except BaseException as fault:
        return _Raised(fault)


def _being_cancelled() -> bool:
    """Somebody cancels the task that runs the tool; else the tool itself let a cancellation out."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


async def _answer(tool: Tool, fault: BaseException, on_tool_exception: OnToolException) -> Outcome:
    if isinstance(fault, KeyboardInterrupt):
        raise fault
    if on_tool_exception == "fail" or isinstance(fault, ToolError):
        return failure(fault)
    if on_tool_exception == "raise" or not callable(on_tool_exception):
        raise ToolRaisedError(tool.name, fault) from fault
    try:
        said = on_tool_exception(fault)
        said = await said if inspect.isawaitable(said) else said
    except Exception as own:
        raise ToolRaisedError(tool.name, own) from own
    if isinstance(said, Succeeded | Failed | Cancelled | Unknown | Substituted):
        return said
    if isinstance(said, str):
        return Failed({"type": type(fault).__name__, "message": said})
    raise HostError(f"`on_tool_exception` must give a text or an outcome, and gave a {type(said).__name__}") from fault


def succeeded(tool: Tool, result: Any) -> Outcome:
    """What a tool returned, as JSON; where it is none, the call ran and failed."""
    from .hints import as_json

    try:
        return Succeeded(as_json(result))
    except Exception as fault:
        return Failed(
            {"type": "BadResult", "message": f"`{tool.name}` ran, but its result is no JSON: {message_of(fault)}"}
        )


def failure(fault: BaseException) -> Failed:
    """What the model is told of an exception."""
    kind = fault.type if isinstance(fault, ToolError) else type(fault).__name__
    return Failed({"type": kind, "message": message_of(fault)})

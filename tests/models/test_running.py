"""A call of a tool: checked arguments, what it returned as JSON, and what its failures come to."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from guideway.runtime.calls import Failed, Outcome, Succeeded, Unknown
from guideway.runtime.models.tools import Tool, ToolError, ToolRaisedError, run, tool_of
from guideway.statemachine.errors import HostError


def outcome(function: Callable[..., Any], args: Any = None, **options: Any) -> Outcome:
    """What comes of one call."""
    return asyncio.run(run(tool_of(function), {} if args is None else args, **options))


def error(function: Callable[..., Any], args: Any = None, **options: Any) -> tuple[str, str]:
    """Type and message of a failure."""
    failed = outcome(function, args, **options)
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, Mapping)
    return failed.error["type"], failed.error["message"]


@dataclass
class Host:
    """A machine."""

    name: str
    seen: datetime | None = None


class Alert(BaseModel):
    """What came in."""

    host: Host


class Level(Enum):
    """How bad it is."""

    HIGH = "high"


def query(hours: int, host: Host | None = None, level: Level = Level.HIGH) -> list[Any]:
    """Show what arrived."""
    return [type(hours).__name__, type(host).__name__, level.name]


def test_arguments_arrive_as_the_hints_say() -> None:
    """
    JSON stands for the richer types: an object for a dataclass, a text for an Enum.
    """
    result = outcome(query, {"hours": 24, "host": {"name": "ws-7"}, "level": "high"})

    assert result == Succeeded(["int", "Host", "HIGH"])


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({}, "`hours` is missing"),
        ({"hours": "24"}, "`hours`: input should be a valid integer"),
        ({"hours": True}, "`hours`: input should be a valid integer"),
        ({"hours": 2.5}, "`hours`: input should be a valid integer"),
        ({"hours": None}, "`hours`: input should be a valid integer"),
        ({"hours": 1, "host": {"name": 3}}, "`host.name`: input should be a valid string"),
        ({"hours": 1, "level": "low"}, "`level`: input should be 'high'"),
        ({"hours": 1, "days": 2}, "there is no argument `days`; it takes `hours`, `host`, `level`"),
        ('{"hours": 1', "the arguments are no JSON object"),
        ({"hours": float("nan")}, "hours: NaN is no JSON number"),
    ],
    ids=str,
)
def test_arguments_that_do_not_fit_are_refused_by_name(args: Any, said: str) -> None:
    """
    The tool is not called; the model reads which argument is wrong and what was expected. No value is changed to fit.
    """
    assert error(query, args) == ("BadArguments", said)


class Ratio(BaseModel):
    """A model whose own check is broken."""

    of: int

    @field_validator("of")
    @classmethod
    def check(cls, value: int) -> int:
        """Divide by zero."""
        return value // 0


def test_a_check_of_the_programs_own_that_breaks_is_a_refusal() -> None:
    """
    What a validator raises is no traceback of the agent's: the call is refused.
    """

    def rate(ratio: Ratio) -> None: ...

    assert error(rate, {"ratio": {"of": 1}}) == ("BadArguments", "integer division or modulo by zero")


def test_every_wrong_argument_is_named() -> None:
    """
    One refusal names them all, so that one repair is enough.
    """
    _, message = error(query, {"hours": "x", "level": 3, "days": 1})

    assert [name for name in ("hours", "level", "days") if f"`{name}`" in message] == ["hours", "level", "days"]


def test_what_the_model_wrote_is_not_repeated() -> None:
    """
    A refusal names fields and no values: those may be secrets.
    """
    _, message = error(query, {"hours": "hunter2"})

    assert "hunter2" not in message


def test_a_given_schema_decides_for_itself() -> None:
    """
    Where `parameters` were given, the arguments are held against them and passed by keyword as they are.
    """
    schema = {"type": "object", "properties": {"hours": {"type": "integer"}}, "required": ["hours"]}
    free = tool_of(Tool("query", lambda **args: args))
    strict = tool_of(Tool("query", lambda **args: args, parameters=schema))

    assert asyncio.run(run(free, {"a": 1})) == Succeeded({"a": 1})
    assert asyncio.run(run(strict, {"hours": 1})) == Succeeded({"hours": 1})
    assert asyncio.run(run(strict, {})) == Failed({"type": "BadArguments", "message": "'hours' is a required property"})


def test_a_tool_cannot_change_the_callers_arguments() -> None:
    """
    The tool gets a copy: what the gate judged stays what it was.
    """
    args = {"hosts": ["a"]}

    def grow(hosts: list[str]) -> int:
        hosts.append("b")
        return len(hosts)

    assert outcome(grow, args) == Succeeded(2)
    assert args == {"hosts": ["a"]}


def test_defaults_are_the_functions_own() -> None:
    """
    What is not given is left to the function, be its default JSON or not; positional-only parameters are filled too.
    """

    def odd(first: int, second: int = 2, /, third: Any = Path(), **rest: int) -> list[Any]:
        return [first, second, isinstance(third, Path), rest]

    assert outcome(odd, {"first": 1}) == Succeeded([1, 2, True, {}])
    assert outcome(odd, {"second": 5, "first": 1, "more": 3}) == Succeeded([1, 5, True, {"more": 3}])
    assert error(odd, {"first": 1, "more": "x"}) == ("BadArguments", "`more`: input should be a valid integer")


RESULTS: list[tuple[Any, Any]] = [
    (None, None),
    ((1, 2), [1, 2]),
    (2.0, 2),
    (Host("a", datetime(2026, 12, 1, tzinfo=UTC)), {"name": "a", "seen": "2026-12-01T00:00:00Z"}),
    (Alert(host=Host("a")), {"host": {"name": "a", "seen": None}}),
    ([Level.HIGH], ["high"]),
    ({"at": Path("/tmp")}, {"at": "/tmp"}),  # noqa: S108
    ({1: "a"}, {"1": "a"}),
]


@pytest.mark.parametrize(("returned", "json"), RESULTS, ids=lambda value: type(value).__name__)
def test_a_result_becomes_json(returned: Any, json: Any) -> None:
    """
    Dataclasses, models, Enums, times, paths and tuples take the form that JSON has for them.
    """
    assert outcome(lambda_named(lambda: returned)) == Succeeded(json)


def lambda_named(function: Callable[[], Any]) -> Any:
    """A tool without parameters."""
    return Tool("tool", function)


def numbers() -> Iterator[int]:
    """No list."""
    yield 1


@pytest.mark.parametrize(
    "returned",
    [float("nan"), float("inf"), object(), 2**70, "\ud800", numbers()],
    ids=lambda value: type(value).__name__,
)
def test_a_result_that_is_no_json_is_a_failure(returned: Any) -> None:
    """
    The call ran, and its result is nothing that a journal could keep: it failed, and says that it ran.
    """
    kind, message = error(lambda_named(lambda: returned))

    assert kind == "BadResult"
    assert message.startswith("`tool` ran, but its result is no JSON")


def test_a_result_that_holds_itself_is_a_failure() -> None:
    """
    A cycle is no JSON either.
    """
    loop: list[Any] = []
    loop.append(loop)

    assert error(lambda_named(lambda: loop))[0] == "BadResult"


def raising(fault: BaseException) -> Any:
    """A tool that raises."""

    def tool() -> None:
        raise fault

    return tool


async def raising_async() -> None:
    """An asynchronous tool that raises."""
    raise ConnectionError("refused")


def test_a_tool_error_is_shown_as_it_is() -> None:
    """
    `ToolError` is the tool's own word to the model, whatever `on_tool_exception` says of exceptions.
    """
    tool = raising(ToolError("that host is protected", type="Protected"))

    assert error(tool) == ("Protected", "that host is protected")
    assert error(tool, on_tool_exception="raise") == ("Protected", "that host is protected")
    assert error(raising(ToolError("no"))) == ("ToolError", "no")


@pytest.mark.parametrize(
    "fault", [ValueError("bad"), StopIteration("bad"), SystemExit("bad"), GeneratorExit("bad")], ids=repr
)
def test_any_exception_is_what_came_of_the_call(fault: BaseException) -> None:
    """
    Even those that asyncio cannot carry, or that would end the process, are a failure that the model reads.
    """
    assert error(raising(fault)) == (type(fault).__name__, "bad")
    assert error(raising_async) == ("ConnectionError", "refused")


def test_an_exception_may_end_the_run() -> None:
    """
    With "raise", what is raised names the tool, chains the exception and holds the outcome to observe.
    """
    with pytest.raises(ToolRaisedError, match="the tool `tool` raised ValueError: bad") as got:
        outcome(raising(ValueError("bad")), on_tool_exception="raise")

    assert isinstance(got.value.__cause__, ValueError)
    assert got.value.outcome == Failed({"type": "ValueError", "message": "bad"})


async def later(fault: BaseException) -> str:
    """A handler that is asynchronous."""
    return f"later: {fault}"


@pytest.mark.parametrize(
    ("handler", "result"),
    [
        (lambda fault: f"sorry: {fault}", Failed({"type": "ValueError", "message": "sorry: bad"})),
        (later, Failed({"type": "ValueError", "message": "later: bad"})),
        (lambda fault: Unknown(), Unknown()),
    ],
    ids=["a text", "an async one", "an outcome"],
)
def test_a_handler_may_say_what_an_exception_comes_to(handler: Callable[..., Any], result: Outcome) -> None:
    """
    A text is what the model reads of the failure; an outcome is taken as it is: a lost connection may be `Unknown`.
    """
    assert outcome(raising(ValueError("bad")), on_tool_exception=handler) == result


def test_a_handler_that_fails_ends_the_run() -> None:
    """
    A handler's own exception, or an answer that is none, never becomes a result.
    """
    with pytest.raises(ToolRaisedError, match="ZeroDivisionError"):
        outcome(raising(ValueError("bad")), on_tool_exception=lambda fault: 1 / 0)
    with pytest.raises(HostError, match="a text or an outcome, and gave a int"):
        outcome(raising(ValueError("bad")), on_tool_exception=lambda fault: 3)


def test_an_interrupt_passes_through() -> None:
    """
    The user's interrupt is no outcome of a tool.
    """
    with pytest.raises(KeyboardInterrupt):
        outcome(raising(KeyboardInterrupt()))


def test_a_function_that_blocks_does_not_block_others() -> None:
    """
    Plain functions run in worker threads: two that wait for one another both come to an end.
    """
    both = threading.Barrier(2, timeout=30)

    def meet() -> bool:
        return both.wait() >= 0

    async def together() -> list[Outcome]:
        return list(await asyncio.gather(run(tool_of(meet), {}), run(tool_of(meet), {})))

    assert asyncio.run(together()) == [Succeeded(True), Succeeded(True)]


def test_many_functions_may_wait_for_one_another() -> None:
    """
    Fifty plain functions that all wait for the last one come to an end: there is no pool to be full.
    """
    all_of_them = threading.Barrier(50, timeout=30)

    async def together() -> list[Outcome]:
        tool = tool_of(Tool("wait", lambda: all_of_them.wait() >= 0))
        return list(await asyncio.gather(*(run(tool, {}) for _ in range(50))))

    assert asyncio.run(together()) == [Succeeded(True)] * 50


def test_a_function_that_hangs_does_not_hold_the_loop_up() -> None:
    """
    Who stops waiting for a plain function can end the loop, though the function still runs.
    """
    started, release, ended = threading.Event(), threading.Event(), threading.Event()

    def hang() -> None:
        started.set()
        release.wait(timeout=30)
        ended.set()

    async def give_up() -> None:
        task = asyncio.create_task(run(tool_of(hang), {}))
        while not started.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(give_up())

    assert not ended.is_set()
    release.set()
    assert ended.wait(timeout=30)


def test_a_function_sees_the_callers_context() -> None:
    """
    Context variables (a trace, a tenant) reach a plain function too.
    """
    tenant = contextvars.ContextVar("tenant", default="nobody")

    async def call() -> Outcome:
        tenant.set("acme")
        return await run(tool_of(Tool("who", tenant.get, parameters={"type": "object"})), {})

    assert asyncio.run(call()) == Succeeded("acme")


def test_asynchronous_tools_run_on_the_loop() -> None:
    """
    An async function, an object with one, and a function that gives a coroutine are awaited.
    """

    async def where(x: int = 0) -> bool:
        await asyncio.sleep(0)
        return threading.current_thread() is threading.main_thread()

    def hands_on() -> Awaitable[bool]:
        return where()

    assert outcome(where) == outcome(hands_on) == Succeeded(True)


def test_being_cancelled_passes_through() -> None:
    """
    Who cancels the wait for a tool sees it cancelled, and no outcome is made up.
    """

    async def cancel() -> None:
        started = asyncio.Event()

        async def wait() -> None:
            started.set()
            await asyncio.sleep(3600)

        task = asyncio.create_task(run(tool_of(wait), {}))
        await started.wait()
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())


def test_a_tool_that_lets_a_cancellation_of_its_own_out_has_failed() -> None:
    """
    Nobody cancelled the call: the run goes on, and the model reads of a failure.
    """

    async def lost() -> None:
        task = asyncio.create_task(asyncio.sleep(3600))
        task.cancel()
        await task

    assert error(lost)[0] == "CancelledError"

"""Runs that are cut short: nothing is left running, nothing unknown is taken for done, and hooks hear of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import guideway as gw
from guideway.agent import Agent
from guideway.runtime.agent.events import RunEnded, ToolStarted
from guideway.runtime.models.fake import FakeModel, FunctionModel

from .kit import TRIAGE, agent, words

READ: dict[str, Any] = {
    **TRIAGE,
    "steps": [{"id": "look", "description": "Look", "expected_tools": ["query_siem"]}],
    "tools": {"query_siem": {"effect": "read"}},
}
WRITE: dict[str, Any] = {**READ, "tools": {"query_siem": {"effect": "write"}}}


class Slow:
    """A tool that never comes back by itself, and says when it began and that it was stopped."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.stopped = False

    async def query_siem(self) -> None:
        """Look."""
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped = True


async def cut(playbook: dict[str, Any], how: str) -> tuple[Any, Slow]:
    """A run that is cut short while its tool is under way; its result as its last event has it."""
    slow, events = Slow(), list[Any]()
    made = Agent(FakeModel([gw.ToolCall("query_siem")] * 2), [slow.query_siem], playbook=playbook,
                 on_event=events.append)  # fmt: skip
    task = asyncio.ensure_future(made.run("go"))
    await slow.began.wait()
    if how == "cancel":
        made.cancel()
        await task
    else:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    return next(event.result for event in events if isinstance(event, RunEnded)), slow


def test_cancel_stops_tools_and_the_run() -> None:
    """
    A cancelled run has an outcome; the tool was stopped and waited for.
    """
    result, slow = asyncio.run(cut(READ, "cancel"))

    assert slow.stopped
    assert words(result) == ("cancelled", "stopped:cancelled", False)


def test_a_cancelled_task_interrupts_the_run_and_leaves_it_in_order() -> None:
    """
    The task raises as it must; the run's last event says `interrupted`, and the call is unknown.
    """
    result, slow = asyncio.run(cut(WRITE, "task"))

    assert slow.stopped
    assert words(result) == ("interrupted", None, False)
    assert [question.of for question in result.pending] == ["reconcile"]


def test_an_interrupted_run_goes_on() -> None:
    """
    An unknown read is an error the model may make good; nothing runs that nobody asked for.
    """
    result, _ = asyncio.run(cut(READ, "task"))
    later = Agent(FakeModel([gw.ToolCall("query_siem")]), [gw_query], playbook=READ)

    assert words(later.resume_sync(result.state)) == ("complete", "success", True)


def gw_query() -> dict[str, int]:
    """Look."""
    return {"hits": 1}


gw_query.__name__ = "query_siem"


def test_ctrl_c_in_run_sync_leaves_the_run_in_order() -> None:
    """
    An interrupt of the program raises as ever, and the last event has been told.
    """
    import os
    import signal

    events: list[Any] = []

    async def interrupted(request: Any) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()
        return ""

    made = Agent(FunctionModel(interrupted), on_event=events.append)

    with pytest.raises(KeyboardInterrupt):
        made.run_sync("go")
    assert events[-1].result.stop_reason == "interrupted"


def test_who_leaves_the_stream_early_cancels_the_run() -> None:
    """
    Breaking out of `async for` and closing the stream stops the tools.
    """

    async def main() -> Slow:
        slow = Slow()
        made = Agent(FakeModel([gw.ToolCall("query_siem")]), [slow.query_siem], playbook=READ)
        stream = made.stream("go")
        async for event in stream:
            if isinstance(event, ToolStarted):
                break
        await slow.began.wait()
        await stream.aclose()  # type: ignore[attr-defined]
        return slow

    assert asyncio.run(main()).stopped


def test_a_stream_brings_every_event_and_the_result_last() -> None:
    """
    Text comes piece by piece while it is written.
    """

    async def main() -> list[Any]:
        made = Agent(FakeModel(["All is well."]))
        return [event async for event in made.stream("go")]

    events = asyncio.run(main())

    assert [event.text for event in events if type(event).__name__ == "TextDelta"] == ["All ", "is ", "well."]
    assert type(events[0]).__name__ == "RunStarted"
    assert events[-1].result.output == "All is well."


def test_a_stream_that_breaks_off_is_an_error_in_an_event() -> None:
    """
    A model that stops in the middle of its reply has not replied.
    """

    class Broken:
        name = "broken"

        async def reply(self, request: Any) -> Any:
            raise AssertionError

        async def stream(self, request: Any) -> Any:
            from guideway.runtime.models.messages import TextDelta

            yield TextDelta("All ")

    async def main() -> list[Any]:
        return [event async for event in Agent(Broken()).stream("go")]

    result = asyncio.run(main())[-1].result

    assert words(result)[0] == "error"
    assert "stopped in the middle of a reply" in str(result.error)


def test_a_model_that_raises_anything_ends_in_an_event() -> None:
    """
    Never a traceback of its own.
    """
    result = Agent(FunctionModel(lambda request: dict[str, str]()["x"])).run_sync("go")

    assert words(result)[0] == "error"
    assert isinstance(result.error, KeyError)


def test_run_sync_inside_a_loop_says_what_to_write() -> None:
    """
    A program with an event loop awaits `run`.
    """

    async def main() -> None:
        agent([]).run_sync("go")

    with pytest.raises(gw.HostError, match="await agent"):
        asyncio.run(main())


def test_a_step_that_times_out_does_not_wait_for_its_call() -> None:
    """
    The call runs on as an orphan, and the run goes where the playbook says (S26).
    """
    from .kit import Moved

    clock, slow = Moved(), Slow()
    step = {"id": "look", "description": "Look", "expected_tools": ["query_siem"], "timeout": "1m",
            "on_timeout": "escalated"}  # fmt: skip
    playbook = {**READ, "steps": [step]}

    async def main() -> Any:
        made = Agent(FakeModel([gw.ToolCall("query_siem")]), [slow.query_siem], playbook=playbook, clock=clock)
        task = asyncio.ensure_future(made.run("go"))
        await slow.began.wait()
        clock.on(61)
        return await asyncio.wait_for(task, 10)

    result = asyncio.run(main())

    assert (result.outcome, slow.stopped) == ("escalated", True)


def test_a_cancelled_write_is_unknown_and_no_success() -> None:
    """
    Nobody knows whether the write happened, and the record says so (S24, S40).
    """
    result, slow = asyncio.run(cut(WRITE, "cancel"))

    assert slow.stopped
    assert words(result) == ("cancelled", "stopped:cancelled", False)
    assert ("unknown", "query_siem") in [(r[4], r[3]) for r in result.session.records if r[0] == "settled"]


def test_a_callback_that_raises_leaves_the_run_in_order() -> None:
    """
    The host's own fault comes out as it is, after hooks have heard of the end.
    """
    from .kit import ASKING, ISOLATE, SIEM

    events: list[Any] = []

    def lead(question: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        agent([SIEM, ISOLATE], playbook=ASKING, decisions=lead, on_event=events.append).run_sync("go")
    assert events[-1].result.stop_reason == "error"


def test_calls_that_an_interrupt_would_let_run_did_not_happen() -> None:
    """
    The first call comes to its end although it was cancelled, and so allows the second: that is given up.
    """

    async def main() -> Any:
        began, events = asyncio.Event(), list[Any]()

        async def query_siem(hours: int) -> dict[str, int]:
            began.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return {"hits": 1}
            return {}

        def isolate_host(host: str) -> None:
            raise AssertionError

        calls = [gw.ToolCall("query_siem", {"hours": 1}), gw.ToolCall("isolate_host", {"host": "ws-7"})]
        made = Agent(FakeModel([calls]), [query_siem, isolate_host], playbook=TRIAGE, on_event=events.append)
        task = asyncio.ensure_future(made.run("go"))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return events[-1].result

    result = asyncio.run(main())
    from .kit import ISOLATE, Tools

    later = Agent(FakeModel([ISOLATE]), Tools().both, playbook=TRIAGE)

    assert result.session.state == "contain"
    assert words(later.resume_sync(result.state)) == ("complete", "success", True)

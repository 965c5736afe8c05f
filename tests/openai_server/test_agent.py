"""The agent, driven over real HTTP: whatever the provider does, a run ends in a clear event, never in a traceback."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from guideway.agent import Agent
from guideway.runtime.agent.events import Event, ModelReplied, RunEnded, TerminateEvent, TextDelta, ToolDecided
from guideway.runtime.agent.reasons import StopReason
from guideway.runtime.agent.result import AgentResult
from guideway.runtime.models.messages import ModelError
from tests.openai_server.clients import model_at
from tests.openai_server.faults import CutOff, Garbage, Slow, Status
from tests.openai_server.server import Does, Server
from tests.openai_server.wire import Call, Says

PLAYBOOK = {
    "id": "triage",
    "name": "Triage",
    "steps": [
        {"id": "look", "description": "Look it up", "expected_tools": ["query_siem"]},
        {"id": "contain", "description": "Isolate the host", "expected_tools": ["isolate_host"]},
    ],
}
LOOK = Says("Looking.", (Call("query_siem", '{"hours": 24}', "c1"),))
ISOLATE = Says(calls=(Call("isolate_host", '{"host": "ws-7"}', "c2"),))
DONE = Says("Done.")
BOTH = pytest.mark.parametrize("streaming", [False, True], ids=["awaited", "streamed"])


class Tools:
    """The tools of the playbook, and what was done with them."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def query_siem(self, hours: int) -> dict[str, int]:
        """Search the SIEM."""
        self.done.append(f"query {hours}")
        return {"hits": 3}

    def isolate_host(self, host: str) -> str:
        """Take a host off the network."""
        self.done.append(f"isolate {host}")
        return "isolated"


def drive(server: Server, streaming: bool, **parts: Any) -> tuple[AgentResult, list[Event], list[str]]:
    """Run the playbook to its end: the result, the events, and what the tools did."""
    tools = Tools()

    async def go() -> list[Event]:
        agent = Agent(
            model := model_at(server), [tools.query_siem, tools.isolate_host], playbook=PLAYBOOK,
            model_settings={"max_retries": 0, **parts.pop("settings", {})}, **parts,
        )  # fmt: skip
        try:
            if streaming:
                return [event async for event in agent.stream("An alert on ws-7.")]
            result = await agent.run("An alert on ws-7.")
            return [*result.events, RunEnded(result)]
        finally:
            await model.close()

    events = asyncio.run(go())
    last = events[-1]
    assert isinstance(last, RunEnded)
    return last.result, events, tools.done


def codes(events: list[Event]) -> list[str]:
    """What the gate said of each call."""
    decided = [event.verdict for event in events if isinstance(event, ToolDecided)]
    return [getattr(verdict, "code", None) or "allowed" for verdict in decided]


@BOTH
def test_a_run_over_real_http(streaming: bool) -> None:
    """
    Two steps and an answer: success, with the tools run once each, and the usage of three requests.
    """
    with Server([LOOK, ISOLATE, DONE]) as server:
        result, events, done = drive(server, streaming)

    assert (result.success, result.stop_reason, result.outcome) == (True, StopReason.COMPLETE, "success")
    assert done == ["query 24", "isolate ws-7"]
    assert result.usage.tokens == 18 * len(server.requests)
    if streaming:
        assert "".join(event.text for event in events if isinstance(event, TextDelta)).startswith("Looking.")


def test_a_model_is_offered_what_is_legal_now() -> None:
    """
    The first request offers the tool of the first step and not that of the second; the second follows.
    """
    with Server([LOOK, ISOLATE, DONE]) as server:
        drive(server, False)

    offered = [{tool["function"]["name"] for tool in body.get("tools", ())} for body in server.requests]
    assert "query_siem" in offered[0]
    assert "isolate_host" not in offered[0]
    assert "isolate_host" in offered[1]


@BOTH
@pytest.mark.parametrize(
    ("odd", "code"),
    [
        (Says(calls=(Call("query_siem", '{"hours": 2'),)), "bad_args"),
        (Says(calls=(Call("query_siem", "[24]"),)), "bad_args"),
        (Says(calls=(Call("format_disk", "{}"),)), "unknown_tool"),
        (Says(calls=(Call("isolate_host", '{"host": "ws-7"}'),)), "out_of_sequence"),
    ],
    ids=["cut arguments", "a list", "an unknown tool", "the wrong step"],
)
def test_an_odd_call_is_refused_and_the_run_goes_on(streaming: bool, odd: Says, code: str) -> None:
    """
    The gate answers, the model reads why, nothing runs for it, and the next calls succeed.
    """
    with Server([odd, LOOK, ISOLATE, DONE]) as server:
        result, events, done = drive(server, streaming)

    assert codes(events)[0] == code
    assert result.success
    assert done == ["query 24", "isolate ws-7"]
    assert [message["role"] for message in server.requests[1]["messages"]][-1] == "tool"


@BOTH
def test_arguments_that_do_not_fit_the_function_are_its_failure(streaming: bool) -> None:
    """
    The gate allows the call, and the function does not take its arguments: it never runs, and the model reads why.
    """
    wrong = Says(calls=(Call("query_siem", '{"hours": "24"}'),))
    with Server([wrong, LOOK, ISOLATE, DONE]) as server:
        result, events, done = drive(server, streaming)

    assert codes(events) == ["allowed", "allowed", "allowed"]
    assert "valid integer" in str(server.requests[1]["messages"][-1]["content"])
    assert done == ["query 24", "isolate ws-7"]
    assert result.success


@BOTH
def test_two_calls_under_one_id(streaming: bool) -> None:
    """
    The first runs, the second is refused; the transcript that goes back tells them apart, and the run ends well.
    """
    twice = Says(calls=(Call("query_siem", '{"hours": 1}', "c1"), Call("query_siem", '{"hours": 2}', "c1")))
    with Server([twice, ISOLATE, DONE]) as server:
        result, events, done = drive(server, streaming)

    sent = server.requests[1]["messages"]
    ids = [call["id"] for message in sent for call in message.get("tool_calls", ())]
    assert codes(events) == ["allowed", "id_reused", "allowed"]
    assert ids == ["c1", "c1_2"]
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == ids
    assert done == ["query 1", "isolate ws-7"]
    assert result.success


@BOTH
def test_empty_replies_end_in_a_named_end(streaming: bool) -> None:
    """
    A model that says nothing is told to go on, and after a bounded number of nudges the run is incomplete.
    """
    with Server(lambda body: Says("")) as server:
        result, events, done = drive(server, streaming)

    assert not result.success
    assert result.stop_reason is StopReason.INCOMPLETE
    assert any(isinstance(event, TerminateEvent) for event in events)
    assert done == []
    assert 1 < len(server.requests) < 20


@BOTH
def test_a_model_that_says_it_is_done_is_not_believed(streaming: bool) -> None:
    """
    An answer where steps are open ends nothing.
    """
    with Server(lambda body: DONE) as server:
        result, _, done = drive(server, streaming)

    assert (result.success, result.stop_reason, done) == (False, StopReason.INCOMPLETE, [])


FAULTS: list[tuple[Does, str]] = [
    (Status(429), "rate_limit"),
    (Status(500), "server"),
    (Status(401), "authentication"),
    (Garbage(), "unreadable"),
    (Garbage(""), "unreadable"),
    (Slow(), "timeout"),
    (Says("x", finish="content_filter"), "filtered"),
]
CUTS: list[tuple[Does, str]] = [
    (CutOff(ISOLATE, 2), "connection"),
    (CutOff(ISOLATE, 4), "connection"),
    (CutOff(ISOLATE, 4, rude=False), "broken_off"),
    (CutOff(DONE, 2, rude=False), "broken_off"),
]


@pytest.mark.parametrize(
    ("streaming", "fault", "kind"),
    [*((False, *each) for each in FAULTS), *((True, *each) for each in FAULTS), *((True, *each) for each in CUTS)],
    ids=lambda value: "" if isinstance(value, str) else str(value).split("(")[0],
)
def test_a_fault_of_the_provider_ends_the_segment_with_an_error(streaming: bool, fault: Does, kind: str) -> None:
    """
    In the middle of a run the provider fails: the run ends with `error`, an event says so, the result holds the
    `ModelError`, what was done stays done, and a call in a broken stream never runs.
    """
    with Server([LOOK, fault]) as server:
        result, events, done = drive(server, streaming, settings={"timeout": 1.0})

    assert (result.success, result.stop_reason) == (False, StopReason.ERROR)
    assert isinstance(result.error, ModelError)
    assert result.error.kind == kind
    assert [event.stop_reason for event in events if isinstance(event, TerminateEvent)] == ["error"]
    assert sum(isinstance(event, ModelReplied) for event in events) == 1
    assert done == ["query 24"]


@BOTH
def test_a_transcript_that_is_too_long_has_a_reason_of_its_own(streaming: bool) -> None:
    """
    What a provider says of a full context window is `context_exhausted`.
    """
    with Server([Status(400, "maximum context length is 8192 tokens", "context_length_exceeded")]) as server:
        result, _, _ = drive(server, streaming)

    assert result.stop_reason is StopReason.CONTEXT_EXHAUSTED


def test_a_run_that_failed_can_go_on() -> None:
    """
    After the provider's failure the run is taken up where it stood: what was done is not done again.
    """
    tools = Tools()

    async def go() -> tuple[AgentResult, AgentResult]:
        agent = Agent(
            model := model_at(server), [tools.query_siem, tools.isolate_host], playbook=PLAYBOOK,
            model_settings={"max_retries": 0},
        )  # fmt: skip
        first = await agent.run("An alert on ws-7.")
        second = await agent.send()
        await model.close()
        return first, second

    with Server([LOOK, Status(500), ISOLATE, DONE]) as server:
        first, second = asyncio.run(go())

    assert (first.stop_reason, first.outcome) == (StopReason.ERROR, None)
    assert second.success
    assert tools.done == ["query 24", "isolate ws-7"]

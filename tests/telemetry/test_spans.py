"""Spans of an agent's runs."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.trace import SpanKind, StatusCode

import guideway as gw
from guideway.agent import Agent
from guideway.runtime.decisions import Decision
from guideway.runtime.models.fake import FakeModel
from guideway.runtime.models.messages import ModelError, ModelReply
from guideway.runtime.plan import plan_of
from guideway.telemetry import Telemetry
from tests.agent.kit import ASKING, ISOLATE, SIEM, TRIAGE, Tools, agent, free
from tests.telemetry.kit import Kept, about, events, everything

AUTOMATIC: dict[str, Any] = {
    **TRIAGE,
    "steps": [{"id": "first", "description": "Count", "call": {"tool": "query_siem", "args": {"hours": 1}}},
              *TRIAGE["steps"]],
}  # fmt: skip
SECRET: dict[str, Any] = {
    "id": "p", "name": "P", "inputs": {"token": {"type": "string", "sensitive": True}},
    "tools": {"login": {"parameters": {"type": "object", "properties": {
        "user": {"type": "string"}, "pin": {"type": "string", "sensitive": True}, "via": {"type": "string"}}}}},
    "steps": [{"id": "enter", "description": "Log in", "expected_tools": ["login"]}],
}  # fmt: skip


def login(user: str, pin: str, via: str) -> str:
    """Log in."""
    return f"{user} is in, via {via}"


def usage(call: gw.ToolCall) -> ModelReply:
    """A reply that has cost something."""
    return ModelReply(calls=(call,), usage=gw.Usage(input_tokens=11, output_tokens=7), model="x-1", finish="tool_call")


def test_a_run_is_a_span_with_a_span_for_each_question_and_each_call() -> None:
    """
    `invoke_agent` is above a `chat` for every question to the model and an `execute_tool` for every call that ran.
    """
    kept = Kept()

    agent([SIEM, ISOLATE], hooks=[Telemetry(kept.provider)]).run_sync("An alert.")

    root = kept.one("invoke_agent Triage an alert")
    assert kept.names == [
        "invoke_agent Triage an alert", "chat fake", "execute_tool query_siem", "chat fake", "execute_tool isolate_host"
    ]  # fmt: skip
    assert {span.parent.span_id for span in kept.spans if span.parent and span.context} == {root.context.span_id}
    assert [span.kind for span in kept.spans[:3]] == [SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.INTERNAL]


def test_the_root_says_which_playbook_ran_and_how_it_ended() -> None:
    """
    The outermost span names agent, provider, model, run, playbook and digest, and at the end the outcome.
    """
    kept = Kept()

    result = agent([SIEM, ISOLATE], hooks=[Telemetry(kept.provider, agent="oncall")]).run_sync("An alert.")

    said = about(kept.one("invoke_agent oncall"))
    assert said.pop("guideway.playbook.digest") == plan_of(gw.load(TRIAGE)).definition.digest
    assert said == {
        "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "oncall", "gen_ai.provider.name": "fake",
        "gen_ai.request.model": "fake", "gen_ai.conversation.id": result.run_id, "guideway.run.id": result.run_id,
        "guideway.playbook.id": "triage", "guideway.mode": "enforce", "guideway.outcome": "success",
        "guideway.stop_reason": "complete", "guideway.status": "completed", "guideway.success": True,
        "guideway.turns": 2,
    }  # fmt: skip


def test_a_question_to_the_model_says_what_it_cost() -> None:
    """
    `chat` has provider and model of the name, what answered, the tokens and why the model stopped; the root their sum.
    """
    kept = Kept()
    model = FakeModel([usage(SIEM), usage(ISOLATE)], name="anthropic:claude-sonnet-4-6")

    Agent(model, Tools().both, playbook=TRIAGE, hooks=[Telemetry(kept.provider)]).run_sync("An alert.")

    chat = about(kept.spans[1])
    assert chat["gen_ai.provider.name"] == "anthropic" and chat["gen_ai.request.model"] == "claude-sonnet-4-6"
    assert chat["gen_ai.response.model"] == "x-1" and chat["gen_ai.response.finish_reasons"] == ("tool_call",)
    assert (chat["gen_ai.usage.input_tokens"], chat["gen_ai.usage.output_tokens"]) == (11, 7)
    assert about(kept.spans[0])["gen_ai.usage.input_tokens"] == 22


def test_a_call_of_the_playbook_itself_is_a_span_too() -> None:
    """
    Calls that no model asked for are shown, and marked; they begin before the model is first asked.
    """
    kept = Kept()

    agent([SIEM, ISOLATE], playbook=AUTOMATIC, hooks=[Telemetry(kept.provider)]).run_sync("An alert.")

    first, second = (span for span in kept.spans if span.name == "execute_tool query_siem")
    assert about(first)["guideway.call.automatic"] is True
    assert "guideway.call.automatic" not in about(second)


def test_a_call_that_did_not_run_is_no_span() -> None:
    """
    A refused call is an event of the run's span, with its code: whoever counts `execute_tool` counts what ran.
    """
    kept = Kept()

    agent([ISOLATE, SIEM, ISOLATE], hooks=[Telemetry(kept.provider)]).run_sync("An alert.")

    refused = [said for name, said in events(kept.spans[0]) if name == "guideway.decided"]
    assert kept.names.count("execute_tool isolate_host") == 1
    assert refused == [{
        "gen_ai.tool.name": "isolate_host", "gen_ai.tool.call.id": "call-1-1", "guideway.step": "enrich",
        "guideway.verdict": "deny", "guideway.code": "out_of_sequence",
    }]  # fmt: skip


def test_a_call_that_a_hook_blocked_is_no_span() -> None:
    """
    A call that never reached the gate is an event with the name of the tool.
    """
    kept = Kept()

    class Blocks:
        def before_tool(self, point: Any) -> None:
            if point.call.name == "isolate_host":
                point.block("not today")

    agent([SIEM, ISOLATE], hooks=[Telemetry(kept.provider), Blocks()]).run_sync("An alert.")

    blocked = [said for _, said in events(kept.spans[0]) if said.get("guideway.verdict") == "blocked_by_hook"]
    assert "execute_tool isolate_host" not in kept.names
    assert [said["gen_ai.tool.name"] for said in blocked] == ["isolate_host"]


def test_a_call_that_failed_has_an_error_of_its_type_and_no_message() -> None:
    """
    `error.type` is the type of the exception; what it said may hold anything, so it is not shown.
    """
    kept = Kept()

    def query_siem(hours: int = 24) -> None:
        """Search."""
        raise TimeoutError("s3cret at 10.0.0.7")

    Agent(FakeModel([SIEM]), [query_siem, Tools().isolate_host], playbook=TRIAGE,
          hooks=[Telemetry(kept.provider)]).run_sync("An alert.")  # fmt: skip

    span = kept.one("execute_tool query_siem")
    assert span.status.status_code is StatusCode.ERROR
    assert about(span)["error.type"] == "TimeoutError"
    assert "s3cret" not in everything(kept)


def test_a_model_that_fails_ends_its_question_and_the_run_with_an_error() -> None:
    """
    The open `chat` ends with the kind of the failure, and so does the run's span.
    """
    kept = Kept()

    class Down:
        name = "openai:gpt-x"

        async def reply(self, request: Any) -> ModelReply:
            raise ModelError("try again at https://inside.example/key=s3cret", kind="overloaded")

    Agent(Down(), Tools().both, playbook=TRIAGE, hooks=[Telemetry(kept.provider)]).run_sync("An alert.")

    assert [about(span)["error.type"] for span in kept.spans] == ["overloaded", "overloaded"]
    assert {span.status.status_code for span in kept.spans} == {StatusCode.ERROR}
    assert "s3cret" not in everything(kept)


def test_each_segment_is_a_span_and_what_was_approved_runs_in_the_second() -> None:
    """
    A run that waits for a person ends its span; the next segment is another span of the same conversation.
    """
    kept = Kept()
    asked = agent([SIEM, ISOLATE], playbook=ASKING, hooks=[Telemetry(kept.provider)])

    async def both() -> None:
        held = await asked.run("An alert.")
        await asked.send(Decision("approve", "lead"), to=held)

    asyncio.run(both())

    first, second = (span for span in kept.spans if span.name.startswith("invoke_agent"))
    assert about(first)["guideway.status"] == "suspended" and about(second)["guideway.status"] == "completed"
    assert about(first)["gen_ai.conversation.id"] == about(second)["gen_ai.conversation.id"]
    call = kept.one("execute_tool isolate_host")
    assert call.parent is not None and second.context is not None and call.parent.span_id == second.context.span_id
    assert "guideway.asked" in [name for name, _ in events(first)]


def test_spans_go_below_what_the_program_has_current() -> None:
    """
    A run inside of a request's span is part of the request's trace.
    """
    kept = Kept()

    with kept.provider.get_tracer("web").start_as_current_span("POST /alerts") as request:
        agent([SIEM, ISOLATE], hooks=[Telemetry(kept.provider)]).run_sync("An alert.")

    root = kept.one("invoke_agent Triage an alert")
    assert root.parent is not None and root.parent.span_id == request.get_span_context().span_id


def test_no_content_unless_it_is_wanted() -> None:
    """
    Prompts, arguments and results are not in spans by default.
    """
    kept = Kept()

    agent([gw.ToolCall("query_siem", {"hours": 4711}), ISOLATE], hooks=[Telemetry(kept.provider)]).run_sync(
        "Alert 815."
    )

    assert "4711" not in everything(kept) and "815" not in everything(kept) and "C-1" not in everything(kept)


def test_content_where_it_is_wanted() -> None:
    """
    With `content`, arguments, results and messages are there, in the form of the conventions.
    """
    kept = Kept()

    agent([SIEM, ISOLATE], hooks=[Telemetry(kept.provider, content=True)]).run_sync("Alert 815.")

    call, chat = about(kept.one("execute_tool query_siem")), about(kept.spans[1])
    assert call["gen_ai.tool.call.arguments"] == '{"hours": 24}'
    assert call["gen_ai.tool.call.result"] == '{"hits": 3}'
    assert chat["gen_ai.input.messages"] == '[{"role": "user", "parts": [{"type": "text", "content": "Alert 815."}]}]'
    assert '"type": "tool_call", "id": "call-1-1", "name": "query_siem"' in chat["gen_ai.output.messages"]


def test_what_is_sensitive_is_in_no_span() -> None:
    """
    Neither a sensitive input, wherever it turns up, nor what a model passes for a sensitive parameter.
    """
    kept = Kept()
    call = gw.ToolCall("login", {"user": "ann", "pin": "0815-pin", "via": "hunter2-token"})
    made = Agent(FakeModel([call]), [login], playbook=SECRET, hooks=[Telemetry(kept.provider, content=True)])

    result = made.run_sync("Use hunter2-token.", inputs={"token": "hunter2-token"})

    assert result.success
    assert "ann" in everything(kept) and "•••" in about(kept.one("execute_tool login"))["gen_ai.tool.call.arguments"]
    assert "hunter2" not in everything(kept) and "0815-pin" not in everything(kept)


class Breaks(SpanProcessor):
    """A processor that fails at everything."""

    def on_start(self, span: Span, parent_context: Any = None) -> None:
        """Fail."""
        raise RuntimeError("no room for s3cret")

    def on_end(self, span: ReadableSpan) -> None:
        """Fail."""
        raise RuntimeError("no room")


def test_a_provider_that_fails_changes_no_run_and_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """
    The run is the same as without telemetry; the log has one line, without what the fault said.
    """
    provider = TracerProvider()
    provider.add_span_processor(Breaks())
    caplog.set_level(logging.WARNING, "guideway.telemetry")

    result = agent([SIEM, ISOLATE], hooks=[Telemetry(provider)]).run_sync("An alert.")

    own = [line for line in caplog.messages if line.startswith("Telemetry ")]
    assert result.success
    assert own == ["Telemetry failed with RuntimeError and goes on without what it missed; this is said once"]
    assert "s3cret" not in "".join(caplog.messages)


def test_many_runs_at_once_keep_their_spans_apart() -> None:
    """
    Of fifty runs at once on one hook each has its own trace, with its own calls below its own root.
    """
    kept = Kept()

    class Says:
        name = "says"

        async def reply(self, request: Any) -> ModelReply:
            await asyncio.sleep(0)
            done = sum(message["role"] == "tool" for message in request.messages)
            return ModelReply(calls=((SIEM, ISOLATE)[done]._replace(call_id=f"c{done}"),))

    made = Agent(Says(), Tools().both, playbook=TRIAGE, hooks=[Telemetry(kept.provider)])

    async def all_of_them() -> None:
        await asyncio.gather(*(made.run("An alert.", run_id=f"r{i}") for i in range(50)))

    asyncio.run(all_of_them())

    traces: dict[int, set[tuple[str, Any]]] = {}
    for span in kept.spans:
        assert span.context is not None
        traces.setdefault(span.context.trace_id, set()).add((span.name, about(span)["guideway.run.id"]))
    assert len(traces) == 50
    assert all(len({run for _, run in spans}) == 1 and len(spans) == 4 for spans in traces.values())


def test_an_agent_without_a_playbook_has_spans_too() -> None:
    """
    Where every tool is legal, calls are shown all the same.
    """
    kept = Kept()

    free([SIEM, "Done."], hooks=[Telemetry(kept.provider, agent="free")]).run_sync("An alert.")

    assert kept.names == ["invoke_agent free", "chat fake", "execute_tool query_siem", "chat fake"]

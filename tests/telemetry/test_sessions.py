"""Spans and lines of sessions that no agent drives."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from opentelemetry.trace import StatusCode

import guideway as gw
from guideway.runtime.agents import Reply
from guideway.runtime.driver import Driver
from guideway.runtime.scripted import ScriptedAgent
from guideway.telemetry import LogLines, Telemetry
from tests.agent.kit import TRIAGE, Tools
from tests.telemetry.kit import Kept, about, events, logger

START = datetime(2026, 1, 31, 9, tzinfo=UTC)


def at(seconds: float) -> datetime:
    """So long after the start."""
    return START + timedelta(seconds=seconds)


def nanoseconds(when: datetime) -> int:
    """As spans count."""
    return round(when.timestamp() * 1e9)


def test_a_session_gives_spans_with_the_times_it_was_told() -> None:
    """
    A bare session is an `invoke_workflow`, and each admitted call a span from its admission to its report.
    """
    kept = Kept()
    session = gw.Session(gw.load(TRIAGE), now=START)
    watch = Telemetry(kept.provider).watch(session)

    session.propose([gw.ToolCall("query_siem", {}, "c1")], now=at(1))
    session.observe("c1", gw.Succeeded({"hits": 3}), at(4))
    session.propose([gw.ToolCall("isolate_host", {"host": "ws-7"}, "c2")], now=at(5))
    session.observe("c2", gw.Succeeded(), at(7.5))
    watch.catch_up()

    times = {span.name: (span.start_time, span.end_time) for span in kept.spans}
    assert times == {
        "invoke_workflow Triage an alert": (nanoseconds(START), nanoseconds(at(7.5))),
        "execute_tool query_siem": (nanoseconds(at(1)), nanoseconds(at(4))),
        "execute_tool isolate_host": (nanoseconds(at(5)), nanoseconds(at(7.5))),
    }
    assert about(kept.one("invoke_workflow Triage an alert"))["guideway.outcome"] == "success"


def test_the_fast_path_is_seen_too() -> None:
    """
    A session without time, on its fast path, gives the same spans.
    """
    kept = Kept()
    session = gw.Session(gw.load(TRIAGE))
    watch = Telemetry(kept.provider).watch(session)

    for call_id, tool in (("c1", "query_siem"), ("c2", "isolate_host")):
        session.propose([gw.ToolCall(tool, {}, call_id)])
        session.observe(call_id, gw.Succeeded())
        watch.catch_up()

    assert kept.names == [
        "invoke_workflow Triage an alert", "execute_tool query_siem", "execute_tool isolate_host"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "word", "kind"),
    [
        (gw.Failed({"type": "Throttled", "message": "slow down"}), "error", "Throttled"),
        (gw.Failed("not found: /etc/shadow"), "error", "tool_error"),
        (gw.Failed({"type": "a b\n" * 9, "message": ""}), "error", "tool_error"),
        (gw.Unknown(), "unknown", "unknown"),
        (gw.Cancelled(), "cancelled", None),
    ],
)
def test_an_outcome_is_an_error_if_the_call_failed(outcome: gw.Outcome, word: str, kind: str | None) -> None:
    """
    A failure and an outcome that nobody knows are errors of few words; a call that was given up is none.
    """
    kept = Kept()
    session = gw.Session(gw.load(TRIAGE))
    watch = Telemetry(kept.provider).watch(session)

    session.propose([gw.ToolCall("query_siem", {}, "c1")])
    session.observe("c1", outcome)
    watch.catch_up()

    span = kept.one("execute_tool query_siem")
    assert (about(span)["guideway.call.outcome"], about(span).get("error.type")) == (word, kind)
    assert (span.status.status_code is StatusCode.ERROR) == (kind is not None)


def test_closing_ends_what_is_open() -> None:
    """
    A host that gives a session up still sees its call, as one whose end nobody reported, and its run.
    """
    kept = Kept()
    session = gw.Session(gw.load(TRIAGE))
    watch = Telemetry(kept.provider).watch(session)
    session.propose([gw.ToolCall("query_siem", {}, "c1")])
    watch.catch_up()
    assert kept.names == []

    watch.close()
    watch.close()

    assert kept.names == ["invoke_workflow Triage an alert", "execute_tool query_siem"]
    assert about(kept.one("execute_tool query_siem"))["error.type"] == "unreported"


def test_a_driver_tells_the_watcher() -> None:
    """
    Given to a driver, spans and lines come by themselves.
    """
    kept, (log, lines) = Kept(), logger()
    session = gw.Session(gw.load(TRIAGE), now=START)
    script = [
        Reply(calls=(gw.ToolCall("query_siem", {}, "c1"),)),
        Reply(calls=(gw.ToolCall("isolate_host", {"host": "w"}, "c2"),)),
    ]
    tools = Tools()
    driver = Driver(
        session,
        {"query_siem": tools.query_siem, "isolate_host": tools.isolate_host},
        agent=ScriptedAgent(script),
        watchers=[Telemetry(kept.provider).watch(session), LogLines(log).watch(session)],
    )

    driver.run()

    assert session.outcome == "success"
    assert sorted(kept.names)[:2] == ["execute_tool isolate_host", "execute_tool query_siem"]
    assert lines.texts[-1] == "INFO run=run ended outcome=success class=success"


def test_illegal_calls_are_shown_as_what_they_are() -> None:
    """
    In `record` mode a call against the playbook runs; its span says that it is illegal, and why.
    """
    kept = Kept()
    session = gw.Session(gw.load(TRIAGE), mode="record")
    watch = Telemetry(kept.provider).watch(session)

    session.propose([gw.ToolCall("isolate_host", {"host": "ws-7"}, "c1")])
    session.observe("c1", gw.Succeeded())
    watch.catch_up()
    watch.close()

    said = about(kept.one("execute_tool isolate_host"))
    assert (said["guideway.verdict"], said["guideway.code"]) == ("illegal", "out_of_sequence")
    assert about(kept.one("invoke_workflow Triage an alert"))["guideway.mode"] == "record"


def test_control_tools_are_no_tools() -> None:
    """
    What the session carries out itself (`complete_step`) is an event, not an `execute_tool`.
    """
    kept = Kept()
    session = gw.Session(gw.load({"id": "t", "name": "T", "steps": [{"id": "think", "description": "Think"}]}))
    watch = Telemetry(kept.provider).watch(session)

    session.propose([gw.ToolCall("complete_step", {}, "c1")])
    watch.catch_up()

    [root] = kept.spans
    assert ("guideway.decided", "complete_step") in [
        (name, said.get("gen_ai.tool.name")) for name, said in events(root)
    ]

"""Values that are no JSON, huge, secret or far away; the chained record: S56, S57."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from guideway import Allow, Approvals, Deny, Failed, HostError, Session, Succeeded, ToolCall
from guideway.runtime.records import lines, verify
from guideway.statemachine.errors import JournalError

from .helpers import (
    T0,
    allowed,
    asked,
    audit,
    book,
    command,
    denied,
    ends,
    ok,
    propose,
    running,
    say,
    start,
    step,
    trace,
    waits,
)

TWO = [step("look", "siem"), step("contain", "isolate")]


def test_s56_a_number_with_integral_value_is_an_int_everywhere() -> None:
    """2.0 is 2 in arguments, results, inputs, schemas and expressions."""
    integer = {"type": "object", "properties": {"n": {"type": "integer"}}}
    machine = book(
        step(
            "a",
            {"tool": "x", "where": "args.n == 2 && args.n == inputs.k"},
            next_=[{"when": "facts.x.n == 3", "goto": "success"}, {"goto": "failed"}],
        ),
        tools={"x": {"parameters": integer, "result": integer}},
        inputs={"k": "integer"},
    )
    session = start(machine, inputs={"k": 2.0})
    assert ok(session, "x", {"n": 3.0}, n=2.0).outcome == "success"
    assert [r["args"] for r in trace(session) if r["kind"] == "decided"] == [{"n": 2}]


def test_s56_what_is_no_json_is_refused_where_it_comes_in() -> None:
    """NaN, infinities, lone surrogates and objects never get into arguments or inputs."""
    for wrong in (float("nan"), float("inf"), "\ud800", object(), {1: 2}, {"k": {"\udfff": 1}}, 10**40, {1, 2}, b"x"):
        session = start(book(*TWO))
        verdict = denied(session, "siem", q=wrong)
        assert verdict.code == "bad_args", wrong
        ok(session, "siem")
        audit(session)
        with pytest.raises(HostError, match="input"):
            start(book(*TWO, inputs={"q": {}}), inputs={"q": wrong})


def test_s56_a_result_that_is_no_json_is_a_breach_of_contract() -> None:
    """It happened, and it counts for nothing (S25); the run and its record stay whole."""
    deep: Any = None
    for _ in range(100_000):
        deep = [deep]
    for wrong in (float("nan"), "\ud800", object(), deep, {"a": {1: 2}}):
        session = start(book(*TWO))
        progress = session.observe(allowed(session, "siem"), Succeeded(wrong))
        assert progress.state == "look"
        audit(session)
        assert "result_schema" in json.dumps(trace(session))
        ok(session, "siem")
        assert session.state == "contain"


def test_s56_an_error_that_is_no_json_does_not_spoil_the_record() -> None:
    """Whatever a tool throws, the trace can be written and the run saved."""
    loop: dict[str, Any] = {}
    loop["self"] = loop
    for wrong in (
        {"type": "x", "x": float("nan")},
        {"x": object()},
        "\ud800",
        {"message": "\udc00"},
        loop,
        {1: 2},
        None,
        7,
    ):
        session = start(book(*TWO))
        session.observe(allowed(session, "siem"), Failed(wrong))  # type: ignore[arg-type]
        audit(session)
        ok(session, "siem")


def test_s56_a_models_broken_text_does_not_spoil_the_record() -> None:
    """Lone surrogates in text, names and ids come from models that are cut off; the run goes on and can be written."""
    session = start(book(*TWO))
    say(session, "half a smile \ud83d")
    audit(session)
    session.propose([ToolCall("\ud83d", call_id="1"), ToolCall("siem", call_id="\ud83d")])
    audit(session)


def test_s56_a_name_that_is_no_text_is_answered() -> None:
    """A call without a proper name or id is refused, one way or the other, and never a crash that changes the run."""
    for name, call_id in ((None, "1"), (7, "1"), (["siem"], "1"), ({}, "1"), ("siem", 7), ("siem", ["x"]), ("", "1")):
        session = start(book(*TWO))
        try:
            [verdict] = session.propose([ToolCall(name, {}, call_id)])  # type: ignore[arg-type]
        except HostError:
            pass
        else:
            assert isinstance(verdict, Deny), (name, call_id)
        ok(session, "siem")
        audit(session)


def test_s56_arguments_that_are_no_object_are_bad_arguments() -> None:
    """A model that sends a list, a text or nothing at all is told so."""
    deep: Any = None
    for _ in range(100_000):
        deep = {"a": deep}
    wrongs: list[Any] = [[1, 2], "x", None, 7, deep]
    for wrong in wrongs:
        session = start(book(*TWO))
        [verdict] = session.propose([ToolCall("siem", wrong, "1")])
        assert isinstance(verdict, Deny) and verdict.code == "bad_args", wrong if wrong is not deep else "deep"
        audit(session)


def test_s56_huge_arguments_are_no_matter() -> None:
    """A megabyte of text and ten thousand keys are admitted, saved and restored."""
    session = start(book(*TWO))
    ok(session, "siem", {"t": "ü" * 10**6}, q="x" * 10**6, **{f"k{i}": i for i in range(10_000)})
    audit(session)


def test_s57_the_trace_shows_every_tampering() -> None:
    """A line changed, dropped, moved or added in the middle breaks the chain, and the error names a line."""
    session = start(book(*TWO))
    ok(session, "siem", {"hits": 3})
    ok(session, "isolate")
    written = list(lines(session.records))
    assert [json.loads(line)["seq"] for line in written] == list(range(len(written)))
    for spoilt in (
        [*written[:3], written[3].replace("siem", "SIEM"), *written[4:]],
        written[:2] + written[3:],
        [written[1], written[0], *written[2:]],
        [*written[:2], "{}\n", *written[2:]],
        [*written[:2], "no json\n"],
    ):
        with pytest.raises(JournalError, match="line"):
            verify("".join(spoilt))
    first = json.loads(written[0])
    claimed = first.pop("hash")
    body = json.dumps(first, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert hashlib.sha256(body).hexdigest() == claimed


def test_sensitive_inputs_stay_out_of_record_and_messages() -> None:
    """FORMAT section 2: what is sensitive is redacted in the journal and in messages."""
    machine = book(
        step("a", {"tool": "x", "where": "args.t == inputs.token"}),
        inputs={"token": {"type": "string", "sensitive": True}, "plain": "string"},
    )
    session = start(machine, inputs={"token": "hunter2", "plain": "seen"})
    denial = denied(session, "x", t="other")
    assert "hunter2" not in denial.message
    assert "hunter2" not in json.dumps(trace(session)) and "seen" in json.dumps(trace(session))
    assert isinstance(propose(session, "x", t="hunter2"), Allow)
    assert Session.restore(machine, session.snapshot.to_json()).snapshot.to_json()["frames"][0]["inputs"] == {
        "token": "hunter2",
        "plain": "seen",
    }


def test_a_long_sleep_is_no_trouble() -> None:
    """Waits that grow beyond the calendar do not crash the run."""
    machine = book(
        step("a", call={"tool": "x"}, retry={"at_most": 100, "wait": "1d", "backoff": 10}, on_failure="escalated"),
        tools={"x": {"effect": "read"}},
    )
    session = start(machine, timed=True)
    with ends():
        for _ in range(101):
            session.observe(command(session).call_id, Failed())
            audit(session)
            if session.outcome is None and not running(session):
                session.tick(waits(session)[0].due)
    assert session.outcome == "escalated"


def test_an_agents_wait_is_no_trouble_either() -> None:
    """The same for a tool the model may try again."""
    machine = book(step("a", "x", retry={"at_most": 100, "wait": "1d", "backoff": 10}), tools={"x": {"effect": "read"}})
    session = start(machine, timed=True)
    for failures in range(7):  # the last wait leads past the year 9999
        session.observe(allowed(session, "x", now=T0 + timedelta(days=10**failures)), Failed())
        audit(session)
    assert denied(session, "x").code == "retry_wait"


def test_s56_names_of_people_do_not_spoil_the_record() -> None:
    """Whatever stands in `by` or `note`, the decision is either refused or can be written."""
    for by, note in (("\ud800", ""), ("kim", "\udfff"), ("κίμ", "ναί")):
        session = start(book(step("a", approval={"ask": "?"}), step("b", "y")))
        with suppress(HostError):
            Approvals(session).approve(asked(session), by=by, note=note)
        audit(session)

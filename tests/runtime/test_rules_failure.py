"""Errors, unknown outcomes, contracts, deadlines: S23 to S27."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Approvals, Cancelled, Failed, PlaybookError, Succeeded, Unknown

from .helpers import (
    allowed,
    answer,
    asked,
    at,
    audit,
    book,
    call,
    command,
    denied,
    error,
    ok,
    running,
    start,
    step,
    trace,
    waits,
)

READ = {"x": {"effect": "read"}, "y": {"effect": "read"}}


def test_s23_a_failed_agents_call_leaves_the_cursor() -> None:
    """Without `on_failure` the model sees the error and may try again; with it, the failure leads there."""
    stays = start(book(step("a", "x")))
    for _ in range(4):
        assert error(stays, "x").state == "a"
    assert ok(stays, "x").outcome == "success"
    assert error(start(book(step("a", "x", on_failure="escalated"))), "x").outcome == "escalated"


def test_s23_an_optional_tools_failure_is_no_failure_of_the_step() -> None:
    """`on_failure` is for expected tools."""
    session = start(book(step("a", "x", optional_tools=["r"], on_failure="escalated"), optional_tools=["h"]))
    error(session, "r")
    error(session, "h")
    assert session.outcome is None
    assert ok(session, "x").outcome == "success"


def test_s23_an_agents_retry_waits_and_then_gives_up() -> None:
    """The tool is illegal until each longer wait is over; beyond `at_most` comes `on_failure`."""
    machine = book(
        step("a", "x", "y", retry={"at_most": 2, "wait": "10s", "backoff": 3}, on_failure="escalated"), tools=READ
    )
    session = start(machine, timed=True)
    error(session, "x")
    denial = denied(session, "x", now=at(9))
    assert denial.code == "retry_wait"
    ok(session, "y")
    session.observe(allowed(session, "x", now=at(10)), Failed())
    assert denied(session, "x", now=at(39)).code == "retry_wait"
    assert session.observe(allowed(session, "x", now=at(40)), Failed()).outcome == "escalated"


def test_s23_retry_when_chooses_the_errors() -> None:
    """An error for which `retry.when` is not true is final, unknown included."""
    retry = {"at_most": 5, "when": 'error.type == "Throttled"'}
    for what, end in (
        ({"type": "Throttled"}, None),
        ({"type": "Gone"}, "escalated"),
        ("text", "escalated"),
        ({"message": "m"}, "escalated"),
    ):
        session = start(book(step("a", "x", retry=retry, on_failure="escalated"), tools=READ))
        assert error(session, "x", what).outcome == end
    odd = start(
        book(step("a", "x", retry={"at_most": 5, "when": "error.code == 1"}, on_failure="escalated"), tools=READ)
    )
    assert error(odd, "x").outcome == "escalated"


def test_s23_an_automatic_call_is_issued_again_with_the_same_arguments() -> None:
    """The runtime repeats the same call after the wait, and fails the step beyond `at_most`."""
    machine = book(
        step("a", "y"),
        step("b", call={"tool": "x", "args": {"n": "{{ facts.y.n }}"}}, retry={"at_most": 1, "wait": "10s"}),
        tools=READ,
    )
    session = start(machine, timed=True)
    ok(session, "y", {"n": 4})
    first = command(session)
    session.observe(first.call_id, Failed())
    assert running(session) == [] and [w.due for w in waits(session)] == [at(10)]
    session.tick(at(9))
    assert running(session) == []
    audit(session).tick(at(10))
    session.tick(at(10))
    second = command(session)
    assert second.args == first.args == {"n": 4} and second.call_id != first.call_id and waits(session) == []
    assert session.observe(second.call_id, Failed()).outcome == "failed:b"


def test_s23_only_reads_and_idempotent_tools_are_retried() -> None:
    """A step's own `retry` on another tool is an error of the playbook."""
    with pytest.raises(PlaybookError, match="retry"):
        book(step("a", "x", retry=2), tools={"x": {"effect": "write"}})
    with pytest.raises(PlaybookError, match="retry"):
        book(step("a", call={"tool": "x"}, retry=2), tools={"x": {"effect": "irreversible"}})
    book(step("a", "x", retry=2), tools={"x": {"idempotent": True}})
    late = start(book(step("a", call={"tool": "x"}), tools={"x": {}}, defaults={"retry": 2}))
    assert late.observe(command(late).call_id, Failed()).outcome == "failed:a"


def test_s24_unknown_of_a_read_is_an_error() -> None:
    """A read that nobody can account for is retried like a failed one."""
    session = start(book(step("a", call={"tool": "x"}, retry=1, on_failure="escalated"), tools=READ))
    session.observe(command(session).call_id, Unknown())
    assert session.observe(command(session).call_id, Unknown()).outcome == "escalated"
    agent = start(book(step("a", "x"), tools=READ))
    agent.observe(allowed(agent, "x"), Unknown())
    assert ok(agent, "x").outcome == "success"


def test_s24_unknown_of_a_write_asks_a_person_by_default() -> None:
    """Happened: the result counts.  Did not happen: an agent may call again, an automatic call is issued again."""
    machine = book(
        step("a", {"tool": "x", "times": 1}, next_=[{"when": "facts.x.n == 1", "goto": "success"}, {"goto": "failed"}])
    )
    session = start(machine)
    session.observe(allowed(session, "x"), Unknown())
    [question] = Approvals(session).pending
    assert (question.of, question.tool, question.step) == ("reconcile", "x", "a")
    audit(session)
    assert not Approvals(session).approve(question.approval_id, by="kim").accepted
    assert Approvals(session).happened(question.approval_id, {"n": 1}, by="kim").progress.outcome == "success"
    again = start(machine)
    again.observe(allowed(again, "x"), Unknown())
    Approvals(again).did_not_happen(asked(again), by="kim")
    assert again.outcome is None
    assert ok(again, "x", {"n": 1}).outcome == "success"


def test_s24_an_automatic_call_that_did_not_happen_is_issued_again() -> None:
    """With the same arguments, under a new id, once; while the person looks nothing is issued."""
    session = start(book(step("a", call={"tool": "x", "args": {"n": 1}}, approval={"ask": "Go?"})))
    Approvals(session).approve(asked(session), by="kim")
    first = command(session)
    session.observe(first.call_id, Unknown())
    assert running(session) == []
    Approvals(session).did_not_happen(asked(session), by="kim")
    audit(session)
    second = command(session)
    assert second.args == first.args and second.call_id != first.call_id
    assert answer(session).outcome == "success"


def test_s24_on_unknown_leads_there_and_the_run_is_no_success() -> None:
    """`on_unknown` of the step or of the tool is taken; an unaccounted write is no success in the end (S38)."""
    for more, tools in (({"on_unknown": "b"}, {"x": {}, "y": {}}), ({}, {"x": {"on_unknown": "b"}, "y": {}})):
        session = start(book(step("a", "x", next_="success", **more), step("b", "y"), tools=tools))
        session.observe(allowed(session, "x"), Unknown())
        assert session.state == "b"
        progress = ok(session, "y")
        assert (progress.outcome, session.outcome_class) == ("failed:unknown:x", "failed")


def test_s25_a_result_against_its_schema_happened_but_counts_for_nothing() -> None:
    """Spent, no success, the fact keeps the latest success; with `on_failure` it fails the step, with no retry."""
    schema = {"x": {"effect": "read", "result": {"type": "object", "required": ["n"]}}}
    session = start(
        book(
            step("a", "x", "y", next_=[{"when": "facts.x.n == 1", "goto": "success"}, {"goto": "failed"}]),
            tools={**schema, "y": {}},
        )
    )
    ok(session, "x", {"n": 1})
    ok(session, "x", {"m": 2})
    assert "result_schema" in str(trace(session))
    assert ok(session, "y").outcome == "success"
    strict = start(book(step("a", "x", retry=3, on_failure="escalated"), tools=schema))
    assert ok(strict, "x", {}).outcome == "escalated"
    automatic = start(book(step("a", call={"tool": "x"}, retry=3), tools=schema))
    assert answer(automatic, 7).outcome == "failed:a"


def test_s25_expect_decides_whether_a_success_counts() -> None:
    """`expect` false or unknown: the call ran, the entry is not met, and `tool_called` is not satisfied."""
    machine = book(
        step("a", {"tool": "x", "expect": 'result.state == "done"'}, max_tool_calls=9),
        termination=[{"tool_called": "x", "outcome": "stopped"}],
    )
    session = start(machine)
    broken: list[Any] = [{"state": "busy"}, {}, None, [], {"state": 1}]
    for result in broken:
        assert ok(session, "x", result).outcome is None
    assert dict(denied(session, "zz").budgets)["calls of this step"] == 4
    assert ok(session, "x", {"state": "done"}).outcome == "success"


def test_s26_timeout_leads_to_on_timeout_and_orphans_its_calls() -> None:
    """The orphan writes its fact and holds neither wave nor turn."""
    machine = book(
        step("a", "x", "w", timeout="10s", on_timeout="b"),
        step("b", "y", next_=[{"when": "facts.x.n == 1", "goto": "success"}, {"goto": "failed"}]),
    )
    session = start(machine, timed=True)
    session.propose([call("x", "1"), call("w", "2")])
    session.tick(at(10))
    assert session.state == "b"
    assert [r["kind"] for r in trace(session)][-1] == "turn_ended"
    session.propose([call("y", "3")])
    audit(session)
    session.observe("1", Succeeded({"n": 1}))
    session.observe("3", Succeeded())
    assert session.outcome is None, "the other orphan is still under way"
    assert session.observe("2", Cancelled()).outcome == "success"


def test_s26_the_default_is_to_stop() -> None:
    """`timeout` without `on_timeout` ends the run, once the call under way has been observed."""
    session = start(book(step("a", "x", timeout="10s")), timed=True)
    call_id = allowed(session, "x")
    session.tick(at(10))
    assert session.outcome is None
    assert [type(c).__name__ for c in session.commands] == ["Cancel"]
    assert session.observe(call_id, Succeeded()).outcome == "stopped:timeout:a"


def test_s26_a_deadline_counts_from_the_entry_of_the_visit() -> None:
    """Each visit has its own deadline; a finished visit leaves none behind."""
    machine = book(
        step("a", "x", timeout="10s", next_="b"),
        step("b", "y", next_=[{"when": "facts.y.again", "goto": "a"}, {"goto": "success"}]),
    )
    session = start(machine, timed=True)
    session.observe(allowed(session, "x", now=at(9)), Succeeded())
    session.tick(at(500))
    assert session.state == "b"
    session.observe(allowed(session, "y", now=at(600)), Succeeded({"again": True}))
    session.tick(at(609))
    assert session.outcome is None
    session.tick(at(610))
    assert session.outcome == "stopped:timeout:a"


def test_s26_a_retrys_wait_ends_with_the_visit() -> None:
    """A call that waits for its next try is not issued any more when the deadline has passed."""
    machine = book(
        step("a", call={"tool": "x"}, retry={"at_most": 5, "wait": "1h"}, timeout="10s", on_timeout="b"),
        step("b", "y"),
        tools=READ,
    )
    session = start(machine, timed=True)
    session.observe(command(session).call_id, Failed())
    session.tick(at(10))
    assert (session.state, session.commands) == ("b", [])
    session.tick(at(7200))
    assert session.commands == []


def test_s27_a_failed_step_ends_the_run_as_failed() -> None:
    """The default failure at the root names the step, and its class is `failed`."""
    session = start(book(step("a", call={"tool": "x"})))
    assert session.observe(command(session).call_id, Failed("boom")).outcome == "failed:a"
    assert session.outcome_class == "failed"

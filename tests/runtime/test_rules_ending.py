"""The last moments of a run: S40."""

from __future__ import annotations

from guideway import Approvals, Cancelled, Defer, Deny, Failed, Succeeded, Unknown
from guideway.runtime.verdicts import Cancel

from .helpers import (
    allowed,
    asked,
    at,
    audit,
    book,
    call,
    command,
    denied,
    propose,
    refused,
    start,
    step,
    trace,
)


def test_s40_the_outcome_is_fixed_at_once_and_published_when_nothing_is_outstanding() -> None:
    """Deferred calls are denied, approvals void, timers dropped, running calls asked to stop, nothing admitted."""
    machine = book(
        step("a", "x", "w", {"tool": "pay", "approval": {"ask": "?"}}, "v", timeout="1h"),
        step("b", "late"),
        termination=[{"tool_called": "x", "outcome": "stopped"}],
    )
    session = start(machine, timed=True)
    verdicts = session.propose([call("x", "1"), call("w", "2"), call("pay", "3"), call("late", "4")])
    assert isinstance(verdicts[3], Defer)
    progress = session.observe("1", Succeeded())
    assert progress.outcome is None and session.outcome is None
    told = [(v.call_id, v.code) for v in progress.verdicts if isinstance(v, Deny)]
    assert session.commands == [Cancel("2")]
    assert session.legal() == () and Approvals(session).pending == []
    session.tick(at(3600))
    with refused(session):
        session.complete()
    twin = audit(session)
    for run in (session, twin):
        done = run.observe("2", Failed())
        assert done.outcome == "stopped"
        rest = [(v.call_id, v.code) for v in done.verdicts if isinstance(v, Deny)]
        assert sorted(told + rest) == [("3", "run_over"), ("4", "run_over")]
        assert run.commands == []
        assert denied(run, "v").code == "run_over"
    assert [r["kind"] for r in trace(session)].count("ended") == 1


def test_s40_nothing_is_admitted_after_ending_by_any_door() -> None:
    """A late approval, a late tick, a repeated report and a host verb find the run closed."""
    session = start(book(step("a", {"tool": "x", "approval": {"ask": "?"}}, timeout="10s")), timed=True)
    propose(session, "x")
    approval = asked(session)
    session.tick(at(10))
    assert session.outcome == "stopped:timeout:a"
    assert not Approvals(session).approve(approval, by="kim").accepted
    session.tick(at(10**6))
    for verb in (session.complete, session.skip, session.fail):
        with refused(session):
            verb()
    session.claim(confidence=1)
    assert session.outcome == "stopped:timeout:a" and session.commands == []


def test_s40_a_host_that_gives_a_call_up_observes_unknown() -> None:
    """The end is published with the last call, whatever came of it."""
    session = start(book(step("a", "x", timeout="10s"), tools={"x": {"effect": "read"}}), timed=True)
    call_id = allowed(session, "x")
    session.tick(at(11))
    assert session.observe(call_id, Unknown()).outcome == "stopped:timeout:a"


def test_s40_an_automatic_call_under_way_is_awaited_too() -> None:
    """A run that ends by its clock while the runtime calls waits for that call, and does not call again."""
    machine = book(step("a", call={"tool": "x"}, retry=5, timeout="10s"), tools={"x": {"effect": "read"}})
    session = start(machine, timed=True)
    call_id = command(session).call_id
    session.tick(at(10))
    assert session.commands == [Cancel(call_id)]
    assert session.observe(call_id, Failed()).outcome == "stopped:timeout:a"
    assert session.commands == []


def test_an_empty_playbook_succeeds_at_once() -> None:
    """No steps: success, and nothing is admitted."""
    session = start(book())
    assert (session.outcome, session.outcome_class) == ("success", "success")
    assert denied(session, "x").code == "run_over"
    assert session.propose([], text="hello") == []
    audit(session)


def test_a_failing_run_keeps_answering() -> None:
    """After a failure nothing wedges: reports are answered, the trace can be read."""
    session = start(book(step("a", call={"tool": "x"}), step("b", "y")))
    call_id = command(session).call_id
    session.observe(call_id, Failed({"type": "Boom", "message": "it broke"}))
    assert session.observe(call_id, Failed({"type": "Boom", "message": "it broke"})).outcome == "failed:a"
    assert trace(session)[-1]["outcome"] == "failed:a"


def test_s40_a_cancel_goes_with_its_report() -> None:
    """A call reported before the one ahead of it is observed: nobody is asked to stop it any more."""
    session = start(book(step("a", "x", "y", "z")))
    session.propose([call("x", "1"), call("y", "2")])
    session.fail("enough")
    assert session.commands == [Cancel("1"), Cancel("2")]
    session.observe("2", Succeeded())
    assert session.commands == [Cancel("1")]
    assert session.observe("1", Cancelled()).outcome == "failed:a"
    assert session.commands == []

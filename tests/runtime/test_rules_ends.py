"""How a run ends: S35 to S40."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Allow, Approvals, Cancelled, Defer, Failed, PlaybookError, Session, Succeeded, Unknown, Usage
from guideway.runtime.verdicts import Cancel
from guideway.statemachine.definition import EndKind

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
    propose,
    refused,
    say,
    start,
    step,
    trace,
)


def test_s35_an_outcome_target_ends_the_run_with_that_word() -> None:
    """`next`, `goto` and `on_*` may name an outcome; `done` at the top is success; the author's words keep their class."""
    words = {"false_positive": "success", "rolled_back": "failed", "frozen": "stopped", "handed": "escalated"}
    for word, klass in {**words, "success": "success", "failed": "failed", "stopped": "stopped", "escalated": "escalated", "done": "success"}.items():
        session = start(book(step("a", "x", next_=word), step("b", "y", next_="a", when="false") if False else step("b", "y"), outcomes=words) if False else book(step("a", "x", next_=[{"when": "facts.x.go", "goto": word}, {"goto": "b"}]), step("b", "y"), outcomes=words))
        assert ok(session, "x", {"go": True}).outcome == ("success" if word == "done" else word)
        assert session.outcome_class == klass


def test_s35_a_target_that_is_nothing_is_an_error() -> None:
    """A `next` that names neither step nor outcome is refused with the nearest name."""
    with pytest.raises(PlaybookError, match="contain"):
        book(step("look", "x", next_="contian"), step("contain", "y"))


def test_s36_only_a_success_satisfies_tool_called() -> None:
    """Denied, failed, cancelled and unknown calls never satisfy it, nor does one whose `where` or `expect` is not true."""
    machine = book(
        step("a", "x", "y", optional_tools=["stop"], max_tool_calls=50), max_refusals=99,
        termination=[{"tool_called": "stop", "where": "args.n == 1", "expect": "result.done", "outcome": "stopped"}],
    )  # fmt: skip
    session = start(machine)
    for outcome in (Failed(), Cancelled(), Succeeded({"done": False}), Succeeded({}), Succeeded(None)):
        assert session.observe(allowed(session, "stop", n=1), outcome).outcome is None
    assert ok(session, "stop", {"done": True}, n=2).outcome is None
    assert ok(session, "stop", {"done": True}).outcome is None
    assert ok(audit(session), "stop", {"done": True}, n=1).outcome == "stopped"
    blocked = start(book(step("a", "x"), step("b", "stop"), termination=[{"tool_called": "stop", "outcome": "stopped"}]))
    denied(blocked, "stop")
    assert blocked.outcome is None


def test_s36_an_unknown_call_does_not_satisfy_tool_called() -> None:
    """A read that nobody can account for is an error, not a call."""
    session = start(book(step("a", "x", "y"), tools={"x": {"effect": "read"}, "y": {}}, termination=[{"tool_called": "x", "outcome": "stopped"}]))
    assert session.observe(allowed(session, "x"), Unknown()).outcome is None


def test_s37_every_end_is_an_accepting_state() -> None:
    """The state a run ends in is an END of the definition, of the kind that fits, and reached by a drawn edge."""
    machine = book(
        step("a", "x", "y", timeout="10s", max_tool_calls=3, max_visits=2, approval={"ask": "?"}),
        termination=[{"tool_called": "x"}, {"max_iterations": 9}, {"text_mention": "STOP"}],
    )
    definition = machine.definition
    assert definition is not None
    ends = {name: state.end for name, state in definition.states.items() if state.end is not None}
    for name in ("success", "stopped:rejected", "stopped:timeout:a", "stopped:max_visits:a", "failed:a", "failed:exhausted:a",
                 "failed:livelock", "failed:host", "stopped:nudges", "stopped:refusals", "stopped:max_iterations", "tool_called:x"):  # fmt: skip
        assert name in ends or name == "stopped:max_visits:a", name
    assert ends["success"].kind is EndKind.GOAL
    assert ends["stopped:max_iterations"].kind is EndKind.STOP
    assert ends["failed:a"].kind is EndKind.FAULT
    targets = {edge.target for edge in definition.edges()}
    assert set(ends) <= targets | {definition.initial}


CONDITIONS: list[tuple[dict[str, Any], str, str]] = [
    ({"max_iterations": 1}, "stopped:max_iterations", "stopped"),
    ({"token_limit": 50}, "stopped:token_limit", "stopped"),
    ({"time_limit": "5s"}, "stopped:time_limit", "stopped"),
    ({"text_mention": "ESC"}, "stopped:text_mention:ESC", "stopped"),
    ({"tool_called": "x"}, "incomplete:tool_called:x", "incomplete"),
    ({"confidence_met": 0.5}, "incomplete:confidence_met", "incomplete"),
    ({"all": [{"tool_called": "x"}, {"max_iterations": 1}]}, "stopped:tool_called:x AND max_iterations", "stopped"),
    ({"all": [{"tool_called": "x"}, {"confidence_met": 0.5}]}, "incomplete:tool_called:x AND confidence_met", "incomplete"),
    ({"tool_called": "x", "outcome": "handed"}, "handed", "escalated"),
    ({"max_iterations": 1, "outcome": "handed"}, "handed", "escalated"),
    ({"text_mention": "ESC", "outcome": "success"}, "success", "success"),
]


@pytest.mark.parametrize(("condition", "outcome", "klass"), CONDITIONS, ids=[str(c[0]) for c in CONDITIONS])
def test_s37_what_a_branch_without_outcome_means(condition: dict[str, Any], outcome: str, klass: str) -> None:
    """A stop or a text is `stopped:REASON`; another goal with a required step open is `incomplete:REASON`."""
    machine = book(step("a", "x", "y"), step("b", "z"), outcomes={"handed": "escalated"}, termination=[condition])
    session = Session(machine, now=at(0))
    session.claim(confidence=0.5)
    if session.outcome is None:
        [verdict] = session.propose([call("x", "1")], text="now ESC", usage=Usage(tokens=50), now=at(4))
        if isinstance(verdict, Allow):
            session.observe("1", Succeeded(), now=at(5))
    assert (session.outcome, session.outcome_class) == (outcome, klass)


def test_s37_no_tool_calls_is_a_goal() -> None:
    """A text-only reply ends the run; with nothing required open it is a success."""
    branch = [{"no_tool_calls": True}]
    open_ = start(book(step("a", "x"), termination=branch))
    say(open_)
    assert open_.outcome == "incomplete:no_tool_calls"
    free = start(book(step("a", "x", "w", required=False), termination=branch))
    ok(free, "x")
    say(free)
    assert free.outcome == "success"


def test_s37_a_goal_with_no_required_step_open_is_a_success() -> None:
    """Only optional steps are left, also where one of them has a `when` or an approval before it."""
    for more in ({}, {"when": "inputs.go"}, {"approval": {"ask": "?"}}, {"max_visits": 3}):
        machine = book(
            step("a", "x"), step("b", "y", "w", required=False), step("c", "z", required=False, **more), inputs={"go": "boolean"},
            termination=[{"tool_called": "y"}],
        )  # fmt: skip
        session = start(machine, inputs={"go": True})
        ok(session, "x")
        assert ok(session, "y").outcome == "success", more


def test_s37_a_word_is_matched_as_a_pattern_on_the_reply() -> None:
    r"""`\bDONE\b` does not match `undone`, and the text counts when the turn ends."""
    session = start(book(step("a", "x", "y"), termination=[{"text_mention": r"\bDONE\b", "outcome": "stopped"}], max_nudges=9))
    for text in ("undone", "DONEE", "done", ""):
        say(session, text)
    assert session.outcome is None
    say(session, "I am DONE.")
    assert session.outcome == "stopped"


def test_s37_conditions_combine() -> None:
    """`any`, `all` and `not` are what they say; unknown is not true."""
    session = start(book(step("a", "x", "y", "w"), termination=[{"all": [{"tool_called": "x"}, {"not": {"tool_called": "y"}}], "outcome": "stopped"}]))
    ok(session, "y")
    assert ok(session, "x").outcome is None
    other = start(book(step("a", "x", "y", "w"), termination=[{"any": [{"tool_called": "x"}, {"token_limit": 10}], "outcome": "stopped"}]))
    other.propose([call("w", "1")], usage=Usage(tokens=10))
    assert other.observe("1", Failed()).outcome == "stopped"


def test_s37_a_token_limit_lets_no_call_run() -> None:
    """The reply that spends the last token ends the run; none of its calls may run."""
    session = start(book(step("a", "x"), termination=[{"token_limit": 10}]))
    [verdict] = session.propose([call("x", "1")], usage=Usage(tokens=10))
    assert not isinstance(verdict, Allow) or session.commands == [Cancel("1")]
    if isinstance(verdict, Allow):
        session.observe("1", Cancelled())
    assert session.outcome == "stopped:token_limit"


def test_s38_success_needs_every_required_step() -> None:
    """An end of class success after an incomplete required step is `incomplete`."""
    machine = book(step("a", "x", "y", max_tool_calls=1), step("b", "z", next_="locked"), outcomes={"locked": "success"})
    session = start(machine)
    ok(session, "x")
    ok(session, "z")
    assert (session.outcome, session.outcome_class) == ("incomplete:a", "incomplete")
    bad = start(book(step("a", "x", "y", max_tool_calls=1), step("b", "z", next_="frozen"), outcomes={"frozen": "stopped"}))
    ok(bad, "x")
    assert ok(bad, "z").outcome == "frozen"


def test_s38_success_needs_every_write_accounted_for() -> None:
    """A non-read call given up while the run ends makes it `failed:unknown:TOOL`; a read does not."""
    for tool, outcome in (({}, "failed:unknown:w"), ({"effect": "read"}, "success"), ({"idempotent": True}, "failed:unknown:w")):
        machine = book(
            step("a", "x", "w", required=False), tools={"x": {}, "w": tool}, termination=[{"tool_called": "x", "outcome": "success"}]
        )
        session = start(machine)
        session.propose([call("x", "1"), call("w", "2")])
        assert session.observe("1", Succeeded()).outcome is None
        assert session.observe("2", Unknown()).outcome == outcome


def test_s38_a_write_in_doubt_when_the_run_ends_is_no_success() -> None:
    """Nobody answered whether it happened before the run ended: the run is no success."""
    machine = book(step("a", "x", "w"), termination=[{"confidence_met": 0.9, "outcome": "success"}])
    session = start(machine)
    session.observe(allowed(session, "w"), Unknown())
    session.claim(confidence=1)
    assert session.outcome == "failed:unknown:w"
    assert not Approvals(session).pending


def test_s39_a_run_without_max_iterations_has_a_bound() -> None:
    """max(1000, 20 × steps)."""
    small, large = book(step("a", "x")), book(*(step(f"s{i}", "x") for i in range(60)))
    assert small.definition is not None and large.definition is not None
    assert (small.definition.max_iterations, large.definition.max_iterations) == (1000, 1200)
    session = start(book(step("a", "x", "y"), max_nudges=10**6))
    for _ in range(999):
        say(session)
    assert session.outcome is None
    say(session)
    assert session.outcome == "stopped:max_iterations"


def test_s40_the_outcome_is_fixed_at_once_and_published_when_nothing_is_outstanding() -> None:
    """Deferred calls are denied, approvals void, timers dropped, running calls asked to stop, nothing admitted."""
    machine = book(
        step("a", "x", "w", {"tool": "pay", "approval": {"ask": "?"}}, "v", timeout="1h"), step("b", "late"),
        termination=[{"tool_called": "x", "outcome": "stopped"}],
    )  # fmt: skip
    session = start(machine, timed=True)
    verdicts = session.propose([call("x", "1"), call("w", "2"), call("pay", "3"), call("late", "4")])
    assert isinstance(verdicts[3], Defer)
    progress = session.observe("1", Succeeded())
    assert progress.outcome is None and session.outcome is None
    assert {v.call_id: getattr(v, "code", "") for v in progress.verdicts} == {"3": "run_over", "4": "run_over"} or {
        v.call_id for v in progress.verdicts
    } == {"3"}
    assert session.commands == [Cancel("2")]
    assert session.legal() == () and Approvals(session).pending == []
    session.tick(at(3600))
    with refused(session):
        session.complete()
    twin = audit(session)
    for run in (session, twin):
        done = run.observe("2", Failed())
        assert done.outcome == "stopped"
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
    assert error is not None and answer is not None
    assert trace(session)[-1]["outcome"] == "failed:a"

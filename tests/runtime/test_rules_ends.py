"""Which ends there are and what success asks for: S35 to S39."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Allow, Approvals, Cancelled, Failed, PlaybookError, Session, Succeeded, Unknown, Usage
from guideway.runtime.verdicts import Cancel
from guideway.statemachine.definition import EndKind

from .helpers import (
    allowed,
    at,
    audit,
    book,
    call,
    denied,
    ok,
    say,
    start,
    step,
)

CONDITIONS: list[tuple[dict[str, Any], str, str]] = [
    ({"max_iterations": 1}, "stopped:max_iterations", "stopped"),
    ({"token_limit": 50}, "stopped:token_limit", "stopped"),
    ({"time_limit": "5s"}, "stopped:time_limit", "stopped"),
    ({"text_mention": "ESC"}, "stopped:text_mention:ESC", "stopped"),
    ({"tool_called": "x"}, "incomplete:tool_called:x", "incomplete"),
    ({"confidence_met": 0.5}, "incomplete:confidence_met", "incomplete"),
    ({"all": [{"tool_called": "x"}, {"max_iterations": 1}]}, "stopped:tool_called:x AND max_iterations", "stopped"),
    (
        {"all": [{"tool_called": "x"}, {"confidence_met": 0.5}]},
        "incomplete:tool_called:x AND confidence_met",
        "incomplete",
    ),
    ({"tool_called": "x", "outcome": "handed"}, "handed", "escalated"),
    ({"max_iterations": 1, "outcome": "handed"}, "handed", "escalated"),
    ({"text_mention": "ESC", "outcome": "success"}, "success", "success"),
]


def test_s35_an_outcome_target_ends_the_run_with_that_word() -> None:
    """A target may be an outcome; `done` at the top is success; the author's words keep their class."""
    words = {"false_positive": "success", "rolled_back": "failed", "frozen": "stopped", "handed": "escalated"}
    given = {
        "success": "success",
        "failed": "failed",
        "stopped": "stopped",
        "escalated": "escalated",
        "done": "success",
    }
    for word, klass in {**words, **given}.items():
        branches = [{"when": "facts.x.go", "goto": word}, {"goto": "b"}]
        session = start(book(step("a", "x", next_=branches), step("b", "y"), outcomes=words))
        assert ok(session, "x", {"go": True}).outcome == ("success" if word == "done" else word)
        assert session.outcome_class == klass


def test_s35_a_target_that_is_nothing_is_an_error() -> None:
    """A `next` that names neither step nor outcome is refused with the nearest name."""
    with pytest.raises(PlaybookError, match="contian") as caught:
        book(
            step("look", "x", next_=[{"when": "facts.x.n == 1", "goto": "contian"}, {"goto": "contain"}]),
            step("contain", "y"),
        )
    assert "contain" in (caught.value.diagnostics[0].help or "")


def test_s36_only_a_success_satisfies_tool_called() -> None:
    """Denied, failed and cancelled calls never satisfy it, nor one whose `where` or `expect` is not true."""
    machine = book(
        step("a", "x", "y", optional_tools=["stop"], max_tool_calls=50),
        max_refusals=99,
        termination=[{"tool_called": "stop", "where": "args.n == 1", "expect": "result.done", "outcome": "stopped"}],
    )
    session = start(machine)
    for outcome in (Failed(), Cancelled(), Succeeded({"done": False}), Succeeded({}), Succeeded(None)):
        assert session.observe(allowed(session, "stop", n=1), outcome).outcome is None
    assert ok(session, "stop", {"done": True}, n=2).outcome is None
    assert ok(session, "stop", {"done": True}).outcome is None
    assert ok(audit(session), "stop", {"done": True}, n=1).outcome == "stopped"
    blocked = start(
        book(step("a", "x"), step("b", "stop"), termination=[{"tool_called": "stop", "outcome": "stopped"}])
    )
    denied(blocked, "stop")
    assert blocked.outcome is None


def test_s36_an_unknown_call_does_not_satisfy_tool_called() -> None:
    """A read that nobody can account for is an error, not a call."""
    session = start(
        book(
            step("a", "x", "y"),
            tools={"x": {"effect": "read"}, "y": {}},
            termination=[{"tool_called": "x", "outcome": "stopped"}],
        )
    )
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
    for name in (
        "success",
        "stopped:rejected",
        "stopped:timeout:a",
        "stopped:max_visits:a",
        "failed:a",
        "failed:exhausted:a",
        "failed:livelock",
        "failed:host",
        "stopped:nudges",
        "stopped:refusals",
        "stopped:max_iterations",
        "tool_called:x",
    ):
        assert name in ends, name
    assert ends["success"].kind is EndKind.GOAL
    assert ends["stopped:max_iterations"].kind is EndKind.STOP
    assert ends["failed:a"].kind is EndKind.FAULT
    targets = {edge.target for edge in definition.edges()}
    assert set(ends) <= targets | {definition.initial}


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
            step("a", "x"),
            step("b", "y", "w", required=False),
            step("c", "z", required=False, **more),
            inputs={"go": "boolean"},
            termination=[{"tool_called": "y"}],
        )
        session = start(machine, inputs={"go": True})
        ok(session, "x")
        assert ok(session, "y").outcome == "success", more


def test_s37_a_word_is_matched_as_a_pattern_on_the_reply() -> None:
    r"""`\bDONE\b` does not match `undone`, and the text counts when the turn ends."""
    session = start(
        book(step("a", "x", "y"), termination=[{"text_mention": r"\bDONE\b", "outcome": "stopped"}], max_nudges=9)
    )
    for text in ("undone", "DONEE", "done", ""):
        say(session, text)
    assert session.outcome is None
    say(session, "I am DONE.")
    assert session.outcome == "stopped"


def test_s37_conditions_combine() -> None:
    """`any`, `all` and `not` are what they say; unknown is not true."""
    session = start(
        book(
            step("a", "x", "y", "w"),
            termination=[{"all": [{"tool_called": "x"}, {"not": {"tool_called": "y"}}], "outcome": "stopped"}],
        )
    )
    ok(session, "y")
    assert ok(session, "x").outcome is None
    other = start(
        book(
            step("a", "x", "y", "w"),
            termination=[{"any": [{"tool_called": "x"}, {"token_limit": 10}], "outcome": "stopped"}],
        )
    )
    other.propose([call("w", "1")], usage=Usage(tokens=9))
    assert other.observe("1", Failed()).outcome is None
    other.propose([], usage=Usage(tokens=1))
    assert other.outcome == "stopped"


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
    machine = book(
        step("a", "x", "y", max_tool_calls=1), step("b", "z", next_="locked"), outcomes={"locked": "success"}
    )
    session = start(machine)
    ok(session, "x")
    ok(session, "z")
    assert (session.outcome, session.outcome_class) == ("incomplete:a", "incomplete")
    bad = start(
        book(step("a", "x", "y", max_tool_calls=1), step("b", "z", next_="frozen"), outcomes={"frozen": "stopped"})
    )
    ok(bad, "x")
    assert ok(bad, "z").outcome == "frozen"


def test_s38_success_needs_every_write_accounted_for() -> None:
    """A non-read call given up while the run ends makes it `failed:unknown:TOOL`; a read does not."""
    for tool, outcome in (({}, "failed:unknown:w"), ({"effect": "read"}, "success")):
        machine = book(
            step("a", "x", "w", required=False),
            tools={"x": {}, "w": tool},
            termination=[{"tool_called": "x", "outcome": "success"}],
        )
        session = start(machine)
        session.propose([call("x", "1"), call("w", "2")])
        assert session.observe("1", Succeeded()).outcome is None
        assert session.observe("2", Unknown()).outcome == outcome


def test_s38_an_idempotent_write_is_no_read() -> None:
    """A call given up while the run ends is unaccounted for, though a second one would have done no harm."""
    tools = {"x": {}, "w": {"idempotent": True}}
    session = start(
        book(step("a", "x", "w", required=False), tools=tools, termination=[{"tool_called": "x", "outcome": "success"}])
    )
    session.propose([call("x", "1"), call("w", "2")])
    session.observe("1", Succeeded())
    assert session.observe("2", Unknown()).outcome == "failed:unknown:w"


def test_s38_a_write_in_doubt_when_the_run_ends_is_no_success() -> None:
    """Nobody answered whether it happened before the run ended: the run is no success."""
    machine = book(step("a", "x", "w"), termination=[{"confidence_met": 0.9, "outcome": "success"}])
    session = start(machine)
    session.observe(allowed(session, "w"), Unknown())
    session.claim(confidence=1)
    assert session.outcome == "failed:unknown:w"
    assert not Approvals(session).pending


def test_s39_a_run_without_max_iterations_has_a_bound() -> None:
    """The bound is 1000 turns, or 20 for each step where that is more."""
    small, large = book(step("a", "x")), book(*(step(f"s{i}", "x") for i in range(60)))
    assert small.definition is not None and large.definition is not None
    assert (small.definition.max_iterations, large.definition.max_iterations) == (1000, 1200)
    session = start(book(step("a", "x", "y"), max_nudges=10**6))
    for _ in range(999):
        say(session)
    assert session.outcome is None
    say(session)
    assert session.outcome == "stopped:max_iterations"

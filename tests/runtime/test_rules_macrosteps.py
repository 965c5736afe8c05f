"""Macro-steps, branch lists, spent visits: S9 to S11."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import (
    Failed,
    Succeeded,
)

from .helpers import (
    allowed,
    at,
    audit,
    book,
    command,
    ends,
    ok,
    running,
    start,
    step,
    trace,
)

CIRCLES: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "routers": (
        [
            step("a", switch=[{"when": "inputs.out", "goto": "success"}, {"goto": "b"}]),
            step("b", switch=[{"goto": "a"}]),
        ],
        {},
    ),
    "an unknown `when` whose failure leads back": (
        [
            step("a", "x", when="inputs.gone > 1", on_failure="b", next_="success"),
            step("b", "y", when="inputs.gone > 1", on_failure="a", next_="success"),
        ],
        {},
    ),
    "passed over for ever": (
        [
            step("a", "x", when="inputs.out", next_="b"),
            step("b", "y", when="inputs.out", next_=[{"when": "inputs.out", "goto": "success"}, {"goto": "a"}]),
        ],
        {},
    ),
    "an automatic call whose refusal leads back": (
        [step("a", call={"tool": "x"}, on_failure="b", next_="success"), step("b", call={"tool": "x"}, on_failure="a")],
        {"tools": {"x": {"where": "inputs.out"}}},
    ),
    "arguments that cannot be written": (
        [step("a", call={"tool": "x", "args": {"n": "{{ inputs.gone }}"}}, on_failure="a", next_="success")],
        {},
    ),
    "a question that cannot be written": (
        [step("a", "x", approval={"ask": "{{ inputs.gone }}?"}, on_failure="a", next_="success")],
        {},
    ),
    "no call allowed": (
        [
            step("a", "x", max_tool_calls=0, on_exhausted="b", next_="success"),
            step("b", "x", max_tool_calls=0, on_exhausted="a"),
        ],
        {},
    ),
}


def test_s9_1_the_event_is_journaled_first() -> None:
    """The record of an outcome precedes that of the move it causes, and the end comes last."""
    session = start(book(step("a", "x"), step("b", "y")))
    ok(session, "x")
    ok(session, "y")
    assert [r["kind"] for r in trace(session)] == [
        "started",
        "turn",
        "decided",
        "settled",
        "moved",
        "turn_ended",
        "turn",
        "decided",
        "settled",
        "moved",
        "ending",
        "turn_ended",
        "ended",
    ]


def test_s9_3_a_call_whose_visit_is_over_moves_nothing() -> None:
    """The late success of a timed-out visit does not complete the step when it is visited again."""
    machine = book(step("a", "x", timeout="10s", on_timeout="a", max_visits=5))
    session = start(machine, timed=True)
    late = allowed(session, "x")
    session.tick(at(10))
    assert session.observe(late, Succeeded()).outcome is None
    assert session.state == "a"
    assert session.observe(allowed(session, "x"), Succeeded()).outcome == "success"


def test_s9_4_automatic_moves_run_until_none_is_enabled() -> None:
    """A chain of as many routers as there are steps is no livelock."""
    routers = [step(f"r{i}", switch=[{"goto": f"r{i + 1}" if i < 199 else "work"}]) for i in range(200)]
    session = start(book(*routers, step("work", "x")))
    assert session.state == "work"
    assert ok(session, "x").outcome == "success"


def test_s9_4_passed_steps_are_no_livelock() -> None:
    """A run whose steps are all passed over succeeds."""
    session = start(
        book(*(step(f"s{i}", "x", when="inputs.go") for i in range(200)), inputs={"go": "boolean"}),
        inputs={"go": False},
    )
    assert session.outcome == "success"


@pytest.mark.parametrize("name", CIRCLES)
def test_s9_4_a_circle_of_automatic_moves_is_a_livelock(name: str) -> None:
    """However the steps lead round without an event, the run ends as `failed:livelock` and does not hang."""
    steps, more = CIRCLES[name]
    machine = book(*steps, inputs={"out": "boolean", "gone": {"type": "number", "required": False}}, **more)
    with ends():
        session = start(machine, inputs={"out": False})
    assert session.outcome == "failed:livelock"
    assert audit(session).outcome_class == "failed"


def test_s9_4_spent_visits_that_lead_round_are_a_livelock() -> None:
    """`on_max_visits` of two spent steps pointing at each other ends the run."""
    machine = book(
        step("a", "x", max_visits=1, on_max_visits="b", next_="b"),
        step(
            "b",
            "y",
            max_visits=1,
            on_max_visits="a",
            next_=[{"when": "facts.y.done", "goto": "success"}, {"goto": "a"}],
        ),
    )
    session = start(machine)
    ok(session, "x")
    with ends():
        ok(session, "y", {"done": False})
    assert session.outcome == "failed:livelock"


def test_s9_5_a_declared_end_beats_a_termination_branch() -> None:
    """The call that completes the last step ends the run in its declared end, whatever termination says of it."""
    session = start(book(step("a", "x"), termination=[{"tool_called": "x", "outcome": "stopped"}]))
    assert ok(session, "x").outcome == "success"


def test_s9_5_the_first_true_branch_ends_the_run() -> None:
    """Termination branches are evaluated in listed order."""
    branches = [{"tool_called": "x", "outcome": "escalated"}, {"tool_called": "x", "outcome": "failed"}]
    assert ok(start(book(step("a", "x", "y"), termination=branches)), "x").outcome == "escalated"
    assert ok(start(book(step("a", "x", "y"), termination=branches[::-1])), "x").outcome == "failed"


def test_s9_6_commands_of_a_new_state_are_issued_at_once() -> None:
    """When a step completes, the next one's automatic call is there to be run."""
    session = start(book(step("a", "x"), step("b", call={"tool": "y", "args": {"n": "{{ facts.x.n }}"}})))
    assert running(session) == []
    ok(session, "x", {"n": 3})
    assert (command(session).tool, command(session).args, command(session).step) == ("y", {"n": 3}, "b")


def test_s9_6_an_ending_run_issues_nothing() -> None:
    """A termination branch that becomes true by the same outcome keeps the next step's call from being issued."""
    session = start(
        book(step("a", "x"), step("b", call={"tool": "y"}), termination=[{"tool_called": "x", "outcome": "stopped"}])
    )
    ok(session, "x")
    assert (session.outcome, session.commands) == ("stopped", [])


def test_s10_branches_are_read_top_to_bottom() -> None:
    """The first true branch is taken, false ones are passed; none left is a failure, and unknown another."""
    machine = book(
        step(
            "a",
            "x",
            on_failure="escalated",
            next_=[{"when": "facts.x.n > 5", "goto": "success"}, {"when": "facts.x.n > 3", "goto": "stopped"}],
        )
    )
    for n, end, why in (
        (9, "success", None),
        (4, "stopped", None),
        (1, "escalated", "no_branch"),
        ("t", "escalated", "guard_unknown"),
    ):
        session = start(machine)
        assert ok(session, "x", {"n": n}).outcome == end
        moved = next(r for r in trace(session) if r["kind"] == "moved")
        assert (why or "") in moved.get("why", "")


def test_s10_a_failure_list_without_a_true_branch_ends_the_run_as_failed() -> None:
    """`on_failure` that leads nowhere is the step's default failure."""
    machine = book(
        step("a", call={"tool": "x"}, on_failure=[{"when": "inputs.go", "goto": "escalated"}]), inputs={"go": "boolean"}
    )
    session = start(machine, inputs={"go": False})
    session.observe(command(session).call_id, Failed())
    assert session.outcome == "failed:a"


def test_s11_a_spent_target_is_replaced_never_passed_over() -> None:
    """After `max_visits` the jump leads to `on_max_visits`, else the run ends; the branch below stays shut."""
    branches = [{"when": "facts.x.again", "goto": "a"}, {"goto": "success"}]
    plain = start(book(step("a", "x", max_visits=2, next_=branches)))
    handled = start(book(step("a", "x", max_visits=2, next_=branches, on_max_visits="escalated")))
    for session, end in ((plain, "stopped:max_visits:a"), (handled, "escalated")):
        assert ok(session, "x", {"again": True}).outcome is None
        assert ok(session, "x", {"again": True}).outcome == end

"""When a step is done: S18 to S22."""

from __future__ import annotations

from guideway import Allow, Approvals, Cancelled, Defer, Deny, Failed, Succeeded, Unknown

from .helpers import (
    allowed,
    asked,
    audit,
    book,
    call,
    denied,
    error,
    ok,
    propose,
    say,
    start,
    step,
)


def test_s18_times_is_exact_and_nothing_means_at_least_one() -> None:
    """`times: 2` asks for two and allows no third; no `times` is met by one and allows more while the step is open."""
    session = start(book(step("a", {"tool": "x", "times": 2}, "y", "z")))
    ok(session, "x")
    ok(session, "x")
    denial = denied(session, "x")
    assert denial.code == "quota" and "x" not in [c.tool for c in denial.legal]
    ok(session, "y")
    ok(session, "y")
    assert ok(session, "z").outcome == "success"


def test_s18_an_irreversible_tool_is_asked_for_once() -> None:
    """Without `times` an irreversible tool has the quota one."""
    session = start(book(step("a", "pay", "y"), tools={"pay": {"effect": "irreversible"}, "y": {}}))
    ok(session, "pay")
    assert denied(session, "pay").code == "quota"
    assert session.legal()[0].tool == "y"


def test_s18_an_optional_entry_has_its_quota_too() -> None:
    """`times` on an optional tool, and the one of an irreversible optional tool, allow no more calls than they say."""
    machine = book(
        step("a", "y", optional_tools=[{"tool": "x", "times": 2}, "pay"]),
        tools={"pay": {"effect": "irreversible"}, "y": {}, "x": {}},
    )
    session = start(machine)
    ok(session, "x")
    ok(session, "x")
    assert denied(session, "x").code == "quota"
    ok(session, "pay")
    assert denied(session, "pay").code == "quota"


def test_s18_reservations_count_against_the_quota() -> None:
    """A second call of a once-only tool waits while the first is under way, and is refused when it has succeeded."""
    session = start(book(step("a", {"tool": "x", "times": 1}, "y")))
    first, second = session.propose([call("x", "1"), call("x", "2")])
    assert isinstance(first, Allow) and isinstance(second, Defer)
    [late] = session.observe("1", Succeeded()).verdicts
    assert isinstance(late, Deny) and late.code == "quota"


def test_s18_an_unknown_call_counts_against_the_quota() -> None:
    """While nobody knows whether the payment happened, no second one is admitted."""
    session = start(book(step("a", "pay", "y"), tools={"pay": {"effect": "irreversible"}, "y": {}}))
    session.propose([call("pay", "1"), call("pay", "2")])
    progress = session.observe("1", Unknown())
    assert not any(isinstance(v, Allow) for v in progress.verdicts)
    [late] = Approvals(session).happened(asked(session), by="kim").progress.verdicts
    assert isinstance(late, Deny) and late.code == "quota"


def test_s19_spent_counts_ok_error_unknown_and_releases_the_rest() -> None:
    """A cancelled call gives its reservation back; a failed one does not."""
    machine = book(step("a", "x", "y", max_tool_calls=2, on_exhausted="escalated"))
    session = start(machine)
    for _ in range(5):
        session.observe(allowed(session, "x"), Cancelled())
    assert dict(denied(session, "zz").budgets)["calls of this step"] == 2
    error(session, "x")
    assert dict(denied(session, "zz").budgets)["calls of this step"] == 1
    assert ok(session, "x").outcome == "escalated"


def test_s19_a_refused_call_spends_no_budget() -> None:
    """Denied and rejected calls cost the step nothing."""
    machine = book(
        step("a", {"tool": "x", "where": "args.n == 1", "approval": {"ask": "?"}}, max_tool_calls=1), max_refusals=9
    )
    session = start(machine)
    denied(session, "x", n=2)
    propose(session, "x", n=1)
    Approvals(session).reject(asked(session), by="kim")
    assert denied(audit(session), "x", n=1.0).code == "rejected"
    session.propose([call("x", "again", n=1, why="please")])
    Approvals(session).approve(asked(session), by="kim")
    assert session.observe("again", Succeeded()).outcome == "success"


def test_s20_a_step_with_entries_completes_by_itself() -> None:
    """All met, successes ≥ min, validation true, nothing outstanding: then `next`, and not before."""
    machine = book(step("a", "x", "y", min_tool_calls=3, validation=["facts.x.n > 1"]))
    session = start(machine)
    ok(session, "x", {"n": 0})
    ok(session, "y")
    assert session.outcome is None
    ok(session, "y")
    assert session.outcome is None
    assert ok(session, "x", {"n": 2}).outcome == "success"


def test_s20_a_step_waits_for_its_outstanding_calls() -> None:
    """The step completes when the last call of the visit is applied, though its entries were met before."""
    session = start(book(step("a", "x", optional_tools=["r"]), step("b", "y")))
    session.propose([call("r", "1"), call("x", "2")])
    session.observe("2", Succeeded())
    assert session.state == "a"
    session.observe("1", Failed())
    assert session.state == "b"


def test_s20_a_step_without_entries_never_completes_by_itself() -> None:
    """Optional tools do not end a step; `complete_step` or a text-only turn does."""
    session = start(book(step("a", optional_tools=["r"]), step("b", "y")))
    for _ in range(3):
        ok(session, "r")
    assert session.state == "a"
    assert isinstance(propose(session, "complete_step"), Allow)
    assert session.state == "b"


def test_s21_untrue_validation_keeps_the_step_open_while_a_call_is_admissible() -> None:
    """Without `on_failure` the model may try again; when nothing more is admissible the step fails."""
    machine = book(step("a", {"tool": "x", "times": 1}, validation=["facts.x.n == 1"]))
    stuck = start(machine)
    assert ok(stuck, "x", {"n": 0}).outcome == "failed:a"
    open_ = start(book(step("a", "x", validation=["facts.x.n == 1"])))
    assert ok(open_, "x", {"n": 0}).outcome is None
    assert ok(open_, "x", {"n": 1}).outcome == "success"
    spent = start(book(step("a", "x", validation=["facts.x.n == 1"], max_tool_calls=2)))
    ok(spent, "x", {"n": 0})
    assert ok(spent, "x", {"n": 0}).outcome == "failed:a"


def test_s21_untrue_validation_takes_on_failure() -> None:
    """With `on_failure` it is taken as soon as all entries are met, also where the validation is unknown."""
    for result in ({"n": 0}, {}, {"n": "text"}):
        session = start(book(step("a", "x", "y", validation=["facts.x.n == 1"], on_failure="escalated")))
        ok(session, "x", result)
        assert session.outcome is None
        assert ok(session, "y").outcome == "escalated"


def test_s22_exhausted_takes_the_first_way_that_is_written() -> None:
    """`on_exhausted`, then `on_failure`, then on to the next step if a call succeeded, then `failed:exhausted:STEP`."""
    spent = {"max_tool_calls": 2}
    first = start(book(step("a", "x", "y", **spent, on_exhausted="stopped", on_failure="escalated")))
    ok(first, "x")
    assert ok(first, "x").outcome == "stopped"
    second = start(book(step("a", "x", "y", **spent, on_failure="escalated")))
    ok(second, "x")
    assert ok(second, "x").outcome == "escalated"
    third = start(book(step("a", "x", "y", **spent), step("b", "z")))
    ok(third, "x")
    ok(third, "x")
    assert third.state == "b"
    progress = ok(third, "z")
    assert progress.outcome == "incomplete:a" and third.outcome_class == "incomplete"
    fourth = start(book(step("a", "x", "y", **spent), step("b", "z")))
    error(fourth, "x")
    assert error(fourth, "x").outcome == "failed:exhausted:a"


def test_s22_too_few_successes_exhaust_too() -> None:
    """All entries met, fewer successes than `min_tool_calls` and no call left: exhausted."""
    session = start(book(step("a", "x", min_tool_calls=2, max_tool_calls=2, on_exhausted="escalated")))
    error(session, "x")
    assert ok(session, "x").outcome == "escalated"


def test_s22_without_entries_spending_all_completes() -> None:
    """A step with optional tools only is complete when its calls are spent and enough succeeded, as in the seed."""
    session = start(book(step("a", optional_tools=["r"], max_tool_calls=2), step("b", "y")))
    ok(session, "r")
    ok(session, "r")
    assert session.state == "b"
    assert ok(session, "y").outcome == "success"


def test_s22_the_mark_goes_when_the_step_is_entered_again() -> None:
    """A step that was left incomplete and later completed is no incomplete step (S3, S38)."""
    machine = book(
        step("a", "x", "y", max_tool_calls=2),
        step("b", "z", next_=[{"when": "facts.z.back", "goto": "a"}, {"goto": "success"}]),
    )
    session = start(machine)
    ok(session, "x")
    ok(session, "x")
    ok(session, "z", {"back": True})
    ok(session, "x")
    ok(session, "y")
    assert ok(session, "z", {"back": False}).outcome == "success"


def test_s22_an_incomplete_optional_step_spoils_nothing() -> None:
    """Success asks for required steps only."""
    session = start(book(step("a", "x", "y", max_tool_calls=1, required=False), step("b", "z")))
    ok(session, "x")
    assert ok(session, "z").outcome == "success"


def test_s16_text_does_not_stand_in_for_the_minimum() -> None:
    """A step with optional tools, text alone and too few calls is nudged, not completed."""
    session = start(book(step("a", optional_tools=["r"], min_tool_calls=1), max_nudges=1))
    say(session)
    assert session.state == "a"
    ok(session, "r")
    say(session)
    assert session.outcome == "success"

"""The order of outcomes, the end of a turn, control tools: S15 to S17."""

from __future__ import annotations

import itertools
from typing import Any

from guideway import (
    Allow,
    Approvals,
    Defer,
    Deny,
    Failed,
    NeedsApproval,
    Succeeded,
    Unknown,
)

from .helpers import (
    asked,
    asks,
    at,
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
    trace,
)


def kinds(verdicts: Any) -> list[str]:
    """The verdicts, a word each; a denial by its code."""
    return [v.code if isinstance(v, Deny) else type(v).__name__ for v in verdicts]


def test_s15_outcomes_are_applied_in_model_order() -> None:
    """Whatever order two outcomes arrive in, the record of what they did is the same."""
    machine = book(step("a", "x", "y", "w"), step("b", "z"))

    def run(order: tuple[str, ...]) -> list[dict[str, Any]]:
        session = start(machine)
        session.propose([call("x", "1"), call("y", "2"), call("w", "3"), call("z", "4")])
        for call_id in order:
            session.observe(call_id, Failed() if call_id == "2" else Succeeded({"n": call_id}))
        drop = ("seq", "previous", "hash")
        return [{k: v for k, v in r.items() if k not in drop} for r in trace(session) if r["kind"] != "arrived"]

    first, *others = (run(order) for order in itertools.permutations("123"))
    assert all(other == first for other in others)


def test_s15_timers_are_held_while_an_arrived_outcome_waits() -> None:
    """The second of two outcomes arrived in time; the deadline waits for it, and the step completes."""
    session = start(book(step("a", "x", "y", timeout="10s")), timed=True)
    session.propose([call("x", "1"), call("y", "2")])
    session.observe("2", Succeeded(), now=at(9))
    session.tick(at(20))
    assert session.outcome is None
    assert session.observe("1", Succeeded(), now=at(21)).outcome == "success"


def test_s16_a_turn_ends_and_counts() -> None:
    """Every turn, of calls, of text or of refusals, is one iteration."""
    session = start(book(step("a", "x", "y"), max_iterations=4))
    ok(session, "x")
    say(session)
    denied(session, "zz")
    assert session.outcome is None
    error(session, "y")
    assert session.outcome == "stopped:max_iterations"


def test_s16_text_alone_completes_a_thinking_step_it_began_in() -> None:
    """A text-only turn completes a step without entries, and only the one it began in."""
    session = start(book(step("a"), step("b"), step("c", "x")))
    say(session)
    assert session.state == "b"
    say(session)
    assert session.state == "c"


def test_s16_text_alone_skips_an_untouched_optional_step_and_on() -> None:
    """Untouched optional steps are skipped one after another up to the first required one; a touched one is nudged."""
    session = start(book(step("a", "x", required=False), step("b", "y", required=False), step("c", "z")))
    say(session)
    assert session.state == "c"
    touched = start(book(step("a", "x", "w", required=False), step("c", "z"), max_nudges=0))
    ok(touched, "x")
    say(touched)
    assert touched.outcome == "stopped:nudges"


def test_s16_a_premature_answer_is_nudged_at_most_max_nudges_times() -> None:
    """The (max_nudges + 1)th nudge in a row ends the run; a success in between forgives."""
    session = start(book(step("a", "x", "y"), max_nudges=2))
    say(session)
    say(session)
    ok(session, "x")
    say(session)
    say(session)
    assert audit(session).outcome is None
    say(session)
    assert (session.outcome, session.outcome_class) == ("stopped:nudges", "stopped")


def test_s16_refusals_in_a_row_end_the_run() -> None:
    """The max_refusals-th turn in a row with a denial and no success ends the run; a success forgives."""
    session = start(book(step("a", "x", "y"), max_refusals=2))
    denied(session, "zz")
    ok(session, "x")
    denied(session, "zz")
    session.propose([call("zz", "1"), call("x", "2")])
    session.observe("2", Succeeded())
    denied(session, "zz")
    denial = denied(session, "zz")
    assert dict(denial.budgets)["refusals in a row"] == 1
    assert session.outcome == "stopped:refusals"


def test_s16_a_persons_no_is_no_refusal() -> None:
    """A call that a person rejected was not denied: it does not bring the run nearer to `stopped:refusals`."""
    machine = book(step("a", {"tool": "x", "approval": {"ask": "?"}}, "y"), max_refusals=1)
    session = start(machine)
    assert isinstance(propose(session, "x"), NeedsApproval)
    Approvals(session).reject(asked(session), by="kim")
    assert session.outcome is None
    ok(session, "y")


def test_s16_nobody_nudges_a_run_that_waits_for_others() -> None:
    """Text while a person or the runtime is at work is no premature answer."""
    for machine in (
        book(step("a", approval={"ask": "?"}), max_nudges=0),
        book(step("a", call={"tool": "x"}), max_nudges=0),
    ):
        session = start(machine)
        for _ in range(3):
            say(session)
        assert session.outcome is None


def test_s17_complete_step_never_stands_in_for_a_tool() -> None:
    """It is refused in a step that has entries, met or not, and in one whose minimum or validation is not reached."""
    session = start(book(step("a", "x")))
    denial = denied(session, "complete_step")
    assert denial.code == "control" and "`x`" in denial.message
    least = start(book(step("a", optional_tools=["r"], min_tool_calls=1), max_refusals=9))
    assert denied(least, "complete_step").code == "control"
    assert "complete_step" not in [c.tool for c in least.legal()]
    ok(least, "r")
    assert "complete_step" in [c.tool for c in least.legal()]
    assert isinstance(propose(least, "complete_step"), Allow) and least.outcome == "success"
    valid = start(book(step("a", optional_tools=["r"], validation=["facts.r.n == 1"])))
    ok(valid, "r", {"n": 0})
    assert "facts.r.n == 1" in denied(valid, "complete_step").message


def test_s17_control_tools_are_for_an_agents_step() -> None:
    """While a person decides or the runtime calls, neither control tool does anything."""
    for more in ({"approval": {"ask": "?"}}, {"call": {"tool": "x"}}):
        session = start(book(step("a", required=False, **more)))
        for tool in ("complete_step", "skip_step"):
            verdict = propose(session, tool)
            assert isinstance(verdict, Defer | Deny), (more, tool)
            assert session.state.startswith("a")
            if isinstance(verdict, Defer):
                break


def test_s17_skip_step_is_for_optional_steps_without_approval() -> None:
    """A required step is not skipped by the agent, nor is one that a person had to allow."""
    assert denied(start(book(step("a", "x"))), "skip_step").code == "control"
    session = start(book(step("a", "x", required=False), step("b", "y")))
    assert "skip_step" in [c.tool for c in session.legal()]
    assert isinstance(propose(session, "skip_step"), Allow)
    assert session.state == "b"
    gated = start(book(step("a", "x", required=False, approval={"ask": "?"}), step("b", "y")))
    Approvals(gated).approve(asked(gated), by="kim")
    assert "skip_step" not in [c.tool for c in gated.legal()]
    assert denied(gated, "skip_step").code == "control"


def test_s17_with_something_outstanding_control_waits() -> None:
    """`[work, complete_step]` in one reply is one turn; the control call spends nothing."""
    session = start(book(step("a", optional_tools=["r"], max_tool_calls=1), step("b", "y")))
    assert kinds(session.propose([call("r", "1"), call("complete_step", "2")])) == ["Allow", "Defer"]
    progress = session.observe("1", Succeeded())
    assert progress.state == "b"
    behind = start(book(step("a"), step("b", "y")))
    assert kinds(behind.propose([call("complete_step", "1"), call("y", "2")])) == ["Allow", "Allow"]
    assert behind.observe("2", Succeeded()).outcome == "success"


def test_unknown_outcomes_hold_the_turn() -> None:
    """A write that nobody can account for keeps the turn open until a person looked (S24)."""
    session = start(book(step("a", "x"), step("b", "y")))
    session.propose([call("x", "1"), call("y", "2")])
    session.observe("1", Unknown())
    assert [a.call_id for a in asks(session)] == [asked(session)]
    progress = Approvals(session).happened(asked(session), {"n": 1}, by="kim").progress
    assert kinds(progress.verdicts) == ["Allow"]
    audit(session)

"""Branches side by side: S11, S26, S27, S31, S40."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Approvals, Defer, NeedsApproval, Succeeded, Unknown
from guideway.runtime.verdicts import Cancel

from .building import (
    arrive,
    asked_at,
    auto,
    drain,
    fails,
    kinds,
    open_tools,
    parallel,
    records,
    show,
    shown,
)
from .helpers import (
    allowed,
    asked,
    asks,
    at,
    audit,
    book,
    call,
    ok,
    propose,
    running,
    start,
    step,
    waits,
)

AFTER = step("z", "zz")


def three(**more: Any) -> dict[str, Any]:
    """Three branches of one call each."""
    return parallel("s", {name: auto(name) for name in "abc"}, **more)


# --- fork and join --------------------------------------------------------------------------------------------------


def test_s31_each_branch_is_a_cursor_and_its_name_its_id() -> None:
    """A branch of one step is called like the branch; a list keeps the ids of its steps."""
    session = start(book(parallel("s", {"a": auto("a"), "b": [auto("b1"), auto("b2")]}), AFTER))
    assert session.states == ("a", "b1")
    assert [c.step for c in running(session)] == ["a", "b1"]


def test_s31_all_waits_for_every_branch() -> None:
    """A branch that has arrived waits for the others, in whatever order they come."""
    session = start(book(three(), AFTER))
    for tool in ("c", "a"):
        arrive(session, tool)
        assert "z" not in audit(session).states
    arrive(session, "b")
    assert session.states == ("z",)


def test_s31_any_takes_the_first_and_removes_the_rest() -> None:
    """The first branch to arrive joins; what the others have under way is still observed and moves nothing."""
    session = start(book(three(join="any"), show(a="default(facts.a, 0)", b="default(facts.b, 0)")))
    late = running(session)[0].call_id
    arrive(session, "b", 2)
    assert session.states == ("show",)
    assert shown(session) == {"a": 0, "b": 2}
    session.observe(late, Succeeded(1))
    assert session.states == ("show",)


def test_s31_n_branches_are_enough() -> None:
    """Two of three join; one is not enough."""
    session = start(book(three(join=2), AFTER))
    arrive(session, "c")
    assert session.states == ("a", "b")
    arrive(session, "a")
    assert audit(session).states == ("z",)


def test_s31_a_call_of_a_removed_branch_is_an_orphan() -> None:
    """It still spends, writes facts and moves monitors, and holds neither the turn nor the join."""
    session = start(
        book(
            parallel("s", {"a": step("a", "x") | {"id": "a"}, "b": auto("b", "y")}, join="any"),
            step("z", "zz"),
            show(x="facts.x.n"),
            policies=[{"at_most": {"event": "x", "times": 1}}],
            optional_tools=["x"],
        )
    )
    orphan = allowed(session, "x")
    arrive(session, "y")
    assert session.states == ("z",)
    assert isinstance(propose(session, "x"), Defer)
    assert kinds(session.observe(orphan, Succeeded({"n": 7})).verdicts) == ["policy"]
    ok(session, "zz")
    assert shown(session) == {"x": 7}


def test_s31_deferred_calls_of_removed_branches_are_denied() -> None:
    """What waited for its turn in a branch that is gone is not legal any more."""
    tools: dict[str, Any] = {"wire": {"effect": "irreversible"}, "x": {}, "y": {}, "zz": {}}
    branches = {"a": {"expected_tools": ["x", "wire"], "description": "A"}, "b": auto("b", "y")}
    session = start(book(parallel("s", branches, join="any"), AFTER, tools=tools))
    assert kinds(session.propose([call("x", "1"), call("wire", "2")])) == ["Allow", "Defer"]
    arrive(session, "y")
    session.observe("1", Succeeded())
    assert ("2", "deny") in records(session, "decided", "call_id", "verdict")
    assert session.states == ("z",)


def test_s31_approvals_of_removed_branches_are_void() -> None:
    """Nobody is asked any more about a branch that is gone, and an answer comes too late."""
    gated = {"tool": "pay", "approval": {"ask": "Pay?"}}
    branches = {"a": {"expected_tools": [gated], "description": "A"}, "b": auto("b", "y"), "c": {"ask": "Well?"}}
    session = start(book(parallel("s", branches, join="any"), AFTER))
    verdict = propose(session, "pay")
    assert isinstance(verdict, NeedsApproval)
    question = asked_at(session, "c")
    arrive(session, "y")
    assert asks(session) == [] and list(Approvals(session).pending) == []
    assert not Approvals(session).approve(verdict.approval_id, by="kim").accepted
    assert not Approvals(session).answer(question, "yes", by="kim").accepted
    assert session.states == ("z",)


def test_s31_timers_of_removed_branches_are_gone() -> None:
    """A wait and a deadline of a branch that is gone never fire."""
    branches = {"a": {"wait": "10s"}, "b": auto("b", "y"), "c": step("", "x", timeout="5s") | {"id": "c"}}
    session = start(book(parallel("s", branches, join="any"), AFTER), timed=True)
    arrive(session, "y", now=at(1))
    assert waits(session) == []
    session.tick(at(60))
    assert session.outcome is None and session.states == ("z",)


def test_s31_one_failed_branch_of_all_fails_the_block() -> None:
    """No other branch makes a new call, and the default is the step's failure."""
    session = start(book(parallel("s", {"a": auto("a"), "b": [auto("b1"), auto("b2")]}), AFTER))
    late = running(session)[1].call_id
    fails(session, "a")
    session.observe(late, Succeeded())
    assert (session.outcome, session.outcome_class) == ("failed:s", "failed")
    assert "b2" not in records(session, "decided", "tool")


def test_s31_fewer_than_needed_can_arrive_is_a_failure() -> None:
    """Two of three: the first failure is borne, the second is one too many."""
    session = start(book(three(join=2, on_failure="escalated"), AFTER))
    fails(session, "a")
    assert session.outcome is None and session.states == ("b", "c")
    fails(session, "c")
    assert session.outcome is None and open_tools(session) == []
    drain(session)
    assert session.outcome == "escalated"


@pytest.mark.parametrize("join", ["any", 1])
def test_s31_any_bears_all_failures_but_the_last(join: Any) -> None:
    """As long as one branch may still arrive the step is open."""
    session = start(book(three(join=join), AFTER))
    fails(session, "a")
    fails(session, "b")
    assert session.outcome is None
    arrive(session, "c")
    assert session.states == ("z",)
    worst = start(book(three(join=join), AFTER))
    for name in "abc":
        fails(worst, name)
    assert worst.outcome == "failed:s"


def test_s31_the_blocks_failure_takes_its_on_failure() -> None:
    """`on_failure` of the block says where a branch's failure leads."""
    session = start(book(three(on_failure="z"), {**auto("good"), "next": "success"}, AFTER))
    fails(session, "b")
    drain(session)
    assert session.states == ("z",)


def test_s31_a_branch_may_mend_its_own_failure() -> None:
    """A step's own `on_failure` inside its list keeps the branch alive."""
    session = start(
        book(
            parallel("s", {"a": [auto("a1", on_failure="a3"), auto("a2", next_="done"), auto("a3")], "b": auto("b")}),
            AFTER,
        )
    )
    fails(session, "a1")
    assert set(open_tools(session)) == {"a3", "b"}
    arrive(session, "a3")
    arrive(session, "b")
    assert session.states == ("z",)


def test_s27_defaults_do_not_reach_into_a_block() -> None:
    """The top-level `on_failure` is the block's, not that of the steps inside."""
    machine = book(parallel("s", {"a": [auto("a1"), auto("a2")], "b": auto("b")}), defaults={"on_failure": "escalated"})
    session = start(machine)
    fails(session, "a1")
    drain(session)
    assert ("failed", "s.failed") in records(session, "moved", "event", "target")
    assert session.outcome == "escalated"


def test_s35_failed_in_a_branch_fails_the_block_and_done_ends_the_branch() -> None:
    """In a branch an outcome target ends no run."""
    branches = [{"when": "facts.x.good", "goto": "done"}, {"goto": "failed"}]
    machine = book(parallel("s", {"a": [step("a1", "x", next_=branches), step("a2", "w")], "b": auto("b")}), AFTER)
    good = start(machine)
    ok(good, "x", {"good": True})
    arrive(good, "b")
    assert good.states == ("z",)
    bad = start(machine)
    late = running(bad)[0].call_id
    ok(bad, "x", {"good": False})
    bad.observe(late, Succeeded())
    assert bad.outcome == "failed:s"


def test_s27_an_inner_blocks_failure_is_a_failure_of_the_outer_branch() -> None:
    """Failures climb from block to block and no further than somebody bears them."""
    inner = parallel("inner", {"p": auto("p"), "q": auto("q")})
    machine = book(parallel("s", {"a": [inner, auto("after")], "b": auto("b")}, join="any"), AFTER)
    session = start(machine)
    fails(session, "p")
    assert "b" in session.states and session.outcome is None
    arrive(session, "b")
    assert session.states == ("z",)


def test_s31_a_block_is_passed_over_asked_for_and_skipped_as_any_step() -> None:
    """`when` false forks nothing; an approval comes before the fork; the host skips an optional one."""
    passed = start(book(three(when="inputs.go"), AFTER, inputs={"go": "boolean"}), inputs={"go": False})
    assert passed.states == ("z",) and running(passed) == []
    gated = start(book(three(approval={"ask": "Go?"}), AFTER))
    assert running(gated) == []
    Approvals(gated).approve(asked(gated), by="kim")
    assert open_tools(gated) == ["a", "b", "c"]
    optional = start(book(parallel("s", {"a": {"ask": "A?"}, "b": {"ask": "B?"}}, required=False), AFTER))
    optional.skip("not today", step="s")
    assert optional.states == ("z",) and asks(optional) == []


def test_s17_a_block_is_skipped_by_the_host_alone() -> None:
    """An agent's `skip_step` does not reach the block its step lies in."""
    machine = book(
        parallel("s", {"a": {"expected_tools": ["x"], "description": "A"}, "b": auto("b")}, required=False), AFTER
    )
    session = start(machine)
    assert kinds([propose(session, "skip_step", step="s")])[0] not in ("Allow",)
    assert session.states == ("a", "b")


def test_s31_snapshot_taken_at_the_join() -> None:
    """Torture 31: a run saved between two arrivals, and right after the last, goes on the same."""
    session = start(book(three(), AFTER))
    arrive(session, "a")
    arrive(session, "c")
    saved = audit(session)
    for run in (session, saved):
        arrive(run, "b")
        assert run.states == ("z",)
    assert saved.snapshot.to_json() == session.snapshot.to_json()
    assert ok(audit(session), "zz").outcome == "success"


def test_s31_an_unknown_call_in_a_branch_asks_a_person_and_holds_that_branch_alone() -> None:
    """The others go on while a person finds out."""
    session = start(book(three(), AFTER))
    session.observe(running(session)[0].call_id, Unknown())
    arrive(session, "b")
    arrive(session, "c")
    assert session.states == ("a",)
    Approvals(session).happened(asked(session), {"n": 1}, by="kim")
    assert session.states == ("z",)


# --- deadlines and visits -------------------------------------------------------------------------------------------


def test_s26_the_deadline_of_a_block_removes_what_is_inside() -> None:
    """`on_timeout` of the block is taken; its calls are orphans, its questions void."""
    branches = {"a": auto("a"), "b": {"ask": "Well?"}}
    session = start(
        book(parallel("s", branches, timeout="10s", on_timeout="z"), auto("n", next_="success"), AFTER), timed=True
    )
    late = running(session)[0].call_id
    session.tick(at(10))
    assert session.states == ("z",) and asks(session) == []
    session.observe(late, Succeeded())
    assert session.states == ("z",)


def test_s26_a_step_in_a_branch_times_out_to_the_end_of_the_run_unless_told() -> None:
    """The default of a timeout is a stop of the playbook wherever the step lies; `done` leaves only the branch."""
    slow = auto("a", timeout="10s")
    session = start(book(parallel("s", {"a": slow, "b": auto("b")})), timed=True)
    open_calls = running(session)
    session.tick(at(10))
    for left in open_calls:
        session.observe(left.call_id, Succeeded())
    assert session.outcome == "stopped:timeout:a"
    told = start(book(parallel("s", {"a": slow | {"on_timeout": "done"}, "b": auto("b")}), AFTER), timed=True)
    told.tick(at(10))
    arrive(told, "b")
    assert told.states == ("z",)


def test_s26_a_block_that_was_left_in_time_has_no_deadline() -> None:
    """A deadline belongs to the visit: it does not strike after the join."""
    session = start(book(three(timeout="10s"), AFTER), timed=True)
    for name in "abc":
        arrive(session, name, now=at(5))
    session.tick(at(20))
    assert session.outcome is None


def test_s11_a_block_has_visits_as_any_step() -> None:
    """The third entry of a block that may be entered twice takes `on_max_visits`."""
    again = [{"when": "facts.z1.more", "goto": "s"}, {"goto": "success"}]
    machine = book(three(max_visits=2, on_max_visits="escalated"), step("z", {"tool": "zz", "as": "z1"}, next_=again))
    session = start(machine)
    for _ in range(2):
        for name in "abc":
            arrive(session, name)
        ok(session, "zz", {"more": True})
    assert session.outcome == "escalated"


def test_s11_a_step_in_a_branch_counts_its_visits_over_the_frame() -> None:
    """Visits of a step inside a block do not begin anew when the block is entered again."""
    again = [{"when": "facts.z1.more", "goto": "s"}, {"goto": "success"}]
    branches = {"a": auto("a", max_visits=2), "b": auto("b")}
    session = start(book(parallel("s", branches), step("z", {"tool": "zz", "as": "z1"}, next_=again)))
    for _ in range(2):
        arrive(session, "a")
        arrive(session, "b")
        ok(session, "zz", {"more": True})
    drain(session)
    assert session.outcome == "stopped:max_visits:a"


def test_s3_a_block_entered_again_forks_anew() -> None:
    """Ids of the second round are new, and what came of the first is not taken for it."""
    again = [{"when": "facts.z1.more", "goto": "s"}, {"goto": "success"}]
    session = start(book(three(), step("z", {"tool": "zz", "as": "z1"}, next_=again)))
    first = [arrive(session, name) for name in "abc"]
    ok(session, "zz", {"more": True})
    second = [arrive(session, name) for name in "cba"]
    assert set(first) & set(second) == set()
    assert ok(session, "zz", {"more": False}).outcome == "success"


def test_s40_an_end_inside_a_block_waits_for_what_is_outstanding() -> None:
    """The outcome is fixed by the rejected approval; it is published when the other branch's call is observed."""
    machine = book(parallel("s", {"a": [step("one", approval={"ask": "?"})], "b": auto("b")}))
    session = start(machine)
    late = running(session)[0].call_id
    Approvals(session).reject(asked(session), by="kim")
    assert session.outcome is None
    assert [c.call_id for c in session.commands if isinstance(c, Cancel)] == [late]
    assert session.observe(late, Succeeded()).outcome == "stopped:rejected"

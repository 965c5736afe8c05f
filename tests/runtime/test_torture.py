"""Real public reports about engines of this kind, and the right value here.  The number is the row of the list."""

from __future__ import annotations

import itertools
from contextlib import suppress

import pytest

import guideway
from guideway import Allow, Approvals, Defer, Deny, Failed, HostError, NeedsApproval, PlaybookError, Succeeded, check

from .helpers import (
    T0,
    allowed,
    at,
    audit,
    book,
    call,
    denied,
    ends,
    ok,
    propose,
    running,
    say,
    start,
    step,
    trace,
)


def test_torture_02_write_and_review_in_one_turn_run_in_order() -> None:
    """A review that needs the written state is neither run beside the write nor refused: it waits for it."""
    machines = [
        book(step("write", "write_file"), step("review", "read_file")),
        book(step("both", "write_file", "read_file", order="listed")),
        book(step("both", "write_file", {"tool": "read_file", "where": "args.version == facts.write_file.version"})),
    ]
    for machine in machines:
        session = start(machine)
        first, second = session.propose([call("write_file", "w"), call("read_file", "r", version=2)])
        assert isinstance(first, Allow) and isinstance(second, Defer)
        [late] = session.observe("w", Succeeded({"version": 2})).verdicts
        assert isinstance(late, Allow)
        assert session.observe("r", Succeeded()).outcome == "success"
    failed = start(machines[0])
    failed.propose([call("write_file", "w"), call("read_file", "r")])
    [late] = failed.observe("w", Failed("disk full")).verdicts
    assert isinstance(late, Deny) and late.code == "after_failed"


@pytest.mark.parametrize("order", list(itertools.permutations((0, 1, 2))))
def test_torture_03_pending_approvals_answered_in_any_order(order: tuple[int, ...]) -> None:
    """Three calls of one tool wait for a person; each answer reaches its own call and no call is lost."""
    machine = book(step("a", {"tool": "pay", "approval": {"ask": "Pay {{ args.to }}?"}}, "done"))
    session = start(machine)
    verdicts = session.propose([call("pay", f"{i}", to=f"p{i}") for i in range(3)])
    assert all(isinstance(v, NeedsApproval) for v in verdicts)
    answers = {0: True, 1: False, 2: True}
    admitted: dict[str, bool] = {}
    for index in order:
        session = audit(session)
        control = Approvals(session)
        [question] = [q for q in control.pending if q.ask == f"Pay p{index}?"]
        decide = control.approve if answers[index] else control.reject
        admitted |= {v.call_id: isinstance(v, Allow) for v in decide(question.approval_id, by="kim").progress.verdicts}
    assert admitted == {"0": True, "1": False, "2": True}
    with pytest.raises(HostError):
        session.observe("1", Succeeded())
    session.observe("2", Succeeded())
    session.observe("0", Succeeded())
    assert ok(session, "done").outcome == "success"


def test_torture_08_two_legal_tools_alternate_for_ever() -> None:
    """A loop that makes no headway ends at its bound, with an outcome that says which one."""
    loop = [step("a", "x", "never"), step("b", "y")]
    for more, end in (({"max_iterations": 30}, "stopped:max_iterations"), ({}, "stopped:max_iterations")):
        session = start(book(*loop, optional_tools=["z"], **more))
        for turn in range(20_000):
            if session.outcome is not None:
                break
            ok(session, "xz"[turn % 2])
        assert session.outcome == end
        assert [r["kind"] for r in trace(session)].count("turn_ended") == more.get("max_iterations", 1000)
    tokens = start(book(*loop, optional_tools=["z"], termination=[{"token_limit": 1000}]))
    for turn in range(20_000):
        if tokens.outcome is not None:
            break
        [verdict] = tokens.propose([call("xz"[turn % 2], f"{turn}")], usage=guideway.Usage(tokens=100))
        if isinstance(verdict, Allow):
            tokens.observe(verdict.call_id, Succeeded())
    assert tokens.outcome == "stopped:token_limit" and turn < 12
    spent = start(book(step("a", "x", "never", max_tool_calls=7, on_exhausted="escalated"), step("b", "y")))
    for _ in range(7):
        ok(spent, "x")
    assert spent.outcome == "escalated"
    between = start(
        book(
            step("a", "x", max_visits=5),
            step("b", "y", next_=[{"when": "facts.y.over", "goto": "success"}, {"goto": "a"}]),
        )
    )
    for _ in range(5):
        ok(between, "x")
        ok(between, "y", {"over": False})
    assert between.outcome == "stopped:max_visits:a"


@pytest.mark.parametrize("approve", [True, False])
def test_torture_10_an_approval_in_the_instant_of_the_deadline(approve: bool) -> None:
    """The deadline wins, the state is left once, and the person is told; a moment earlier the person wins."""
    for machine in (
        book(
            step("a", "x", approval={"ask": "?"}, timeout="10s", on_timeout="b", on_reject="c"),
            step("b", "y"),
            step("c", "z"),
        ),
        book(
            step("a", {"tool": "x", "approval": {"ask": "?"}}, timeout="10s", on_timeout="b", on_reject="c"),
            step("b", "y"),
            step("c", "z"),
        ),
    ):
        for seconds, accepted in ((10, False), (9.999, True)):
            session = start(machine, timed=True)
            if session.legal():
                propose(session, "x")
            for control in (Approvals(audit(session)), Approvals(session)):
                decide = control.approve if approve else control.reject
                decided = decide(control.pending[0].approval_id, by="kim", now=at(seconds))
                assert decided.accepted is accepted
            assert session.state == ("b" if not accepted else "a" if approve else "c")
            gone = [r["target"] for r in trace(session) if r["kind"] == "moved" and r["target"] in ("b", "c")]
            assert gone == [session.state] * (session.state != "a")


def test_torture_12_an_automatic_circle_is_bounded_at_run_time() -> None:
    """A default branch without a way on is refused by the reader; a circle that only data closes ends as a livelock."""
    endless = {"id": "p", "name": "P", "steps": [step("a", switch=[{"goto": "b"}]), step("b", switch=[{"goto": "a"}])]}
    assert [(f.code, f.level) for f in check(endless)] == [("GW202", guideway.Level.ERROR)]
    with ends(), suppress(PlaybookError):  # to refuse it is as good
        assert start(guideway.load(endless)).outcome == "failed:livelock"
    with pytest.raises(PlaybookError):
        book(step("a", switch=[{"when": "true"}]))
    machine = book(
        step("a", "x"),
        step("b", switch=[{"when": "facts.x.n > 1", "goto": "success"}, {"goto": "c"}]),
        step("c", switch=[{"goto": "b"}]),
    )
    session = start(machine)
    with ends():
        assert ok(session, "x", {"n": 1}).outcome == "failed:livelock"
    assert ok(start(machine), "x", {"n": 2}).outcome == "success"
    moves = [r for r in trace(session) if r["kind"] == "moved"]
    assert len(moves) <= 3 + 3


def test_torture_22_an_unguarded_branch_ahead_of_a_guarded_one() -> None:
    """The branch that always applies may only stand last; an entry without `where` makes none behind it dead."""
    with pytest.raises(PlaybookError, match=r"when"):
        book(
            step("a", "x", next_=[{"goto": "b"}, {"when": "facts.x.n == 1", "goto": "c"}]),
            step("b", "y"),
            step("c", "z"),
        )
    with pytest.raises(PlaybookError, match=r"when"):
        book(
            step("a", switch=[{"goto": "b"}, {"when": "inputs.n == 1", "goto": "b"}]),
            step("b", "y"),
            inputs={"n": "integer"},
        )
    session = start(book(step("a", "x", {"tool": "x", "where": "args.n == 2", "as": "second"}), step("b", "y")))
    ok(session, "x", n=2)
    assert session.state == "a", "one call meets one entry"
    denied(session, "y")
    ok(session, "x", n=1)
    assert session.state == "a", "the second entry asks for n == 2"
    ok(session, "x", n=2)
    assert session.state == "b"


def test_torture_09_and_its_kind_in_one_thread() -> None:
    """N calls of a once-only tool in one reply: exactly one runs."""
    session = start(book(step("a", {"tool": "x", "times": 1}), step("b", "y")))
    verdicts = session.propose([call("x", f"{i}") for i in range(8)])
    assert [isinstance(v, Allow) for v in verdicts] == [True] + [False] * 7
    later = session.observe("0", Succeeded()).verdicts
    assert len(later) == 7 and all(isinstance(v, Deny) for v in later)
    assert session.state == "b" and running(session) == []
    say(session)
    assert at(0) == T0 and allowed(session, "y")


def test_a_lookup_of_a_name_costs_the_patterns_and_not_the_names() -> None:
    """Whether a playbook of any length knows a tool is one look-up; only its patterns are gone through."""
    from guideway.statemachine.tools import Names

    names = Names([*(f"t{n}" for n in range(1_000)), "mcp__*"])
    assert names._patterns == ("mcp__*",)
    assert "t999" in names and "mcp__get" in names and "t1000" not in names

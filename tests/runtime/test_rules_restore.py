"""Looking ahead with `decide`, going on from a snapshot (S1, S52)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from guideway import (
    Allow,
    Approvals,
    Defer,
    Deny,
    Failed,
    HostError,
    NeedsApproval,
    Session,
    Succeeded,
    ToolCall,
    load,
)

from .helpers import (
    answer,
    asked,
    at,
    audit,
    book,
    call,
    denied,
    ok,
    propose,
    refused,
    start,
    step,
    unchanged,
)


def test_decide_fires_no_callback() -> None:
    """Asking what would happen does not let the machine's callbacks believe that it did."""
    machine = book(step("a"), step("b", "y"))
    seen: list[Any] = []
    machine.after_state_change = seen.append
    session = start(machine)
    with unchanged(session):
        assert isinstance(session.decide(call("complete_step", "1")), Allow)
    assert seen == []
    propose(session, "complete_step")
    assert len(seen) == 1


def test_decide_answers_what_propose_would() -> None:
    """The same verdict for every call one can think of, in every state of a walk."""
    machine = book(
        step(
            "a",
            {"tool": "x", "where": "args.n == 1"},
            {"tool": "p", "approval": {"ask": "?"}},
            max_tool_calls=3,
            required=False,
        ),
        step("b", call={"tool": "y"}),
        step("c", "z", approval={"ask": "?"}),
        max_refusals=99,
    )
    session = start(machine)
    candidates = [
        ToolCall(name, args)
        for name in ("x", "y", "z", "p", "complete_step", "skip_step", "nope")
        for args in ({}, {"n": 1})
    ]

    def compare() -> None:
        for wanted in candidates:
            with unchanged(session):
                guess = session.decide(wanted)
            [real] = audit(session).propose([wanted])
            assert guess == real
            assert isinstance(guess, Allow | Defer | Deny | NeedsApproval)

    compare()
    ok(session, "x", n=1)
    compare()
    propose(session, "skip_step")
    compare()
    answer(session)
    compare()
    Approvals(session).approve(asked(session), by="kim")
    compare()
    ok(session, "z")
    compare()


def test_decide_in_an_open_turn_is_the_hosts_mistake() -> None:
    """As `propose` would be; the answer for the same call is the same."""
    session = start(book(step("a", "x", "y")))
    [verdict] = session.propose([call("x", "1")])
    assert session.decide(call("x", "1")) == verdict
    with refused(session):
        session.decide(call("y", "2"))


def test_restore_at_every_moment_of_a_rich_run() -> None:
    """Wherever a run is cut and restored, the rest of it is the same: retries, timers, counters, questions."""
    machine = book(
        step(
            "a",
            "x",
            {"tool": "p", "approval": {"ask": "?"}},
            retry={"at_most": 3, "wait": "10s"},
            timeout="1h",
            max_tool_calls=9,
        ),
        step(
            "b",
            call={"tool": "y"},
            repeat={"until": "result.up", "at_most": 5, "wait": "1m", "collect": "result.n"},
            retry=2,
        ),
        step(
            "c",
            "z",
            approval={"ask": "sure?", "approvers": ["lead"]},
            timeout="1h",
            next_=[{"when": "facts.b == [1, 2] && size(history.x) == 1", "goto": "success"}, {"goto": "failed"}],
        ),
        tools={"x": {"effect": "read"}, "y": {"effect": "read"}, "p": {"idempotent": True}, "z": {}},
        termination=[{"all": [{"tool_called": "x"}, {"time_limit": "1d"}]}],
    )

    def approve(session: Session, by: str = "lead", now: Any = None) -> None:
        assert Approvals(session).approve(asked(session), by=by, now=now).accepted

    script: list[Callable[[Session], Any]] = [
        lambda s: s.propose([call("x", "1"), call("p", "2", n=1), call("nope", "3")], now=at(1)),
        lambda s: s.observe("1", Failed({"type": "T"}), now=at(2)),
        lambda s: Approvals(s).reject(asked(s), by="lead", now=at(3)),
        lambda s: s.propose([call("x", "4"), call("p", "5", n=1)], now=at(4)),
        lambda s: s.propose([call("x", "6"), call("p", "7", n=2)], now=at(20)),
        lambda s: approve(s, now=at(21)),
        lambda s: s.observe("7", Succeeded(2), now=at(22)),
        lambda s: s.observe("6", Succeeded({"a": 1}), now=at(23)),
        lambda s: answer(s, {"up": False, "n": 1}),
        lambda s: s.tick(at(200)),
        lambda s: answer(s, {"up": True, "n": 2}),
        lambda s: approve(s),
        lambda s: s.propose([call("z", "8")]),
        lambda s: s.observe("8", Succeeded()),
    ]
    whole = start(machine, timed=True)
    for verb in script:
        verb(whole)
    assert whole.outcome == "success"
    for cut in range(len(script) + 1):
        session = start(machine, timed=True)
        for verb in script[:cut]:
            verb(session)
        session = audit(session)
        for verb in script[cut:]:
            verb(session)
        assert session.snapshot.to_json() == whole.snapshot.to_json(), cut


def test_restore_keeps_a_denial_whole() -> None:
    """The same proposal, made again after a restart, has the same answer (S52), rule, because, path and all."""
    session = start(book(step("a", "w", {"tool": "x", "where": "args.n == 1", "because": "one"}), step("b", "y")))
    calls = [call("w", "1"), call("x", "2", n=2), call("nope", "3")]
    first = session.propose(calls)
    assert audit(session).propose(calls) == first


def test_denials_carry_everything() -> None:
    """Code, step, message, legal calls, budgets: every denial of every kind has them."""
    machine = book(
        step("a", "x", {"tool": "w", "where": "args.n == 1"}, max_tool_calls=4), step("b", "y"), max_refusals=99
    )
    session = start(machine)
    for tool in ("y", "nope", "w", "complete_step", "skip_step"):
        denial = denied(session, tool)
        assert denial.step == "a" and denial.message.startswith(f"`{tool}` did not run: ")
        assert [c.tool for c in denial.legal] == ["x", "w"]
        assert set(dict(denial.budgets)) == {"calls of this step", "turns", "refusals in a row"}
        assert "step `a`" in denial.message and "`x`" in denial.message
        assert denial.allowed is False


@pytest.mark.parametrize("what", ["bound", "pending"])
def test_s1_a_question_and_its_call_must_agree(what: str) -> None:
    """
    Whoever edits one of the two, so that a person allows one thing and another runs, is found out.
    """
    machine = load({"id": "p", "name": "P", "tools": {"pay": {"approval": {"ask": "Pay?"}}},
                             "steps": [{"id": "a", "description": "A", "expected_tools": ["pay"]}]})  # fmt: skip
    session = Session(machine)
    session.propose([ToolCall("pay", {"amount": 5}, "c1")])
    saved = session.snapshot.to_json()
    saved[what][0]["args"]["amount"] = 500

    with pytest.raises(HostError, match="other arguments"):
        Session.restore(machine, saved)

"""What a person's decision does: S30."""

from __future__ import annotations

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
    Unknown,
)

from .helpers import (
    allowed,
    answer,
    asked,
    asks,
    at,
    audit,
    book,
    call,
    command,
    denied,
    ok,
    propose,
    refused,
    start,
    step,
)

GATED = {"tool": "pay", "approval": {"ask": "Pay {{ args.amount }}?", "approvers": ["lead", "cfo"]}}


def test_s30_a_granted_call_is_decided_once_more() -> None:
    """While the person thought, the hour passed: the approved call is refused by its `where` all the same."""
    rule = 'now < timestamp("2026-03-02T10:00:00Z")'
    machine = book(step("a", {"tool": "pay", "where": rule, "approval": {"ask": "?"}}))
    for seconds, kind in ((3599, Allow), (3600, Deny)):
        session = start(machine, timed=True)
        verdict = propose(session, "pay")
        assert isinstance(verdict, NeedsApproval)
        decided = Approvals(session).approve(verdict.approval_id, by="kim", now=at(seconds))
        assert decided.accepted
        [last] = decided.progress.verdicts
        assert isinstance(last, kind)
        if isinstance(last, Deny):
            assert (last.code, last.rule) == ("where", rule)
            with refused(session):
                session.observe(verdict.call_id, Succeeded())
        audit(session)


def test_s30_a_granted_call_that_may_not_run_yet_waits_and_is_not_asked_again() -> None:
    """An irreversible call granted while another runs is held, then runs under the approval it has."""
    tools = {"x": {}, "pay": {"effect": "irreversible"}}
    machine = book(
        step("a", "x", timeout="10s", on_timeout="b"), step("b", {"tool": "pay", "approval": {"ask": "?"}}), tools=tools
    )
    session = start(machine, timed=True)
    late = allowed(session, "x")
    session.tick(at(10))
    [verdict] = session.propose([call("pay", "p")])
    if isinstance(verdict, Defer):
        [verdict] = session.observe(late, Succeeded()).verdicts
    assert isinstance(verdict, NeedsApproval)
    [last] = Approvals(session).approve(verdict.approval_id, by="kim").progress.verdicts
    assert isinstance(last, Allow)
    assert session.observe("p", Succeeded()).outcome == "success"


def test_s30_rejected_takes_the_steps_on_reject() -> None:
    """For a step approval and for a call's alike; absent, the run stops, or the model is told and may go on."""
    for machine in (
        book(step("a", "x", approval={"ask": "?"}, on_reject="escalated")),
        book(step("a", approval={"ask": "?"}, on_reject="escalated")),
        book(step("a", {"tool": "x", "approval": {"ask": "?"}}, on_reject="escalated")),
        book(step("a", "x", on_reject="escalated"), tools={"x": {"approval": {"ask": "?"}}}),
        book(step("a", call={"tool": "x"}, on_reject="escalated"), tools={"x": {"approval": {"ask": "?"}}}),
    ):
        session = start(machine)
        if session.legal():
            propose(session, "x")
        assert Approvals(audit(session)).reject(asked(session), by="kim").progress.outcome == "escalated"
        Approvals(session).reject(asked(session), by="kim")
    plain = start(book(step("a", "x", approval={"ask": "?"})))
    assert Approvals(plain).reject(asked(plain), by="kim").progress.outcome == "stopped:rejected"
    assert plain.outcome_class == "stopped"
    told = start(book(step("a", {"tool": "x", "approval": {"ask": "?"}}, max_tool_calls=1)))
    [verdict] = told.propose([call("x", "1", n=1)])
    assert isinstance(verdict, NeedsApproval)
    [denial] = Approvals(told).reject(verdict.approval_id, by="kim", note="not today").progress.verdicts
    assert (
        isinstance(denial, Deny)
        and denial.code == "rejected"
        and "not today" in denial.message
        and "kim" in denial.message
    )
    assert told.outcome is None and told.legal()[0].tool == "x"


def test_s30_an_approval_expires_with_its_visit() -> None:
    """At the deadline the question is void, `on_timeout` is taken, and a late answer is told so."""
    machine = book(step("a", "x", approval={"ask": "?"}, timeout="1h", on_timeout="escalated", on_reject="stopped"))
    session = start(machine, timed=True)
    approval = asked(session)
    decided = Approvals(session).approve(approval, by="kim", now=at(3600))
    assert (decided.accepted, "expired" in decided.reason, session.outcome) == (False, True, "escalated")
    assert asks(session) == []


def test_s30_a_pending_call_expires_with_its_visit() -> None:
    """The agent's call is settled not run; it can be neither approved nor observed afterwards."""
    machine = book(
        step("a", {"tool": "x", "approval": {"ask": "?"}}, timeout="1h", on_timeout="b"), step("b", "y"), max_refusals=1
    )
    session = start(machine, timed=True)
    [verdict] = session.propose([call("x", "1")])
    assert isinstance(verdict, NeedsApproval)
    [denial] = session.tick(at(3600)).verdicts
    assert isinstance(denial, Deny) and denial.code == "expired"
    assert not Approvals(session).approve(verdict.approval_id, by="kim").accepted
    with refused(session):
        session.observe("1", Succeeded())
    assert session.outcome is None
    assert ok(session, "y").outcome == "success"


def test_s30_leaving_the_visit_voids_its_approvals() -> None:
    """A failure that leads elsewhere takes the questions with it."""
    machine = book(step("a", {"tool": "pay", "approval": {"ask": "?"}}, "x", "w", on_failure="b"), step("b", "y"))
    session = start(machine)
    verdicts = session.propose([call("x", "1"), call("pay", "2")])
    assert isinstance(verdicts[1], NeedsApproval)
    session.observe("1", Failed())
    assert session.state == "b" and asks(session) == [] and Approvals(session).pending == []
    decided = Approvals(session).approve(verdicts[1].approval_id, by="kim")
    assert (decided.accepted, "void" in decided.reason) == (False, True)
    assert ok(session, "y").outcome == "success"


def test_s30_the_end_of_the_run_voids_what_is_asked() -> None:
    """No approval outlives the run, and granting one admits nothing."""
    machine = book(
        step("a", {"tool": "pay", "approval": {"ask": "?"}}, "x"),
        termination=[{"tool_called": "x", "outcome": "stopped"}],
    )
    session = start(machine)
    verdicts = session.propose([call("x", "1"), call("pay", "2")])
    assert isinstance(verdicts[1], NeedsApproval)
    assert session.observe("1", Succeeded()).outcome == "stopped"
    decided = Approvals(session).approve(verdicts[1].approval_id, by="kim")
    assert not decided.accepted and decided.progress.verdicts == ()


def test_s30_a_question_that_cannot_be_written_refuses_the_call() -> None:
    """The `ask` reads a fact that is missing: nobody is asked, the call does not run, and the denial says why."""
    session = start(
        book(
            step("a", {"tool": "x", "approval": {"ask": "For {{ inputs.who }}?"}}, on_failure="escalated"),
            inputs={"who": {"type": "string", "required": False}},
        )
    )
    denial = denied(session, "x")
    assert denial.code == "approval" and "who" in denial.message
    assert Approvals(session).pending == []
    before = start(
        book(
            step("a", "x", approval={"ask": "For {{ inputs.who }}?"}, on_failure="escalated"),
            inputs={"who": {"type": "string", "required": False}},
        )
    )
    assert before.outcome == "escalated"


def test_s30_approvers_may_be_written_by_a_template() -> None:
    """`approvers: ["{{ inputs.owner }}"]` is the value, not the text."""
    machine = book(step("a", approval={"ask": "?", "approvers": ["{{ inputs.owner }}"]}), inputs={"owner": "string"})
    session = start(machine, inputs={"owner": "maria"})
    assert not Approvals(session).approve(asked(session), by="{{ inputs.owner }}").accepted
    assert Approvals(session).approve(asked(session), by="maria").accepted


def test_s30_the_gated_side_has_no_verb_that_reaches_an_approval() -> None:
    """Nothing public on a session decides an approval, whatever the agent calls its calls."""
    session = start(book(step("a", GATED)))
    assert not [name for name in dir(Session) if not name.startswith("_") and ("approv" in name or "reject" in name)]
    verdict = propose(session, "pay", amount=1)
    assert isinstance(verdict, NeedsApproval)
    with refused(session):
        session.propose([ToolCall("approve", {"approval_id": verdict.approval_id}, call_id=verdict.approval_id)])


def test_s30_ids_that_look_like_approvals_are_only_ids() -> None:
    """A call id chosen to meet an approval's does not answer it, nor take its place."""
    session = start(book(step("a", GATED, "y"), step("b", "z")))
    [first] = session.propose([call("y", "call 1")])
    assert isinstance(first, Allow)
    session.observe("call 1", Succeeded())
    verdict = session.propose([call("pay", "1", amount=1)])[0]
    assert isinstance(verdict, NeedsApproval)
    with pytest.raises(HostError):
        session.observe(verdict.approval_id, Failed())
    assert [p.call_id for p in Approvals(session).pending] == ["1"]


def test_s30_an_approved_call_keeps_its_approval_through_retries() -> None:
    """S23: an automatic call is tried again under the approval it has; nobody is asked twice."""
    machine = book(
        step("a", call={"tool": "x", "args": {"n": 1}}, retry=2),
        tools={"x": {"effect": "read", "approval": {"ask": "Run with {{ args.n }}?"}}},
    )
    session = start(machine)
    Approvals(session).approve(asked(session), by="kim")
    for outcome in (Failed(), Unknown()):
        session.observe(command(session).call_id, outcome)
        assert asks(session) == []
        audit(session)
    assert answer(session).outcome == "success"


def test_s30_an_approval_survives_a_restart() -> None:
    """A question pending in a snapshot is decided in the restored run with the same effect."""
    session = start(book(step("a", GATED)))
    verdict = propose(session, "pay", amount=1)
    assert isinstance(verdict, NeedsApproval)
    twin = audit(session)
    for run in (session, twin):
        assert not Approvals(run).approve(verdict.approval_id, by="intern").accepted
        assert Approvals(run).approve(verdict.approval_id, by="cfo").accepted
        assert run.observe(verdict.call_id, Succeeded()).outcome == "success"
    assert session.snapshot.to_json() == twin.snapshot.to_json()

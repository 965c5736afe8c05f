"""What is asked, of whom, and how often: S29."""

from __future__ import annotations

from guideway import (
    Allow,
    Approvals,
    NeedsApproval,
    Succeeded,
)

from .helpers import (
    answer,
    asked,
    asks,
    at,
    audit,
    book,
    call,
    denied,
    ok,
    propose,
    refused,
    running,
    start,
    step,
    trace,
    unchanged,
)

GATED = {"tool": "pay", "approval": {"ask": "Pay {{ args.amount }}?", "approvers": ["lead", "cfo"]}}


def test_s29_a_call_approval_is_bound_to_the_exact_call() -> None:
    """The question shows tool and canonical arguments; granting it admits that call and no other."""
    session = start(book(step("a", GATED, "y")))
    verdict = propose(session, "pay", amount=5.0)
    assert isinstance(verdict, NeedsApproval)
    assert (verdict.ask, verdict.approvers, verdict.step) == ("Pay 5?", ("lead", "cfo"), "a")
    control = Approvals(session)
    [question] = control.pending
    assert (question.tool, question.args, question.call_id, question.of) == (
        "pay",
        {"amount": 5},
        verdict.call_id,
        "call",
    )
    with refused(session):
        session.observe(verdict.call_id, Succeeded())
    decided = control.approve(verdict.approval_id, by="lead")
    assert decided.accepted
    assert [(type(v), v.call_id) for v in decided.progress.verdicts] == [(Allow, verdict.call_id)]
    session.observe(verdict.call_id, Succeeded())
    assert isinstance(propose(session, "pay", amount=6), NeedsApproval)


def test_s29_showing_a_question_gives_no_hold_on_the_call() -> None:
    """What the control plane does to the arguments it is shown changes nothing."""
    session = start(book(step("a", {"tool": "pay", "approval": {"ask": "?"}, "expect": "args.to[0] == 1"})))
    verdict = propose(session, "pay", to=[1])
    [question] = Approvals(session).pending
    assert question.args is not None
    question.args["to"].append(2)
    question.args["to"][0] = 9
    Approvals(session).approve(question.approval_id, by="kim")
    assert session.observe(verdict.call_id, Succeeded()).outcome == "success"


def test_s29_an_approval_is_used_once() -> None:
    """A second decision, either way, comes too late and changes nothing."""
    session = start(book(step("a", GATED, "y")))
    verdict = propose(session, "pay", amount=5)
    assert isinstance(verdict, NeedsApproval)
    control = Approvals(session)
    control.approve(verdict.approval_id, by="lead")
    for decide in (control.approve, control.reject, control.happened, control.did_not_happen):
        with unchanged(session):
            decided = decide(verdict.approval_id, by="cfo")
        assert not decided.accepted and "already" in decided.reason


def test_s29_only_those_named_may_decide() -> None:
    """Somebody else, nobody, or a decision of another kind is refused and changes nothing."""
    session = start(book(step("a", GATED)))
    verdict = propose(session, "pay", amount=5)
    assert isinstance(verdict, NeedsApproval)
    control = Approvals(session)
    for by in ("intern", "Lead", "lead ", "lead,cfo", "*"):
        with unchanged(session):
            decided = control.approve(verdict.approval_id, by=by)
        assert not decided.accepted and "may not decide" in decided.reason
    with unchanged(session):
        assert not control.happened(verdict.approval_id, by="lead").accepted
    with refused(session):
        control.approve(verdict.approval_id, by="")
    with refused(session):
        control.approve("call zzz", by="lead")
    assert control.approve(verdict.approval_id, by="cfo").accepted


def test_s29_a_decision_on_nothing_does_not_move_time() -> None:
    """An id that nobody was asked is the host's mistake: not even a timer fires."""
    session = start(book(step("a", "x", timeout="10s")), timed=True)
    with refused(session):
        Approvals(session).approve("nonsense", by="kim", now=at(10))


def test_s29_several_may_be_pending() -> None:
    """Two calls wait at once and each answer reaches its own."""
    session = start(book(step("a", GATED, "y", "z")))
    first, second, third = session.propose([call("pay", "1", amount=1), call("pay", "2", amount=2), call("y", "3")])
    assert isinstance(first, NeedsApproval) and first.ask == "Pay 1?"
    assert isinstance(second, NeedsApproval) and second.ask == "Pay 2?"
    assert isinstance(third, Allow)
    control = Approvals(session)
    control.reject(second.approval_id, by="cfo", note="too much")
    audit(session)
    control.approve(first.approval_id, by="lead")
    session.observe("1", Succeeded())
    session.observe("3", Succeeded())
    assert session.state == "a"
    assert [(r["approval_id"], r["decision"], r["by"]) for r in trace(session) if r["kind"] == "answered"] == [
        (second.approval_id, "rejected", "cfo"),
        (first.approval_id, "approved", "lead"),
    ]


def test_s29_the_same_call_is_asked_once_per_visit() -> None:
    """What a person rejected is not asked again in this visit; other arguments are, and so is a new visit."""
    branches = [{"when": "facts.y.back", "goto": "a"}, {"goto": "success"}]
    session = start(book(step("a", GATED, "y", next_=branches), max_refusals=9))
    propose(session, "pay", amount=5)
    Approvals(session).reject(asked(session), by="lead", note="no")
    denial = denied(audit(session), "pay", amount=5)
    assert denial.code == "rejected"
    assert denied(session, "pay", amount=5.0).code == "rejected"
    assert isinstance(propose(session, "pay", amount=4), NeedsApproval)
    Approvals(session).approve(asked(session), by="lead")
    session.observe([r["call_id"] for r in trace(session) if r["kind"] == "decided"][-1], Succeeded())
    ok(session, "y", {"back": True})
    assert session.snapshot.to_json()["frames"][0]["visits"]["a"] == 2
    assert isinstance(propose(session, "pay", amount=5), NeedsApproval)


def test_s29_a_step_approval_is_asked_on_every_entry_before_anything_else() -> None:
    """Nothing of the step is legal before a person has allowed it, each time anew."""
    branches = [{"when": "facts.x.back", "goto": "a"}, {"goto": "success"}]
    session = start(book(step("a", "x", approval={"ask": "Go?"}, next_=branches)))
    for back in (True, False):
        denial = denied(session, "x")
        assert (
            denial.code == "out_of_sequence" and "person" in denial.message and denial.path == ("(approval of a)", "x")
        )
        assert [a.ask for a in asks(session)] == ["Go?"]
        assert Approvals(audit(session)).approve(asked(session), by="kim").accepted
        Approvals(session).approve(asked(session), by="kim")
        assert session.commands == []
        ok(session, "x", {"back": back})
    assert session.outcome == "success"


def test_s29_a_step_approval_comes_before_the_runtimes_call_and_after_when() -> None:
    """A `call` step with an approval calls only when it is granted; a step that is passed over asks nobody."""
    session = start(
        book(
            step("a", call={"tool": "x"}, approval={"ask": "Go?"}),
            step("b", "y", when="inputs.go", approval={"ask": "B?"}),
            inputs={"go": "boolean"},
        ),
        inputs={"go": False},
    )
    assert running(session) == []
    Approvals(session).approve(asked(session), by="kim")
    assert answer(session).outcome == "success"
    assert len([r for r in trace(session) if r["kind"] == "asked"]) == 1


def test_a_question_can_be_given_up_in_nobodys_name() -> None:
    """The host may end the waiting; that is no approval, and the record puts it into nobody's mouth."""
    machine = book(step("a", "x", approval={"ask": "Go?", "approvers": ["lead"]}, on_reject="escalated"))
    session = start(machine)
    decided = Approvals(session).withdraw(asked(session), note="nobody is here to ask")
    assert decided.accepted and session.outcome == "escalated"
    [answered] = [record for record in session.records if record[0] == "answered"]
    assert answered[3:6] == ("rejected", None, "nobody is here to ask")

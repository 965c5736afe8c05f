"""Who must allow what, and how many: S29 and S30 with rules, counts, exceptions and deadlines."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Allow, Approvals, Deny, NeedsApproval, Session, Succeeded

from .building import arrive, auto, each, legal_tools, parallel, records
from .helpers import (
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
    unchanged,
)

AFTER = step("z", "zz")
RULES = [
    {"when": "args.amount > 1000", "ask": "Both?", "approvers": ["finance", "lead"], "count": "all"},
    {"when": "args.amount > 100", "ask": "One?", "approvers": ["lead"]},
]


def paying(approval: Any, timed: bool = False, **more: Any) -> Session:
    """A session whose only step pays under this approval, written on the entry."""
    return start(book(step("a", {"tool": "pay", "approval": approval}, **more), AFTER, max_refusals=9), timed=timed)


def gated(approval: Any, timed: bool = False, **more: Any) -> Session:
    """A session whose first step calls under this approval of the step."""
    top = {key: more.pop(key) for key in ("inputs", "outcomes") if key in more}
    return start(book(auto("a", approval=approval, **more), AFTER, **top), timed=timed)


# --- lists of rules -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amount", "question"), [(5000, "Both?"), (1000, "One?"), (101, "One?"), (100, None), (0, None)]
)
def test_s29_the_first_rule_that_applies_decides(amount: int, question: str | None) -> None:
    """Top to bottom by the exact arguments; none applies: nobody is asked and the call runs."""
    session = paying(RULES)
    verdict = propose(session, "pay", amount=amount)
    if question is None:
        assert isinstance(verdict, Allow)
        return
    assert isinstance(verdict, NeedsApproval) and verdict.ask == question


def test_s44_a_rule_that_is_unknown_asks() -> None:
    """An amount that is missing, or a word, is asked about by the rule that could not be decided: the stricter one."""
    missing: list[dict[str, Any]] = [{}, {"amount": "many"}]
    for args in missing:
        verdict = propose(paying(RULES), "pay", **args)
        assert isinstance(verdict, NeedsApproval) and verdict.ask == "Both?"


def test_a_rule_without_when_always_applies() -> None:
    """It is the `else` of the list."""
    session = paying([{"when": "args.amount > 100", "ask": "Much?"}, {"ask": "Little?"}])
    verdict = propose(session, "pay", amount=1)
    assert isinstance(verdict, NeedsApproval) and verdict.ask == "Little?"


def test_a_step_approval_may_be_a_list_of_rules() -> None:
    """None applies: the step begins at once; one applies: it is asked first; unknown asks."""
    rules = [{"when": "inputs.risk == 'high'", "ask": "High?"}, {"when": "inputs.risk == 'middle'", "ask": "Middle?"}]
    inputs = {"risk": {"type": "string", "required": False}}
    machine = book(auto("a", approval=rules), inputs=inputs)
    for data, question in (({"risk": "high"}, "High?"), ({"risk": "middle"}, "Middle?"), ({}, "High?")):
        session = start(machine, inputs=data)
        assert [ask.ask for ask in asks(session)] == [question], data
        assert running(session) == []
    low = start(machine, inputs={"risk": "low"})
    assert asks(low) == [] and len(running(low)) == 1


def test_an_approval_step_to_which_no_rule_applies_is_passed() -> None:
    """A step that is nothing but the approval is completed when nobody need be asked."""
    machine = book({"id": "a", "approval": [{"when": "inputs.n > 5", "ask": "?"}]}, AFTER, inputs={"n": "integer"})
    assert start(machine, inputs={"n": 1}).states == ("z",)
    assert asks(start(machine, inputs={"n": 6}))


def test_the_rule_is_chosen_when_the_call_is_decided() -> None:
    """A `when` reads the facts of that moment."""
    entry = {"tool": "pay", "approval": [{"when": "facts.x.risky", "ask": "?"}]}
    for risky in (True, False):
        session = start(book(step("s", "x"), step("a", entry), AFTER))
        ok(session, "x", {"risky": risky})
        assert isinstance(propose(session, "pay"), NeedsApproval if risky else Allow)


def test_approval_none_waives_the_tools_own() -> None:
    """Written on an entry it stands above what `tools` says; elsewhere the tool's rules hold."""
    entry = {"tool": "pay", "approval": "none", "because": "test money"}
    tools = {"pay": {"approval": RULES}, "zz": {}, "x": {}}
    session = start(book(step("a", entry), step("b", "pay", "x"), tools=tools))
    ok(session, "pay", amount=9999)
    assert isinstance(propose(session, "pay", amount=9999), NeedsApproval)


# --- how many -------------------------------------------------------------------------------------------------------


def test_s30_count_needs_as_many_different_persons() -> None:
    """Two of a group of three: the same person twice is one; the second one admits the call."""
    session = paying({"ask": "?", "approvers": ["kim", "eve", "bob"], "count": 2})
    verdict = propose(session, "pay")
    assert isinstance(verdict, NeedsApproval)
    control = Approvals(session)
    first = control.approve(verdict.approval_id, by="kim")
    assert first.accepted and first.progress.verdicts == ()
    [question] = Approvals(audit(session)).pending
    assert (question.needed, question.said) == (2, ("kim",))
    with unchanged(session):
        assert not control.approve(verdict.approval_id, by="kim").accepted
    decided = control.approve(verdict.approval_id, by="bob")
    assert [type(v) for v in decided.progress.verdicts] == [Allow]
    assert session.observe(verdict.call_id, Succeeded()).outcome is None


def test_s30_count_all_needs_one_from_each_group() -> None:
    """Two of one group do not stand for the other; and who is in both counts for one of them."""
    session = gated({"ask": "?", "approvers": ["finance", "lead"], "count": "all"})
    control = Approvals(session)
    [question] = control.pending
    assert (question.needed, question.everyone) == (2, True)
    assert control.approve(question.approval_id, by="kim", groups=("finance",)).accepted
    control.approve(question.approval_id, by="eve", groups=("finance",))
    assert running(session) == []
    again = audit(session)
    assert Approvals(again).approve(question.approval_id, by="bob", groups=("lead",)).accepted
    assert len(running(again)) == 1


def test_s30_count_all_is_never_met_by_one_person() -> None:
    """A person who belongs to both groups says yes once."""
    session = gated({"ask": "?", "approvers": ["finance", "lead"], "count": "all"})
    control = Approvals(session)
    question = asked(session)
    assert control.approve(question, by="kim", groups=("finance", "lead")).accepted
    assert running(session) == []
    assert not control.approve(question, by="kim", groups=("lead",)).accepted
    assert running(session) == []
    assert control.approve(question, by="eve", groups=("finance",)).accepted
    assert len(running(session)) == 1


def test_s30_count_all_finds_the_assignment_that_fits() -> None:
    """A person of both groups who came first is counted where the second one is not."""
    for second in ("finance", "lead"):
        session = gated({"ask": "?", "approvers": ["finance", "lead"], "count": "all"})
        Approvals(session).approve(asked(session), by="kim", groups=("finance", "lead"))
        Approvals(session).approve(asked(session), by="eve", groups=(second,))
        assert len(running(session)) == 1, second


def test_s30_one_no_is_enough() -> None:
    """After the first yes a no rejects it all, and the call that waited is not run."""
    session = paying({"ask": "?", "approvers": ["kim", "eve"], "count": 2})
    verdict = propose(session, "pay", n=1)
    assert isinstance(verdict, NeedsApproval)
    Approvals(session).approve(verdict.approval_id, by="kim")
    assert Approvals(session).reject(verdict.approval_id, by="eve").accepted
    assert list(Approvals(session).pending) == []
    assert denied(session, "pay", n=1).code == "rejected"


def test_s30_who_said_yes_first_may_still_say_no() -> None:
    """As long as the question is open a person may take it back by rejecting."""
    session = gated({"ask": "?", "approvers": ["kim", "eve"], "count": 2}, on_reject="escalated")
    control = Approvals(session)
    control.approve(asked(session), by="kim")
    assert control.reject(asked(session), by="kim").accepted
    assert session.outcome == "escalated"


def test_s30_the_count_of_one_question_is_not_that_of_another() -> None:
    """Two calls, two questions: a yes on each admits neither."""
    session = start(book(step("a", {"tool": "pay", "approval": {"ask": "?", "count": 2}, "times": 2}), AFTER))
    first, second = session.propose([call("pay", "1", n=1), call("pay", "2", n=2)])
    assert isinstance(first, NeedsApproval) and isinstance(second, NeedsApproval)
    control = Approvals(session)
    control.approve(first.approval_id, by="kim")
    control.approve(second.approval_id, by="eve")
    assert len(control.pending) == 2
    assert control.approve(first.approval_id, by="eve").accepted
    assert session.observe("1", Succeeded()) is not None


def test_s30_every_yes_is_recorded_with_its_person() -> None:
    """Who allowed it, one after another."""
    session = gated({"ask": "?", "count": 2})
    Approvals(session).approve(asked(session), by="kim", note="fine")
    Approvals(session).approve(asked(session), by="eve", groups=("lead",))
    people = records(session, "allowed", "by") + records(session, "answered", "by")
    assert people in (["kim", "eve"], ["kim", "eve", "eve"])


# --- who may not ----------------------------------------------------------------------------------------------------


def test_s29_except_is_not_allowed_to_decide() -> None:
    """Whoever started the run may not allow it, however many groups they are in."""
    machine = book(auto("a", approval={"ask": "?", "approvers": ["soc"], "except": "{{ run.started_by }}"}), AFTER)
    session = start(machine, started_by="kim")
    [question] = Approvals(session).pending
    assert question.excluded == ("kim",)
    with unchanged(session):
        decided = Approvals(session).approve(question.approval_id, by="kim", groups=("soc",))
    assert not decided.accepted and decided.reason
    assert Approvals(audit(session)).approve(question.approval_id, by="eve", groups=("soc",)).accepted


def test_s29_except_may_be_a_group_and_a_list() -> None:
    """A member of an excepted group is excepted; each of a list is."""
    session = gated(
        {"ask": "?", "except": ["interns", "{{ inputs.owner }}"]},
        inputs={"owner": {"type": "string", "default": "bob"}},
    )
    control = Approvals(session)
    for by, groups in (("kim", ("interns",)), ("bob", ()), ("interns", ())):
        with unchanged(session):
            assert not control.approve(asked(session), by=by, groups=groups).accepted, by
    assert control.approve(asked(session), by="kim").accepted


def test_s44_an_except_that_cannot_be_known_lets_nobody_through() -> None:
    """Fail closed: who may not decide is unknown, so the step fails and nobody is asked."""
    approval = {"ask": "?", "except": "{{ facts.x.who }}"}
    session = start(book(step("s", "x"), auto("a", approval=approval, on_failure="escalated"), AFTER))
    ok(session, "x", {})
    assert running(session) == [] and asks(session) == []
    assert session.outcome == "escalated"


# --- deadlines ------------------------------------------------------------------------------------------------------


def test_s30_an_expired_step_approval_is_a_no() -> None:
    """Its own `timeout`: `on_timeout` where it is written, else `on_reject`, else a stop."""
    approval = {"ask": "?", "timeout": "30m"}
    for more, outcome in (
        ({"on_timeout": "escalated", "on_reject": "failed"}, "escalated"),
        ({"on_reject": "escalated"}, "escalated"),
        ({}, "stopped:rejected"),
    ):
        session = gated(approval, timed=True, **more)
        session.tick(at(1799))
        assert session.outcome is None
        session.tick(at(1800))
        assert session.outcome == outcome, more


def test_s7_a_yes_at_the_deadline_is_too_late() -> None:
    """Torture 10 with the approval's own deadline: the deadline beats the event."""
    session = gated({"ask": "?", "timeout": "30m"}, timed=True, on_timeout="escalated")
    question = asked(session)
    assert not Approvals(session).approve(question, by="kim", now=at(1800)).accepted
    assert session.outcome == "escalated" and records(session, "decided") == []


def test_s30_a_granted_approval_does_not_expire() -> None:
    """The deadline is the question's, not the step's."""
    session = gated({"ask": "?", "timeout": "30m"}, timed=True)
    Approvals(session).approve(asked(session), by="kim", now=at(1799))
    session.tick(at(4000))
    assert session.outcome is None and len(running(session)) == 1


def test_s30_an_expired_call_approval_settles_the_call() -> None:
    """The call is not run, the model is told, the cursor stays; the run goes on."""
    session = paying({"ask": "?", "timeout": "30m"}, timed=True)
    verdict = propose(session, "pay", n=1)
    assert isinstance(verdict, NeedsApproval)
    session.tick(at(1800))
    assert session.outcome is None and session.states == ("a",)
    assert list(Approvals(session).pending) == []
    assert legal_tools(audit(session)) == {"pay"}
    with refused(session):
        session.observe(verdict.call_id, Succeeded())


def test_s30_an_expired_call_approval_takes_what_is_written() -> None:
    """`on_timeout` where the step has one, else `on_reject`."""
    for more, outcome in (
        ({"on_timeout": "escalated", "on_reject": "failed", "timeout": "9h"}, "escalated"),
        ({"on_reject": "escalated"}, "escalated"),
    ):
        session = paying({"ask": "?", "timeout": "30m"}, timed=True, **more)
        propose(session, "pay", n=1)
        session.tick(at(1800))
        assert session.outcome == outcome, more


def test_s28_an_expired_approval_of_an_automatic_call() -> None:
    """The call of a `call` step under its tool's approval: rejected, so the step ends as S28 says."""
    tools = {"pay": {"approval": {"ask": "?", "timeout": "30m"}}, "zz": {}}
    session = start(book(auto("a", "pay"), AFTER, tools=tools), timed=True)
    session.tick(at(1800))
    assert session.outcome == "stopped:rejected"
    told = start(book(auto("a", "pay", on_timeout="escalated", timeout="9h"), AFTER, tools=tools), timed=True)
    told.tick(at(1800))
    assert told.outcome == "escalated"


def test_torture_11_the_deadline_of_a_question_survives() -> None:
    """Saved and restored twice the question expires when it would have."""
    session = gated({"ask": "?", "timeout": "30m"}, timed=True, on_reject="escalated")
    again = Session.restore(session.machine, Session.restore(session.machine, session.snapshot.to_json()).snapshot)
    again.tick(at(1799))
    assert again.outcome is None
    assert again.tick(at(1800)).outcome == "escalated"


def test_s29_each_rule_has_its_own_deadline() -> None:
    """The rule that decided is the one whose time counts."""
    rules = [{"when": "args.n > 5", "ask": "A?", "timeout": "1h"}, {"ask": "B?", "timeout": "10m"}]
    machine = book(step("a", {"tool": "pay", "approval": rules, "times": 2}), AFTER)
    session = start(machine, timed=True)
    session.propose([call("pay", "1", n=9), call("pay", "2", n=1)])
    assert [question.ask for question in Approvals(session).pending] == ["A?", "B?"]
    session.tick(at(600))
    assert [question.ask for question in Approvals(session).pending] == ["A?"]
    session.tick(at(3600))
    assert list(Approvals(session).pending) == []


# --- rejection ------------------------------------------------------------------------------------------------------


def test_s30_a_rejected_call_takes_on_reject() -> None:
    """Written on the step it moves the cursor; absent the model is told and the cursor stays."""
    ways: list[tuple[dict[str, Any], str | None]] = [({"on_reject": "escalated"}, "escalated"), ({}, None)]
    for more, outcome in ways:
        session = paying({"ask": "?"}, **more)
        propose(session, "pay", n=1)
        Approvals(session).reject(asked(session), by="kim")
        assert session.outcome == outcome, more


def test_s30_granted_is_decided_once_more() -> None:
    """Facts may have changed since: what is no longer legal is refused though a person said yes."""
    entry = {"tool": "pay", "where": "args.n <= default(facts.limit.n, 9)", "approval": {"ask": "?"}}
    branches = {
        "a": {"expected_tools": [entry], "description": "A."},
        "b": [auto("first"), auto("limit"), auto("last")],
    }
    session = start(book(parallel("s", branches), AFTER))
    verdict = propose(session, "pay", n=5)
    assert isinstance(verdict, NeedsApproval)
    arrive(session, "first")
    arrive(session, "limit", {"n": 3})
    [late] = Approvals(session).approve(verdict.approval_id, by="kim").progress.verdicts
    assert isinstance(late, Deny) and late.code == "where"
    assert session.states == ("a", "last")


def test_s29_approvals_in_items_and_branches_are_bound_to_them() -> None:
    """A yes for one item is none for the next, though step, tool and arguments are the same."""
    session = start(book(each("e", [1, 2], auto("w", "pay", approval={"ask": "Item {{ i }}?"}), concurrency=2)))
    first, second = (ask.call_id for ask in asks(session))
    assert first != second
    assert [ask.ask for ask in asks(session)] == ["Item 1?", "Item 2?"]
    Approvals(session).approve(second, by="kim")
    assert len(running(session)) == 1 and session.states == ("e[0]/w.approval", "e[1]/w")


def test_s29_a_block_left_voids_the_approvals_inside() -> None:
    """An id of an approval inside a block that is over decides nothing."""
    inner = parallel("s", {"a": auto("a", "pay", approval={"ask": "?"}), "b": auto("b")}, join="any")
    session = start(
        book({**inner, "parallel": {"l": [auto("p", "pay", approval={"ask": "?"})], "b": auto("b")}}, AFTER)
    )
    question = asked(session)
    session.observe(running(session)[0].call_id, Succeeded())
    assert session.states == ("z",)
    assert not Approvals(session).approve(question, by="kim").accepted
    assert running(session) == []


@pytest.mark.parametrize("count", [0, -1, 1.5, "both", True])
def test_a_count_that_is_no_count_is_refused(count: Any) -> None:
    """At least one person, or the word `all`."""
    from guideway import PlaybookError

    with pytest.raises(PlaybookError):
        gated({"ask": "?", "approvers": ["a", "b"], "count": count})

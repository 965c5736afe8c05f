"""Policies as monitors: S14.7, S41 to S44, the safety part of each kind."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Allow, Approvals, Cancelled, Deny, Failed, NeedsApproval, Session, Succeeded, Unknown

from .building import arrive, auto, each, family, kinds, parallel, sub
from .helpers import allowed, answer, asked, audit, book, call, denied, error, ok, propose, running, start, step

TOOLS = ["x", "y", "w"]


def free(*policies: dict[str, Any], **more: Any) -> Session:
    """A session in which an agent may call `x`, `y` and `w` as it likes, and ends by calling `done`."""
    return start(book(step("a", "done", optional_tools=TOOLS), policies=list(policies), max_refusals=99, **more))


def says(session: Session, *names: str) -> list[str]:
    """Each tool called, one by one: `ok` where it ran, else the code of the denial."""
    found = []
    for name in names:
        verdict = propose(session, name)
        found.append(verdict.code if isinstance(verdict, Deny) else "ok")
        if isinstance(verdict, Allow):
            session.observe(verdict.call_id, Succeeded())
    return found


# --- the kinds: what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "calls", "expected"),
    [
        ({"precedence": {"first": "x", "then": "y"}}, "y x y y", "policy ok ok ok"),
        ({"succession": {"first": "x", "then": "y"}}, "y x y", "policy ok ok"),
        ({"chain_precedence": {"first": "x", "then": "y"}}, "y x w y", "policy ok ok policy"),
        ({"chain_precedence": {"first": "x", "then": "y"}}, "x y y", "ok ok policy"),
        ({"chain_response": {"after": "x", "eventually": "y"}}, "y x w x y w", "ok ok policy policy ok ok"),
        ({"chain_succession": {"first": "x", "then": "y"}}, "y x w y y", "policy ok policy ok policy"),
        ({"never": "y"}, "x y", "ok policy"),
        ({"at_most": {"event": "x", "times": 2}}, "x x x y", "ok ok policy ok"),
        ({"exactly": {"event": "x", "times": 1}}, "x x", "ok policy"),
        ({"not_together": ["x", "y"]}, "x y x", "ok policy ok"),
        ({"not_together": ["x", "y"]}, "y x w", "ok policy ok"),
        ({"response": {"after": "x", "eventually": "y"}}, "x x y x", "ok ok ok ok"),
        ({"at_least": {"event": "x", "times": 2}}, "x x x", "ok ok ok"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else str(value),
)
def test_s42_a_call_that_would_violate_is_denied(policy: dict[str, Any], calls: str, expected: str) -> None:
    """The safety part of each kind, call by call."""
    assert says(free(policy), *calls.split()) == expected.split()


# --- when events count ----------------------------------------------------------------------------------------------

ONCE = {"id": "once", "at_most": {"event": "x", "times": 1}, "because": "nobody is paid twice"}


def test_s41_a_violating_event_counts_from_admission() -> None:
    """Two in one reply cannot both slip through: the second waits for the first, and is then refused."""
    session = free(ONCE)
    first, second = session.propose([call("x", "1"), call("x", "2")])
    assert isinstance(first, Allow) and not isinstance(second, Allow)
    [late] = [*session.observe("1", Succeeded()).verdicts] or [second]
    assert isinstance(late, Deny) and late.code == "policy"


@pytest.mark.parametrize("outcome", [Failed("broken"), Cancelled()])
def test_s41_a_violating_event_is_withdrawn_where_nothing_happened(outcome: Any) -> None:
    """After an error or a cancellation the call may be made again, and then no more."""
    session = free(ONCE)
    session.observe(allowed(session, "x"), outcome)
    assert says(audit(session), "x", "x") == ["ok", "policy"]


def test_s41_a_rejected_call_is_withdrawn() -> None:
    """A person's no leaves room for another call."""
    tools: dict[str, Any] = {"x": {"approval": [{"when": "args.n == 1", "ask": "?"}]}, "y": {}, "w": {}, "done": {}}
    session = free(ONCE, tools=tools)
    assert isinstance(propose(session, "x", n=1), NeedsApproval)
    Approvals(session).reject(asked(session), by="kim")
    ok(session, "x", n=2)
    assert denied(session, "x", n=3).code == "policy"


def test_s41_an_unknown_call_may_have_happened() -> None:
    """It counts until a person says that it did not happen."""
    for verb, expected in (("happened", ["policy"]), ("did_not_happen", ["ok"])):
        session = free(ONCE)
        session.observe(allowed(session, "x"), Unknown())
        getattr(Approvals(session), verb)(asked(session), by="kim")
        assert says(session, "x") == expected, verb


def test_s25_a_result_that_does_not_fit_still_happened() -> None:
    """A success whose `expect` is not true: no success, no satisfying event, but the violating one stays."""
    entry = {"tool": "x", "expect": "result.good"}
    session = start(book(step("a", entry, "y"), policies=[ONCE], max_refusals=9))
    ok(session, "x", {"good": False})
    assert denied(session, "x").code == "policy"
    policies = [{"precedence": {"first": "x", "then": "y"}}]
    other = start(book(step("a", entry, "y"), policies=policies, max_refusals=9))
    ok(other, "x", {"good": False})
    assert denied(other, "y").code == "policy"
    ok(other, "x", {"good": True})
    assert ok(other, "y").outcome == "success"


def test_s41_a_satisfying_event_counts_on_success_alone() -> None:
    """Neither admission nor an error of `x` lets `y` run."""
    session = free({"precedence": {"first": "x", "then": "y"}})
    error(session, "x")
    assert says(session, "y") == ["policy"]
    under_way = allowed(session, "x")
    session.observe(under_way, Succeeded())
    assert says(session, "y") == ["ok"]


def test_s14_7_a_call_waits_for_what_may_satisfy() -> None:
    """`[x, y]` in one reply: `y` is decided when `x` has settled; a failed `x` denies it."""
    session = free({"precedence": {"first": "x", "then": "y"}})
    assert kinds(session.propose([call("x", "1"), call("y", "2")])) == ["Allow", "Defer"]
    assert kinds(session.observe("1", Succeeded()).verdicts) == ["Allow"]
    session.observe("2", Succeeded())
    failing = free({"precedence": {"first": "x", "then": "y"}})
    failing.propose([call("x", "1"), call("y", "2")])
    assert kinds(failing.observe("1", Failed()).verdicts) == ["after_failed"]


def test_s41_denied_calls_are_no_events() -> None:
    """What was refused by another rule moves no monitor."""
    session = free(ONCE, tools={"x": {"where": "args.n == 1"}, "y": {}, "w": {}, "done": {}})
    assert denied(session, "x", n=2).code == "where"
    ok(session, "x", n=1)
    assert denied(session, "x", n=1).code == "policy"


def test_a_denial_names_the_policy_and_its_reason() -> None:
    """The id, and the author's words; without an id its kind and position."""
    session = free(ONCE)
    says(session, "x")
    denial = denied(session, "x")
    assert "once" in denial.message and denial.because == "nobody is paid twice"
    plain = free({"never": "w"}, {"at_most": {"event": "x", "times": 1}})
    says(plain, "x")
    assert "at_most-1" in denied(plain, "x").message
    assert "never-1" in denied(plain, "w").message


# --- events ---------------------------------------------------------------------------------------------------------


def test_s41_step_events_count_when_the_step_is_completed() -> None:
    """`step:S` as what must come first; a step that was skipped was not completed."""
    policies = [{"precedence": {"first": "step:look", "then": "pay"}}]
    machine = book(step("look", "x", required=False), step("b", "pay", "other"), policies=policies, max_refusals=9)
    session = start(machine)
    ok(session, "x")
    ok(session, "pay")
    skipped = start(machine)
    propose(skipped, "skip_step")
    assert skipped.state == "b"
    assert denied(skipped, "pay").code == "policy"


def test_s41_step_events_of_blocks_and_automatic_steps() -> None:
    """A block is completed when it is joined, a call step when its call has succeeded."""
    for name in ("s", "a"):
        policies = [{"precedence": {"first": f"step:{name}", "then": "pay"}}]
        branches = {"a": auto("a"), "b": {"expected_tools": ["pay"], "description": "B."}}
        session = start(book(parallel("s", branches), policies=policies, max_refusals=9))
        arrive(session, "a")
        assert (kinds([propose(session, "pay")]) == ["Allow"]) is (name == "a"), name


def test_s41_approval_events_count_when_granted() -> None:
    """`approval:S` is the person's yes; a rejected one that leads on is none."""
    policies = [{"precedence": {"first": "approval:agree", "then": "pay"}}]
    agree = {"id": "agree", "approval": {"ask": "?"}, "on_reject": "b"}
    machine = book(agree, step("b", "pay"), policies=policies, max_refusals=9)
    session = start(machine)
    Approvals(session).approve(asked(session), by="kim")
    assert ok(audit(session), "pay").outcome == "success"
    no = start(machine)
    Approvals(no).reject(asked(no), by="kim")
    assert denied(no, "pay").code == "policy"


def test_effect_events_are_those_of_every_tool_of_the_kind() -> None:
    """`effect:irreversible` needs no list of names."""
    tools = {"x": {}, "wire": {"effect": "irreversible"}, "mail": {"effect": "irreversible"}}
    policies = [{"precedence": {"first": "x", "then": "effect:irreversible"}}]
    session = start(book(step("a", "x", "wire", "mail"), tools=tools, policies=policies, max_refusals=9))
    assert says(session, "wire", "mail", "x", "wire", "mail") == ["policy", "policy", "ok", "ok", "ok"]


def test_an_event_with_where_is_that_call_alone() -> None:
    """Amounts up to the limit pass."""
    session = free({"never": {"tool": "x", "where": "args.n > 5"}})
    assert denied(session, "x", n=6).code == "policy"
    ok(session, "x", n=5)


def test_s44_an_unknown_guard_counts_against_the_call() -> None:
    """In a violating event unknown matches, in a satisfying one it does not."""
    session = free({"never": {"tool": "x", "where": "args.n > 5"}})
    assert denied(session, "x").code == "policy"
    assert denied(session, "x", n="many").code == "policy"
    satisfying = free({"precedence": {"first": {"tool": "x", "where": "args.n == 1"}, "then": "y"}})
    ok(satisfying, "x")
    assert says(satisfying, "y") == ["policy"]
    ok(satisfying, "x", n=1)
    assert says(satisfying, "y") == ["ok"]


def test_an_event_with_expect_reads_the_result() -> None:
    """A success counts only where `expect` is true of its result; unknown does not satisfy."""
    session = free({"precedence": {"first": {"tool": "x", "expect": "result.ok"}, "then": "y"}})
    for result in ({"ok": False}, {}, None):
        ok(session, "x", result)
        assert says(session, "y") == ["policy"], result
    ok(session, "x", {"ok": True})
    assert says(session, "y") == ["ok"]


def test_same_keeps_books_for_each_value() -> None:
    """Snapshots of one host are none of another; counts are by value as well."""
    session = free({"precedence": {"first": "x", "then": "y", "same": ["host"]}})
    ok(session, "x", host="a")
    assert denied(session, "y", host="b").code == "policy"
    ok(audit(session), "y", host="a")
    ok(session, "y", host="a")
    count = free({"at_most": {"event": "x", "times": 1, "same": ["id"]}})
    ok(count, "x", id=1)
    ok(count, "x", id=2)
    assert denied(count, "x", id=1.0).code == "policy"


def test_same_of_several_arguments() -> None:
    """All of them must agree."""
    session = free({"precedence": {"first": "x", "then": "y", "same": ["host", "port"]}})
    ok(session, "x", host="a", port=1)
    assert denied(session, "y", host="a", port=2).code == "policy"
    ok(session, "y", host="a", port=1)


def test_s44_an_argument_that_is_missing_from_same_counts_against() -> None:
    """A call without it cannot be matched: it satisfies nothing, and may not run where only some value may."""
    session = free({"precedence": {"first": "x", "then": "y", "same": ["host"]}})
    ok(session, "x")
    assert denied(session, "y", host="a").code == "policy"
    ok(session, "x", host="a")
    assert denied(session, "y").code == "policy"


def test_same_obligations_are_owed_by_value() -> None:
    """A patch of two hosts is verified on both."""
    patches = [auto("p1", "x", {"h": "a"}), auto("p2", "x", {"h": "b"})]
    checks = [auto("v1", "y", {"h": "a"}), auto("v2", "y", {"h": "{{ inputs.h }}"})]
    policy = {"id": "seen", "response": {"after": "x", "eventually": "y", "same": ["h"]}}
    machine = book(*patches, *checks, policies=[policy], inputs={"h": "string"})
    for host, outcome in (("b", "success"), ("a", "failed:policy:seen")):
        session = start(machine, inputs={"h": host})
        while running(session):
            answer(session)
        assert session.outcome == outcome


# --- the same gate ----------------------------------------------------------------------------------------------------

TELL = {"id": "tell", "response": {"after": "x", "eventually": "y"}}


def test_s41_undoing_and_closing_calls_are_events_too() -> None:
    """What `finally` calls goes through the gate: a policy refuses it, and the outcome stays."""
    machine = book(auto("a", "x"), policies=[ONCE], **{"finally": [auto("f", "x"), auto("g", "y")]})
    session = start(machine)
    answer(session)
    assert [c.tool for c in running(session)] == ["y"]
    assert answer(session).outcome == "success"


def test_s28_an_automatic_call_that_would_violate_fails_its_step() -> None:
    """The runtime's own call goes through the same gate."""
    session = start(book(auto("a", "x"), auto("b", "x", on_failure="escalated"), policies=[ONCE]))
    answer(session)
    assert session.outcome == "escalated"


def test_s28_an_automatic_call_waits_for_what_may_satisfy() -> None:
    """In another branch `x` is under way: the call for `y` is decided again when it has come."""
    branches = {"a": auto("a", "x"), "b": auto("b", "y")}
    machine = book(parallel("s", branches), policies=[{"precedence": {"first": "x", "then": "y"}}])
    session = start(machine)
    assert [c.tool for c in running(session)] == ["x"]
    arrive(audit(session), "x")
    arrive(session, "x")
    assert [c.tool for c in running(session)] == ["y"]


# --- frames and snapshots -------------------------------------------------------------------------------------------


def test_s33_a_callers_obligation_is_kept_by_a_callee() -> None:
    """`y` inside the sub-playbook answers the `x` of the caller."""
    callee = sub("q", auto("b", "y"))
    session = start(family(auto("a", "x"), {"id": "c", "playbook": "q"}, policies=[TELL], library=[callee]))
    arrive(session, "x")
    arrive(session, "y")
    assert session.outcome == "success"


def test_s2_items_share_the_monitors_of_their_playbook() -> None:
    """An item's frame is no playbook: `x` of all items is counted together."""
    session = start(book(each("e", [1, 2], auto("w", "x"), on_failure="escalated"), policies=[ONCE]))
    answer(session)
    assert session.outcome == "escalated"


def test_s1_monitors_are_in_the_snapshot() -> None:
    """A run restored remembers what was called, violating and satisfying."""
    session = free(ONCE, {"precedence": {"first": "x", "then": "y"}}, TELL | {"id": "told"})
    ok(session, "x")
    again = Session.restore(session.machine, session.snapshot.to_json())
    assert says(again, "x", "y") == ["policy", "ok"]
    assert ok(again, "done").outcome == "success"


def test_s1_a_reservation_is_in_the_snapshot() -> None:
    """A call under way counts after a restart too, and its error still withdraws it."""
    session = free(ONCE)
    under_way = allowed(session, "x")
    again = Session.restore(session.machine, session.snapshot.to_json())
    again.observe(under_way, Failed())
    assert says(again, "x", "x") == ["ok", "policy"]


def test_s50_policies_are_part_of_the_digest() -> None:
    """Another policy is another machine, and a reason as well is part of it."""
    machines = [book(step("a", "x"), policies=p) for p in ([], [ONCE], [ONCE | {"because": "other"}])]
    digests = {machine.definition.digest for machine in machines if machine.definition}
    assert len(digests) == 3


def test_s43_two_policies_both_hold() -> None:
    """The first that is violated refuses; each has its own books."""
    session = free(ONCE, {"id": "order", "precedence": {"first": "w", "then": "y"}})
    assert "order" in denied(session, "y").message
    assert says(session, "x", "w", "y", "x") == ["ok", "ok", "ok", "policy"]


def test_legal_calls_do_not_offer_what_a_policy_refuses() -> None:
    """What `legal` lists would be admitted."""
    session = free(ONCE, {"never": "w"})
    ok(session, "x")
    offered = {legal.tool for legal in session.legal()}
    assert offered & {"x", "w"} == set()
    assert {"y", "done"} <= offered


def test_policies_on_facts_and_results() -> None:
    """A policy's `where` may read facts and inputs."""
    policy = {"never": {"tool": "y", "where": "args.n > facts.x.limit"}}
    session = start(book(step("s", "x"), step("a", "y"), policies=[policy], max_refusals=9))
    ok(session, "x", {"limit": 3})
    assert denied(session, "y", n=4).code == "policy"
    assert ok(session, "y", n=3).outcome == "success"

"""Unknown values, the digest, the verbs of a session: S44, S50 to S52."""

from __future__ import annotations

from typing import Any

import pytest

import guideway
from guideway import Allow, Cancelled, Defer, Deny, Failed, HostError, Session, Succeeded, ToolCall, Unknown, Usage
from guideway.runtime.situation import converses

from .helpers import (
    allowed,
    answer,
    asks,
    audit,
    book,
    call,
    command,
    denied,
    ok,
    refused,
    start,
    step,
    trace,
    unchanged,
)

TWO = [step("look", "siem"), step("contain", "isolate")]


def test_s44_unknown_is_no_truth() -> None:
    """A missing fact, a value of the wrong type and an index out of range all fail the step that branches on them."""
    for guard in ("facts.x.gone == 1", "facts.x.text < 3", "facts.x.list[5] == 1", "facts.x.n"):
        machine = book(
            step("a", "x", next_=[{"when": guard, "goto": "success"}, {"goto": "success"}], on_failure="escalated")
        )
        session = start(machine)
        assert ok(session, "x", {"text": "t", "list": [], "n": 1}).outcome == "escalated"
        assert "guard_unknown" in next(r["why"] for r in trace(session) if r["kind"] == "moved")


def test_s44_and_or_are_kleene() -> None:
    """`false && unknown` is false and `true || unknown` is true, on either side."""
    for guard, end in (
        ("facts.x.gone == 1 && false", "failed"),
        ("false && facts.x.gone == 1", "failed"),
        ("facts.x.gone == 1 || true", "success"),
        ("true || facts.x.gone == 1", "success"),
        ("true && facts.x.gone == 1", "escalated"),
        ("has(facts.x.gone)", "failed"),
        ("default(facts.x.gone, 1) == 1", "success"),
    ):
        machine = book(
            step("a", "x", next_=[{"when": guard, "goto": "success"}, {"goto": "failed"}], on_failure="escalated")
        )
        session = start(machine)
        assert ok(session, "x", {}).outcome == end, guard


def test_s50_the_digest_forgets_places_and_key_order() -> None:
    """The same playbook from YAML with comments and from a dict has one digest; another meaning has another."""
    text = "# a comment\nname: P\nid: p\nsteps:\n\n  - description: Do a.\n    id: a\n    expected_tools: [x]\n"
    written = guideway.load(text).definition
    plain = book(step("a", "x")).definition
    assert written is not None and plain is not None
    assert written.digest == plain.digest
    assert len(plain.digest) == 64 and int(plain.digest, 16) >= 0
    others = [
        book(step("a", "y")),
        book(step("a", "x", max_tool_calls=3)),
        book(step("a", "x"), max_refusals=6),
        book(step("a", {"tool": "x", "where": "args.n == 1"})),
        book(step("a", "x"), tools={"x": {"effect": "read"}}),
    ]
    assert len({m.definition.digest for m in others if m.definition} | {plain.digest}) == 6


def test_s51_an_empty_proposal_is_a_turn() -> None:
    """`propose` without calls opens and ends a turn."""
    session = start(book(*TWO))
    assert session.propose([], text="hm", usage=Usage(tokens=7)) == []
    assert [(r["kind"], r["number"]) for r in trace(session)[1:]] == [("turn", 1), ("turn_ended", 1)]


def test_s51_commands_are_issued_and_unobserved() -> None:
    """A command is listed from its issue to its report, whatever the report says, and then no more."""
    for outcome in (Succeeded(), Failed(), Cancelled(), Unknown()):
        session = start(book(step("a", call={"tool": "x"})))
        first = command(session)
        assert command(session) == first
        session.observe(first.call_id, outcome)
        assert first not in session.commands, outcome


def test_s51_legal_waiting_and_outcome_say_how_things_stand() -> None:
    """`legal` lists calls with constraints, `waiting` whom the run waits for, `outcome` nothing before the end."""
    machine = book(
        step("a", {"tool": "x", "where": "args.n == 1", "times": 2, "because": "one at a time"}, optional_tools=["r*"]),
        step("b", approval={"ask": "Go?", "approvers": ["lead"]}),
    )
    session = start(machine)
    first, second = session.legal()
    assert (first.tool, first.step, first.where, first.because, first.left, first.needed) == (
        "x",
        "a",
        ("args.n == 1",),
        "one at a time",
        2,
        True,
    )
    assert (second.tool, second.needed) == ("r*", False)
    ok(session, "x", n=1)
    assert session.legal()[0].left == 1
    ok(session, "x", n=1)
    assert session.legal() == () and session.outcome is None
    assert "Go?" in session.waiting[0] and "lead" in session.waiting[0]
    assert [a.ask for a in asks(session)] == ["Go?"]


def test_s51_host_verbs_are_recorded_as_the_hosts() -> None:
    """complete, skip and fail move the run by the host's authority; a required step is not skipped."""
    machine = book(step("a", "x"), step("b", "y", required=False), step("c", "z", on_failure="escalated"))
    session = start(machine)
    with refused(session, "required"):
        session.skip()
    session.complete("seen on paper")
    session.skip()
    assert session.fail("no way").outcome == "escalated"
    assert [(r["verb"], r["step"]) for r in trace(session) if r["kind"] == "host"] == [
        ("complete", "a"),
        ("skip", "b"),
        ("fail", "c"),
    ]
    with refused(session, "over"):
        session.complete()


def test_s51_a_confidence_lies_between_nought_and_one() -> None:
    """A confidence out of range, or none, is the host's mistake."""
    session = start(book(*TWO, termination=[{"confidence_met": 0.9, "outcome": "stopped"}]))
    for wrong in (-0.1, 1.1, float("nan"), float("inf"), True, "0.5", None):
        with refused(session, "confidence"):
            session.claim(confidence=wrong)  # type: ignore[arg-type]
    assert session.claim(confidence=0.89).outcome is None
    assert session.claim(confidence=0.9).outcome == "stopped"


def test_s51_the_models_confidence_is_held_to_the_same_range() -> None:
    """A model that claims 95 where 1 is the most has not met a confidence of 0.9."""
    machine = book(step("a"), step("b", "x"), termination=[{"confidence_met": 0.9, "outcome": "stopped"}])
    session = start(machine)
    assert denied(session, "complete_step", confidence=95).code == "bad_args"
    assert session.outcome is None and session.state == "a"


def test_s52_a_second_proposal_before_the_turn_ended_is_refused() -> None:
    """No turn opens inside another, on the short way and on the long one."""
    for calls in ([call("siem", "1")], [call("siem", "1"), call("isolate", "2")]):
        session = start(book(*TWO))
        session.propose(calls)
        for wrong in ([call("siem", "9")], [call("isolate", "1")], [call("siem", "1", n=1)], []):
            with refused(session, "turn"):
                session.propose(wrong)


def test_s52_the_same_proposal_has_the_same_answer() -> None:
    """A host that lost the answer asks again, and nothing happens twice."""
    for machine in (book(*TWO), book(step("look", "siem", max_tool_calls=3), TWO[1])):
        session = start(machine)
        calls = [call("siem", "1", q="x", list=(1, 2)), call("isolate", "2")]
        first = session.propose(calls)
        with unchanged(session):
            assert session.propose(calls) == first
        twin = audit(session)
        assert twin.propose(calls) == first


def test_s52_a_tuple_among_the_arguments_is_still_the_same_call() -> None:
    """The short way compares what was proposed as the long one does."""
    session = start(book(*TWO))
    first = session.propose([call("siem", "1", list=(1, 2))])
    assert session.propose([call("siem", "1", list=(1, 2))]) == first


def test_s52_true_is_not_one() -> None:
    """A call whose argument is `true` is another call than one whose argument is 1."""
    for machine in (book(*TWO), book(step("look", "siem", max_tool_calls=3), TWO[1])):
        session = start(machine)
        session.propose([call("siem", "1", n=1)])
        with refused(session, "turn"):
            session.propose([call("siem", "1", n=True)])


def test_s52_a_call_under_the_frameworks_name_is_repeated_under_it() -> None:
    """A tool whose `name` differs is the same tool when it is proposed again."""
    session = start(book(step("look", "siem"), tools={"siem": {"name": "mcp__siem__query"}}))
    first = session.propose([call("mcp__siem__query", "1")])
    assert isinstance(first[0], Allow)
    assert session.propose([call("mcp__siem__query", "1")]) == first


def test_s52_a_repeated_report_changes_nothing() -> None:
    """The same outcome again is no event; another one is the host's mistake, whenever it comes."""
    for outcome, other in (
        (Succeeded({"n": 1}), Failed()),
        (Failed("x"), Succeeded()),
        (Cancelled(), Succeeded()),
        (Succeeded(1), Succeeded(2)),
    ):
        session = start(book(step("a", "x", "y", "z"), step("b", "w")))
        call_id = allowed(session, "x")
        session.observe(call_id, outcome)
        for _ in range(2):
            with unchanged(session):
                session.observe(call_id, outcome)
            with refused(session, call_id):
                session.observe(call_id, other)
            ok(session, "y")


def test_s52_a_report_of_an_unknown_or_unadmitted_call_is_refused() -> None:
    """Nobody reports what was not admitted: no invented id, no denied, deferred or pending call."""
    machine = book(step("a", "x", {"tool": "p", "approval": {"ask": "?"}}), step("b", "y"))
    session = start(machine)
    [no] = session.propose([call("nonsense", "n")])
    assert isinstance(no, Deny)
    for wrong in ("n", "zzz", "", "x"):
        with refused(session):
            session.observe(wrong, Succeeded())
    verdicts = session.propose([call("p", "1"), call("x", "2"), call("y", "3")])
    assert isinstance(verdicts[2], Defer)
    for wrong in ("1", "3"):
        with refused(session):
            session.observe(wrong, Succeeded())


def test_decide_has_no_side_effect() -> None:
    """`decide` answers as `propose` would, for every kind of verdict, and changes nothing."""
    machine = book(
        step("a", "x", {"tool": "p", "approval": {"ask": "?"}}, {"tool": "w", "where": "args.n == 1"}, required=False),
        step("b"),
        step("c", "y"),
    )
    session = start(machine)
    for wanted in (
        call("x", "1"),
        call("p", "2"),
        call("w", "3", n=2),
        call("y", "4"),
        call("skip_step", "5"),
        call("", "6"),
        ToolCall("x"),
    ):
        with unchanged(session):
            guess = session.decide(wanted)
        assert [guess] == audit(session).propose([wanted]) or isinstance(guess, Deny)
    ok(session, "x")
    with unchanged(session):
        assert isinstance(session.decide(call("skip_step", "7")), Allow)
    assert session.state == "a"


def test_an_unnamed_call_gets_an_id_nobody_has() -> None:
    """The numbers the session gives never meet those a provider gave."""
    session = start(book(*TWO))
    session.observe(session.propose([ToolCall("siem", call_id="call-1")])[0].call_id, Succeeded())
    [verdict] = session.propose([ToolCall("isolate")])
    assert isinstance(verdict, Allow) and verdict.call_id != "call-1"


def test_equal_ids_in_one_reply() -> None:
    """S14.1: the second call under one id is refused; the first is not touched."""
    session = start(book(step("a", "x", "y")))
    first, second = session.propose([call("x", "1"), call("y", "1")])
    assert isinstance(first, Allow) and isinstance(second, Deny) and second.code == "id_reused"
    session.observe("1", Succeeded())
    assert session.state == "a" and session.legal()[0].needed is False
    assert denied(session, "nonsense").code == "unknown_tool"
    [again] = session.propose([call("y", "1")])
    assert isinstance(again, Deny) and again.code == "id_reused"


def test_an_agents_id_cannot_stand_for_the_runtimes() -> None:
    """A model that guesses the id of an automatic call gains nothing."""
    session = start(book(step("a", "x"), step("b", call={"tool": "y"}), step("c", "z")))
    session.observe(session.propose([call("x", "b@1.1")])[0].call_id, Succeeded())
    wanted = command(session)
    assert wanted.call_id != "b@1.1"
    answer(session)
    assert session.state == "c"


def test_s51_usage_is_a_count() -> None:
    """Tokens are a whole number from nought up; anything else is the host's mistake and never switches a limit off."""
    machine = book(*TWO, termination=[{"token_limit": 10}])
    session = start(machine)
    for wrong in (Usage(float("nan")), Usage(-5), Usage(1.5), Usage("5"), Usage(True), 5):  # type: ignore[arg-type]
        with refused(session):
            session.propose([], usage=wrong)  # type: ignore[arg-type]
    session.propose([], usage=Usage(9))
    assert audit(session).outcome is None
    session.propose([], usage=Usage(1))
    assert session.outcome == "stopped:token_limit"


def test_s52_misuse_is_told_in_words() -> None:
    """Arguments of another kind are answered by `HostError`, not by a crash inside."""
    session = start(book(*TWO))
    misuses: list[Any] = [
        lambda: session.propose(None),  # type: ignore[arg-type]
        lambda: session.propose(7),  # type: ignore[arg-type]
        lambda: session.propose("siem"),  # type: ignore[arg-type]
        lambda: session.propose([{"name": "siem"}]),  # type: ignore[list-item]
        lambda: session.observe([], Succeeded()),  # type: ignore[arg-type]
        lambda: session.observe(None, Succeeded()),  # type: ignore[arg-type]
        lambda: session.tick("2026-01-01"),  # type: ignore[arg-type]
        lambda: Session({}),  # type: ignore[arg-type]
        lambda: Session.restore(session.machine, "text"),  # type: ignore[arg-type]
    ]
    for misuse in misuses:
        with refused(session):
            misuse()


def test_s51_a_session_does_not_start_with_unresolved_skills() -> None:
    """`uses` names a skill nobody resolved: a warning in `check`, the host's mistake at the start."""
    machine = guideway.load({"id": "p", "name": "P", "steps": [step("a", "x", uses=["web"])]})
    with pytest.raises(HostError, match="web"):
        Session(machine)
    resolved = guideway.load(
        {"id": "p", "name": "P", "steps": [step("a", "x", uses=["web"])]}, skills={"web": ["fetch"]}
    )
    session = start(resolved)
    ok(session, "fetch")
    assert ok(session, "x").outcome == "success"


def test_s51_a_tool_legal_everywhere_says_that_a_person_decides() -> None:
    """
    What `legal` offers is what the gate will ask: the approval of an optional tool, and of one a caller declares.
    """
    tools = {"page": {"approval": {"ask": "Wake them?", "approvers": ["lead"]}}}
    step = {"id": "a", "description": "A", "expected_tools": ["look"]}
    playbook = {"id": "p", "name": "P", "tools": {**tools, "look": {}}, "optional_tools": ["page"], "steps": [step]}
    session = Session(guideway.load(playbook))
    [offer] = [call for call in session.legal() if call.tool == "page"]

    assert offer.needs_approval
    assert isinstance(session.decide(ToolCall("page", {}, "c1")), guideway.NeedsApproval)


def test_a_called_playbook_is_part_of_the_conversation_of_its_caller() -> None:
    """
    A reply without calls inside a sub-playbook goes to the user, as the caller's playbook says.
    """
    inner = {"id": "inner", "name": "I", "steps": [{"id": "ask", "description": "Ask", "expected_tools": ["look"]}]}
    outer = {"id": "outer", "name": "O", "conversation": True, "steps": [{"id": "call", "playbook": "inner"}]}
    session = Session(guideway.load(outer, library=[inner]))

    assert converses(session)

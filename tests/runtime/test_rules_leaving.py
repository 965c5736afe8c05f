"""What is left behind when a block, a round or a frame is over: S9.3, S13, S15, S26, S29, S31, S33, S40."""

from __future__ import annotations

import json
from typing import Any

from guideway import Allow, Approvals, Deny, Failed, Session, Succeeded, ToolCall, Usage

from .building import (
    arrive,
    auto,
    each,
    family,
    kinds,
    legal_tools,
    open_tools,
    parallel,
    records,
    rounds,
    sub,
)
from .helpers import (
    allowed,
    answer,
    asked,
    at,
    audit,
    book,
    call,
    command,
    ok,
    propose,
    running,
    start,
    step,
    waits,
)

AFTER = step("z", "zz")
CALL = {"id": "c", "playbook": "q"}


def branch(*tools: Any, **more: Any) -> dict[str, Any]:
    """A branch that is one agent's step."""
    return {"description": "Work.", "expected_tools": list(tools)} | more


# --- blocks and rounds ----------------------------------------------------------------------------------------------


def test_s9_an_orphan_of_one_round_does_not_move_the_next() -> None:
    """The same step is open again when the late outcome comes: its own call is another."""
    race = parallel("s", {"a": auto("a"), "b": auto("b")}, join="any")
    session = start(book(rounds("r", "facts.c.n == 2", race, auto("c")), AFTER))
    late = running(session)[0].call_id
    arrive(session, "b")
    arrive(session, "c", {"n": 1})
    assert list(session.states) == ["a", "b"]
    session.observe(late, Succeeded())
    assert list(audit(session).states) == ["a", "b"]
    arrive(session, "a")
    assert list(session.states) == ["c"]


def test_s14_an_orphan_meets_no_entry_of_a_later_visit() -> None:
    """A call is bound to its visit: the step entered again needs its tool again."""
    again = {"id": "g", "switch": [{"when": "facts.zz.more", "goto": "s"}, {"goto": "success"}]}
    session = start(book(parallel("s", {"a": branch("x", "w"), "b": auto("b")}, join="any"), AFTER, again))
    orphan = allowed(session, "x")
    arrive(session, "b")
    ok(session, "zz", {"more": True})
    session.observe(orphan, Succeeded())
    ok(session, "w")
    assert list(session.states) == ["a", "b"]
    assert "x" in legal_tools(session)


def test_s29_a_call_that_waits_for_a_person_ends_with_its_branch() -> None:
    """The model is told, the record says void, and the turn is over: the next reply is heard."""
    gated = {"tool": "pay", "approval": {"ask": "?"}}
    session = start(book(parallel("s", {"a": branch(gated), "b": auto("b")}, join="any"), AFTER))
    assert kinds(session.propose([call("pay", "1")])) == ["NeedsApproval"]
    [told] = session.observe(command(session).call_id, Succeeded()).verdicts
    assert isinstance(told, Deny) and told.call_id == "1"
    assert records(session, "answered", "approval_id", "decision", "by") == [("call 1", "void", None)]
    assert ok(audit(session), "zz").outcome == "success"


def test_s26_an_orphan_holds_neither_wave_nor_turn() -> None:
    """What was deferred behind it is decided when its branch is gone, and runs; the orphan may come whenever."""
    session = start(book(parallel("s", {"a": branch("x"), "b": auto("b")}, join="any"), AFTER))
    assert kinds(session.propose([call("x", "1"), call("zz", "2")])) == ["Allow", "Defer"]
    [verdict] = session.observe(running(session)[0].call_id, Succeeded()).verdicts
    assert isinstance(verdict, Allow) and (verdict.call_id, verdict.step) == ("2", "z")
    session.observe("2", Succeeded())
    assert session.outcome is None
    assert session.observe("1", Succeeded()).outcome == "success"


def test_s26_an_orphan_alone_leaves_the_next_turn_free() -> None:
    """The agent's call of a removed branch is under way, and the agent may speak again."""
    session = start(book(parallel("s", {"a": branch("x"), "b": auto("b")}, join="any"), step("z", "zz", "vv")))
    orphan = allowed(session, "x")
    arrive(session, "b")
    ok(session, "zz")
    audit(session).observe(orphan, Failed())
    ok(session, "vv")
    assert session.outcome is None
    assert session.observe(orphan, Failed()).outcome == "success"


def test_s26_a_loop_leaves_in_the_middle_of_its_wait() -> None:
    """The deadline of a `repeat` strikes between two rounds; no further round begins."""
    loop = rounds("r", "facts.c.n == 2", auto("c"), wait="1m", timeout="90s", on_timeout="escalated")
    session = start(book(loop, AFTER), timed=True)
    session.observe(command(session).call_id, Succeeded({"n": 1}), now=at(60))
    assert [w.due for w in waits(session)] == [at(120)]
    session.tick(at(90))
    assert session.outcome == "escalated" and waits(session) == []


def test_s31_a_skipped_branch_has_arrived() -> None:
    """A branch whose last step was skipped is at its end."""
    branches = {"a": branch("x"), "b": branch("y", required=False)}
    session = start(book(parallel("s", branches, join=1), AFTER))
    assert isinstance(propose(session, "skip_step"), Allow)
    assert list(session.states) == ["z"]


def test_s13_a_run_restored_in_the_middle_of_a_wave_goes_on_the_same() -> None:
    """One outcome has arrived and waits for the one before it: restored, both are applied alike."""
    session = start(book(parallel("s", {"a": branch("x", "y"), "b": branch("w", "v")}), AFTER))
    session.propose([call("x", "1"), call("w", "2"), call("v", "3")])
    session.observe("2", Succeeded())
    again = Session.restore(session.machine, json.loads(json.dumps(session.snapshot.to_json())))
    for run in (session, again):
        run.observe("1", Failed())
        if "3" in {record[1] for record in run.records if record[0] == "decided" and record[4] == "allow"}:
            run.observe("3", Succeeded())
    assert again.snapshot.to_json() == session.snapshot.to_json()
    assert again.states == session.states


def test_s13_a_batch_over_all_branches_is_carried_out_in_full() -> None:
    """Both lists and what follows the join in one reply: wave after wave, and the run is done."""
    branches = {"a": [step("a1", "x"), step("a2", "y")], "b": [step("b1", "w"), step("b2", "v")]}
    session = start(book(parallel("s", branches), AFTER))
    calls = [ToolCall(tool, {}, call_id=tool) for tool in ("x", "w", "y", "v", "zz")]
    admitted = [v.call_id for v in session.propose(calls) if isinstance(v, Allow)]
    order = []
    while admitted:
        order.append(admitted.pop(0))
        admitted += [v.call_id for v in audit(session).observe(order[-1], Succeeded()).verdicts if isinstance(v, Allow)]
        session.observe(order[-1], Succeeded())
    assert order == ["x", "w", "y", "v", "zz"]
    assert session.outcome == "success"


# --- frames ---------------------------------------------------------------------------------------------------------


def test_s33_a_time_limit_of_a_callee_counts_from_its_own_start() -> None:
    """The run is twenty seconds old when the frame begins: the limit of ten strikes at thirty."""
    callee = sub("q", step("b", "x", "y"), termination=[{"time_limit": "10s"}])
    steps = [step("f", "w"), CALL | {"on_failure": "z"}, auto("n", next_="success"), AFTER]
    session = start(family(*steps, library=[callee]), timed=True)
    session.propose([call("w", "1")], now=at(20))
    session.observe("1", Succeeded(), now=at(20))
    session.tick(at(29))
    assert list(audit(session).states) == ["c/b"]
    session.tick(at(30))
    assert records(session, "returned", "outcome") == ["stopped:time_limit"]
    assert list(session.states) == ["z"]


def test_s33_a_token_limit_of_a_callee_counts_its_own() -> None:
    """Tokens used before the frame began are the caller's."""
    callee = sub("q", step("b", "x"), termination=[{"token_limit": 10}])
    session = start(
        family(step("f", "w", "v"), CALL | {"on_failure": "z"}, auto("n", next_="success"), AFTER, library=[callee])
    )
    session.propose([call("w", "1")], usage=Usage(tokens=50))
    session.observe("1", Succeeded())
    ok(session, "v")
    session.propose([], text="hm", usage=Usage(tokens=9))
    assert list(session.states) == ["c/b"]
    session.propose([], text="hm", usage=Usage(tokens=1))
    assert records(session, "returned", "outcome") == ["stopped:token_limit"]


def test_s33_a_text_or_a_confidence_from_before_does_not_end_a_callee() -> None:
    """Its conditions see its frame: what was said or claimed earlier was not said in it."""
    for condition in ({"text_mention": "BYE"}, {"confidence_met": 0.5}):
        callee = sub("q", step("b", "x"), termination=[condition | {"outcome": "success"}])
        session = start(family(step("f", "w"), CALL, AFTER, library=[callee]))
        session.claim(confidence=0.9)
        session.propose([call("w", "1")], text="BYE")
        session.observe("1", Succeeded())
        assert list(session.states) == ["c/b"], condition
        session.claim(confidence=0.9)
        if list(session.states) == ["c/b"]:
            session.propose([], text="BYE")
        assert list(session.states) == ["z"], condition


def test_s33_a_batch_over_a_frame_with_policies_of_its_own() -> None:
    """Two calls of the callee in its order and one of the caller, in one reply."""
    callee = sub("q", step("b", "x", "y"), policies=[{"precedence": {"first": "x", "then": "y"}}])
    session = start(family(CALL, AFTER, library=[callee]))
    assert kinds(session.propose([call("x", "1"), call("y", "2"), call("zz", "3")])) == ["Allow", "Defer", "Defer"]
    assert kinds(session.observe("1", Succeeded()).verdicts) == ["Allow"]
    assert kinds(session.observe("2", Succeeded()).verdicts) == ["Allow"]
    assert session.observe("3", Succeeded()).outcome == "success"


def test_s40_closing_calls_of_a_removed_callee_are_made_beside_what_follows() -> None:
    """A branch that is a sub-playbook is removed by the join: it closes, in its own time."""
    callee = sub("q", auto("x"), **{"finally": [auto("g")]})
    branches = {"a": {"playbook": "q"}, "b": auto("b")}
    session = start(family(parallel("s", branches, join="any"), AFTER, library=[callee]))
    late = running(session)[0].call_id
    arrive(session, "b")
    assert "z" in session.states
    session.observe(late, Succeeded())
    assert open_tools(audit(session)) == ["g"]
    ok(session, "zz")
    assert session.outcome is None
    arrive(session, "g")
    assert session.outcome == "success"


def test_s33_each_items_frame_is_left_by_its_own_deadline() -> None:
    """`max_visits` and `timeout` of the calling step are counted for the item."""
    body = CALL | {"max_visits": 1, "timeout": "10s", "on_timeout": "done"}
    session = start(family(each("e", [1, 2], body), AFTER, library=[sub("q", step("b", "x"))]), timed=True)
    session.tick(at(10))
    assert list(session.states) == ["e[1]/c/b"]
    session.tick(at(20))
    assert list(session.states) == ["z"]


def test_s14_what_is_irreversible_in_a_callee_runs_alone() -> None:
    """The callee's own word about its tool holds back the caller's other branch."""
    callee = sub("q", auto("b1", "wire"), tools={"wire": {"effect": "irreversible"}})
    session = start(family(parallel("s", {"a": {"playbook": "q"}, "b": branch("w")}), library=[callee]))
    assert kinds(session.propose([call("w", "1")])) == ["Defer"]
    assert kinds(session.observe(command(session).call_id, Succeeded()).verdicts) == ["Allow"]


def test_s29_an_answer_for_a_frame_that_was_left_is_too_late() -> None:
    """The callee's approval is void once the caller's step is over."""
    callee = sub("q", auto("a", approval={"ask": "?"}))
    session = start(
        family(CALL | {"timeout": "5s", "on_timeout": "z"}, auto("n", next_="success"), AFTER, library=[callee]), True
    )
    question = asked(session)
    decided = Approvals(session).approve(question, by="kim", now=at(5))
    assert not decided.accepted
    assert list(session.states) == ["z"] and running(session) == []


def test_s32_a_written_list_may_hold_templates() -> None:
    """They keep their type, deep inside too; one that is unknown fails the loop before any item."""
    items = ["{{ facts.x.a }}", {"k": ["{{ facts.x.a }}"]}]
    work = auto("w", args={"i": "{{ i }}"})
    machine = book(step("f", "x"), each("e", items, work, on_failure="escalated"))
    session = start(machine)
    ok(session, "x", {"a": [1]})
    for expected in ([1], {"k": [[1]]}):
        assert command(session).args == {"i": expected}
        answer(session)
    unknown = start(machine)
    assert ok(unknown, "x", {}).outcome == "escalated"

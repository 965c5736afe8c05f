"""S54 and S24 after a crash, from a snapshot; and single lines that an audit found unguarded."""

from __future__ import annotations

import json
from typing import Any

import pytest

import guideway
from guideway import Allow, Approvals, Deny, Failed, HostError, NeedsApproval, Session, Succeeded, ToolCall, Unknown
from guideway.runtime.verdicts import RunCall, Wait

READS = {"look": {"effect": "read"}, "pay": {}, "wire": {"effect": "irreversible"}}


def book(*steps: dict[str, Any], library: tuple[dict[str, Any], ...] = (), **top: Any) -> guideway.Machine:
    """A playbook of these steps."""
    return guideway.load({"id": "p", "name": "P", "tools": READS, **top, "steps": list(steps)}, library=library)


def crashed(session: Session) -> Session:
    """The program stopped: another one goes on from the text of the snapshot."""
    return Session.recover(session.machine, json.loads(json.dumps(session.snapshot.to_json())))


def running(session: Session) -> list[str]:
    """The calls of the runtime's own that are to be made."""
    return [command.call_id for command in session.commands if isinstance(command, RunCall)]


def test_s54_a_read_of_the_runtimes_own_is_made_again_and_counts_no_failure() -> None:
    """Without any `retry` the step goes on; what then fails once more is a failure like any other."""
    machine = book({"id": "a", "call": {"tool": "look", "args": {"n": 1}}})
    again = crashed(Session(machine))
    [call] = [command for command in again.commands if isinstance(command, RunCall)]
    assert (call.tool, call.args, call.call_id) == ("look", {"n": 1}, "a@1.2")
    with pytest.raises(HostError):
        again.observe("a@1.1", Succeeded())
    twice = crashed(again)
    assert running(twice) == ["a@1.3"]
    assert twice.observe("a@1.3", Failed()).outcome == "failed:a"


def test_s54_a_write_that_was_running_is_never_made_again_unasked() -> None:
    """A person reconciles: it happened, and the run goes on with the result; or it is made again."""
    machine = book({"id": "a", "call": {"tool": "pay"}, "next": "success"})
    for happened in (True, False):
        again = crashed(Session(machine))
        assert running(again) == []
        control = Approvals(again)
        [question] = control.pending
        assert question.of == "reconcile"
        if happened:
            control.happened(question.approval_id, {"ok": True}, by="ops")
            assert again.outcome == "success"
        else:
            control.did_not_happen(question.approval_id, by="ops")
            assert running(again) == ["a@1.2"]


def test_s54_an_unknown_call_takes_the_way_its_author_wrote() -> None:
    """`on_unknown` is taken at once, in a sub-playbook as well."""
    callee: dict[str, Any] = {"id": "q", "name": "Q", "tools": READS, "outcomes": {"lost": "success"}}
    callee["steps"] = [{"id": "b", "call": {"tool": "wire"}, "on_unknown": "lost"}]
    machine = book({"id": "c", "playbook": "q", "next": "success"}, library=(callee,))
    again = crashed(Session(machine))
    assert again.outcome == "failed:c"
    assert [record[3] for record in again.records if record[0] == "returned"] == ["failed:unknown:wire"]


def test_s54_deferred_calls_did_not_run_and_the_turn_is_over() -> None:
    """What ran is unknown, what waited for its decision is denied, what a person is asked stays asked."""
    entry = {"tool": "pay", "approval": {"ask": "Pay?"}}
    machine = book({"id": "a", "expected_tools": ["look", entry]}, {"id": "b", "expected_tools": ["wire"]})
    session = Session(machine)
    calls = [ToolCall("look", {}, "1"), ToolCall("pay", {"n": 1}, "2"), ToolCall("wire", {}, "3")]
    first, second, third = session.propose(calls)
    assert isinstance(first, Allow) and isinstance(second, NeedsApproval) and not third.allowed
    again = crashed(session)
    assert [record[2] for record in again.records if record[0] == "decided" and "interrupted" in record] == ["3"]
    assert [question.of for question in Approvals(again).pending] == ["call"]
    [verdict] = again.propose([ToolCall("look", {}, "4")])
    assert isinstance(verdict, Allow)
    again.observe("4", Succeeded())
    Approvals(again).approve("call 2", by="lead")
    again.observe("2", Succeeded())
    assert again.state == "b"
    [late] = again.propose([ToolCall("wire", {}, "3")])
    assert isinstance(late, Deny) and late.code == "id_reused"


def test_s54_a_run_that_recovers_twice_recovers_to_the_same() -> None:
    """Recovering a run in which nothing was under way changes nothing but the record."""
    machine = book({"id": "a", "expected_tools": ["look"]})
    once = crashed(Session(machine))
    assert crashed(once).snapshot.to_json() == once.snapshot.to_json()
    assert [record[2] for record in once.records] == ["recover"]


def test_a_signal_too_many_changes_nothing() -> None:
    """It is refused before anything is written: neither record nor snapshot know of it."""
    machine = book({"id": "a", "expected_tools": ["look"]}, {"id": "w", "wait": {"signal": "go"}})
    session = Session(machine)
    for n in range(1000):
        session.signal("go", n)
    before, records = session.snapshot.to_json(), len(session.records)
    with pytest.raises(HostError):
        session.signal("go", "late")
    assert before == session.snapshot.to_json()
    assert records == len(session.records)


def test_s30_early_signals_are_taken_oldest_first() -> None:
    """Two that lie in wait are taken in the order in which they came."""
    waits = [{"id": f"w{n}", "wait": {"signal": "go"}} for n in (1, 2)]
    ends = {"id": "z", "switch": [{"when": "signals.go == 2", "goto": "success"}, {"goto": "failed"}]}
    session = Session(book({"id": "a", "expected_tools": ["look"]}, *waits, ends))
    session.signal("go", 1)
    session.signal("go", 2)
    session.propose([ToolCall("look", {}, "1")])
    assert session.observe("1", Succeeded()).outcome == "success"


def test_s41_a_response_obliges_though_the_call_did_not_do_what_was_asked() -> None:
    """Its `expect` was untrue, and it happened: what must follow it must follow."""
    step = {"id": "a", "expected_tools": [{"tool": "pay", "expect": "result.ok"}, "look"]}
    policy = {"id": "tell", "response": {"after": "pay", "eventually": "look"}}
    session = Session(book(step, {"id": "b", "expected_tools": ["wire"]}, policies=[policy]))
    session.propose([ToolCall("look", {}, "1")])
    session.observe("1", Succeeded())
    session.propose([ToolCall("pay", {}, "2")])
    session.observe("2", Succeeded({"ok": False}))
    assert session.snapshot.to_json()["frames"][0]["monitors"] == {"tell": 1}


def test_s44_a_call_without_the_argument_counts_beside_calls_under_way() -> None:
    """Of two calls in one reply that may be the same, the second does not run beside the first."""
    policy = {"at_most": {"event": "pay", "times": 1, "same": ["n"]}}
    step = {"id": "a", "expected_tools": [{"tool": "pay", "times": 2}]}
    pairs: list[list[dict[str, Any]]] = [[{"n": 3}, {}], [{}, {"n": 3}]]
    for args in pairs:
        session = Session(book(step, policies=[policy]))
        first, second = session.propose([ToolCall("pay", a, f"c{i}") for i, a in enumerate(args)])
        assert first.allowed and not second.allowed


def test_what_a_caller_says_of_a_tool_holds_in_a_silent_callee() -> None:
    """Its approval is asked, its `where` refuses, its effect lets the call run alone."""
    callee = {"id": "q", "name": "Q", "steps": [{"id": "b", "expected_tools": ["pay", "wire"]}]}
    tools = {"pay": {"where": "args.n < 5", "approval": {"ask": "Pay?"}}, "wire": {"effect": "irreversible"}}
    machine = book({"id": "c", "playbook": "q"}, library=(callee,), tools=tools)
    [verdict] = Session(machine).propose([ToolCall("pay", {"n": 1}, "1")])
    assert isinstance(verdict, NeedsApproval)
    [refused] = Session(machine).propose([ToolCall("pay", {"n": 9}, "1")])
    assert isinstance(refused, Deny) and refused.code == "where"
    session = Session(machine)
    alone, beside = session.propose([ToolCall("wire", {}, "1"), ToolCall("pay", {"n": 1}, "2")])
    assert isinstance(alone, Allow) and not beside.allowed


def test_the_time_limit_of_a_callee_goes_with_it() -> None:
    """Once it has returned nothing waits for its limit any more."""
    limit = [{"time_limit": "1h", "outcome": "stopped"}]
    callee = {"id": "q", "name": "Q", "steps": [{"id": "b", "expected_tools": ["look"]}], "termination": limit}
    machine = book({"id": "c", "playbook": "q"}, {"id": "z", "expected_tools": ["pay"]}, library=(callee,))
    from datetime import UTC, datetime

    session = Session(machine, now=datetime(2026, 3, 2, tzinfo=UTC))
    assert session.next_due is not None
    session.propose([ToolCall("look", {}, "1")])
    session.observe("1", Succeeded())
    assert session.next_due is None
    assert not any(isinstance(command, Wait) for command in session.commands)


def test_an_unknown_reported_by_the_host_is_no_crash() -> None:
    """Only a crash makes a read again for nothing: an outcome that the host reports as unknown is an error (S24)."""
    session = Session(book({"id": "a", "call": {"tool": "look"}}))
    assert session.observe("a@1.1", Unknown()).outcome == "failed:a"


def test_a_predicate_changes_nothing_it_is_shown() -> None:
    """Arguments, facts, inputs and empty tables are copies: neither this run nor any other is written into."""
    from guideway.runtime.frames import NONE

    seen = []

    def meddle(names: Any) -> bool:
        seen.append(dict(names["args"]))
        names["args"]["n"] = 77
        for table in ("facts", "answers", "claims", "signals", "history", "inputs"):
            names[table]["evil"] = [1]
        return True

    tools = {"pay": {"where": 'predicate("fine")', "approval": {"ask": "Pay {{ args.n }}?"}}}
    machine = book({"id": "a", "call": {"tool": "pay", "args": {"n": 1}}}, tools=tools, predicates={"fine": {}})
    session = Session(machine, predicates={"fine": meddle})
    Approvals(session).approve("call a@1.1", by="lead")
    [call] = [command for command in session.commands if isinstance(command, RunCall)]
    assert call.args == {"n": 1}
    assert seen == [{"n": 1}, {"n": 1}]
    assert dict(NONE) == {}
    assert "evil" not in json.dumps(session.snapshot.to_json())


def test_an_ask_of_choices_is_completed_by_one_of_them() -> None:
    """The host cannot pass over the answer: it must be given, and nothing has changed when it is not."""
    ask = {"id": "q", "ask": {"question": "Go on?", "choices": {"yes": "success", "no": "stopped"}}}
    session = Session(book(ask))
    before = session.snapshot.to_json()
    with pytest.raises(HostError):
        session.complete()
    assert before == session.snapshot.to_json()
    assert Approvals(session).answer("ask q@1", "no", by="anybody").progress.outcome == "stopped"

"""S51, S53 and S55: modes, results that no tool gave, notes, the host's stop, and looking ahead at a whole reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import guideway as gw
from guideway.runtime.records import Record
from guideway.runtime.verbs import Event

PLAYBOOK: dict[str, Any] = {
    "id": "p", "name": "P", "max_refusals": 2,
    "tools": {"look": {"effect": "read"}, "isolate": {"effect": "irreversible"}, "tell": {}},
    "steps": [
        {"id": "look", "description": "Look", "expected_tools": ["look"]},
        {"id": "act", "description": "Act", "expected_tools": [
            {"tool": "isolate", "approval": {"ask": "Isolate?", "approvers": ["lead"]}}]},
        {"id": "tell", "description": "Tell", "expected_tools": ["tell"]},
    ],
}  # fmt: skip


def session(mode: str = "enforce", **more: Any) -> gw.Session:
    """A fresh session."""
    return gw.Session(gw.load({**PLAYBOOK, **more}), mode=mode)


def call(name: str, call_id: str = "c1", **args: Any) -> gw.ToolCall:
    """A call."""
    return gw.ToolCall(name, args, call_id)


def test_s55_in_record_mode_an_illegal_call_runs_is_recorded_and_moves_nothing() -> None:
    """
    The verdict says that the call may run and what is against it; its result is no fact, and spends nothing.
    """
    run = session("record")
    [verdict] = run.propose([call("tell")])
    progress = run.observe("c1", gw.Succeeded({"done": True}))

    assert isinstance(verdict, gw.Illegal)
    assert verdict.allowed
    assert (verdict.code, progress.state) == ("out_of_sequence", "look")
    assert [r[6] for r in run.records if r[0] == "settled"] == [False]
    assert run.snapshot.data["calls"] == run.snapshot.data["refusals"] == 0


def test_s55_in_record_mode_a_legal_call_moves_as_ever() -> None:
    """
    Only what is illegal is let through; the machine goes on by what is legal.
    """
    run = session("record")
    run.propose([call("tell"), call("look", "c2")])
    run.observe("c1", gw.Succeeded())
    run.observe("c2", gw.Succeeded({"hits": 1}))

    assert run.state == "act"


def test_s55_an_illegal_call_under_way_survives_a_snapshot_and_a_crash() -> None:
    """
    It is restored as what it is; after a crash nobody reconciles it, since it moves nothing.
    """
    run = session("record")
    run.propose([call("tell")])
    saved = run.snapshot.to_json()
    again = gw.Session.restore(run.machine, saved)
    crashed = gw.Session.recover(run.machine, saved)

    assert again.observe("c1", gw.Succeeded()).state == "look"
    assert gw.Approvals(crashed).pending == []
    assert crashed.state == "look"


def test_s55_a_person_still_decides_in_record_mode() -> None:
    """
    A call that needs an approval is not illegal: it is asked about, and does not run before.
    """
    run = session("record")
    run.propose([call("look")])
    run.observe("c1", gw.Succeeded())
    [verdict] = run.propose([call("isolate", "c2")])

    assert isinstance(verdict, gw.NeedsApproval)
    assert gw.Approvals(run).reject("call c2", by="lead").accepted


@pytest.mark.parametrize("mode", ["enforce", "record"])
def test_s55_only_a_shadow_witnesses(mode: str) -> None:
    """
    An outcome without admission is the host's mistake in every other mode.
    """
    run = session(mode)

    with pytest.raises(gw.HostError, match="`shadow` mode"):
        run.witness(call("look"), gw.Succeeded())


def test_s55_a_shadow_judges_outcomes_the_same_way() -> None:
    """
    A legal call moves the run; an illegal one, and one that nobody approved, are recorded and move nothing.
    """
    run = session("shadow")
    early = run.witness(call("isolate", "c0"), gw.Succeeded())
    legal = run.witness(call("look"), gw.Succeeded({"hits": 1}))
    unapproved = run.witness(call("isolate", "c2"), gw.Succeeded())

    assert isinstance(early, gw.Illegal)
    assert isinstance(legal, gw.Allow)
    assert isinstance(unapproved, gw.Illegal)
    assert (unapproved.code, run.state, gw.Approvals(run).pending) == ("approval", "act", [])


def test_there_is_no_other_mode() -> None:
    """
    A misspelt mode must not open the gate.
    """
    with pytest.raises(gw.HostError, match="one of enforce, record, shadow"):
        session("enforced")


def test_s53_a_substituted_result_is_evidence_of_a_read() -> None:
    """
    A cache may answer a read: the step is done, and the record says where the result came from.
    """
    run = session()
    run.propose([call("look")])
    progress = run.observe("c1", gw.Substituted({"hits": 3}))
    [settled] = [r for r in run.records if r[0] == "settled"]

    assert progress.state == "act"
    assert settled[5] == {"result": {"hits": 3}, "substituted": True}
    assert run.observe("c1", gw.Substituted({"hits": 3})).state == "act"


def test_s53_a_substituted_result_of_anything_else_is_no_evidence() -> None:
    """
    Nothing was isolated because somebody says so: the call counts as not run.
    """
    run = session()
    run.propose([call("look")])
    run.observe("c1", gw.Succeeded())
    run.propose([call("isolate", "c2")])
    gw.Approvals(run).approve("call c2", by="lead")
    progress = run.observe("c2", gw.Substituted({"ticket": 7}))

    assert progress.state == "act"
    assert [r[4] for r in run.records if r[0] == "settled"] == ["ok", "cancelled"]
    assert run.observe("c2", gw.Substituted({"ticket": 7})).state == "act"


def test_a_note_moves_nothing_and_is_recorded() -> None:
    """
    A host may keep its own words in the record.
    """
    run = session()
    before = run.snapshot.to_json()
    run.note("hook_blocked", {"tool": "tell"})

    assert run.records[-1] == ("noted", None, "hook_blocked", {"tool": "tell"})
    assert run.snapshot.to_json() == before
    with pytest.raises(gw.HostError):
        run.note("x", object())


def test_the_host_stops_a_run_where_it_stands() -> None:
    """
    A stop is no success, voids what is asked, and admits nothing more.
    """
    run = session()
    run.propose([call("look")])
    run.observe("c1", gw.Succeeded())
    run.propose([call("isolate", "c2")])
    progress = run.stop("token_budget")
    [verdict] = run.propose([call("look", "c3")])

    assert [denial.code for denial in progress.verdicts if isinstance(denial, gw.Deny)] == ["run_over"]
    assert (run.outcome, run.outcome_class) == ("stopped:token_budget", "stopped")
    assert isinstance(verdict, gw.Deny)
    with pytest.raises(gw.HostError, match="over already"):
        run.stop("again")


def test_s37_a_stop_at_a_goal_is_success_only_with_nothing_required_open() -> None:
    """
    The host's goal counts as a termination branch would.
    """
    early, late = session(), session(steps=[{"id": "a", "description": "A", "required": False}])

    assert early.stop("tool_called:isolate", goal=True).outcome == "incomplete:tool_called:isolate"
    assert (late.stop("no_tools", goal=True).outcome, late.outcome_class) == ("success", "success")


def test_foresee_answers_for_a_whole_reply_and_changes_nothing() -> None:
    """
    The verdicts are those that `propose` gives; the run stays as it was.
    """
    run = session()
    calls = [call("look"), call("isolate", "c2"), call("nothing", "c3")]
    before = run.snapshot.to_json()
    seen = run.foresee(calls)

    assert run.snapshot.to_json() == before
    assert [type(verdict) for verdict in seen] == [gw.Allow, gw.Defer, gw.Deny]
    assert seen == run.propose(calls)


class Kept:
    """A recorder that keeps what it is given, until it fails."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.records: list[Record] = []
        self.full = False

    def keep(self, event: Event, records: Sequence[Record]) -> None:
        """Note both."""
        if self.full:
            raise gw.JournalError("the disk is full")
        self.events.append(event)
        self.records += records


def test_s8_a_recorder_is_given_every_verb_and_what_it_made_happen() -> None:
    """
    Event and records come before the verb returns, in order; looking is no event.
    """
    run, kept = session(), Kept()
    first = len(run.records)
    run.attach(kept)
    run.propose([call("look")], text="I look")
    run.observe("c1", gw.Succeeded({"hits": 1}))
    run.legal()
    run.propose([call("isolate", "c2")])
    gw.Approvals(run).approve("call c2", by="lead", note="go")
    everything = list(run.records)
    run.forget()
    run.fail("enough", step="act")

    assert [event.verb for event in kept.events] == ["propose", "observe", "propose", "approve", "fail"]
    assert kept.events[3].data == {"approval_id": "call c2", "by": "lead", "groups": (), "note": "go"}
    assert kept.records[: len(everything) - first] == everything[first:]
    assert run.since(len(everything)) == list(run.records)


def test_s8_what_cannot_be_kept_admits_nothing() -> None:
    """
    Where the recorder fails the verb raises, and the session is broken off: no call may run on its word.
    """
    run, kept = session(), Kept()
    run.attach(kept)
    kept.full = True
    with pytest.raises(gw.JournalError):
        run.propose([call("look")])
    kept.full = False
    [verdict] = run.propose([call("look", "c2")])

    assert run.outcome == "failed:engine"
    assert not verdict.allowed
    with pytest.raises(gw.HostError, match="recorder already"):
        run.attach(kept)


EDITABLE: dict[str, Any] = {
    "id": "p", "name": "P",
    "tools": {"pay": {"effect": "irreversible", "where": "args.amount <= 100", "because": "no more than was paid",
                      "parameters": {"type": "object", "properties": {"amount": {"type": "integer"}}},
                      "approval": {"ask": "Pay {{ args.amount }}?", "approvers": ["lead"]}}},
    "steps": [{"id": "pay", "description": "Pay", "expected_tools": ["pay"]}],
}  # fmt: skip


def test_an_edited_call_is_gated_again_and_runs_as_edited() -> None:
    """
    What a person allows with other arguments is decided on with those; the host runs it with them.
    """
    run = gw.Session(gw.load(EDITABLE))
    run.propose([call("pay", amount=90)])
    people = gw.Approvals(run)
    refused = [people.approve("call c1", by="lead", args=args) for args in ({"amount": 900}, {"amount": "x"})]
    allowed = people.approve("call c1", by="lead", args={"amount": 50})

    assert [decided.accepted for decided in refused] == [False, False]
    assert "no more than was paid" in refused[0].reason
    assert allowed.progress.verdicts[0].allowed
    assert run.call("c1") == gw.ToolCall("pay", {"amount": 50}, "c1")
    assert [r[5] for r in run.records if r[0] == "edited"] == [{"amount": 50}]
    assert run.observe("c1", gw.Succeeded()).outcome == "success"


def test_only_a_call_that_one_person_decides_on_is_edited() -> None:
    """
    A step has no arguments; what several have to allow they all have to see.
    """
    step = gw.Session(gw.load({"id": "p", "name": "P", "steps": [{"id": "a", "approval": {"ask": "Go?"}}]}))
    tools = {"pay": {"approval": {"ask": "Pay?", "approvers": ["a", "b"], "count": 2}}}
    two = gw.Session(gw.load({**EDITABLE, "tools": tools}))
    two.propose([call("pay", amount=1)])

    assert "only a call" in gw.Approvals(step).approve("step a@1", by="x", args={}).reason
    assert "several persons" in gw.Approvals(two).approve("call c1", by="a", args={}).reason
    with pytest.raises(gw.HostError, match="may run now"):
        two.call("c1")

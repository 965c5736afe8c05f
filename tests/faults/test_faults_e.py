"""Faults E1 to E10 of the peer's second engine (E3 is none): the same situation, and the right outcome."""

from __future__ import annotations

from typing import Any

import pytest

import guideway as gw
from guideway.journal import MemoryJournal, resume, start
from guideway.runtime.approvals import Approvals

from .driving import NOON, Driver, call, playbook, session

WORK = {"id": "work", "expected_tools": ["query_siem"]}


def test_e1_a_step_is_not_closed_by_what_the_model_says_of_it() -> None:
    """
    S17: `complete_step` with the claims in full is refused while the tool has not run.
    """
    driver = Driver(session({**WORK, "claims": {"verdict": "string"}}))
    [early] = driver.reply(("complete_step", {"verdict": "verified"}))
    driver.reply("query_siem")
    [late] = driver.reply(("complete_step", {"verdict": "verified"}))

    assert isinstance(early, gw.Deny)
    assert early.code == "control"
    assert late.allowed
    assert driver.run.outcome == "success"


def test_e1_a_claim_is_no_evidence() -> None:
    """
    What a tool answered is a fact; what the model says of it is a claim, and `facts` does not read it.
    """
    driver = Driver(
        session({**WORK, "claims": {"hits": "integer"}}, {"id": "act", "expected_tools": [
            {"tool": "isolate_host", "where": "facts.query_siem.hits > 0"}]}),
        query_siem={"hits": 0},
    )  # fmt: skip
    driver.reply("query_siem")
    driver.reply(("complete_step", {"hits": 99}))
    [verdict] = driver.reply("isolate_host")

    assert isinstance(verdict, gw.Deny)
    assert verdict.code == "where"


def test_e2_an_end_waives_no_required_step() -> None:
    """
    S37: a condition that ends the run while required steps are open ends it `incomplete`, and says so.
    """
    driver = Driver(session(WORK, {"id": "act", "expected_tools": ["isolate_host"]}, termination=[
        {"tool_called": "query_siem"}]))  # fmt: skip
    driver.reply("query_siem")

    assert (driver.run.outcome, driver.run.outcome_class) == ("incomplete:tool_called:query_siem", "incomplete")


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ([{"id": "a", "next": "b"}, {"id": "b", "next": "a"}], "GW202"),
        ([{"id": "a", "switch": [{"goto": "b"}]}, {"id": "b", "switch": [{"goto": "a"}]}], "GW202"),
        ([{"id": "a", "next": "c"}, {"id": "b", "switch": [{"goto": "c"}]}, {"id": "c"}], "GW201"),
    ],
)
def test_e4_cycles_and_routers_nobody_reaches_are_found(steps: list[dict[str, Any]], code: str) -> None:
    """
    What would deadlock does not load; the finding names the step.
    """
    assert code in [finding.code for finding in gw.check(playbook(*steps))]
    with pytest.raises(gw.PlaybookError, match=code):
        gw.load(playbook(*steps))


def test_e4_a_loop_can_be_written_and_ends() -> None:
    """
    `repeat` goes round until its condition is true, at most so often.
    """
    driver = Driver(
        session({"id": "watch", "repeat": {"until": "facts.query_siem.quiet", "at_most": 3}, "steps": [
            {"id": "look", "description": "Look", "expected_tools": ["query_siem"]}]}),
        query_siem={"quiet": False},
    )  # fmt: skip
    driver.reply("query_siem")
    driver.results["query_siem"] = {"quiet": True}
    driver.reply("query_siem")

    assert driver.ran == ["query_siem"] * 2
    assert driver.run.outcome == "success"


@pytest.mark.parametrize(("answer", "why"), [({"score": 1}, "no_branch"), ({}, "guard_unknown")])
def test_e5_no_branch_is_a_failure(answer: dict[str, Any], why: str) -> None:
    """
    S10: where no branch is true, or one is unknown, the step fails, and nothing after it counts as done.
    """
    driver = Driver(
        session(
            WORK,
            {"id": "route", "switch": [{"when": "facts.query_siem.score > 7", "goto": "act"}]},
            {"id": "act", "expected_tools": ["isolate_host"]},
        ),
        query_siem=answer,
    )
    driver.reply("query_siem")
    whys = [str(record[6]) for record in driver.run.records if record[0] == "moved"]

    assert (driver.run.outcome, driver.run.outcome_class) == ("failed:route", "failed")
    assert whys[-1].startswith(why)


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ({"id": "b", "when": "facts.query_sime.hits > 3"}, "GW114"),
        ({"id": "b", "when": "inputs.scor > 3"}, "GW113"),
        ({"id": "b", "allowed_tool": ["isolate_host"]}, "GW020"),
    ],
)
def test_e6_a_misspelt_name_is_an_error(step: dict[str, Any], code: str) -> None:
    """
    In a condition it is no silent false, as a key it is no open gate: both are found before the run.
    """
    findings = gw.check(playbook(WORK, step, {"id": "c"}, inputs={"score": "number"}))

    assert code in [finding.code for finding in findings]


def test_e7_arguments_are_part_of_the_admission() -> None:
    """
    The same tool is refused with one argument and allowed with another, by `where` and by schema.
    """
    driver = Driver(session(
        {"id": "act", "expected_tools": [{"tool": "isolate_host", "where": "args.host != 'dc-1'"}]},
        tools={"isolate_host": {"parameters": {
            "type": "object", "properties": {"host": {"type": "string"}}, "required": ["host"]}}},
    ))  # fmt: skip
    [server] = driver.reply(("isolate_host", {"host": "dc-1"}))
    [empty] = driver.reply(("isolate_host", {}))
    [right] = driver.reply(("isolate_host", {"host": "ws-7"}))

    assert isinstance(server, gw.Deny)
    assert isinstance(empty, gw.Deny)
    assert (server.code, empty.code, right.allowed) == ("where", "bad_args", True)


def test_e8_a_failed_call_does_not_wedge_the_step() -> None:
    """
    S22: when the calls are spent and too few have succeeded, the run goes on, and cannot end in success.
    """
    driver = Driver(
        session({**WORK, "min_tool_calls": 2, "max_tool_calls": 2}, {"id": "act", "expected_tools": ["isolate_host"]})
    )
    driver.results["query_siem"] = gw.Failed("no connection")
    driver.reply("query_siem")
    driver.results["query_siem"] = {"hits": 1}
    driver.reply("query_siem")
    state = driver.run.state
    driver.reply("isolate_host")

    assert state == "act"
    assert driver.run.outcome == "incomplete:work"


def test_e8_a_step_in_which_nothing_succeeded_is_exhausted() -> None:
    """
    S22: with no success at all the run ends by name.
    """
    driver = Driver(session({**WORK, "max_tool_calls": 1}), query_siem=gw.Failed("no connection"))
    driver.reply("query_siem")

    assert driver.run.outcome == "failed:exhausted:work"


def test_e9_a_step_may_be_worked_on_and_completed_in_one_reply() -> None:
    """
    S13, S17: `complete_step` waits for the call before it, and is decided on what came of it.
    """
    driver = Driver(session({**WORK, "claims": {"verdict": "string"}}))
    work, done = driver.reply("query_siem", ("complete_step", {"verdict": "quiet"}))

    assert work.allowed
    assert done.allowed
    assert driver.run.outcome == "success"


def test_e9_a_step_is_not_completed_by_work_that_failed() -> None:
    """
    S13: the call before it did not succeed, so the completion is refused.
    """
    driver = Driver(session({**WORK, "claims": {"verdict": "string"}}), query_siem=gw.Failed("no"))
    _, done = driver.reply("query_siem", ("complete_step", {"verdict": "quiet"}))

    assert not done.allowed
    assert driver.run.state == "work"


E10 = playbook({"id": "act", "expected_tools": [{"tool": "isolate_host", "times": 1}]}, {"id": "tell"})


@pytest.mark.parametrize("kept", ["snapshot", "journal"])
def test_e10_a_call_under_way_at_a_crash_is_not_made_again(kept: str) -> None:
    """
    S24, S54: nobody knows whether it happened; a person says so, and until then it is not admitted a second time.
    """
    machine, journal = gw.load(E10), MemoryJournal()
    if kept == "journal":
        start(journal, machine, run_id="r", now=NOON).propose([call("isolate_host", "c1", host="ws-7")])
        after = resume(journal, "r", machine, now=NOON)
    else:
        before = gw.Session(machine, now=NOON)
        before.propose([call("isolate_host", "c1", host="ws-7")])
        after = gw.Session.recover(machine, before.snapshot.to_json(), now=NOON)
    [question] = Approvals(after).pending
    [again] = after.propose([call("isolate_host", "c2", host="ws-7")])
    Approvals(after).happened(question.approval_id, {"isolated": True}, by="lead")

    assert question.of == "reconcile"
    assert question.args == {"host": "ws-7"}
    assert not again.allowed
    assert after.state == "tell"

"""
Faults D1 to D17 of the peer that the seed's document describes: the same situation, and the right outcome.

Each test drives the engine, or the seed's enforcer on it.  `test_faults_agent.py` drives those that are an agent's
through an agent.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

import guideway as gw
from guideway.enforcer import PlaybookEnforcer, PlaybookEnforcerHook
from guideway.termination import CustomCondition, RunState, TextMention, ToolCalled, ToolExecution
from tests.enforcer.helpers import at_once, event, run

from .driving import NOON, Driver, call, playbook, session

LOOK = {"id": "look", "expected_tools": ["query_siem"]}
ACT = {"id": "act", "expected_tools": ["isolate_host"]}
TELL = {"id": "tell", "expected_tools": ["tell"]}


def hook(*steps: Any, **more: Any) -> PlaybookEnforcerHook:
    """The seed's hook on these steps."""
    return PlaybookEnforcerHook(gw.load_playbook(playbook(*steps, **more)))


def test_d1_a_blocked_call_meets_no_condition_on_a_success() -> None:
    """
    S36: the run does not end "contained" by a call that never ran; it does by the one that did.
    """
    driver = Driver(session(LOOK, ACT, TELL, outcomes={"contained": "success"}, termination=[
        {"tool_called": "isolate_host", "outcome": "contained"}]))  # fmt: skip
    [denied] = driver.reply("isolate_host")
    early = driver.run.outcome
    driver.reply("query_siem")
    driver.reply("isolate_host")

    assert not denied.allowed
    assert early is None
    assert driver.run.outcome == "contained"
    assert driver.ran == ["query_siem", "isolate_host"]


def test_d2_the_model_cannot_simply_stop() -> None:
    """
    A final answer before the end is sent back; a model that insists ends the run by name, and never in success.
    """
    driver = Driver(session(LOOK, ACT, max_nudges=1))
    driver.reply(text="All done, the host is isolated.")
    after_one = driver.run.outcome
    driver.reply(text="Really, it is done.")

    assert after_one is None
    assert (driver.run.outcome, driver.run.outcome_class) == ("stopped:nudges", "stopped")


def test_d3_a_failed_tool_does_not_complete_the_step() -> None:
    """
    S20, S23: an error is no success; the step stays, in the engine and under the hook.
    """
    driver = Driver(session(LOOK, ACT), query_siem=gw.Failed("no connection"))
    held = hook(LOOK, ACT)
    driver.reply("query_siem")
    run(held, "query_siem", fails=["query_siem"])

    assert driver.run.state == "look"
    assert held.enforcer.current_step is not None
    assert held.enforcer.current_step.id == "look"


def test_d4_a_batch_does_not_beat_a_limit() -> None:
    """
    Of three calls side by side of a tool that may be called once, one runs, and the next step is charged nothing.
    """
    steps = (
        {"id": "act", "expected_tools": ["isolate_host"], "max_tool_calls": 1},
        {"id": "tell", "expected_tools": ["tell"]},
    )
    driver, held = Driver(session(*steps)), hook(*steps)
    driver.reply("isolate_host", "isolate_host", "isolate_host")
    said = at_once(held, "isolate_host", "isolate_host", "isolate_host")

    assert driver.ran == ["isolate_host"]
    assert driver.run.state == "tell"
    assert said.count("ran") == 1
    assert list(held.enforcer.plan.step_executions) == ["act"]


def test_d5_a_batch_in_order_runs() -> None:
    """
    S13: `[query_siem, isolate_host]` in one reply runs in two waves, and ends the playbook.
    """
    driver, held = Driver(session(LOOK, ACT)), hook(LOOK, ACT)
    driver.reply("query_siem", "isolate_host")
    said = at_once(held, "query_siem", "isolate_host")

    assert driver.ran == ["query_siem", "isolate_host"]
    assert driver.run.outcome == "success"
    assert said == ["ran", "ran"]
    assert held.enforcer.is_complete


def test_d6_a_step_without_tools_opens_nothing_and_can_be_completed() -> None:
    """
    No tool is legal in it; a plain reply completes it (S16).
    """
    driver = Driver(session({"id": "think"}, ACT))
    [denied] = driver.reply("isolate_host")
    driver.reply(text="I have thought.")

    assert not denied.allowed
    assert driver.ran == []
    assert driver.run.state == "act"


def test_d7_steps_in_any_order_are_in_any_order() -> None:
    """
    S34: with `strict_sequence: false` the second step may come first, and both have to.
    """
    driver = Driver(session(LOOK, ACT, strict_sequence=False))
    driver.reply("isolate_host")
    early = driver.run.outcome
    driver.reply("query_siem")

    assert driver.ran == ["isolate_host", "query_siem"]
    assert (early, driver.run.outcome) == (None, "success")


def test_d8_extra_tools_are_those_that_no_step_names() -> None:
    """
    S34: a later step's tool stays out of sequence; an extra tool runs, and completes nothing.
    """
    driver = Driver(session(LOOK, ACT, allow_extra_tools=True))
    [denied] = driver.reply("isolate_host")
    driver.reply("ping")

    assert not denied.allowed
    assert driver.ran == ["ping"]
    assert driver.run.state == "look"


def test_d9_validation_holds_a_step_open() -> None:
    """
    S21: the step is over when its `validation` is true, and not before.
    """
    driver = Driver(session({**LOOK, "validation": "facts.query_siem.hits > 0"}, ACT))
    driver.results["query_siem"] = {"hits": 0}
    driver.reply("query_siem")
    before = driver.run.state
    driver.results["query_siem"] = {"hits": 3}
    driver.reply("query_siem")

    assert (before, driver.run.state) == ("look", "act")


def test_d9_timeout_seconds_is_a_deadline() -> None:
    """
    S7, S26: when it is over the run is, and a call at that moment comes too late.
    """
    running = session({**LOOK, "timeout_seconds": 30})
    [verdict] = running.propose([call("query_siem")], now=NOON + timedelta(seconds=30))

    assert not verdict.allowed
    assert running.outcome == "stopped:timeout:look"


def test_d9_max_iterations_is_a_limit() -> None:
    """
    S39: after that many turns the run ends by name.
    """
    driver = Driver(session(LOOK, ACT, max_iterations=2), query_siem=gw.Failed("no"))
    driver.reply("query_siem")
    driver.reply("query_siem")

    assert driver.run.outcome == "stopped:max_iterations"


def test_d10_only_what_is_legal_is_offered() -> None:
    """
    The session says what is legal now, for whoever offers tools to a model; a denial names the way.
    """
    driver = Driver(session(LOOK, ACT))
    offered = [legal.tool for legal in driver.run.legal()]
    [denied] = driver.reply("isolate_host")

    assert offered == ["query_siem"]
    assert isinstance(denied, gw.Deny)
    assert denied.path == ("query_siem", "isolate_host")


def test_d11_a_later_hook_does_not_unblock_a_call() -> None:
    """
    What ran all the same is a violation, and moves nothing.
    """
    held = hook(LOOK, ACT)

    async def tricked() -> None:
        wanted = event("isolate_host")
        await held.on_before_tool_call(wanted)
        wanted.cancel = False  # another hook
        await held.on_after_tool_call(wanted)

    asyncio.run(tricked())

    assert [v.violation_type for v in held.enforcer.violations] == ["unexpected_tool", "not_admitted"]
    assert held.enforcer.progress == 0.0


def test_d12_a_repeated_call_is_a_call() -> None:
    """
    S53: the second execution needs an admission of its own, which a step of one call does not have.
    """
    driver = Driver(session({"id": "act", "expected_tools": [{"tool": "isolate_host", "times": 1}]}, LOOK))
    driver.reply("isolate_host")
    [again] = driver.reply("isolate_host")
    [same_id] = driver.run.propose([call("isolate_host", "c1")])

    assert driver.ran == ["isolate_host"]
    assert not again.allowed
    assert isinstance(same_id, gw.Deny)
    assert same_id.code == "id_reused"


def test_d12_the_hook_counts_both_executions() -> None:
    """
    A report that nobody asked for is in the plan, and is a violation.
    """
    held = hook({"id": "act", "expected_tools": ["isolate_host"]}, LOOK)

    async def twice() -> None:
        wanted = event("isolate_host")
        await held.on_before_tool_call(wanted)
        await held.on_after_tool_call(wanted)
        await held.on_after_tool_call(wanted)

    asyncio.run(twice())

    assert held.enforcer.plan.total_tool_calls == 2
    assert [v.violation_type for v in held.enforcer.violations] == ["not_admitted"]


@pytest.mark.parametrize(("text", "found"), [("We must ESCALATE now", True), ("DEESCALATED", False)])
def test_d13_text_is_matched_by_a_regular_expression(text: str, found: bool) -> None:
    """
    The document's pattern works, and finds whole words only.
    """
    assert TextMention(r"\bESCALATE\b").check(RunState(text=text))[0] is found


def test_d13_done_is_not_found_in_undone() -> None:
    """
    A plain word is a word, too.
    """
    assert not TextMention(r"\bDONE\b").check(RunState(text="the work is undone"))[0]


def test_d13_arguments_are_looked_at() -> None:
    """
    `ToolCalled` takes the document's `args` predicate, and asks it.
    """
    condition = ToolCalled("isolate_host", args=lambda args: args.get("host") == "ws-7")
    states = [RunState(tool_executions=(ToolExecution("isolate_host", {"host": host}),)) for host in ("ws-7", "dc-1")]

    assert [condition.check(state)[0] for state in states] == [True, False]


@pytest.mark.parametrize("says", [True, (True, "my words")])
def test_d13_a_predicate_may_answer_yes_or_no_or_with_a_reason(says: Any) -> None:
    """
    Both forms are taken.
    """
    assert CustomCondition(lambda state: says).check(RunState())[0] is True


def test_d14_a_misspelt_tool_is_found_before_the_run() -> None:
    """
    Where the tools are declared, a name that is none of them is an error with the nearest one.
    """
    findings = gw.check(playbook({"id": "act", "expected_tools": ["isolate_hsot"]}, tools={"isolate_host": {}}))

    assert [d.code for d in findings] == ["GW112"]
    assert "`isolate_host`" in str(findings[0].help)


@pytest.mark.parametrize(
    "wrong", [{"allow_extra_tols": True}, {"steps": [{"id": "a", "description": "A", "expected_tool": ["x"]}]}]
)
def test_d15_an_unknown_key_is_an_error(wrong: dict[str, Any]) -> None:
    """
    At the top and in a step; the nearest key is named.
    """
    with pytest.raises(gw.PlaybookLoadError, match="did you mean"):
        gw.load_playbook({"id": "p", "name": "P", **wrong})


def test_d16_a_run_goes_on_where_it_was() -> None:
    """
    A snapshot is JSON, and the run restored from it stands in the same step, with the same calls used up.
    """
    machine = gw.load(playbook(LOOK, ACT))
    first = Driver(gw.Session(machine))
    first.reply("query_siem")
    second = gw.Session.restore(machine, first.run.snapshot.to_json())
    [used] = second.propose([call("isolate_host", "c1")])

    assert second.state == "act"
    assert not used.allowed


def test_d16_violations_outlive_a_round_trip() -> None:
    """
    The enforcer's JSON keeps them.
    """
    held = PlaybookEnforcer.from_playbook(gw.load_playbook(playbook(LOOK, ACT)))
    held.validate_tool_call("isolate_host")
    again = PlaybookEnforcer.model_validate_json(held.model_dump_json())

    assert [v.tool_name for v in again.violations] == ["isolate_host"]
    assert again.violations == held.violations


@pytest.mark.parametrize("source", [7, None, ["steps"], "x" * 5000, "y" * 300 + ".yaml"])
def test_d17_whatever_is_loaded_raises_one_error(source: Any) -> None:
    """
    What is no playbook is a `PlaybookLoadError`, not an accident of Python or of the file system.
    """
    with pytest.raises(gw.PlaybookLoadError):
        gw.load_playbook(source)


def test_d17_no_calls_means_no_calls() -> None:
    """
    `max_tool_calls: 0` allows none; under the hook neither.
    """
    step = {"id": "think", "optional_tools": ["query_siem"], "max_tool_calls": 0}
    driver, held = Driver(session(step)), hook(step)
    [verdict] = driver.reply("query_siem")
    [said] = run(held, "query_siem")

    assert not verdict.allowed
    assert said != "ran"


def test_d17_refusals_in_a_row_end_the_run() -> None:
    """
    A model that does not learn is stopped after five, by name.
    """
    driver = Driver(session(LOOK, ACT))
    for _ in range(30):
        driver.reply("isolate_host")

    assert driver.run.outcome == "stopped:refusals"
    assert driver.ran == []

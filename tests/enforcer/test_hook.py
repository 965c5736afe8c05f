"""The hook: reservations, calls side by side, other hooks, runs, approvals, turns."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

import guideway as gw
from guideway.enforcer import PlaybookEnforcerHook
from guideway.runtime.approvals import Question

from .helpers import at_once, event, make, playbook, run, steps


def test_a_refusal_is_worded_as_in_the_seed() -> None:
    """
    `PlaybookEnforcer blocked: `, the violation, the hints.
    """
    [said] = run(PlaybookEnforcerHook(playbook()), "isolate")

    assert said == (
        "PlaybookEnforcer blocked: Tool 'isolate' not expected for step 'look'. Expected: ['query_siem', 'get_user']"
        " | Hints: Current step expects: query_siem, get_user last 24 hours"
    )


def test_a_call_is_reserved_when_it_is_asked_for() -> None:
    """
    D4: of three calls of a tool that may be called once, asked for before any has run, one is allowed.
    """
    hook = PlaybookEnforcerHook(steps({"id": "a", "expected_tools": ["x"], "max_tool_calls": 1}, {"id": "b"}))
    calls = [event("x", f"c{n}") for n in range(3)]

    async def ask_for_all() -> None:
        for call in calls:
            await hook.on_before_tool_call(call)

    asyncio.run(ask_for_all())

    assert [bool(call.cancel) for call in calls] == [False, True, True]


def test_calls_of_a_step_run_side_by_side() -> None:
    """
    Two expected tools of one step are both allowed before either has run.
    """
    hook = PlaybookEnforcerHook(playbook())
    calls = [event("query_siem"), event("get_user")]

    async def ask_for_all() -> None:
        for call in calls:
            await hook.on_before_tool_call(call)

    asyncio.run(ask_for_all())

    assert [call.cancel for call in calls] == [False, False]


def test_a_batch_in_order_runs_in_order() -> None:
    """
    D5: a call that needs one before it waits for it, and is decided on what came of it.
    """
    hook = PlaybookEnforcerHook(playbook())

    assert at_once(hook, "query_siem", "get_user", "comment", "isolate") == ["ran"] * 4
    assert hook.enforcer.is_complete


def test_what_waits_for_a_call_that_fails_does_not_run() -> None:
    """
    S13: the rest of the batch is refused; that is no violation of the playbook.
    """
    hook = PlaybookEnforcerHook(playbook())
    said = at_once(hook, "query_siem", "get_user", "comment", fails=["get_user"])

    assert said[:2] == ["ran", "ran"]
    assert "did not succeed" in said[2]
    assert hook.enforcer.violations == []


def test_one_task_that_asks_for_all_calls_is_told_to_come_back() -> None:
    """
    Waiting there would stop the agent for ever; the call is refused for this reply, and legal in the next.
    """
    hook = PlaybookEnforcerHook(steps({"id": "a", "expected_tools": ["x"]}, {"id": "b", "expected_tools": ["y"]}))
    first, second = event("x"), event("y")

    async def batch() -> str:
        await hook.on_before_tool_call(first)
        await hook.on_before_tool_call(second)
        await hook.on_after_tool_call(first)
        return await make(hook, "y", "again")

    said = asyncio.run(batch())

    assert "must wait for the calls before it" in second.cancel
    assert said == "ran"
    assert hook.enforcer.violations == []


def test_a_wait_that_is_given_up_leaves_nothing_behind() -> None:
    """
    The call that nobody waits for any more counts as not run.
    """
    hook = PlaybookEnforcerHook(steps({"id": "a", "expected_tools": ["x"]}, {"id": "b", "expected_tools": ["y"]}))
    first = event("x")

    async def batch() -> str:
        await hook.on_before_tool_call(first)
        waits = asyncio.create_task(make(hook, "y"))
        await asyncio.sleep(0)
        waits.cancel()
        await asyncio.sleep(0)
        await hook.on_after_tool_call(first)
        return await make(hook, "y", "again")

    assert asyncio.run(batch()) == "ran"
    assert hook.enforcer.plan.total_tool_calls == 2


def test_a_call_that_another_hook_stopped_did_not_run() -> None:
    """
    No report has come when the model is asked again, so the reservation is given back.
    """
    hook = PlaybookEnforcerHook(steps({"id": "a", "expected_tools": ["x"], "max_tool_calls": 1}, {"id": "b"}))

    async def stopped() -> str:
        await hook.on_before_tool_call(event("x", "stopped"))
        await hook.on_before_model_call(SimpleNamespace(run=None))
        return await make(hook, "x", "again")

    assert asyncio.run(stopped()) == "ran"
    assert hook.enforcer.plan.total_tool_calls == 1


@pytest.mark.parametrize("case", ["blocked", "changed", "once more"])
def test_a_call_that_ran_otherwise_than_it_was_admitted_moves_nothing(case: str) -> None:
    """
    S53: un-blocked by another hook, with other arguments, or made once more, it is a violation, listed, and no more.
    """
    hook = PlaybookEnforcerHook(steps({"id": "a", "expected_tools": ["x"]}, {"id": "b", "expected_tools": ["y"]}))

    async def trick() -> None:
        call = event("y" if case == "blocked" else "x", host="ws-7")
        await hook.on_before_tool_call(call)
        if case == "changed":
            call.arguments = {"host": "dc-1"}
        await hook.on_after_tool_call(call)
        if case == "once more":
            await hook.on_after_tool_call(call)

    asyncio.run(trick())

    found = hook.enforcer
    assert found.violations[-1].violation_type == "not_admitted"
    assert found.current_step is not None
    assert found.current_step.id == ("b" if case == "once more" else "a")
    assert found.plan.total_tool_calls == (2 if case == "once more" else 1)


def test_where_reads_the_arguments_of_the_call() -> None:
    """
    The hook sees whole calls, so rules on arguments hold.
    """
    book = steps({"id": "a", "expected_tools": [{"tool": "x", "where": "args.host == 'ws-7'"}]})
    hook = PlaybookEnforcerHook(book)
    wrong = asyncio.run(make(hook, "x", "c1", host="dc-1"))
    right = asyncio.run(make(hook, "x", "c2", host="ws-7"))

    assert "args.host == 'ws-7'" in wrong
    assert right == "ran"
    assert [violation.violation_type for violation in hook.enforcer.violations] == ["where"]


GATED: dict[str, Any] = {
    "id": "a", "expected_tools": [{"tool": "x", "approval": {"ask": "Do it?", "approvers": ["lead"]}}]
}  # fmt: skip


def test_a_playbook_with_approvals_needs_somebody_to_decide() -> None:
    """
    Without a callback it is refused at once, and the message says where to go.
    """
    with pytest.raises(gw.HostError, match=r"approval.*guideway\.Agent"):
        PlaybookEnforcerHook(steps(GATED))


@pytest.mark.parametrize(("who", "runs"), [("lead", True), ("somebody", False), (None, False)])
def test_approvals_are_decided_by_the_callback(who: str | None, runs: bool) -> None:
    """
    The call runs when somebody allows it who may; else it does not, and the model is told.
    """
    asked: list[Question] = []

    async def decide(question: Question) -> str | None:
        asked.append(question)
        return who

    hook = PlaybookEnforcerHook(steps(GATED), approvals=decide)
    said = asyncio.run(make(hook, "x", host="ws-7"))

    assert (said == "ran") is runs
    assert [(q.tool, q.args) for q in asked] == [("x", {"host": "ws-7"})]
    assert hook.enforcer.is_complete is runs


def test_the_approval_of_a_step_comes_before_its_calls() -> None:
    """
    S29: the step itself is allowed first, then its call runs.
    """
    book = steps({"id": "a", "approval": {"ask": "Go on?", "approvers": ["lead"]}, "expected_tools": ["x"]})
    hook = PlaybookEnforcerHook(book, approvals=lambda question: "lead")

    assert run(hook, "x") == ["ran"]
    assert hook.enforcer.is_complete


@pytest.mark.parametrize("work", [{"call": {"tool": "x"}}, {"ask": "Well?"}, {"wait": "1m"}])
def test_work_that_is_no_check_of_calls_is_refused(work: dict[str, Any]) -> None:
    """
    The hook has no way to make calls, to ask people or to wait.
    """
    with pytest.raises(gw.HostError, match=r"guideway\.Agent"):
        PlaybookEnforcerHook(steps({"id": "a", **work}))


def test_each_run_has_a_plan_of_its_own() -> None:
    """
    One agent serves many runs; the progress of one is none of another's.
    """
    hook = PlaybookEnforcerHook(playbook())
    one, two = SimpleNamespace(run_id="1"), SimpleNamespace(run_id="2")

    async def both() -> None:
        for tool in ("query_siem", "get_user"):
            call = event(tool, run=one)
            await hook.on_before_tool_call(call)
            await hook.on_after_tool_call(call)
        await hook.on_before_tool_call(event("query_siem", run=two))

    asyncio.run(both())
    first, second = hook.enforcer_for("1"), hook.enforcer_for("2")

    assert first is not None
    assert second is not None
    assert (first.plan.completed_steps, second.plan.completed_steps) == (["look"], [])
    assert hook.enforcer is second
    assert hook.enforcer_for("3") is None


def test_select_chooses_the_playbook_of_a_run() -> None:
    """
    None leaves the run alone; a selector that raises lets no tool of the run run.
    """
    books = {"held": playbook()}

    def choose(about: Any) -> gw.Playbook | None:
        if about.run_id == "broken":
            raise KeyError("no such table")
        return books.get(about.run_id)

    hook = PlaybookEnforcerHook(select=choose)
    calls = {run_id: event("isolate", run=SimpleNamespace(run_id=run_id)) for run_id in ("held", "free", "broken")}

    async def all_of_them() -> None:
        for call in calls.values():
            await hook.on_before_tool_call(call)

    asyncio.run(all_of_them())

    assert "not expected" in calls["held"].cancel
    assert calls["free"].cancel is False
    assert "could not be chosen" in calls["broken"].cancel


@pytest.mark.parametrize(
    "wrong", [{}, {"playbook": playbook(), "select": playbook}, {"playbook": playbook(), "scope": "world"},
              {"playbook": playbook(), "max_runs": 0}],
)  # fmt: skip
def test_what_a_hook_cannot_be_made_of(wrong: dict[str, Any]) -> None:
    """
    Exactly one of playbook and selector, a scope there is, room for a run.
    """
    with pytest.raises(ValueError, match=r"PlaybookEnforcerHook|scope|max_runs"):
        PlaybookEnforcerHook(**wrong)


def test_the_turns_of_the_model_are_counted() -> None:
    """
    D9: past `max_iterations` no tool runs any more.
    """
    hook = PlaybookEnforcerHook(playbook(max_iterations=1))

    async def turns() -> list[str]:
        await hook.on_before_model_call(SimpleNamespace(run=None))
        first = [await make(hook, "query_siem", "c1"), await make(hook, "query_siem", "c2")]
        await hook.on_before_model_call(SimpleNamespace(run=None))
        return [*first, await make(hook, "get_user", "c3")]

    said = asyncio.run(turns())

    assert said[:2] == ["ran", "ran"]
    assert "stopped:max_iterations" in said[2]
    assert not hook.enforcer.is_complete


def test_a_plain_reply_completes_a_step_without_tools() -> None:
    """
    D6: such a step lets no tool through, and is over with the reply.
    """
    hook = PlaybookEnforcerHook(steps({"id": "think"}, {"id": "act", "expected_tools": ["x"]}))

    async def turns() -> list[str]:
        early = await make(hook, "x", "c1")
        await hook.on_after_model_call(SimpleNamespace(response=SimpleNamespace(content="Done thinking."), run=None))
        return [early, await make(hook, "x", "c2")]

    said = asyncio.run(turns())

    assert said[0].startswith("PlaybookEnforcer blocked")
    assert said[1] == "ran"


def test_refusals_in_a_row_end_the_run() -> None:
    """
    D17: a model that is refused again and again is stopped, and told so.
    """
    hook = PlaybookEnforcerHook(playbook(max_refusals=3))
    said = run(hook, *["isolate"] * 4)

    assert "stopped:refusals" in said[3]
    assert hook.enforcer.outcome == "stopped:refusals"
    assert not hook.enforcer.is_complete


def test_the_hook_says_what_it_has_something_to_say_at() -> None:
    """
    Name, priority and points are those of a provider of the seed.
    """
    hook = PlaybookEnforcerHook(playbook())

    assert (hook.name, hook.priority) == ("PlaybookEnforcerHook", 50)
    assert hook.register_hooks()["on_before_tool_call"]

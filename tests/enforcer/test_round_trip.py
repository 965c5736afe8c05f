"""An enforcer is JSON: what it has seen, and where its run stands, outlive the process (D16)."""

from __future__ import annotations

import asyncio

import pytest

import guideway as gw
from guideway.enforcer import PlaybookEnforcer, PlaybookEnforcerHook, PlaybookPlan

from .helpers import enforcer, make, playbook, run


def test_json_keeps_all_of_it() -> None:
    """
    Violations, plan and run come back, and the run goes on.
    """
    held = enforcer()
    held.validate_tool_call("isolate")
    held.record_tool_call("query_siem")
    held.complete_current_step()
    again = PlaybookEnforcer.model_validate_json(held.model_dump_json())

    assert again.model_dump() == held.model_dump()
    assert again.violations == held.violations
    assert again.validate_tool_call("comment").allowed
    assert not again.validate_tool_call("query_siem").allowed


def test_json_keeps_a_run_under_a_hook() -> None:
    """
    The step goes on with the calls it has had.
    """
    hook = PlaybookEnforcerHook(playbook())
    run(hook, "query_siem")
    again = PlaybookEnforcer.model_validate_json(hook.enforcer.model_dump_json())
    other = PlaybookEnforcerHook(playbook())
    desk = other._runs["__no_run__"]
    assert not isinstance(desk, str)
    assert desk is not None
    desk.enforcer = again
    asyncio.run(make(other, "get_user"))

    assert again.plan.completed_steps == ["look"]


def test_json_of_another_playbook_is_refused() -> None:
    """
    A run goes on only with the playbook it began with.
    """
    data = enforcer().model_dump(mode="json")
    data["plan"]["playbook"]["steps"].pop()

    with pytest.raises(gw.HostError, match="another playbook"):
        PlaybookEnforcer.model_validate(data)


def test_a_plan_that_has_begun_is_nothing_without_its_run() -> None:
    """
    The plan is a view; a run cannot be made of it, and that is said.
    """
    held = enforcer()
    held.complete_current_step()
    plan = PlaybookPlan.model_validate_json(held.plan.model_dump_json())

    assert plan == held.plan
    with pytest.raises(gw.HostError, match="whole PlaybookEnforcer"):
        PlaybookEnforcer(plan=plan)


def test_changing_the_plan_changes_no_decision() -> None:
    """
    Whoever writes into the plan has written into a view.
    """
    held = enforcer()
    held.plan.current_step_index = 2

    assert not held.validate_tool_call("isolate").allowed

"""The verbs that take a bare name refuse what a name does not decide."""

from __future__ import annotations

from typing import Any

import pytest

import guideway as gw
from guideway.enforcer import PlaybookEnforcer

from .helpers import enforcer, steps

MORE: dict[str, dict[str, Any]] = {
    "where": {"steps": [{"id": "a", "description": "A", "expected_tools": [{"tool": "x", "where": "args.n > 1"}]}]},
    "where of a tool": {"tools": {"x": {"where": "args.n > 1"}}},
    "parameters": {"tools": {"x": {"parameters": {"type": "object"}}}},
    "approval of a tool": {"tools": {"x": {"approval": {"ask": "Do it?"}}}},
    "approval of a step": {
        "steps": [{"id": "a", "description": "A", "approval": {"ask": "Go?"}, "expected_tools": ["x"]}]
    },
    "policy": {"policies": [{"at_most": {"event": "x", "times": 1}}]},
    "probe": {
        "steps": [{"id": "a", "description": "A", "expected_tools": ["x"], "required_probes": [
            {"name": "host", "match": "ws-7"}]}]
    },
    "call": {"steps": [{"id": "a", "call": {"tool": "x"}}]},
    "ask": {"steps": [{"id": "a", "ask": "Well?"}]},
}  # fmt: skip


@pytest.mark.parametrize("verb", ["validate_tool_call", "record_tool_call"])
@pytest.mark.parametrize("what", MORE)
def test_a_playbook_that_needs_more_than_a_name_is_refused(what: str, verb: str) -> None:
    """
    The message says what it has, and points to `Session`; nothing is recorded.
    """
    plain: dict[str, Any] = {
        "id": "p", "name": "P", "steps": [{"id": "a", "description": "A", "expected_tools": ["x"]}]
    }  # fmt: skip
    held = PlaybookEnforcer.from_playbook(gw.load_playbook({**plain, **MORE[what]}))

    with pytest.raises(gw.HostError, match=r"guideway\.Session"):
        getattr(held, verb)("x")

    assert (held.plan.total_tool_calls, held.violations) == (0, [])


def test_what_ran_against_the_playbook_is_listed_and_moves_nothing() -> None:
    """
    A record is a fact, checked or not: it is in the plan, it is a violation, and it does not count for the step.
    """
    held = PlaybookEnforcer.from_playbook(steps({"id": "a", "expected_tools": ["x"], "max_tool_calls": 1}, {"id": "b"}))
    for tool in ("x", "x", "y"):
        held.record_tool_call(tool)
    execution = held.plan.get_step_execution("a")

    assert execution is not None
    assert execution.tool_calls == ["x", "x", "y"]
    assert [v.violation_type for v in held.violations] == ["max_tool_calls", "unexpected_tool"]
    assert [v.blocked for v in held.violations] == [False, False]
    assert held.current_step is not None
    assert held.current_step.id == "a"


def test_a_call_after_the_end_is_counted() -> None:
    """
    As in the document: the total goes up, no step has it.
    """
    held = enforcer()
    while held.complete_current_step():
        pass
    held.record_tool_call("ping")

    assert held.plan.total_tool_calls == 1
    assert all(execution.tool_calls == [] for execution in held.plan.step_executions.values())


def test_a_step_without_tools_lets_no_tool_through() -> None:
    """
    D6: nothing is expected, so everything is unexpected; the host completes the step.
    """
    held = PlaybookEnforcer.from_playbook(steps({"id": "think"}))
    answer = held.validate_tool_call("isolate")

    assert answer.violation is not None
    assert answer.violation.message == "Tool 'isolate' not expected for step 'think'. Expected: []"
    assert held.complete_current_step() is False
    assert held.is_complete


def test_a_playbook_without_steps_prescribes_nothing() -> None:
    """
    As in the document: every call is allowed; there is nothing to be in violation of.
    """
    held = PlaybookEnforcer.from_playbook(steps())

    assert held.validate_tool_call("ping").allowed
    assert held.progress == 1.0


def test_steps_in_any_order() -> None:
    """
    D7: `strict_sequence: false` opens every step; the current one is the first that is open.
    """
    book = steps({"id": "a", "expected_tools": ["x"]}, {"id": "b", "expected_tools": ["y"]}, strict_sequence=False)
    held = PlaybookEnforcer.from_playbook(book)
    allowed = [held.validate_tool_call(tool).allowed for tool in "xyz"]
    held.record_tool_call("y")
    b = held.plan.get_step_execution("b")

    assert allowed == [True, True, False]
    assert b is not None
    assert b.tool_calls == ["y"]
    assert [held.complete_current_step(), held.complete_current_step()] == [True, False]
    assert held.is_complete


def test_a_deadline_is_one() -> None:
    """
    D9: when `timeout_seconds` are over the run is, and no call is allowed.
    """
    held = PlaybookEnforcer.from_playbook(steps({"id": "a", "expected_tools": ["x"], "timeout_seconds": 5}))
    began = held.plan.started_at
    held._clock = lambda: began.replace(year=began.year + 1)
    answer = held.validate_tool_call("x")

    assert answer.violation is not None
    assert answer.violation.violation_type == "run_over"
    assert held.outcome == "stopped:timeout:a"
    assert held.get_step_summary()["failed"] == 1
    assert not held.is_complete


def test_skills_stand_for_tools() -> None:
    """
    The tools of a skill that a step uses are allowed in it.
    """
    book = steps({"id": "a", "expected_tools": ["x"], "uses": ["lookup"]})
    held = PlaybookEnforcer.from_playbook(book, skills={"lookup": ["whois"]})

    assert held.validate_tool_call("whois").allowed
    assert not held.validate_tool_call("isolate").allowed

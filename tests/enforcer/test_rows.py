"""Rows 1 to 9 of the parity list: what the seed's playbooks and enforcer promise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import guideway as gw
from guideway.enforcer import PlaybookEnforcer, PlaybookEnforcerHook, StepStatus

from .helpers import TRIAGE, enforcer, playbook, run, steps


def test_row_1_steps_are_found_by_id_and_by_index_and_ids_are_unique() -> None:
    """
    Lookup gives the step, its position, or None; a second step of the same id is an error that names it.
    """
    book = playbook()
    twice = {**TRIAGE, "steps": [TRIAGE["steps"][0], TRIAGE["steps"][0]]}

    with pytest.raises(gw.PlaybookLoadError) as caught:
        gw.load_playbook(twice)

    step = book.get_step("note")
    assert step is not None
    assert (step.id, book.get_step_index("note")) == ("note", 1)
    assert (book.get_step("gone"), book.get_step_index("gone")) == (None, None)
    assert "look" in caught.value.errors[0]


@pytest.mark.parametrize("form", ["path", "Path", "dict", "json", "yaml"])
def test_row_2_a_playbook_is_loaded_from_every_form(form: str, tmp_path: Path) -> None:
    """
    A path as text or Path, a dict, JSON text and YAML text give the same playbook.
    """
    file = tmp_path / "triage.json"
    file.write_text(json.dumps(TRIAGE), encoding="utf-8")
    sources: dict[str, Any] = {
        "path": str(file), "Path": file, "dict": TRIAGE, "json": json.dumps(TRIAGE),
        "yaml": "id: triage\nname: Triage\nsteps:\n- {id: look, description: Look}\n",
    }  # fmt: skip

    assert gw.load_playbook(sources[form]).id == "triage"


def test_row_2_a_load_error_has_the_path_and_every_fault(tmp_path: Path) -> None:
    """
    What cannot be loaded raises one typed error, with `path` and a list `errors`.
    """
    file = tmp_path / "bad.yaml"
    file.write_text("name: 3\nsteps: 4\n", encoding="utf-8")

    with pytest.raises(gw.PlaybookLoadError) as caught:
        gw.load_playbook(file)

    assert caught.value.path == file
    assert len(caught.value.errors) >= 2


def test_row_3_the_plan_says_how_far_the_run_is() -> None:
    """
    Current step, progress from 0 to 1, lists, and a record per step with times, calls, result and error.
    """
    held = enforcer()
    held.record_tool_call("query_siem")
    held.complete_current_step("quiet")
    held.fail_current_step("no rights")
    plan = held.plan
    look, note = plan.get_step_execution("look"), plan.get_step_execution("note")

    assert plan.current_step is not None
    assert look is not None
    assert note is not None
    assert plan.current_step.id == "note"
    assert plan.progress == pytest.approx(1 / 3)
    assert (plan.completed_steps, plan.pending_steps) == (["look"], ["note", "act"])
    assert plan.is_step_complete("look")
    assert not plan.is_step_complete("note")
    assert look.started_at is not None
    assert look.completed_at is not None
    assert plan.started_at <= look.started_at <= look.completed_at
    assert (look.tool_calls, look.tool_call_count, look.result) == (["query_siem"], 1, "quiet")
    assert (note.status, note.error, plan.errors) == (StepStatus.FAILED, "no rights", ["Step note: no rights"])
    assert (plan.total_tool_calls, plan.completed, plan.metadata) == (1, False, {})
    assert plan.get_step_execution("act") is None


def test_row_4_a_check_answers_and_changes_nothing() -> None:
    """
    Allowed, violation, hints, current step; a check is a question, and what ran is told separately.
    """
    held = enforcer()
    yes, no = held.validate_tool_call("query_siem"), held.validate_tool_call("isolate")

    assert yes.current_step is not None
    assert (yes.allowed, yes.violation, yes.hints, yes.current_step.id) == (True, None, ["last 24 hours"], "look")
    assert no.violation is not None
    assert (no.allowed, no.hints) == (False, ["Current step expects: query_siem, get_user", "last 24 hours"])
    assert held.plan.total_tool_calls == 0
    held.record_tool_call("query_siem")
    assert held.plan.total_tool_calls == 1


def test_row_5_a_violation_is_recorded_with_all_there_is_to_it() -> None:
    """
    Type, step, tool, message, time, and whether the call was blocked.
    """
    held = enforcer()
    held.validate_tool_call("isolate")
    [violation] = held.violations

    assert (violation.violation_type, violation.step_id, violation.tool_name) == ("unexpected_tool", "look", "isolate")
    assert violation.message == "Tool 'isolate' not expected for step 'look'. Expected: ['query_siem', 'get_user']"
    assert violation.timestamp >= held.plan.started_at
    assert violation.blocked


def test_row_5_a_mode_that_only_observes_lets_the_call_run() -> None:
    """
    Without blocking the same call is allowed, and the violation says that it was not blocked.
    """
    held = enforcer(block_violations=False)
    answer = held.validate_tool_call("isolate")

    assert answer.allowed
    assert [violation.blocked for violation in held.violations] == [False]


def test_row_5_violations_are_kept_only_where_that_is_wanted() -> None:
    """
    Without recording the call is refused all the same.
    """
    held = enforcer(record_violations=False)
    answer = held.validate_tool_call("isolate")

    assert (answer.allowed, answer.violation, held.violations) == (False, None, [])


def test_row_5_a_hook_that_only_observes_lets_the_call_run_and_moves_nothing() -> None:
    """
    S55: the call outside of the playbook runs, is recorded as a violation and in the plan, and is no progress.
    """
    hook = PlaybookEnforcerHook(playbook(), block_violations=False)
    said = run(hook, "isolate", "query_siem")
    plan = hook.enforcer.plan

    assert said == ["ran", "ran"]
    assert [(v.tool_name, v.blocked) for v in hook.enforcer.violations] == [("isolate", False)]
    assert plan.current_step is not None
    assert (plan.current_step.id, plan.total_tool_calls) == ("look", 2)


def test_row_6_complete_goes_on_and_says_whether_there_is_more() -> None:
    """
    True while a step follows, False at the last one and after it.
    """
    held = enforcer()
    said = [held.complete_current_step(f"r{n}") for n in range(4)]

    assert said == [True, True, False, False]
    assert held.is_complete
    assert [e.result for e in held.plan.step_executions.values()] == ["r0", "r1", "r2"]


def test_row_6_skip_passes_over_optional_steps_only() -> None:
    """
    A required step is not skipped; an optional one is, with its reason.
    """
    held = enforcer()
    first = held.skip_current_step("no time")
    held.complete_current_step()
    second = held.skip_current_step("no time")
    note = held.plan.get_step_execution("note")

    assert (first, second) == (False, True)
    assert note is not None
    assert (note.status, note.result) == (StepStatus.SKIPPED, "no time")
    assert held.plan.pending_steps == ["note", "act"]


def test_row_6_a_failed_step_stays_and_can_be_completed() -> None:
    """
    Failing sets the status and moves nothing; the step may still be completed.
    """
    held = enforcer()
    held.fail_current_step("boom")
    failed = held.get_step_summary()["failed"]
    held.complete_current_step()

    assert failed == 1
    assert held.plan.errors == ["Step look: boom"]
    assert held.plan.is_step_complete("look")


def test_row_6_a_failed_step_takes_its_on_failure() -> None:
    """
    Where the author says what follows a failure, failing goes there.
    """
    held = PlaybookEnforcer.from_playbook(
        steps(
            {"id": "try", "expected_tools": ["a"], "on_failure": "mend"}, {"id": "b", "next": "success"}, {"id": "mend"}
        )
    )
    held.fail_current_step("boom")

    assert held.current_step is not None
    assert held.current_step.id == "mend"


def test_row_6_reset_starts_over() -> None:
    """
    A new run, an empty plan, no violations.
    """
    held = enforcer()
    held.validate_tool_call("isolate")
    held.record_tool_call("query_siem")
    held.complete_current_step()
    held.reset()

    assert (held.violations, held.plan.total_tool_calls, held.plan.step_executions) == ([], 0, {})
    assert held.current_step is not None
    assert (held.current_step.id, held.progress) == ("look", 0.0)


def test_row_6_hints_and_summary() -> None:
    """
    The hints of this step and of the next, and counts of steps by what became of them.
    """
    held = enforcer()
    hints = (held.current_step_hints, held.get_next_step_hints())
    held.complete_current_step()
    held.skip_current_step()

    assert hints == (["last 24 hours"], ["short"])
    assert held.get_next_step_hints() == []
    assert held.get_step_summary() == {
        "total_steps": 3, "current_step_index": 2, "completed": 1, "skipped": 1, "failed": 0, "pending": 1,
        "progress": pytest.approx(1 / 3), "is_complete": False,
    }  # fmt: skip


@pytest.mark.parametrize("extra", [True, False])
def test_row_7_extra_tools_during_the_playbook(extra: bool) -> None:
    """
    A tool that no step names runs where extra tools are allowed, and is listed; a later step's tool is none (D8).
    """
    held = PlaybookEnforcer.from_playbook(playbook(allow_extra_tools=extra))

    assert held.validate_tool_call("ping").allowed is extra
    assert not held.validate_tool_call("isolate").allowed


@pytest.mark.parametrize("extra", [True, False])
def test_row_7_extra_tools_after_the_playbook(extra: bool) -> None:
    """
    After completion a call is allowed as extra tools are, with a hint; else it is the violation `playbook_complete`.
    """
    held = PlaybookEnforcer.from_playbook(playbook(allow_extra_tools=extra))
    while held.complete_current_step():
        pass
    answer = held.validate_tool_call("ping")

    assert (answer.allowed, answer.hints) == (extra, ["Playbook execution is complete"])
    assert (answer.violation is None) is extra
    if answer.violation is not None:
        told = "Playbook is complete, tool 'ping' called after completion"
        assert (answer.violation.violation_type, answer.violation.message) == ("playbook_complete", told)


def test_row_7_what_cannot_be_taken_back_is_never_extra() -> None:
    """
    S34: after completion, too, a tool declared irreversible is refused.
    """
    book = steps(
        {"id": "a", "expected_tools": ["pay"]}, allow_extra_tools=True, tools={"pay": {"effect": "irreversible"}}
    )
    hook = PlaybookEnforcerHook(book)

    said = run(hook, "pay", "pay")

    assert said[0] == "ran"
    assert "called after completion" in said[1]


def test_row_8_a_step_takes_no_more_than_its_calls() -> None:
    """
    At `max_tool_calls` a check is refused, in the seed's words.
    """
    held = PlaybookEnforcer.from_playbook(steps({"id": "a", "expected_tools": ["x", "y"], "max_tool_calls": 2}))
    held.record_tool_call("x")
    held.record_tool_call("x")
    answer = held.validate_tool_call("x")

    assert answer.violation is not None
    assert (answer.violation.violation_type, answer.hints) == ("max_tool_calls", ["Consider moving to the next step"])
    assert answer.violation.message == "Step 'a' has reached max tool calls (2)"


def test_row_8_the_hook_goes_on_when_every_tool_has_succeeded() -> None:
    """
    No host completes a step under a hook.
    """
    hook = PlaybookEnforcerHook(playbook())
    run(hook, "query_siem", "get_user", "comment", "isolate")

    assert hook.enforcer.is_complete
    assert hook.enforcer.plan.completed_steps == ["look", "note", "act"]


def test_row_8_the_hook_goes_on_when_the_calls_are_spent() -> None:
    """
    At `max_tool_calls` it goes on as the seed; what is missing is said, and the outcome is no success (S22).
    """
    hook = PlaybookEnforcerHook(
        steps({"id": "a", "expected_tools": ["x", "y"], "max_tool_calls": 1}, {"id": "b", "expected_tools": ["z"]})
    )
    run(hook, "x", "z")

    assert hook.enforcer.plan.completed_steps == ["a", "b"]
    assert hook.enforcer.plan.errors == ["Step a: its calls are spent; the step is incomplete"]
    assert hook.enforcer.outcome == "incomplete:a"


def test_row_9_a_failed_call_is_recorded_and_does_not_advance() -> None:
    """
    It is in the record of the step, and the step waits for a success.
    """
    hook = PlaybookEnforcerHook(playbook())
    run(hook, "query_siem", "get_user", fails=["get_user"])
    look = hook.enforcer.plan.get_step_execution("look")

    assert look is not None
    assert (look.tool_calls, look.status) == (["query_siem", "get_user"], StepStatus.IN_PROGRESS)
    assert hook.enforcer.current_step is not None
    assert hook.enforcer.current_step.id == "look"

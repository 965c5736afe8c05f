"""Every name that the seed's document gives the enforcement API is there, with its signature, keys and types."""

from __future__ import annotations

import inspect
from datetime import datetime
from typing import Any

import pytest
from pydantic import BaseModel

import guideway as gw
from guideway import enforcer as package
from guideway.enforcer import (
    EnforcementResult,
    EnforcementViolation,
    PlaybookEnforcer,
    PlaybookEnforcerHook,
    PlaybookPlan,
    StepExecution,
    StepStatus,
)

from .helpers import enforcer, playbook

METHODS = {
    "validate_tool_call": ["tool_name"], "record_tool_call": ["tool_name"], "complete_current_step": ["result"],
    "skip_current_step": ["reason"], "fail_current_step": ["error"], "get_next_step_hints": [],
    "get_step_summary": [], "reset": [],
}  # fmt: skip


@pytest.mark.parametrize("name", package.__all__)
def test_every_public_name_is_there(name: str) -> None:
    """
    `guideway.enforcer` exports what it says.
    """
    assert getattr(package, name) is not None


@pytest.mark.parametrize(("name", "parameters"), METHODS.items())
def test_methods_take_what_the_document_says(name: str, parameters: list[str]) -> None:
    """
    The same parameters, by the same names.
    """
    signature = inspect.signature(getattr(PlaybookEnforcer, name))

    assert [p for p in signature.parameters if p != "self"] == parameters


def test_from_playbook_takes_what_the_document_says() -> None:
    """
    By position: the playbook, whether to block, whether to record; both by default.
    """
    parameters = inspect.signature(PlaybookEnforcer.from_playbook).parameters

    assert list(parameters)[:3] == ["playbook", "block_violations", "record_violations"]
    assert (parameters["block_violations"].default, parameters["record_violations"].default) == (True, True)


def test_the_hook_takes_what_the_document_says() -> None:
    """
    The playbook by position, the rest by keyword, with the defaults of the document.
    """
    parameters = inspect.signature(PlaybookEnforcerHook).parameters

    assert next(iter(parameters)) == "playbook"
    for name, default in {"block_violations": True, "record_violations": True, "priority": 50}.items():
        assert (parameters[name].kind, parameters[name].default) == (inspect.Parameter.KEYWORD_ONLY, default)


@pytest.mark.parametrize("name", ["on_before_tool_call", "on_after_tool_call"])
def test_the_points_of_the_hook_are_asynchronous(name: str) -> None:
    """
    They take the event, and are awaited.
    """
    method = getattr(PlaybookEnforcerHook, name)

    assert inspect.iscoroutinefunction(method)
    assert list(inspect.signature(method).parameters) == ["self", "event"]


@pytest.mark.parametrize(
    "name", ["violations", "current_step", "current_step_hints", "progress", "is_complete", "plan",
             "block_violations", "record_violations"],
)  # fmt: skip
def test_attributes_of_the_enforcer(name: str) -> None:
    """
    Each can be read from a fresh enforcer.
    """
    assert getattr(enforcer(), name) is not None


@pytest.mark.parametrize(
    "name", ["playbook", "started_at", "current_step_index", "step_executions", "completed", "total_tool_calls",
             "errors", "metadata", "current_step", "progress", "completed_steps", "pending_steps"],
)  # fmt: skip
def test_attributes_of_the_plan(name: str) -> None:
    """
    Each can be read from a plan that nobody runs, too.
    """
    assert getattr(PlaybookPlan(playbook=playbook()), name) is not None


def test_attributes_of_an_execution() -> None:
    """
    The fields of the document, with its defaults.
    """
    assert StepExecution(step_id="a").model_dump() == {
        "step_id": "a", "status": "pending", "started_at": None, "completed_at": None, "tool_calls": [],
        "tool_call_count": 0, "result": None, "error": None,
    }  # fmt: skip


def test_statuses() -> None:
    """
    The five words of the document.
    """
    assert [str(status) for status in StepStatus] == ["pending", "in_progress", "completed", "skipped", "failed"]


def test_attributes_of_a_violation_and_a_result() -> None:
    """
    The fields of the document; a time is set where none is given.
    """
    violation = EnforcementViolation(violation_type="unexpected_tool", message="no")
    result = EnforcementResult(allowed=False, violation=violation)

    assert isinstance(violation.timestamp, datetime)
    assert (violation.step_id, violation.tool_name, violation.blocked) == (None, None, False)
    assert (result.allowed, result.violation, result.hints, result.current_step) == (False, violation, [], None)


@pytest.mark.parametrize(
    "model", [EnforcementResult, EnforcementViolation, PlaybookEnforcer, PlaybookPlan, StepExecution, gw.Playbook,
              gw.PlaybookStep],
)  # fmt: skip
def test_models_are_pydantic_models(model: type[Any]) -> None:
    """
    `Bases: BaseModel`.
    """
    assert issubclass(model, BaseModel)


def test_keys_of_the_summary() -> None:
    """
    Every key of the document, and no other.
    """
    assert set(enforcer().get_step_summary()) == {
        "total_steps", "current_step_index", "completed", "skipped", "failed", "pending", "progress", "is_complete",
    }  # fmt: skip


def test_the_enforcer_is_made_as_in_the_document() -> None:
    """
    The body of `from_playbook` in the document works from outside as well.
    """
    held = PlaybookEnforcer(plan=PlaybookPlan(playbook=playbook()), block_violations=True, record_violations=True)

    assert held.validate_tool_call("query_siem").allowed

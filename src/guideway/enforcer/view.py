"""The plan as a view of the run: a fold over the session's records, and the place where its cursor stands."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from guideway.playbooks.models import StepStatus
from guideway.runtime.records import Record, to_json
from guideway.runtime.session import Session
from guideway.statemachine.definition import EndKind
from guideway.statemachine.tools import CONTROL

from .joining import root_state
from .machines import definition_of
from .plan import PlaybookPlan, StepExecution

FAILED_BY_HOST = "step_failed"
"""The note by which `fail_current_step` marks a step that stays open."""

RAN_UNASKED = "ran_unasked"
"""The note of a call that ran though nobody had asked the gate about it."""

LEFT = {
    "completed": StepStatus.COMPLETED, "joined": StepStatus.COMPLETED, "approved": StepStatus.COMPLETED,
    "advanced": StepStatus.COMPLETED, "skipped": StepStatus.SKIPPED, "failed": StepStatus.FAILED,
    "exhausted": StepStatus.FAILED, "timeout": StepStatus.FAILED, "rejected": StepStatus.FAILED,
}  # fmt: skip
"""Event by which a step is left -> what it is then; `advanced` is the seed's way on when the calls are spent."""


def unfold(plan: PlaybookPlan, session: Session, records: Iterable[Record]) -> None:
    """Bring the plan up to date with what has been recorded; `place` says where the run stands then."""
    for record in records:
        at, line = record[1], to_json(record)
        match line["kind"]:
            case "settled":
                called(plan, line, at)
            case "moved":
                left(plan, line, at)
            case "host":
                said(plan, line, at)
            case "noted":
                noted(plan, line, at)
            case "ended":
                plan.completed = reached_an_end(session, line["state"])


def called(plan: PlaybookPlan, line: dict[str, Any], at: datetime | None) -> None:
    """A call has run: it is listed in the step it was admitted for, else in the one that is open."""
    if line["outcome"] not in ("ok", "error", "unknown") or line["tool"] in CONTROL:
        return
    if isinstance(detail := line.get("detail"), dict) and detail.get("substituted"):
        return
    listed(plan, line["tool"], line.get("step") or "", at)


def listed(plan: PlaybookPlan, tool: str, step: str, at: datetime | None) -> None:
    """List a call that ran."""
    plan.total_tool_calls += 1
    if not step and plan.current_step is not None:
        step = plan.current_step.id
    if plan.playbook.get_step(step) is None:
        return
    execution = execution_of(plan, step, at)
    execution.tool_calls.append(tool)
    execution.tool_call_count += 1


def execution_of(plan: PlaybookPlan, step: str, at: datetime | None) -> StepExecution:
    """The record of a step, begun now if there is none."""
    if step not in plan.step_executions:
        plan.step_executions[step] = StepExecution(step_id=step, status=StepStatus.IN_PROGRESS, started_at=at)
    return plan.step_executions[step]


def left(plan: PlaybookPlan, line: dict[str, Any], at: datetime | None) -> None:
    """The step was left, and this is how; the place moves on at once, for calls recorded right after."""
    status, step = LEFT.get(line["event"]), line.get("step") or ""
    if status is None or plan.playbook.get_step(step) is None:
        return
    execution = execution_of(plan, step, at)
    execution.status = status
    execution.completed_at = None if status is StepStatus.SKIPPED else at
    if status is StepStatus.FAILED or line["event"] == "advanced":
        execution.error = line.get("why") or line["event"]
        plan.errors.append(f"Step {step}: {execution.error}")
    elif status is StepStatus.COMPLETED:
        execution.error = None
    target = plan.playbook.get_step_index(line["target"].removesuffix(".entry"))
    if target is not None:
        plan.current_step_index = target


def said(plan: PlaybookPlan, line: dict[str, Any], at: datetime | None) -> None:
    """What the host said when it completed or skipped a step."""
    note, step = line.get("note"), line.get("step") or ""
    if line["verb"] in ("complete", "skip") and note and plan.playbook.get_step(step) is not None:
        execution_of(plan, step, at).result = note


def noted(plan: PlaybookPlan, line: dict[str, Any], at: datetime | None) -> None:
    """The notes of this package itself."""
    data = line.get("data") or {}
    if line["name"] == RAN_UNASKED:
        listed(plan, data["tool"], "", at)
    elif line["name"] == FAILED_BY_HOST:
        execution = execution_of(plan, data["step"], at)
        execution.status, execution.completed_at, execution.error = StepStatus.FAILED, at, data["error"]
        plan.errors.append(f"Step {data['step']}: {data['error']}")


def reached_an_end(session: Session, state: str) -> bool:
    """The run came to an end that the playbook declares, not to a limit or a fault."""
    found = definition_of(session.machine).states.get(state)
    return found is not None and found.end is not None and found.end.kind is EndKind.GOAL


def place(plan: PlaybookPlan, session: Session) -> None:
    """Where the run stands, as a position in the playbook's own list; a run that broke off stays where it was."""
    if plan.completed:
        plan.current_step_index = len(plan.playbook.steps)
        return
    if session.outcome is not None:
        return
    found = (position(plan, session, state) for state in (*session.states, root_state(session)))
    plan.current_step_index = next((index for index in found if index is not None), plan.current_step_index)


def position(plan: PlaybookPlan, session: Session, state: str) -> int | None:
    """The step of the playbook's own list that the state lies in."""
    definition = definition_of(session.machine)
    there = definition.states.get(state)
    step = there.step if there is not None else None
    while step is not None and (index := plan.playbook.get_step_index(step.id)) is None:
        step = definition.steps.get(step.block)
    return index if step is not None else None

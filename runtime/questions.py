"""Questions to people: opening them, and what a decision does (S24, S29, S30)."""

from __future__ import annotations

from typing import Any

from guideway.statemachine.expressions import Unknown as Missing
from guideway.statemachine.expressions import compile_value, plain
from guideway.statemachine.steps import Approval

from .facts import copy
from .own import clean
from .run import Bound, Pending, Run, Status
from .scope import scope
from .verdicts import Ask, NeedsApproval


def text(run: Run, template: Any, names: dict[str, Any]) -> Any:
    """Fill a template; a value that is unknown, or cannot be written as JSON (2^53 + 1), comes back as `Missing`."""
    return written(compile_value(template)(names, run.now))


def written(value: Any) -> Any:
    """A value as it leaves the evaluator: plain JSON of our own, or unknown."""
    found = value if isinstance(value, Missing) else plain(value)
    if isinstance(found, Missing):
        return found
    try:
        return copy(found)
    except ValueError as error:
        return Missing(str(error))


def write(run: Run, approval: Approval, names: dict[str, Any]) -> tuple[str, tuple[str, ...]] | str:
    """The question and who may answer it, or why they cannot be written."""
    ask = text(run, approval.ask, names)
    approvers = text(run, list(approval.approvers), names)
    for value in (ask, approvers):
        if isinstance(value, Missing):
            return value.why
    return str(ask), tuple(map(str, approvers))


def ask_step(run: Run, args: dict[str, Any] | None) -> str | None:
    """Ask for the step the cursor stands before, showing its call; says why where the question cannot be written."""
    step, cursor = run.row.step, run.cursor
    if step is None or step.approval is None:
        return None
    question = write(run, step.approval, scope(run))
    if isinstance(question, str):
        return question
    pending = Pending(f"step {step.id}@{cursor.visit}", "step", step.id, cursor.visit, *question)
    if step.call is not None:
        pending.tool, pending.args = step.call.tool, args
    open_question(run, pending)
    return None


def ask_call(run: Run, bound: Bound, approval: Approval) -> NeedsApproval | str:
    """Ask for one exact call; its arguments are bound to the question."""
    question = write(run, approval, scope(run, args=bound.args))
    if isinstance(question, str):
        return question
    pending = Pending(f"call {bound.call_id}", "call", run.cursor.step, run.cursor.visit, *question)
    pending.call, pending.tool, pending.args = bound, bound.tool, bound.args
    bound.status = Status.PENDING
    open_question(run, pending)
    return NeedsApproval(bound.call_id, bound.tool, pending.step, pending.approval_id, *question)


def ask_whether(run: Run, bound: Bound) -> None:
    """Nobody knows whether a call happened: a person looks (S24)."""
    bound.status = Status.DOUBT
    ask = f"Did `{bound.tool}` happen? Nobody knows what became of call {bound.call_id}."
    pending = Pending(f"reconcile {bound.call_id}", "reconcile", bound.step, bound.visit, ask, ())
    pending.call, pending.tool, pending.args = bound, bound.tool, bound.args
    open_question(run, pending)


def open_question(run: Run, pending: Pending) -> None:
    """Put the question to the control plane."""
    run.pending[pending.approval_id] = pending
    run.commands[pending.approval_id] = Ask(pending.approval_id, pending.ask, pending.approvers, pending.step)
    run.record(
        "asked", pending.approval_id, pending.of, pending.step, pending.tool, pending.args, pending.ask,
        list(pending.approvers),
    )  # fmt: skip


def close(run: Run, pending: Pending, decision: str, by: str | None, note: str) -> None:
    """A person has decided."""
    del run.pending[pending.approval_id]
    run.retired[pending.approval_id] = decision
    run.commands.pop(pending.approval_id, None)
    run.record("answered", pending.approval_id, decision, by, clean(note) or None, pending.step)

"""Questions to people: writing them, opening them, closing them (S24, S29, S30)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from guideway.statemachine.approvals import Approval
from guideway.statemachine.expressions import Unknown as Missing
from guideway.statemachine.expressions import compile_value, plain

from .cursors import Cursor
from .facts import copy
from .leaving import forget_timers, path_of
from .own import clean, words
from .persons import needed
from .run import Bound, Pending, Run, Status, Timer
from .scope import scope
from .verdicts import Ask, NeedsApproval


class Question(NamedTuple):
    """A question, its texts filled in."""

    ask: str
    approvers: tuple[str, ...]
    excluded: tuple[str, ...] = ()


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


def write(run: Run, approval: Approval, names: dict[str, Any]) -> Question | str:
    """The question, who may answer it and who may not; or why it cannot be written."""
    ask = text(run, approval.ask, names)
    approvers = people(text(run, list(approval.approvers), names))
    excluded = people(text(run, list(approval.excluded), names))
    for value in (ask, approvers, excluded):
        if isinstance(value, Missing):
            return value.why
    return Question(clean(ask), approvers, excluded)


def people(names: Any) -> Any:
    """Persons and groups as texts; a list inside the list is taken apart, an empty name is nobody."""
    if isinstance(names, Missing):
        return names
    flat = [name for part in names for name in (part if isinstance(part, list) else [part])]
    if any(name is None or name == "" or isinstance(name, list | dict) for name in flat):
        return Missing("a person or group has no name")
    return tuple(clean(name) for name in flat)


def ask_step(run: Run, cursor: Cursor, approval: Approval, args: dict[str, Any] | None) -> str | None:
    """Ask for the step the cursor stands before, showing its call; says why where the question cannot be written."""
    step, frame = cursor.row.step, cursor.frame
    question = write(run, approval, scope(run, frame))
    if isinstance(question, str):
        return question
    pending = Pending(f"step {cursor.name}@{cursor.visit}", "step", cursor, question.ask, question.approvers)
    if step is not None and step.call is not None:
        pending.tool, pending.args = step.call.tool, args
    open_question(run, pending, approval, question)
    return None


def ask_call(run: Run, bound: Bound, approval: Approval) -> NeedsApproval | str:
    """Ask for one exact call; its arguments are bound to the question."""
    question = write(run, approval, scope(run, bound.frame or run.frame, args=bound.args))
    if isinstance(question, str):
        return question
    pending = Pending(f"call {bound.call_id}", "call", bound.cursor, question.ask, question.approvers)
    pending.call, pending.tool, pending.args = bound, bound.tool, bound.args
    pending.step = pending.step or bound.step
    bound.status = Status.PENDING
    open_question(run, pending, approval, question)
    return NeedsApproval(bound.call_id, bound.tool, pending.step, pending.approval_id, question.ask, question.approvers)


def ask_whether(run: Run, bound: Bound) -> None:
    """Nobody knows whether a call happened: a person looks (S24)."""
    bound.status = Status.DOUBT
    ask = f"Did `{bound.tool}` happen? Nobody knows what became of call {bound.call_id}."
    pending = Pending(f"reconcile {bound.call_id}", "reconcile", bound.cursor, ask, ())
    pending.step, pending.visit = bound.step, bound.visit
    pending.call, pending.tool, pending.args = bound, bound.tool, bound.args
    open_question(run, pending)


def open_question(
    run: Run, pending: Pending, approval: Approval | None = None, question: Question | None = None
) -> None:  # fmt: skip
    """Put the question to the control plane; one with a deadline of its own expires."""
    if approval is not None:
        pending.count, pending.everyone = approval.count, approval.everyone
        if approval.timeout is not None and run.now is not None:
            due = run.now + timedelta(seconds=approval.timeout)
            run.set_timer(Timer(due, "expire", pending.cursor, pending.approval_id))
    if question is not None:
        pending.excluded = question.excluded
    run.pending[pending.approval_id] = pending
    if pending.cursor is not None:
        pending.cursor.asking = True
    run.commands[pending.approval_id] = Ask(pending.approval_id, pending.ask, pending.approvers, pending.step)
    run.record(
        "asked", pending.approval_id, pending.of, pending.step, pending.tool, pending.args, pending.ask,
        list(pending.approvers), path_of(pending.cursor), list(pending.excluded) or None,
        how_many if (how_many := needed(pending)) > 1 else None,
    )  # fmt: skip


def close(run: Run, pending: Pending, decision: str, by: str | None, note: str, answer: Any = None) -> None:
    """A person has decided."""
    del run.pending[pending.approval_id]
    run.retired[pending.approval_id] = decision
    run.commands.pop(pending.approval_id, None)
    forget_timers(run, pending)
    where = path_of(pending.cursor)
    run.record("answered", pending.approval_id, decision, by, words(note) or None, pending.step, where, answer)

"""Work and answers of people: the step `ask` (S30)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from guideway.statemachine.blocks import Ask
from guideway.statemachine.expressions import Unknown as Missing

from .cursors import Cursor
from .facts import copy
from .moves import fail, finish
from .own import clean
from .questions import close, open_question, people, text
from .run import Pending, Run, Timer
from .schemas import problem
from .scope import scope
from .verdicts import Ask as AskCommand


def ask_person(run: Run, cursor: Cursor) -> None:
    """Put the question to those it is for."""
    step, frame = cursor.row.step, cursor.frame
    if step is None or step.ask is None:
        return
    names = scope(run, frame)
    question = text(run, step.ask.question, names)
    assignees = people(text(run, list(step.ask.assignees), names))
    for value in (question, assignees):
        if isinstance(value, Missing):
            fail(run, cursor, f"ask: {value.why}")
            return
    pending = Pending(f"ask {cursor.name}@{cursor.visit}", "ask", cursor, clean(question), assignees)
    open_question(run, pending)
    run.commands[pending.approval_id] = command(pending, step.ask)
    remind_later(run, pending, step.ask)


def command(pending: Pending, ask: Ask, reminders: int = 0) -> AskCommand:
    """The question as a host is given it."""
    return AskCommand(
        pending.approval_id, pending.ask, pending.approvers, pending.step, ask.choices, tuple(ask.fields), reminders
    )


def remind_later(run: Run, pending: Pending, ask: Ask) -> None:
    """Set the clock for the next reminder."""
    if ask.remind is not None and run.now is not None:
        due = run.now + timedelta(seconds=ask.remind)
        run.set_timer(Timer(due, "remind", pending.cursor, pending.approval_id))


def remind(run: Run, approval_id: str) -> None:
    """Issue the question again."""
    pending = run.pending.get(approval_id)
    known = run.commands.get(approval_id)
    step = pending.cursor.row.step if pending is not None and pending.cursor is not None else None
    if pending is None or step is None or step.ask is None or not isinstance(known, AskCommand):
        return
    run.commands[approval_id] = command(pending, step.ask, known.reminders + 1)
    remind_later(run, pending, step.ask)


def wrong_answer(pending: Pending, answer: Any, fields: Mapping[str, Any]) -> str | None:
    """Why the answer is none: a label outside the choices, a field missing, unknown, or of another type."""
    step = pending.cursor.row.step if pending.cursor is not None else None
    if step is None or step.ask is None:
        return "nobody is asked any more"
    ask = step.ask
    if ask.choices and answer not in ask.choices:
        return f"the answer is one of {', '.join(ask.choices)}, not {answer!r}"
    if not ask.choices and not isinstance(answer, str):
        return "the answer is a text"
    for name, schema in ask.fields.items():
        if name not in fields:
            return f"the field `{name}` is missing"
        if wrong := problem(dict(schema), fields[name]):
            return f"field `{name}`: {wrong}"
    strange = next((name for name in fields if name not in ask.fields), None)
    return None if strange is None else f"there is no field `{strange}`"


def answer_with(run: Run, pending: Pending, by: str | None, answer: str, fields: Mapping[str, Any], note: str) -> None:
    """Write the answer down, and go where it leads."""
    cursor = pending.cursor
    step = cursor.row.step if cursor is not None else None
    if cursor is None or step is None or step.ask is None:
        return
    ask = step.ask
    value: Any = answer
    if ask.fields:
        value = {**copy(dict(fields)), **({"choice": answer} if ask.choices else {})}
    close(run, pending, "answered", by, note, value)
    cursor.frame.write("answers", step.id, value)
    event = f"answered {answer}"
    who = f"answered by {by}" if by else "answered"
    finish(run, cursor, event if cursor.row.state.edges.get(event) else "completed", who)

"""Questions to people, and the user of a conversation: put to whoever the host named, without holding up the rest."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any

from guideway.runtime.approvals import Question
from guideway.runtime.calls import told
from guideway.runtime.decisions import Decision, enact
from guideway.runtime.verdicts import Ask, Decided, Wait
from guideway.statemachine.errors import HostError

from .events import ApprovalAsked
from .live import Live

USER = ""
"""Stands for the user among those who are being asked."""
TRIES = 3
"""How often a source is asked again when what it said does not count."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A person allows a call with other arguments; it goes through the gate once more (row 33)."""

    by: str
    args: Mapping[str, Any]
    note: str = ""
    groups: tuple[str, ...] = field(default=())


def put(live: Live) -> bool:
    """Put every open question that is new to the source of decisions; True where one was decided at once."""
    reminders = {c.call_id: c.reminders for c in live.session.commands if isinstance(c, Ask)}
    for question in live.control.pending:
        occasion = (question.approval_id, len(question.said), reminders.get(question.approval_id, 0))
        if occasion in live.put:
            continue
        live.put.add(occasion)
        live.emit(ApprovalAsked(question))
        if ask(live, question):
            return True
    return False


def ask(live: Live, question: Question, objection: str = "", tries: int = 1) -> bool:
    """Ask about one question; an answer that must be waited for is a task, which `collect` looks at."""
    said = said_by(live.settings.decisions, question, objection)
    if inspect.isawaitable(said):
        live.questions[question.approval_id] = asyncio.ensure_future(_finish(said))
        return False
    return heed(live, question, said, tries)


def said_by(source: Any, question: Question, objection: str) -> Any:
    """What the source says: a function of the question, or an object with `decide`."""
    if source is None:
        return None
    decide = getattr(source, "decide", None)
    return source(question) if decide is None else decide(question, objection)


async def _finish(said: Awaitable[Any]) -> Any:
    return await said


def heed(live: Live, question: Question, said: Any, tries: int = 1) -> bool:
    """Do what was decided; True where that counted, or time has closed the question."""
    if said is None:
        return False
    decided = carry_out(live, question, said)
    live.take(decided.progress.verdicts)
    if decided.accepted or question.approval_id not in {q.approval_id for q in live.control.pending}:
        return True
    again = getattr(live.settings.decisions, "decide", None) is not None and tries < TRIES
    return again and ask(live, question, decided.reason, tries + 1)


def carry_out(live: Live, question: Question, said: Any) -> Decided:
    """
    Put a decision to the control plane.

    Raises:
        HostError: it is no decision.
    """
    now = live.clock.now()
    if isinstance(said, Edited):
        return live.control.approve(
            question.approval_id, by=said.by, groups=said.groups, note=said.note, args=said.args, now=now
        )
    if not isinstance(said, Decision):
        raise HostError(
            "a decision names who made it: give Decision('approve', by='…'), Edited(by='…', args=…) or None, not "
            + told(said)
        )
    return enact(live.control, question, said, now)


def may_hear(live: Live) -> bool:
    """Somebody in another process may say something that the run waits for."""
    if live.settings.journal is None or live.session.outcome is not None:
        return False
    waits = any(isinstance(c, Wait) and c.signal is not None for c in live.session.commands)
    return waits or bool(live.control.pending)


def deliver(live: Live) -> bool:
    """Carry out what people in other processes have left in the journal; True where something counted."""
    if not may_hear(live):
        return False
    from guideway.runtime.journal import deliver as delivered

    found = delivered(live.session, live.settings.journal_key, now=live.clock.now())
    for message in found:
        if message.progress is not None:
            live.take(message.progress.verdicts)
    return any(message.accepted for message in found)


def collect(live: Live) -> bool:
    """Take the decisions that have come meanwhile; one that comes too late changes nothing."""
    done = [approval_id for approval_id, task in live.questions.items() if task.done()]
    for approval_id in done:
        said = live.questions.pop(approval_id).result()
        if approval_id == USER:
            heard(live, said)
            continue
        question = next((q for q in live.control.pending if q.approval_id == approval_id), None)
        if question is not None:
            heed(live, question, said)
    return bool(done)


def answered(live: Live) -> bool:
    """
    The user has answered the agent's last words; False where nobody has.

    Who takes time to answer is waited for beside all else: deadlines go on.
    """
    occasion = (USER, live.memory.iterations)
    if live.settings.user is None or USER in live.questions or occasion in live.put:
        return False
    live.put.add(occasion)
    answer = getattr(live.settings.user, "answer", live.settings.user)
    said = answer(live.memory.reply)
    if inspect.isawaitable(said):
        live.questions[USER] = asyncio.ensure_future(_finish(said))
        return False
    return heard(live, said)


def heard(live: Live, said: Any) -> bool:
    """Take what the user has said; None: nothing."""
    if said is not None:
        hear(live, said)
    return said is not None


def hear(live: Live, text: str) -> None:
    """The user has said this."""
    live.memory.messages.append({"role": "user", "content": text})
    live.memory.talking, live.memory.nudge = False, None

"""Approvals under a hook: a callback of the host's decides, and is all there is of a control plane."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

from guideway.runtime.approvals import Approvals, Question

from .enforcer import PlaybookEnforcer

Ask = Callable[[Question], str | Awaitable[str | None] | None]
"""Asks a person.  Returns the name of who allows it; None: it is rejected."""


async def ask_for_step(enforcer: PlaybookEnforcer, people: Ask | None) -> None:
    """Have the approvals of the step itself decided: they come before any call of it (S29)."""
    control = Approvals(enforcer.session)
    while question := next((q for q in control.pending if q.of == "step"), None):
        await put(enforcer, control, question, people)


async def ask_for_call(enforcer: PlaybookEnforcer, approval_id: str, people: Ask | None) -> None:
    """Have exactly this call decided on, by as many persons as it takes."""
    control = Approvals(enforcer.session)
    while question := next((q for q in control.pending if q.approval_id == approval_id), None):
        await put(enforcer, control, question, people)


async def put(enforcer: PlaybookEnforcer, control: Approvals, question: Question, people: Ask | None) -> None:
    """Put one question to one person.  Whatever is no clear yes of somebody who may decide is a no."""
    who: str | None = None
    why = "nobody allowed it"
    try:
        answer = people(question) if people is not None else None
        who = await answer if inspect.isawaitable(answer) else answer
    finally:
        now = enforcer._clock()
        said = control.approve(question.approval_id, by=who, now=now) if who else None
        if said is None or not said.accepted:
            said = control.withdraw(question.approval_id, note=said.reason if said is not None else why, now=now)
        enforcer._refresh(said.progress.verdicts)

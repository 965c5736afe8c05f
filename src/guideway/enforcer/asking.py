"""Approvals under a hook: a callback of the host's decides, and is all there is of a control plane."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

from guideway.runtime.approvals import Approvals, Question
from guideway.runtime.verdicts import NeedsApproval, Verdict

from .enforcer import PlaybookEnforcer

Ask = Callable[[Question], str | Awaitable[str | None] | None]
"""Asks a person.  Returns the name of who allows it; None: it is rejected."""


async def asked_of_step(enforcer: PlaybookEnforcer, people: Ask | None) -> None:
    """Have the approvals of the step itself decided: they come before any call of it (S29)."""
    control = Approvals(enforcer._session)
    while question := next((q for q in control.pending if q.of == "step"), None):
        if not await put(enforcer, control, question, people):
            return


async def decided(enforcer: PlaybookEnforcer, asks: NeedsApproval, people: Ask | None) -> Verdict:
    """Have exactly this call decided on.  Returns the gate's answer after it."""
    control, verdict = Approvals(enforcer._session), asks
    found: list[Verdict] = [verdict]
    while question := next((q for q in control.pending if q.approval_id == asks.approval_id), None):
        if not await put(enforcer, control, question, people, found):
            break
    return next(v for v in reversed(found) if v.call_id == asks.call_id)


async def put(
    enforcer: PlaybookEnforcer, control: Approvals, question: Question, people: Ask | None,
    found: list[Verdict] | None = None,
) -> bool:  # fmt: skip
    """Put one question to one person.  Returns False when it is settled with a no."""
    answer = people(question) if people is not None else None
    who = await answer if inspect.isawaitable(answer) else answer
    now = enforcer._clock()
    said = control.approve(question.approval_id, by=who, now=now) if who else None
    if said is None or not said.accepted:
        why = said.reason if said is not None else "nobody allowed it"
        said = control.withdraw(question.approval_id, note=why, now=now)
        who = None
    if found is not None:
        found += said.progress.verdicts
    enforcer._refresh()
    return who is not None

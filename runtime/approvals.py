"""
The control plane: where people decide (S29, S30).

It is an object of its own, so that what an adapter hands to an agent holds no verb that reaches it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from guideway.statemachine.definition import StateKind
from guideway.statemachine.errors import HostError

from .calls import Succeeded, told
from .facts import copy
from .gate import Admit, Hold, decide
from .issue import reject as reject_call
from .issue import start
from .moves import fail, take
from .own import Settled, clean, own
from .questions import close
from .run import Bound, Pending, Run, Status
from .session import Session
from .settle import apply
from .teach import refuse
from .turns import follow
from .verdicts import Decided


@dataclass(frozen=True, slots=True)
class Question:
    """A decision that is asked for: `of` is `step`, `call` or `reconcile`; a call shows its exact arguments."""

    approval_id: str
    of: str
    step: str
    ask: str
    approvers: tuple[str, ...]
    tool: str | None = None
    args: dict[str, Any] | None = None
    call_id: str | None = None


class Approvals:
    """
    Decide what a session waits for.  `by` names the person; an approval that lists approvers takes nobody else.

    >>> import guideway
    >>> machine = guideway.load({"id": "t", "name": "T", "steps": [
    ...     {"id": "agree", "approval": {"ask": "Go on?", "approvers": ["lead"]}}]})
    >>> session = guideway.Session(machine)
    >>> control = Approvals(session)
    >>> control.approve(control.pending[0].approval_id, by="lead").accepted
    True
    >>> session.outcome
    'success'
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def pending(self) -> list[Question]:
        """What is asked now, oldest first."""
        with self._session._inside(thaw=False) as run:
            return [show(pending) for pending in run.pending.values()]

    def approve(self, approval_id: str, *, by: str, note: str = "", now: datetime | None = None) -> Decided:
        """Allow the step, or exactly this call."""
        return self._decide(approval_id, person(by), now, partial(granted, note=note), of=("step", "call"))

    def reject(self, approval_id: str, *, by: str, note: str = "", now: datetime | None = None) -> Decided:
        """Refuse it."""
        return self._decide(approval_id, person(by), now, partial(rejected, note=note), of=("step", "call"))

    def withdraw(self, approval_id: str, *, note: str = "", now: datetime | None = None) -> Decided:
        """Give the question up on the host's own authority: it counts as rejected, and the record names nobody."""
        return self._decide(approval_id, None, now, partial(rejected, note=note), of=("step", "call"))

    def happened(
        self, approval_id: str, result: Any = None, *, by: str, note: str = "", now: datetime | None = None
    ) -> Decided:
        """Reconcile an unknown call: it happened, with this result (S24)."""
        found = partial(reconcile, outcome=own(Succeeded(result)), note=note)
        return self._decide(approval_id, person(by), now, found, of=("reconcile",))

    def did_not_happen(self, approval_id: str, *, by: str, note: str = "", now: datetime | None = None) -> Decided:
        """Reconcile an unknown call: it did not happen, so it may be made again."""
        found = partial(reconcile, outcome=Settled("cancelled"), note=note)
        return self._decide(approval_id, person(by), now, found, of=("reconcile",))

    def _decide(
        self,
        approval_id: str,
        by: str | None,
        now: datetime | None,
        effect: Callable[[Run, Pending, str | None], None],
        of: tuple[str, ...],
    ) -> Decided:
        session = self._session
        if not isinstance(approval_id, str):
            raise HostError(f"an approval is named by a text, not {told(approval_id)}")
        with session._inside(), session._verb(now):
            run = session._run
            pending = run.pending.get(approval_id)
            if pending is None and approval_id not in run.retired:
                raise HostError(f"nobody is asked {approval_id!r}")
            why = objection(run, pending, approval_id, by, of)
            if why is None and pending is not None:
                effect(run, pending, by)
                follow(run)
            return Decided(why is None, why or "", session._progress())


def show(pending: Pending) -> Question:
    """The question as the control plane sees it."""
    return Question(
        pending.approval_id, pending.of, pending.step, pending.ask, pending.approvers, pending.tool,
        copy(pending.args), pending.call.call_id if pending.call else None,
    )  # fmt: skip


def person(by: object) -> str:
    """
    The name of whoever decides.

    Raises:
        HostError: nobody is named.
    """
    if not isinstance(by, str) or not by:
        raise HostError(f"a decision names the person who makes it, by=…, not {told(by)}")
    return clean(by)


def objection(run: Run, pending: Pending | None, approval_id: str, by: str | None, of: tuple[str, ...]) -> str | None:
    """Why the decision does not count."""
    if pending is None:
        return f"it is decided already: {run.retired[approval_id]}"
    if pending.approvers and by is not None and by not in pending.approvers:
        return f"{by} may not decide this; {', '.join(pending.approvers)} may"
    if pending.of not in of:
        return "this asks whether a call happened" if pending.of == "reconcile" else "this asks for an approval"
    return None


def granted(run: Run, pending: Pending, by: str | None, note: str) -> None:
    """Decided once more, since the world may have moved while the person thought (S30)."""
    close(run, pending, "approved", by, note)
    bound = pending.call
    if bound is None:
        if run.row.kind is not StateKind.APPROVAL:  # nothing here asks any more; never taken for a completion
            return
        take(run, "approved" if run.row.state.edges.get("approved") else "completed", f"approved by {by}")
        return
    bound.approved = True
    decision = decide(run, bound)
    if isinstance(decision, Admit):
        start(run, bound)
    elif isinstance(decision, Hold):
        wait_again(run, bound)
    else:
        del run.outstanding[bound.call_id]
        refuse(run, bound, *decision)
        if bound.automatic:
            fail(run, f"denied: {decision.code}")


def wait_again(run: Run, bound: Bound) -> None:
    """Allowed by the person, held by the gate: it is decided again with the next wave, and not asked again."""
    del run.outstanding[bound.call_id]
    bound.status = Status.DEFERRED
    if bound.automatic:
        run.waiting.append(bound)


def rejected(run: Run, pending: Pending, by: str | None, note: str) -> None:
    """The step's `on_reject`, its default end, or a refused call."""
    close(run, pending, "rejected", by, note)
    why = (f"rejected by {by}" if by else "given up by the host") + (f": {note}" if note else "")
    if pending.call is None:
        take(run, "rejected", why)
    else:
        if run.turn is not None and not pending.call.automatic:
            run.turn.failed = True
        reject_call(run, pending.call, why)


def reconcile(run: Run, pending: Pending, by: str | None, outcome: Settled, note: str) -> None:
    """What the person found is the outcome; an automatic call that did not happen is made again (S24)."""
    close(run, pending, "happened" if outcome.word == "ok" else "did not happen", by, note)
    bound = pending.call
    if bound is None:
        return
    again = bound.automatic and outcome.word == "cancelled" and bound.step == run.cursor.step
    if again and bound.visit == run.cursor.visit:
        make_again(run, bound)
    else:
        apply(run, bound, outcome)


def make_again(run: Run, bound: Bound) -> None:
    """Settle the call as not run and issue it anew, under the approval it had."""
    del run.outstanding[bound.call_id]
    bound.status = Status.DONE
    run.settled[bound.call_id] = Settled("cancelled")
    run.record("settled", bound.call_id, bound.tool, "cancelled", None, False, bound.step)
    run.cursor.again, run.cursor.granted = bound.args, True
    run.fresh = True

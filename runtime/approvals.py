"""
The control plane: where people decide (S29, S30).

It is an object of its own, so that what an adapter hands to an agent holds no verb that reaches it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from guideway.statemachine.definition import StateKind
from guideway.statemachine.errors import HostError

from .asking import answer_with, wrong_answer
from .calls import Succeeded, told
from .candidates import Admit, Hold
from .cursors import Cursor
from .facts import copy
from .gate import decide
from .issue import past_approval, start
from .issue import reject as reject_call
from .leaving import path_of
from .monitors import approved
from .moves import fail, take
from .own import Settled, clean, own, words
from .persons import needed, no_more, objection_to, roles, settled
from .questions import close
from .run import Bound, Pending, Run, Status
from .session import Session
from .settle import apply
from .teach import explain, refuse
from .turns import follow
from .verdicts import Decided


@dataclass(frozen=True, slots=True)
class Question:
    """
    A decision or answer that is asked for: `of` is `step`, `call`, `reconcile` or `ask`.

    A call shows its exact arguments; an `ask` its choices and fields (JSON Schemas).  `needed` is how many different
    persons must allow it, one from each of the approvers where `everyone` is set; `said` who has.
    """

    approval_id: str
    of: str
    step: str
    ask: str
    approvers: tuple[str, ...]
    tool: str | None = None
    args: dict[str, Any] | None = None
    call_id: str | None = None
    excluded: tuple[str, ...] = ()
    needed: int = 1
    everyone: bool = False
    said: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)


ALLOWING = ("step", "call")
"""What an approval is of."""


@dataclass(frozen=True, slots=True)
class Deed:
    """One decision: its verb, what it may be on, who makes it (nobody: the host), what it does, and its arguments."""

    verb: str
    of: tuple[str, ...]
    by: str | None
    effect: Callable[[Run, Pending, str | None], None]
    data: Mapping[str, Any]
    groups: tuple[str, ...] = ()
    check: Callable[[Pending], str | None] = lambda pending: None
    args: dict[str, Any] | None = None
    """with which a person allows a call in place of its own"""


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

    def approve(
        self,
        approval_id: str,
        *,
        by: str,
        groups: Collection[str] = (),
        note: str = "",
        args: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> Decided:
        """
        Allow the step, or exactly this call.

        `groups` are those the person belongs to, as the host knows them: an approver is a person or a group.  Where
        several must allow it, it stays open until they have.  With `args` the person allows the call with these
        arguments instead; it goes through the gate again, and what is not legal is refused with nothing changed.
        `Session.call` has the arguments to run it with.
        """
        mine, edited = member_of(groups), None if args is None else copied_fields(args)
        said = partial(granted, note=words(note), groups=mine, args=edited)
        check = partial(no_more, by=person(by), groups=mine)
        data = {"by": by, "groups": mine, "note": note} | ({} if edited is None else {"args": edited})
        return self._decide(approval_id, now, Deed("approve", ALLOWING, person(by), said, data, mine, check, edited))

    def reject(
        self, approval_id: str, *, by: str, groups: Collection[str] = (), note: str = "", now: datetime | None = None
    ) -> Decided:
        """Refuse it; one person is enough."""
        mine, said = member_of(groups), partial(rejected, note=words(note))
        data = {"by": by, "groups": mine, "note": note}
        return self._decide(approval_id, now, Deed("reject", ALLOWING, person(by), said, data, mine))

    def withdraw(self, approval_id: str, *, note: str = "", now: datetime | None = None) -> Decided:
        """Give the question up on the host's own authority: it counts as rejected, and the record names nobody."""
        said = partial(rejected, note=words(note))
        return self._decide(approval_id, now, Deed("withdraw", ALLOWING, None, said, {"note": note}))

    def answer(
        self,
        approval_id: str,
        answer: str = "",
        *,
        by: str,
        fields: Mapping[str, Any] | None = None,
        groups: Collection[str] = (),
        note: str = "",
        now: datetime | None = None,
    ) -> Decided:
        """
        Answer an `ask`: with one of its choices, or a text, and a value for each of its fields.

        A label outside the choices, a field missing, unknown or of another type, or a person it is not for: refused,
        and nothing has changed.
        """
        given, mine = copied_fields(fields or {}), member_of(groups)
        said = partial(
            answer_with, answer=clean(answer) if isinstance(answer, str) else answer, fields=given, note=words(note)
        )
        check = partial(wrong_answer, answer=answer, fields=given)
        data = {"answer": answer, "by": by, "fields": given, "groups": mine, "note": note}
        return self._decide(approval_id, now, Deed("answer", ("ask",), person(by), said, data, mine, check))

    def happened(
        self, approval_id: str, result: Any = None, *, by: str, note: str = "", now: datetime | None = None
    ) -> Decided:
        """Reconcile an unknown call: it happened, with this result (S24)."""
        outcome = own(Succeeded(result))
        found, data = partial(reconcile, outcome=outcome, note=words(note)), {"result": result, "by": by, "note": note}
        return self._decide(approval_id, now, Deed("happened", ("reconcile",), person(by), found, data))

    def did_not_happen(self, approval_id: str, *, by: str, note: str = "", now: datetime | None = None) -> Decided:
        """Reconcile an unknown call: it did not happen, so it may be made again."""
        found = partial(reconcile, outcome=Settled("cancelled"), note=words(note))
        data = {"by": by, "note": note}
        return self._decide(approval_id, now, Deed("did_not_happen", ("reconcile",), person(by), found, data))

    def _decide(self, approval_id: str, now: datetime | None, deed: Deed) -> Decided:
        session = self._session
        if not isinstance(approval_id, str):
            raise HostError(f"an approval is named by a text, not {told(approval_id)}")
        with session._inside(), session._verb(now, deed.verb, approval_id=approval_id, **deed.data):
            run = session._run
            pending = run.pending.get(approval_id)
            if pending is None and approval_id not in run.retired:
                raise HostError(f"nobody is asked {approval_id!r}")
            why = objection(run, pending, approval_id, deed)
            if why is None and pending is not None:
                why = deed.check(pending) or (wrong_edit(run, pending, deed.args) if deed.args is not None else None)
            if why is None and pending is not None:
                deed.effect(run, pending, deed.by)
                follow(run)
            return Decided(why is None, why or "", session._progress())


def show(pending: Pending) -> Question:
    """The question as the control plane sees it."""
    step = pending.cursor.row.step if pending.cursor is not None else None
    asked = step.ask if step is not None and pending.of == "ask" else None
    return Question(
        pending.approval_id, pending.of, pending.step, pending.ask, pending.approvers, pending.tool,
        copy(pending.args), pending.call.call_id if pending.call else None, pending.excluded, needed(pending),
        pending.everyone, tuple(by for by, _ in pending.said), asked.choices if asked else (),
        dict(asked.fields) if asked else {},
    )  # fmt: skip


def member_of(groups: object) -> tuple[str, ...]:
    """
    The groups of a person.

    Raises:
        HostError: they are no names.
    """
    if isinstance(groups, str) or not isinstance(groups, Collection) or not all(isinstance(g, str) for g in groups):
        raise HostError(f"the groups of a person are a list of names, not {told(groups)}")
    return tuple(clean(group) for group in groups)


def copied_fields(fields: object) -> dict[str, Any]:
    """
    The fields of an answer, copied.

    Raises:
        HostError: they are no JSON object.
    """
    try:
        if isinstance(fields, Mapping):
            found: dict[str, Any] = copy(dict(fields))
            return found
    except ValueError as error:
        raise HostError(f"the fields of an answer are JSON: {error}") from None
    raise HostError(f"the fields of an answer are a map, not {told(fields)}")


def person(by: object) -> str:
    """
    The name of whoever decides.

    Raises:
        HostError: nobody is named.
    """
    if not isinstance(by, str) or not by:
        raise HostError(f"a decision names the person who makes it, by=…, not {told(by)}")
    return clean(by)


def objection(run: Run, pending: Pending | None, approval_id: str, deed: Deed) -> str | None:
    """Why the decision does not count."""
    if pending is None:
        return f"it is decided already: {run.retired[approval_id]}"
    if pending.of not in deed.of:
        asks = {"reconcile": "whether a call happened", "ask": "for an answer"}
        return f"this asks {asks.get(pending.of, 'for an approval')}"
    return None if deed.by is None else objection_to(pending, deed.by, deed.groups)


def wrong_edit(run: Run, pending: Pending, args: dict[str, Any]) -> str | None:
    """Why the call cannot be allowed with other arguments: tried, and taken back."""
    bound = pending.call
    if bound is None:
        return "a step is allowed or not; only a call has arguments that can be edited"
    if pending.everyone or pending.count > 1:
        return "several persons decide on exactly this call; reject it, and let the other one be proposed"
    before, bound.args, bound.approved = bound.args, args, True
    try:
        decision = decide(run, bound)
    finally:
        bound.args, bound.approved = before, False
    if isinstance(decision, Admit | Hold):
        return None
    return explain(run, bound, *decision).message


def granted(
    run: Run, pending: Pending, by: str | None, note: str, groups: tuple[str, ...], args: dict[str, Any] | None = None
) -> None:  # fmt: skip
    """Enough persons have allowed it, or one more is noted; with other arguments, where these are given."""
    person = by or ""
    if args is not None and pending.call is not None:
        pending.call.args = pending.args = args
        shown = path_of(pending.cursor)
        run.record("edited", pending.approval_id, by, pending.tool, args, pending.step, shown)
    if pending.everyone or pending.count > 1:
        pending.said.append((person, roles(pending, person, groups)))
        if not settled(pending):
            where = path_of(pending.cursor)
            run.record("allowed", pending.approval_id, by, list(groups), words(note) or None, pending.step, where)
            return
    close(run, pending, "approved", by, note)
    if pending.call is not None:
        let_run(run, pending.call)
    elif pending.cursor is not None and pending.cursor.row.kind is StateKind.APPROVAL:
        approved(pending.cursor)
        take(run, pending.cursor, past_approval(pending.cursor), f"approved by {by}")


def let_run(run: Run, bound: Bound) -> None:
    """Decided once more, since the world may have moved while the person thought (S30)."""
    bound.approved = True
    decision = decide(run, bound)
    if isinstance(decision, Admit):
        start(run, bound)
    elif isinstance(decision, Hold):
        wait_again(run, bound)
    else:
        del run.outstanding[bound.call_id]
        refuse(run, bound, *decision)
        if bound.automatic and bound.cursor is not None:
            fail(run, bound.cursor, f"denied: {decision.code}")


def wait_again(run: Run, bound: Bound) -> None:
    """Allowed by the person, held by the gate: it is decided again with the next wave, and not asked again."""
    del run.outstanding[bound.call_id]
    bound.status = Status.DEFERRED
    if bound.automatic:
        run.waiting.append(bound)


def rejected(run: Run, pending: Pending, by: str | None, note: str) -> None:
    """The step's `on_reject`, its default end, or a refused call."""
    close(run, pending, "rejected", by, note)
    why = (f"rejected by {by}" if by else "given up by the host") + (f": {words(note)}" if note else "")
    if pending.call is not None:
        if run.turn is not None and not pending.call.automatic:
            run.turn.failed = True
        reject_call(run, pending.call, why)
    elif pending.cursor is not None:
        take(run, pending.cursor, "rejected", why)


def reconcile(run: Run, pending: Pending, by: str | None, outcome: Settled, note: str) -> None:
    """What the person found is the outcome; an automatic call that did not happen is made again (S24)."""
    close(run, pending, "happened" if outcome.word == "ok" else "did not happen", by, note)
    bound = pending.call
    if bound is None:
        return
    if bound.automatic and outcome.word == "cancelled" and bound.current and bound.cursor is not None:
        make_again(run, bound, bound.cursor)
    else:
        apply(run, bound, outcome)


def make_again(run: Run, bound: Bound, cursor: Cursor) -> None:
    """Settle the call as not run and issue it anew, under the approval it had."""
    del run.outstanding[bound.call_id]
    bound.status = Status.DONE
    run.settled[bound.call_id] = Settled("cancelled")
    where = path_of(cursor)
    run.record("settled", bound.call_id, bound.tool, "cancelled", None, False, bound.step, where)
    cursor.again, cursor.granted = bound.args, True
    run.fresh.append(cursor)

"""
The control plane of another process: people decide here, and the process that drives the run hears of it.

The agent is given neither this nor the key.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from guideway.runtime.marks import HIDDEN
from guideway.statemachine.errors import HostError

from .messages import written
from .standing import Asked, Standing, standing
from .store import Journal

FITTING = {
    "approve": ("step", "call"), "reject": ("step", "call"), "answer": ("ask",), "happened": ("reconcile",),
    "did_not_happen": ("reconcile",),
}  # fmt: skip
"""Verb -> what the question is of."""


class Control:
    """
    Decide what the runs of a journal wait for.

    A message is left for the process that drives the run, or for the one that resumes it; it carries the decision out,
    and refuses what does not count then.  What plainly cannot count is refused here.

    >>> import guideway
    >>> from guideway.runtime.journal import MemoryJournal, deliver, start
    >>> machine = guideway.load({"id": "t", "name": "T", "steps": [
    ...     {"id": "agree", "approval": {"ask": "Go on?", "approvers": ["lead"]}}]})
    >>> journal, key = MemoryJournal(), b"k" * 32
    >>> session = start(journal, machine, run_id="run-1", key=key)
    >>> desk = Control(journal, key)                                        # in another process
    >>> [question.ask for question in desk.pending("run-1")]
    ['Go on?']
    >>> desk.approve("run-1", "step agree@1", by="lead")
    >>> [delivered.accepted for delivered in deliver(session, key)], session.outcome
    ([True], 'success')
    """

    def __init__(self, journal: Journal, key: bytes | None = None) -> None:
        self._journal, self._key = journal, key

    def standing(self, run: str) -> Standing:
        """Where a run stands."""
        return standing(self._journal, run, self._key)

    def pending(self, run: str) -> list[Asked]:
        """What is asked now, oldest first, without what is sensitive."""
        return list(self.standing(run).questions.values())

    def approve(
        self, run: str, approval_id: str, *, by: str, groups: Collection[str] = (), note: str = "",
        args: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """Allow a step, or exactly this call; or this call with other arguments, which is gated again."""
        more = {} if args is None else {"args": dict(args)}
        self._decide(run, "approve", approval_id, by, {"groups": list(groups), "note": note, **more})

    def reject(
        self, run: str, approval_id: str, *, by: str, groups: Collection[str] = (), note: str = ""
    ) -> None:  # fmt: skip
        """Refuse it."""
        self._decide(run, "reject", approval_id, by, {"groups": list(groups), "note": note})

    def answer(
        self, run: str, approval_id: str, answer: str = "", *, by: str, fields: Mapping[str, Any] | None = None,
        groups: Collection[str] = (), note: str = "",
    ) -> None:  # fmt: skip
        """Answer an `ask`."""
        said = {"answer": answer, "fields": dict(fields or {}), "groups": list(groups), "note": note}
        self._decide(run, "answer", approval_id, by, said)

    def happened(self, run: str, approval_id: str, result: Any = None, *, by: str, note: str = "") -> None:
        """An unknown call happened, with this result."""
        self._decide(run, "happened", approval_id, by, {"result": result, "note": note})

    def did_not_happen(self, run: str, approval_id: str, *, by: str, note: str = "") -> None:
        """An unknown call did not happen."""
        self._decide(run, "did_not_happen", approval_id, by, {"note": note})

    def signal(self, run: str, name: str, data: Any = None) -> None:
        """Tell of something outside."""
        found = self.standing(run)
        if found.outcome is not None:
            raise HostError(f"run {run} is over ({found.outcome})")
        self._post(run, "signal", {"name": name, "data": data})

    def _decide(self, run: str, verb: str, approval_id: str, by: str, data: Mapping[str, Any]) -> None:
        """
        Post a decision.

        Raises:
            HostError: it cannot count: nobody is asked that, it is decided, or this person has no say.
        """
        if not isinstance(by, str) or not by:
            raise HostError("a decision names the person who makes it, by=…")
        found = self.standing(run)
        why = objection(found, verb, approval_id, by, data.get("groups", ()))
        if why is None and self._key is None and HIDDEN in str(found.questions[approval_id]) and gives(data):
            why = "something sensitive is asked about, and without a key the message would lie in the journal as it is"
        if why is not None:
            raise HostError(why)
        self._post(run, verb, {"approval_id": approval_id, "by": by, **data})

    def _post(self, run: str, verb: str, data: Mapping[str, Any]) -> None:
        self._journal.post(run, written(run, verb, data, self._key))


def gives(data: Mapping[str, Any]) -> bool:
    """The decision carries values: edited arguments, a result, fields."""
    return any(data.get(name) for name in ("args", "result", "fields"))


def objection(found: Standing, verb: str, approval_id: str, by: str, groups: Collection[str]) -> str | None:
    """Why a decision cannot count, as far as the journal tells."""
    question = found.questions.get(approval_id)
    if question is None:
        if approval_id in found.decided:
            return f"{approval_id!r} is decided already: {found.decided[approval_id]}"
        if found.outcome is not None:
            return f"run {found.run} is over ({found.outcome})"
        asked = ", ".join(map(repr, found.questions)) or "nothing"
        return f"nobody is asked {approval_id!r} in run {found.run}; open: {asked}"
    if question.of not in FITTING[verb]:
        return f"{approval_id!r} asks for {'an answer' if question.of == 'ask' else 'another decision'}, not `{verb}`"
    who = question.approvers
    if who and by not in who and not set(groups) & set(who):
        return f"{by} may not decide this; {', '.join(who)} may"
    if by in question.excluded or set(groups) & set(question.excluded):
        return f"{by} may not decide this: {', '.join(question.excluded)} may not"
    if by in question.said:
        return f"{by} has allowed it already; another person must, too"
    return None

"""
Where the decisions of people come from, when a driver runs a playbook.

A source decides or says nothing; then the run waits.  None of them can be reached by the agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from guideway.statemachine.errors import HostError

from .approvals import Approvals, Question
from .lines import entries, take
from .verdicts import Decided

VERBS = ("approve", "reject", "happened", "did_not_happen")


@dataclass(frozen=True, slots=True)
class Decision:
    """
    What a person decided: `approve` or `reject`; on an unknown call `happened` (with its result) or `did_not_happen`.

    `by` names the person; `withdraw` is nobody's decision, but the host giving the question up.
    """

    verb: str
    by: str
    note: str = ""
    result: Any = None


class Decisions(Protocol):
    """A source of decisions."""

    def decide(self, question: Question, objection: str = "") -> Decision | None:
        """Decide, or None: nobody has.  `objection` says why the decision before, on this question, did not count."""
        ...


class Nobody:
    """Decides nothing: the run waits."""

    def decide(self, question: Question, objection: str = "") -> Decision | None:
        """None, always."""
        return None


class RejectAll:
    """
    Gives every question up: it counts as rejected, and the record names nobody, for nobody was asked.

    Whether an unknown call happened cannot be rejected; that waits for a person.
    """

    NOTE = "nobody was asked: the run was started so"

    def decide(self, question: Question, objection: str = "") -> Decision | None:
        """Give it up."""
        if question.of == "reconcile" or objection:
            return None
        return Decision("withdraw", "", self.NOTE)


ENTRY: Mapping[str, tuple[type, ...]] = {
    "step": (str,), "tool": (str,), "decision": (str,), "by": (str,), "note": (str,), "result": (),
}  # fmt: skip


class Recorded:
    """
    Plays decisions made beforehand.  Each answers one question: the first that it fits, by step and by tool.

    >>> source = Recorded([{"step": "contain", "decision": "approve", "by": "ines"}])
    >>> question = Question("step contain@1", "step", "contain", "Isolate it?", ("ines",))
    >>> source.decide(question), source.decide(question)
    (Decision(verb='approve', by='ines', note='', result=None), None)
    """

    def __init__(self, recorded: Iterable[Mapping[str, Any]]) -> None:
        self._left = list(recorded)

    @classmethod
    def load(cls, path: str | Path) -> Recorded:
        """
        Read a JSON list, or JSON lines, of `{"step", "tool", "decision", "by", "note"}`.

        `tool` and `note` may be left out.

        Raises:
            HostError: an entry is no decision, naming it.
        """
        return cls([_checked(found, place) for place, found in entries(path)])

    def decide(self, question: Question, objection: str = "") -> Decision | None:
        """The first recorded decision that fits, which is used up by it."""
        for index, found in enumerate(self._left):
            if fits(found, question):
                del self._left[index]
                return Decision(found["decision"], found["by"], found.get("note", ""), found.get("result"))
        return None


def _checked(found: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    take(found, place, ENTRY, needed=("step", "decision", "by"))
    if found["decision"] not in VERBS:
        raise HostError(f"{place}: `decision` must be one of {', '.join(VERBS)}, not `{found['decision']}`")
    if not found["by"]:
        raise HostError(f"{place}: `by` must name the person who decided")
    return found


def fits(found: Mapping[str, Any], question: Question) -> bool:
    """The entry is about this step, this tool if it names one, and this kind of question."""
    unknown = found["decision"] in ("happened", "did_not_happen")
    same_tool = "tool" not in found or found["tool"] == question.tool
    return found["step"] == question.step and same_tool and unknown == (question.of == "reconcile")


def enact(control: Approvals, question: Question, decision: Decision, now: Any) -> Decided:
    """Put a decision to the control plane."""
    about: dict[str, Any] = {"by": decision.by, "note": decision.note, "now": now}
    match decision.verb:
        case "approve":
            return control.approve(question.approval_id, **about)
        case "reject":
            return control.reject(question.approval_id, **about)
        case "withdraw":
            return control.withdraw(question.approval_id, note=decision.note, now=now)
        case "happened":
            return control.happened(question.approval_id, decision.result, **about)
        case "did_not_happen":
            return control.did_not_happen(question.approval_id, **about)
    raise HostError(f"a decision is one of {', '.join(VERBS)}, not `{decision.verb}`")

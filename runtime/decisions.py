"""
Where the decisions of people come from, when a driver runs a playbook.

A source decides or says nothing; then the run waits.  None of them can be reached by the agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from guideway.statemachine.errors import HostError

from .approvals import Approvals, Question
from .lines import entries, take
from .verdicts import Decided

FITTING: Mapping[str, tuple[str, ...]] = {
    "step": ("approve", "reject"),
    "call": ("approve", "reject"),
    "reconcile": ("happened", "did_not_happen"),
    "ask": ("answer",),
}
"""What a question is of -> how it can be decided."""
VERBS = tuple(dict.fromkeys(verb for verbs in FITTING.values() for verb in verbs))


@dataclass(frozen=True, slots=True)
class Decision:
    """
    What a person decided: `approve` or `reject`; on an unknown call `happened` (with its result) or `did_not_happen`.

    An `ask` is decided by `answer`: with one of its choices or a text, and a value for each of its `fields`.  `by`
    names the person and `groups` to what the person belongs, as the host knows it; `withdraw` is nobody's decision,
    but the host giving the question up.
    """

    verb: str
    by: str
    note: str = ""
    result: Any = None
    answer: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    groups: tuple[str, ...] = ()


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
    Gives every approval up: it counts as rejected, and the record names nobody, for nobody was asked.

    Whether an unknown call happened cannot be rejected, and an `ask` wants an answer; those wait for a person.
    """

    NOTE = "nobody was asked: the run was started so"

    def decide(self, question: Question, objection: str = "") -> Decision | None:
        """Give it up."""
        if question.of in ("reconcile", "ask") or objection:
            return None
        return Decision("withdraw", "", self.NOTE)


ENTRY: Mapping[str, tuple[type, ...]] = {
    "step": (str,), "tool": (str,), "id": (str,), "decision": (str,), "by": (str,), "groups": (list,), "note": (str,),
    "result": (), "answer": (str,), "fields": (dict,),
}  # fmt: skip


class Recorded:
    """
    Plays decisions made beforehand.  Each answers one question: the first that it fits, by step and by tool.

    >>> source = Recorded([{"step": "contain", "decision": "approve", "by": "ines"}])
    >>> question = Question("step contain@1", "step", "contain", "Isolate it?", ("ines",))
    >>> source.decide(question).by, source.decide(question)
    ('ines', None)
    """

    def __init__(self, recorded: Iterable[Mapping[str, Any]]) -> None:
        self._left = list(recorded)

    @classmethod
    def load(cls, path: str | Path) -> Recorded:
        """
        Read a JSON list, or JSON lines: `{"step", "decision", "by", …}`, or `{"step", "answer", "by", …}` for an `ask`.

        All else may be left out: `tool`, `id` (of the question, where one step asks more than once), `fields` of an
        answer, `groups` of the person, `note`, `result` of a call that happened.

        Raises:
            HostError: an entry is no decision, naming it.
        """
        return cls([_checked(found, place) for place, found in entries(path)])

    def decide(self, question: Question, objection: str = "") -> Decision | None:
        """The first recorded decision that fits, which is used up by it."""
        for index, found in enumerate(self._left):
            if fits(found, question):
                del self._left[index]
                return decision_of(found)
        return None


def decision_of(found: Mapping[str, Any]) -> Decision:
    """The decision an entry holds."""
    return Decision(
        verb_of(found), found["by"], found.get("note", ""), found.get("result"), found.get("answer", ""),
        found.get("fields", {}), tuple(found.get("groups", ())),
    )  # fmt: skip


def verb_of(found: Mapping[str, Any]) -> str:
    """How the entry decides; one that holds an answer need not say so."""
    answers = "answer" in found or "fields" in found
    return str(found.get("decision", "answer" if answers else ""))


def _checked(found: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    take(found, place, ENTRY, needed=("step", "by"))
    verb = verb_of(found)
    if not verb:
        raise HostError(f"{place}: `decision` is missing; for an `ask` give `answer`, or `fields`")
    if verb not in VERBS:
        raise HostError(f"{place}: `decision` must be one of {', '.join(VERBS)}, not `{verb}`")
    if not found["by"]:
        raise HostError(f"{place}: `by` must name the person who decided")
    if not all(isinstance(group, str) for group in found.get("groups", ())):
        raise HostError(f"{place}: `groups` must be a list of names")
    return found


def fits(found: Mapping[str, Any], question: Question) -> bool:
    """The entry is about this step, this tool or question if it names one, and this kind of question."""
    same_tool = "tool" not in found or found["tool"] == question.tool
    same_question = "id" not in found or found["id"] == question.approval_id
    return found["step"] == question.step and same_tool and same_question and verb_of(found) in FITTING[question.of]


def enact(control: Approvals, question: Question, decision: Decision, now: Any) -> Decided:
    """Put a decision to the control plane."""
    about: dict[str, Any] = {"by": decision.by, "note": decision.note, "now": now}
    asked, groups = question.approval_id, decision.groups
    match decision.verb:
        case "approve":
            return control.approve(asked, groups=groups, **about)
        case "reject":
            return control.reject(asked, groups=groups, **about)
        case "answer":
            return control.answer(asked, decision.answer, fields=decision.fields, groups=groups, **about)
        case "withdraw":
            return control.withdraw(asked, note=decision.note, now=now)
        case "happened":
            return control.happened(asked, decision.result, **about)
        case "did_not_happen":
            return control.did_not_happen(asked, **about)
    raise HostError(f"a decision is one of {', '.join(VERBS)}, not `{decision.verb}`")

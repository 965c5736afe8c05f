"""
A host that does what comes to its mind: draws the next verb for a session, and plays verbs on a session.

A verb is a tuple of plain values, so a list of them is a whole host, to be played again on another session.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from guideway import (
    Allow,
    Approvals,
    Cancelled,
    Failed,
    HostError,
    Machine,
    Session,
    Succeeded,
    ToolCall,
    Unknown,
    Usage,
)  # fmt: skip
from guideway.runtime.run import Status

from .drawing import TOOLS

Verb = tuple[Any, ...]

T0 = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NAMES = (*TOOLS, "helper_a", "helper_b", "a", "b", "c", "d", "complete_step", "skip_step", "nobody")
GOOD = {"n": 3, "ok": True}


def begin(machine: Machine) -> Session:
    """A session that keeps time where its playbook does."""
    return Session(machine, now=T0 if machine.definition and machine.definition.timed else None)


def play(session: Session, verb: Verb) -> Any:
    """Play one verb; a `HostError` is an answer like any other."""
    try:
        return played(session, *verb)
    except HostError as error:
        return ("HostError", str(error))


def played(session: Session, name: str, *values: Any) -> Any:
    """Carry the verb out on the session or its control plane."""
    match name:
        case "propose":
            calls, text, tokens, now = values
            return session.propose(list(calls), text=text, usage=Usage(tokens) if tokens else None, now=now)
        case "observe":
            return session.observe(*values)
        case "tick":
            return session.tick(*values)
        case "claim":
            return session.claim(confidence=values[0])
        case "complete" | "skip" | "fail":
            return getattr(session, name)()
        case _:
            return getattr(Approvals(session), name)(*values[:-1], by=values[-1])


def turn_is_open(session: Session) -> bool:
    """A turn is under way (looked up inside, so that looking does not thaw the fast path)."""
    return session._run.turn is not None or bool(session._gate.held)


def running(session: Session) -> list[str]:
    """Ids of the agent's calls whose outcome nobody has reported, oldest first."""
    bounds = [b for b in session._run.outstanding.values() if b.status is Status.RUNNING and not b.automatic]
    return [held[0] for held in session._gate.held] + [bound.call_id for bound in bounds]


def automatic(session: Session) -> list[str]:
    """Ids of the runtime's own calls whose outcome nobody has reported: to be made, or, at the end, to be given up."""
    return [b.call_id for b in session._run.outstanding.values() if b.status is Status.RUNNING and b.automatic]


def records(session: Session) -> list[tuple[Any, ...]]:
    """The records so far."""
    return list(session.records)


def saved(session: Session) -> str:
    """The snapshot as text, in which equal runs are equal."""
    return json.dumps(session.snapshot.to_json(), sort_keys=True)


def restored(session: Session) -> Session:
    """The session written to text and made again from it."""
    return Session.restore(session.machine, json.loads(saved(session)))


class Host:
    """Draws verbs; the same `rng` state draws the same."""

    def __init__(self, rng: random.Random, *, waste: float = 0.1, batch: int = 4, silent: bool = False) -> None:
        self.rng = rng
        self.waste = waste
        """how often it does what makes no sense"""
        self.batch = batch
        self.silent = silent
        """only successes"""
        self.numbered = 0

    def verb(self, session: Session) -> Verb:
        """What to do next."""
        rng = self.rng
        if rng.random() < self.waste:
            return self.nonsense(session)
        choices: list[tuple[float, Verb]] = []
        if not turn_is_open(session):
            choices.append((5, self.proposal(session)))
        calls = (*running(session), *automatic(session))
        choices += [(4, ("observe", call, self.outcome(), self.moment(session, 0.05))) for call in calls]
        asked = Approvals(session).pending
        choices += [(4, self.decision(question.approval_id, question.of == "reconcile")) for question in asked]
        timers = session._run.timers if session.now is None or session.now.year < 3000 else []
        choices += [(0.7, ("tick", timer.due + timedelta(seconds=rng.choice((-1, 0, 0, 1))))) for timer in timers]
        choices.append((0.2, ("claim", rng.choice((0.5, 0.95)))))
        choices.append((0.15, (rng.choice(("complete", "skip", "fail")),)))
        return rng.choices([verb for _, verb in choices], [weight for weight, _ in choices])[0]

    def moment(self, session: Session, chance: float) -> datetime | None:
        """Now and then a verb comes with a time of its own."""
        if session.now is None or not 2000 < session.now.year < 3000 or self.rng.random() >= chance:
            return None
        return session.now + timedelta(seconds=self.rng.choice((-5, 0, 1, 40, 400)))

    def proposal(self, session: Session) -> Verb:
        """One reply of a model."""
        rng = self.rng
        size = 0 if rng.random() < 0.1 else rng.choice((1, 1, *range(1, self.batch + 1)))
        text = rng.choice(("", "", "", "go on", "STOP", "HALT now")) if size == 0 or rng.random() < 0.1 else ""
        tokens = rng.choice((0, 0, 0, 50, 2000)) if rng.random() < 0.2 else 0
        return ("propose", self.calls(session, size), text, tokens, self.moment(session, 0.08))

    def calls(self, session: Session, size: int, lively: float = 0.7) -> tuple[ToolCall, ...]:
        """Calls, of which so many are legal now or nearly so."""
        legal = [call.tool.replace("*", self.rng.choice("ab")) for call in session.legal()]
        definition = session.machine.definition
        ahead = sorted(name.replace("*", "b") for name in definition.named_tools) if definition else []
        return tuple(self.call(legal, ahead, lively) for _ in range(size))

    def call(self, legal: list[str], ahead: list[str], lively: float) -> ToolCall:
        """One call, under an id of its own."""
        rng = self.rng
        pool = legal if legal and rng.random() < lively else ahead if ahead and rng.random() < 0.5 else NAMES
        self.numbered += 1
        args: dict[str, Any] = {"n": rng.randint(-1, 5)} if rng.random() < 0.9 else {}
        name = rng.choice(pool)
        return ToolCall(name, {} if name.endswith("_step") else args, f"c{self.numbered}")

    def outcome(self) -> Any:
        """What came of a call."""
        rng = self.rng
        good = Succeeded({"n": rng.randint(0, 6), "ok": self.silent or rng.random() < 0.85})
        if self.silent:
            return good
        bad = (Failed("broken"), Failed({"type": "Throttled"}), Unknown(), Cancelled(), Succeeded(None), Succeeded("x"))
        return good if rng.random() < 0.7 else rng.choices(bad, (4, 3, 4, 2, 1, 1))[0]

    def decision(self, approval_id: str, unknown: bool) -> Verb:
        """What a person says."""
        rng = self.rng
        if unknown:
            return rng.choice((("happened", approval_id, GOOD, "lead"), ("did_not_happen", approval_id, "lead")))
        return (rng.choices(("approve", "reject"), (4, 1))[0], approval_id, "lead")

    def nonsense(self, session: Session) -> Verb:
        """Verbs out of order: used ids, persons without a say, turns in turns, reports of nothing."""
        rng = self.rng
        used = [*session._run.settled, *session._run.outstanding, "nobody"]
        asked = [question.approval_id for question in Approvals(session).pending] or ["nothing"]
        return rng.choice((
            ("observe", rng.choice(used), self.outcome(), None),
            ("propose", (ToolCall(rng.choice(NAMES), {"n": 1}, rng.choice(used)),), "", 0, None),
            ("propose", self.calls(session, 2), "", 0, None),
            ("propose", (*(calls := self.calls(session, 1)), *calls), "", 0, None),
            ("approve", rng.choice(asked), "stranger"),
            ("happened", rng.choice(asked), GOOD, "lead"),
            ("tick", T0 + timedelta(seconds=rng.randint(0, 900))),
            ("claim", 2.0),
            ("skip",),
        ))  # fmt: skip


def verbs(session: Session, host: Host, most: int) -> Iterator[Verb]:
    """Draw verbs for a session that whoever asks plays on it: up to so many, a few past the end of the run."""
    past = 0
    for _ in range(most):
        past += session.outcome is not None
        if past > 3:
            return
        yield host.verb(session)


def walk(session: Session, host: Host, most: int) -> list[tuple[Verb, Any]]:
    """Play up to so many verbs; gives each with its answer."""
    return [(verb, play(session, verb)) for verb in verbs(session, host, most)]


def admitted(answers: Iterable[Any]) -> list[str]:
    """Ids of the calls that these verdicts let run."""
    return [answer.call_id for answer in answers if isinstance(answer, Allow) and not answer.control]

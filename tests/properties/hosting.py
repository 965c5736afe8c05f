"""A host for playbooks of the whole format: `walking.Host`, and answers, signals, several persons, named steps."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from guideway import Approvals, Failed, HostError, Machine, Session, Succeeded, ToolCall, Unknown, Usage
from guideway.runtime.approvals import Question
from guideway.runtime.verdicts import Wait

from .walking import GOOD, T0, Host, Verb, automatic, running, turn_is_open

PERSONS: dict[str, tuple[str, ...]] = {"lead": (), "boss": (), "intern": ("lead",), "mary": ("lead", "boss"), "x": ()}
"""Persons and their groups."""


def lucky(names: Mapping[str, Any]) -> bool:
    """A predicate of the host's, which now and then fails."""
    calls = names["run"]["calls"]
    if calls % 7 == 6:
        raise ValueError(calls)
    return bool(calls % 2)


PREDICATES: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {"lucky": lucky}


def begin(machine: Machine) -> Session:
    """A session at `T0`."""
    return Session(machine, now=T0, predicates=PREDICATES)


def saved(session: Session) -> str:
    """The snapshot as text, in which equal runs are equal."""
    return json.dumps(session.snapshot.to_json(), sort_keys=True)


def restored(session: Session) -> Session:
    """The session written to text and made again from it."""
    return Session.restore(session.machine, json.loads(saved(session)), predicates=PREDICATES)


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
        case "observe" | "tick" | "signal":
            return getattr(session, name)(*values)
        case "claim":
            return session.claim(confidence=values[0])
        case "complete" | "skip" | "fail":
            return getattr(session, name)(step=values[0])
        case "answer":
            approval, answer, by, fields, now = values
            return Approvals(session).answer(approval, answer, by=by, fields=fields, groups=PERSONS[by], now=now)
        case "approve" | "reject":
            approval, by, now = values
            return getattr(Approvals(session), name)(approval, by=by, groups=PERSONS[by], now=now)
        case _:
            return getattr(Approvals(session), name)(*values[:-1], by=values[-1])


class MixedHost(Host):
    """Draws verbs; the same `rng` state draws the same."""

    def verb(self, session: Session) -> Verb:
        """What to do next."""
        rng = self.rng
        if rng.random() < self.waste:
            return self.nonsense(session)
        choices: list[tuple[float, Verb]] = []
        if not turn_is_open(session):
            idle = session.outcome is not None or not session.legal()
            choices.append((1 if idle else 5, self.proposal(session)))
        calls = (*running(session), *automatic(session))
        choices += [(4, ("observe", call, self.outcome(), self.moment(session, 0.05))) for call in calls]
        choices += [(4, self.person(session, question)) for question in Approvals(session).pending]
        timers = session._run.timers if session.now is None or session.now.year < 3000 else []
        choices += [(0.7, ("tick", timer.due + timedelta(seconds=rng.choice((-1, 0, 0, 1))))) for timer in timers]
        choices.append((0.4, ("signal", rng.choice(("go", "ready", "halt")), rng.choice((None, 1)), None)))
        choices.append((0.1, ("claim", rng.choice((0.5, 0.95)))))
        choices.append((0.15, (rng.choice(("complete", "skip", "fail")), self.step(session))))
        return rng.choices([verb for _, verb in choices], [weight for weight, _ in choices])[0]

    def step(self, session: Session) -> str | None:
        """A step that some cursor is in, or in which one waits for those inside."""
        there = [f"{cursor.frame.path}{cursor.step}" for cursor in session._run.cursors()]
        return self.rng.choice((None, *there, *there))

    def outcome(self) -> Any:
        """What came of a call."""
        found = super().outcome()
        if isinstance(found, Succeeded) and isinstance(found.result, dict):
            items: Any = [self.rng.randint(0, 5) for _ in range(self.rng.choice((0, 1, 1, 2, 3)))]
            if not self.silent and self.rng.random() < 0.05:
                items = self.rng.choice(("no list", None, 5, [[1], {"n": 2}, None]))
            return Succeeded({**found.result, "list": items})
        return found

    def person(self, session: Session, question: Question) -> Verb:
        """What a person says to it."""
        rng = self.rng
        asked, now = question.approval_id, self.moment(session, 0.05)
        if question.of == "reconcile":
            return rng.choice((("happened", asked, GOOD, "lead"), ("did_not_happen", asked, "lead")))
        by = rng.choice(("lead", "lead", "boss", "boss", *PERSONS))
        if question.of == "ask":
            answer = rng.choice(question.choices or ("", "yes", "text"))
            fields = {"n": rng.randint(0, 3), "why": "so"} if question.fields else {}
            return ("answer", asked, answer if not question.fields or question.choices else "", by, fields, now)
        yes = self.silent or rng.random() < 0.8
        return ("approve" if yes else "reject", asked, by, now)

    def calls(self, session: Session, size: int, lively: float = 0.85) -> tuple[ToolCall, ...]:
        """Calls, most of them legal; mostly one where nothing is."""
        if not session.legal() and self.rng.random() < 0.8:
            size = min(size, 1)
        return super().calls(session, size, lively)

    def call(self, legal: list[str], ahead: list[str], lively: float) -> ToolCall:
        """One call; `complete_step` now and then carries what it must."""
        found = super().call(legal, ahead, lively)
        if "n" in found.args and self.rng.random() < 0.03:
            return ToolCall(found.name, {"n": self.rng.choice(("x", None, 1.5, [2]))}, found.call_id)
        if found.name == "complete_step" and self.rng.random() < 0.8:
            return ToolCall(found.name, {"word": self.rng.choice(("good", "bad", "x"))}, found.call_id)
        return found

    def nonsense(self, session: Session) -> Verb:
        """Verbs out of order, or with what they do not take."""
        rng = self.rng
        used = [*session._run.settled, *session._run.outstanding, "nobody"]
        asked = [question.approval_id for question in Approvals(session).pending] or ["nothing"]
        asked += list(session._run.retired)[-2:]
        steps = [*(session.machine.definition.steps if session.machine.definition else ()), "nowhere"]
        more: list[Verb] = [
            ("answer", rng.choice(asked), rng.choice(("yes", "perhaps", "")), rng.choice(list(PERSONS)), {}, None),
            ("answer", rng.choice(asked), "", "lead", {"n": "x", "m": 2}, None),
            ("signal", rng.choice(("nobody", "go", "")), {"n": 1}, None),
            (rng.choice(("complete", "skip", "fail")), rng.choice(steps)),
            ("reject", rng.choice(asked), "intern", None),
            ("approve", rng.choice(asked), "x", None),
            ("propose", (ToolCall("complete_step", {"step": rng.choice(steps)}, f"z{self.numbered}"),), "", 0, None),
            ("propose", (ToolCall("skip_step", {"step": rng.choice(steps)}, f"y{self.numbered}"),), "", 0, None),
            ("observe", rng.choice(used), rng.choice((self.outcome(), Failed("late"), Unknown())), None),
            ("happened", rng.choice(asked), GOOD, "lead"),
        ]
        found = rng.choice((*more, None))
        if found is not None:
            return found
        drawn = super().nonsense(session)
        return (
            (*drawn[:3], None)
            if drawn[0] == "approve" and len(drawn) == 3 and drawn[2] in PERSONS
            else self.simple(drawn)
        )

    def simple(self, verb: Verb) -> Verb:
        """A verb of the first half as this host plays it."""
        if verb[0] in ("complete", "skip", "fail"):
            return (verb[0], None)
        return ("approve", verb[1], "x", None) if verb[0] == "approve" else verb


def verbs(session: Session, host: Host, most: int) -> Iterator[Verb]:
    """Draw verbs for a session that whoever asks plays on it: up to so many, a few past the end of the run."""
    past = 0
    for _ in range(most):
        past += session.outcome is not None
        if past > 3:
            return
        yield host.verb(session)


def driver(seed: object, **more: Any) -> MixedHost:
    """The host of a seed."""
    return MixedHost(random.Random(str(seed)), **more)


def awaited(session: Session) -> list[str]:
    """The signals that some step waits for."""
    waits = [command for command in session.commands if isinstance(command, Wait)]
    return sorted({wait.signal for wait in waits if wait.signal is not None})


class Kind(MixedHost):
    """A host that wants the run to end: everything succeeds, everybody agrees, time goes on, signals come."""

    def verb(self, session: Session) -> Verb:
        """What brings the run on."""
        rng = self.rng
        self.silent = True
        if calls := (*running(session), *automatic(session)):
            return ("observe", rng.choice(calls), self.outcome(), None)
        if pending := Approvals(session).pending:
            return self.agree(rng.choice(pending))
        choices: list[Verb] = [("tick", timer.due) for timer in session._run.timers]
        choices += [("signal", name, 1, None) for name in awaited(session)]
        if not turn_is_open(session):
            choices += [self.reply(session)] * 3
        return rng.choice(choices or [("tick", (session.now or T0) + timedelta(minutes=1))])

    def agree(self, question: Question) -> Verb:
        """Yes, by whoever has not said so yet."""
        if question.of == "reconcile":
            return ("happened", question.approval_id, GOOD, "lead")
        if question.of == "ask":
            answer = question.choices[0] if question.choices else ""
            return (
                "answer",
                question.approval_id,
                answer,
                "lead",
                {"n": 1, "why": "so"} if question.fields else {},
                None,
            )
        return ("approve", question.approval_id, "boss" if "lead" in question.said else "lead", None)

    def reply(self, session: Session) -> Verb:
        """A legal call, or a text where there is none."""
        self.numbered += 1
        legal = sorted(session.legal(), key=lambda call: not call.needed)
        if not legal or self.rng.random() < 0.1:
            return ("propose", (), "go on", 0, None)
        found = legal[0] if self.rng.random() < 0.7 else self.rng.choice(legal)
        args: dict[str, Any] = {"word": "good"} if found.tool.endswith("_step") else {"n": self.rng.randint(0, 5)}
        if found.tool.endswith("_step"):
            args = {"word": "good", "step": found.step} if found.carries else {"step": found.step}
        return ("propose", (ToolCall(found.tool, args, f"k{self.numbered}"),), "", 0, None)

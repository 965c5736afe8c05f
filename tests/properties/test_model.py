"""The session agrees, event by event, with a second reading of its rules (`model.py`)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from guideway import Allow, Approvals, Cancelled, Deny, Failed, Session, Succeeded, ToolCall, Unknown, load
from guideway.runtime.verdicts import WORDS

from .counting import seen, tally
from .drawing import machine_of
from .reading.model import KNOWN_CODES, Model
from .reading.moving import CircleError
from .walking import Host, Verb, begin, play, verbs

SEEDS = 1_000
WALKS = 2
LENGTH = 30


def verdict(answer: Any) -> str:
    """Kind of a verdict, and the code where it is one of those that have a reason of their own."""
    if isinstance(answer, Deny):
        return f"deny {answer.code if answer.code in KNOWN_CODES else 'no'}"
    return WORDS[type(answer)]


def word(outcome: Any) -> tuple[str, Any]:
    """An outcome as the model takes it."""
    match outcome:
        case Succeeded(result):
            return "ok", result
        case Failed(error):
            said = error if isinstance(error, dict) else {"message": error}
            return "error", {"type": "error", "message": ""} | said
        case Unknown():
            return "unknown", None
        case Cancelled():
            return "cancelled", None
    raise AssertionError(outcome)


class Pair:
    """A session and its model, fed the same events."""

    def __init__(self, session: Session) -> None:
        assert session.machine.definition is not None
        self.session = session
        self.model = Model(session.machine.definition, session.now)
        self.names: dict[str, str] = {}
        """the session's ids of automatic calls -> the model's"""

    def name(self, call_id: str) -> str:
        """The model's id of a call: its automatic calls are numbered."""
        for bound in self.session._run.outstanding.values():
            if bound.automatic and bound.call_id not in self.names:
                ours = [o["id"] for o in self.model.out if o["auto"] and o["id"] not in self.names.values()]
                if ours:
                    self.names[bound.call_id] = ours[0]
        kind, _, rest = call_id.rpartition(" ")
        return f"{kind} {self.names[rest]}".strip() if rest in self.names else call_id

    def play(self, verb: Verb) -> str | None:
        """Play the verb on both; gives the verdict of the session, and fails where they differ."""
        kind: str
        kind, *values = verb
        ids = {q.approval_id for q in Approvals(self.session).pending} | set(self.session._run.outstanding)
        if kind not in ("propose", "tick", "claim", "complete", "skip", "fail"):
            values[0] = self.name(values[0]) if values[0] in ids else values[0]
        answer = play(self.session, verb)
        if isinstance(answer, tuple) and answer and answer[0] == "HostError":
            return None
        if getattr(answer, "accepted", True) is False:
            return None
        try:
            expected: str | None = self.told(kind, values)
        except CircleError:
            assert self.session._run.ending == "failed:livelock"
            return kind
        if kind == "propose" and values[0]:
            assert expected == verdict(answer[0]), f"{verdict(answer[0])}, and by the model {expected}: {answer[0]}"
            return expected
        return kind

    def told(self, kind: str, values: list[Any]) -> Any:
        """The event, told to the model."""
        model: Any = self.model
        match kind:
            case "propose":
                calls, text, tokens, now = values
                given = (calls[0].call_id, calls[0].name, dict(calls[0].args)) if calls else None
                return model.on("propose", given, text, tokens, now=now)
            case "observe":
                return model.on("observe", values[0], *word(values[1]), now=values[2])
            case "tick":
                return model.on("tick", now=values[0])
            case "claim":
                return model.on("claim", values[0])
            case "happened":
                return model.on("happened", values[0], values[1])
            case "approve" | "reject" | "did_not_happen":
                return model.on(kind, values[0])
            case _:
                return model.on(kind)

    def circle(self) -> bool:
        """The run has ended in a circle of automatic moves; by the model, too, it made more of them than steps."""
        if self.session._run.ending != "failed:livelock":
            return False
        assert self.model.longest > len(self.model.d.steps), "no circle"
        return True

    def compare(self) -> None:
        """State, outcome, facts that the session keeps, and registers."""
        run, model = self.session._run, self.model
        outcome = self.session.outcome
        assert self.session.state == model.state, f"state {self.session.state}, and by the model {model.state}"
        open_steps = {f"incomplete:{step}" for step in model.incomplete}
        agreed = outcome in open_steps if model.outcome == "incomplete" else outcome == model.outcome
        assert agreed, f"outcome {outcome}, and by the model {model.outcome}"
        assert run.frame.visits == model.visits
        for name in ("iterations", "calls", "nudges", "refusals", "tokens"):
            assert getattr(run, name) == getattr(model, name), name
        if outcome is None and model.ending is None:
            cursor = run.root
            for name in ("spent", "successes", "failures", "rounds", "counts"):
                assert getattr(cursor, name) == getattr(model, name), name


class Single(Host):
    """A host that proposes one call at a time."""

    def proposal(self, session: Session) -> Verb:
        """A reply with one call or none; now and then an agent that is sure, or says nonsense of itself."""
        name, calls, text, tokens, now = super().proposal(session)
        if calls and self.rng.random() < 0.1:
            sure = self.rng.choice((0.5, 0.95, 2, "x"))
            calls = (ToolCall("complete_step", {"confidence": sure}, calls[0].call_id),)
        return name, calls[:1], text, tokens, now


@pytest.mark.slow
@pytest.mark.parametrize("flavour", ["varied", "plain"])
def test_a_second_reading_of_the_rules_agrees(flavour: str) -> None:
    """Verdict, state, outcome and registers are what the naive model says, after each of the random events."""
    count = seen(f"reference model, {flavour}")
    for seed in range(SEEDS):
        machine = machine_of(flavour, seed)
        for number in range(WALKS if machine is not None else 0):
            assert machine is not None
            session = begin(machine)
            if session.outcome == "failed:livelock":
                count["circles"] += 1
                continue
            pair = Pair(session)
            script: list[Verb] = []
            try:
                pair.compare()
                for verb in verbs(session, Single(random.Random(f"{seed} {number}"), waste=0.0), LENGTH):
                    script.append(verb)
                    answer = pair.play(verb)
                    count["events"] += answer is not None
                    if pair.circle():
                        count["circles"] += 1
                        break
                    pair.compare()
                    if answer is not None and verb[0] == "propose":
                        count[f"agreed {answer}"] += 1
            except AssertionError as error:
                raise AssertionError(f"{flavour} {seed} {number}: {error!r}\n{script}") from error
            tally(count, session.records)
    assert count["events"] > 10_000  # 20,000 and more with both kinds of playbooks


def test_a_call_that_was_made_again_is_no_longer_unknown() -> None:
    """S38: an idempotent write, unknown twice and then successful, leaves nothing unknown at the end."""
    step = {"id": "a", "description": "A", "expected_tools": ["w"]}
    tools = {"w": {"idempotent": True}}
    pair = Pair(begin(load({"id": "p", "name": "P", "tools": tools, "steps": [step]})))
    for number, outcome in enumerate((Unknown(), Unknown(), Succeeded(None))):
        pair.play(("propose", (ToolCall("w", {}, f"c{number}"),), "", 0, None))
        pair.play(("observe", f"c{number}", outcome, None))
        pair.compare()
    assert pair.session.outcome == "success"


def test_the_model_knows_an_allowed_call_from_a_refused_one() -> None:
    """The comparison is not empty: a verdict of the session that is another than the model's is noticed."""
    assert verdict(Allow("c", "t", "s")) == "allow"
    assert verdict(Deny("c", "t", "quota", "no")) == "deny no"
    assert verdict(Deny("c", "t", "run_over", "no")) == "deny run_over"

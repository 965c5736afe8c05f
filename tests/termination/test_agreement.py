"""The algebra says of a run what the runtime says of it, for every condition that both know."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import guideway
from guideway import Allow, Cancelled, Failed, Outcome, Session, Succeeded, ToolCall, Unknown, Usage
from guideway.runtime.ending import holds
from guideway.statemachine.conditions import AllOf
from guideway.termination import RunState, TerminationCondition, ToolExecution

from .building import ARGUMENTS, PLAIN, RESULTS, SUCCESSES, TEXTS, combined

T0 = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
OUTCOMES = st.one_of(
    RESULTS.map(Succeeded), st.just(Failed("refused")), st.just(Cancelled()), st.just(Unknown())
)  # fmt: skip
CALLS = st.tuples(st.sampled_from(("x", "y", "z")), ARGUMENTS, OUTCOMES)
TURNS = st.tuples(
    st.lists(CALLS, max_size=2),
    st.sampled_from(TEXTS[:4]),
    st.integers(0, 150),
    st.sampled_from((None, 0.3, 0.5, 0.95)),
    st.integers(0, 20),
)


class Driven:
    """A session, and beside it the state that a host would tell the algebra of."""

    def __init__(self, condition: TerminationCondition) -> None:
        never = {"max_iterations": 10**6}
        self.session = Session(
            guideway.load({
                "id": "p", "name": "P", "max_nudges": 10**6, "max_refusals": 10**6,
                "tools": {name: {"effect": "read"} for name in ("x", "y", "never")},
                "steps": [{"id": "a", "description": "Work.", "expected_tools": ["never"],
                           "optional_tools": ["x", "y"]}],
                "termination": [{"all": [condition.to_playbook(), never]}],
            }, flow=False), now=T0,
        )  # fmt: skip
        self.now, self.tokens, self.turns, self.calls, self.text = T0, 0, 0, 0, ""
        self.confidence: float | None = None
        self.done: list[ToolExecution] = []

    def turn(self, calls: Sequence[Any], text: str, tokens: int, confidence: float | None, later: int) -> None:
        """One reply, what came of it, and what time it is then."""
        named = [(f"c{self.turns}.{i}", *call) for i, call in enumerate(calls)]
        asked = [ToolCall(tool, args, call_id) for call_id, tool, args, _ in named]
        verdicts = self.session.propose(asked, text=text, usage=Usage(tokens), now=self.now)
        for verdict, (call_id, tool, args, outcome) in zip(verdicts, named, strict=True):
            allowed = isinstance(verdict, Allow)
            if allowed:
                self.session.observe(call_id, outcome, now=self.now)
            self.done.append(execution(call_id, tool, args, outcome, allowed))
        if confidence is not None:
            self.session.claim(confidence=confidence)
            self.confidence = confidence
        self.now += timedelta(seconds=later)
        self.session.tick(self.now)
        self.turns, self.tokens, self.calls, self.text = self.turns + 1, self.tokens + tokens, len(calls), text

    def state(self) -> RunState:
        """What the algebra is told."""
        return RunState(
            iterations=self.turns,
            tokens=self.tokens,
            elapsed=(self.now - T0).total_seconds(),
            confidence=self.confidence,
            text=self.text,
            tool_calls_last_turn=self.calls,
            tool_executions=tuple(self.done),
        )

    def told(self) -> bool | None:
        """What the runtime says of the compiled form."""
        run = self.session._run
        [branch] = run.plan.definition.termination
        assert isinstance(branch.condition, AllOf)
        return holds(run, run.frame, branch.condition.parts[0])


def execution(call_id: str, tool: str, args: Any, outcome: Outcome, allowed: bool) -> ToolExecution:
    """The call as a host tells of it."""
    if not allowed:
        return ToolExecution(tool, args, None, "denied", call_id, allowed=False, ran=False)
    match outcome:
        case Succeeded(result):
            return ToolExecution(tool, args, result, None, call_id)
        case Failed(error):
            return ToolExecution(tool, args, None, str(error), call_id)
        case Unknown():
            return ToolExecution(tool, args, None, "nobody knows", call_id, ran=None)
        case _:
            return ToolExecution(tool, args, None, "cancelled", call_id, ran=False)


@settings(max_examples=150, deadline=None)
@given(combined(st.one_of(PLAIN, SUCCESSES)), st.lists(TURNS, max_size=5))
def test_s36_the_algebra_and_the_runtime_agree(condition: TerminationCondition, turns: list[Any]) -> None:
    """
    Yes, no and unknown, before the first turn and after each one.
    """
    driven = Driven(condition)
    seen = [(condition.judge(driven.state()).holds, driven.told())]

    for turn in turns:
        driven.turn(*turn)
        seen.append((condition.judge(driven.state()).holds, driven.told()))

    assert [said for said, _ in seen] == [told for _, told in seen]

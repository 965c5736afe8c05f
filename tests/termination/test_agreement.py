"""The algebra says of a run what the runtime says of it, for every condition that both know."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import guideway
from guideway import Allow, Cancelled, Failed, Machine, Outcome, Session, Succeeded, ToolCall, Unknown, Usage
from guideway.runtime.ending import holds
from guideway.statemachine.conditions import AllOf
from guideway.termination import (
    ConfidenceMet,
    MaxIterations,
    NoToolCalls,
    RunState,
    TerminationCondition,
    TextMention,
    TimeLimit,
    TokenLimit,
    ToolCalled,
    ToolExecution,
)

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


def book(condition: TerminationCondition) -> Machine:
    """A playbook that holds the condition, and never ends by it."""
    return guideway.load({
        "id": "p", "name": "P", "max_nudges": 10**6, "max_refusals": 10**6,
        "tools": {name: {"effect": "read"} for name in ("x", "y", "never")},
        "steps": [{"id": "a", "description": "Work.", "expected_tools": ["never"], "optional_tools": ["x", "y"]}],
        "termination": [{"all": [condition.to_playbook(), {"max_iterations": 10**6}]}],
    }, flow=False)  # fmt: skip


class Driven:
    """A session, and beside it the state that a host would tell the algebra of."""

    def __init__(self, machine: Machine) -> None:
        self.session = Session(machine, now=T0)
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
    driven = Driven(book(condition))
    seen = [(condition.judge(driven.state()).holds, driven.told())]

    for turn in turns:
        driven.turn(*turn)
        seen.append((condition.judge(driven.state()).holds, driven.told()))

    assert [said for said, _ in seen] == [told for _, told in seen]


ARGS: list[dict[str, Any]] = [
    {},
    {"n": 1},
    {"n": 3},
    {"n": True},
    {"n": "1"},
    {"n": [1, "a"]},
    {"n": [1, "a"], "in": True},
]
REPORTED: list[Outcome] = [
    *map(Succeeded, (None, {"ticket": "C-1"}, {"ticket": None}, {"n": 3}, {"n": 1}, "text", [1])),
    *(Failed("refused"), Cancelled(), Unknown()),
]
ASKED = (None, {"n": 1}, {"n": [1, "a"], "in": True}, {"n": "1"})


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("where", [None, "args.n >= 1", "has(args.n)"])
@pytest.mark.parametrize("expect", [None, "result.ticket != null", "result.n == args.n"])
def test_s36_every_call_and_every_fate(asked: Any, where: str | None, expect: str | None) -> None:
    """
    One call with each kind of arguments and each outcome, and one that the gate denies: yes, no and unknown alike.
    """
    condition = ToolCalled("x", asked, require_success=True, where=where, expect=expect)
    machine, said, told = book(condition), [], []

    for args, outcome, name in [*((a, o, "x") for a in ARGS for o in REPORTED), ({"n": 1}, Succeeded(), "z")]:
        driven = Driven(machine)
        driven.turn([(name, args, outcome)], "", 0, None, 0)
        said.append(condition.judge(driven.state()).holds)
        told.append(driven.told())

    assert said == told
    assert len(set(told)) > 1


@pytest.mark.parametrize("condition", [
    TokenLimit(60), TimeLimit(20), MaxIterations(2), NoToolCalls(), ConfidenceMet(0.5), TextMention("^ESC"),
    TextMention("^$"), ~ConfidenceMet(0.5), ~NoToolCalls(),
], ids=str)  # fmt: skip
def test_s36_limits_and_replies_at_their_very_edge(condition: TerminationCondition) -> None:
    """
    What is reached exactly is reached on both sides, and not before; before the first turn nothing has been said.
    """
    driven = Driven(book(condition))
    said, told = [condition.judge(driven.state()).holds], [driven.told()]
    turns: list[tuple[list[Any], str, float | None]] = [
        ([], "", None),
        ([("x", {}, Succeeded())], "ESCALATE", 0.49),
        ([], "all ESC", 0.5),
        ([("z", {}, Succeeded())], "ESC", 0.51),
    ]

    for calls, text, confidence in turns:
        driven.turn(calls, text, 30, confidence, 10)
        said.append(condition.judge(driven.state()).holds)
        told.append(driven.told())

    assert said == told
    assert True in told

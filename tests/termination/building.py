"""States, functions and conditions for the tests of the algebra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from guideway.termination import (
    AndCondition,
    ConfidenceMet,
    CustomCondition,
    MaxIterations,
    NotCondition,
    NoToolCalls,
    OrCondition,
    RunState,
    TerminationCondition,
    TextMention,
    TimeLimit,
    TokenLimit,
    ToolCalled,
    ToolExecution,
)


def yes(state: RunState) -> bool:
    """Says so always."""
    return True


def no(state: RunState) -> tuple[bool, str]:
    """Says no, with a reason that nobody hears."""
    return False, "never"


def late(state: RunState) -> tuple[bool, str | None]:
    """Says yes after two turns, in its own words."""
    return state.iterations > 2, "nothing new AND late"


def broken(state: RunState) -> bool:
    """Raises."""
    raise LookupError("the index is gone")


def small(args: Mapping[str, Any]) -> bool:
    """Asks whether an argument is small; raises where it is missing."""
    return bool(args["n"] < 2)


FUNCTIONS: dict[str, Any] = {f.__name__: f for f in (yes, no, late, broken, small)}
CLASSES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(AndCondition, OrCondition, NotCondition, MaxIterations, TokenLimit, TimeLimit, NoToolCalls),
        *(ToolCalled, ConfidenceMet, TextMention, CustomCondition),
    )
}
PATTERNS = (r"\bESCALATE\b", "(?i)done$", "^$", "a|b")
TEXTS = ("", "ESCALATE now", "ESCALATED", "all DONE", "half \ud800")

PLAIN = st.one_of(
    st.builds(MaxIterations, st.integers(1, 5)),
    st.builds(TokenLimit, st.integers(1, 300)),
    st.builds(TimeLimit, st.integers(1, 40)),
    st.just(NoToolCalls()),
    st.builds(ConfidenceMet, st.sampled_from((0, 0.25, 0.5, 0.9, 1))),
    st.builds(TextMention, st.sampled_from(PATTERNS)),
)
SUCCESSES = st.builds(
    ToolCalled,
    st.sampled_from(("x", "y")),
    st.sampled_from((None, {"n": 1}, {"n": [1, "a"], "in": True})),
    st.just(True),
    where=st.sampled_from((None, "args.n > 1", "has(args.n)")),
    expect=st.sampled_from((None, "result.ticket != null", "result.n == args.n")),
)
CALLED = st.builds(ToolCalled, st.sampled_from(("x", "y")), st.sampled_from((None, {"n": 1}, small)), st.booleans())
CUSTOM = st.one_of(
    st.builds(CustomCondition, st.sampled_from((yes, no, late, broken))),
    st.just(CustomCondition(broken, name="fragile")),
)
NAMES = {**FUNCTIONS, "fragile": broken}


def combined(leaves: st.SearchStrategy[TerminationCondition]) -> st.SearchStrategy[TerminationCondition]:
    """Conditions of these leaves, up to a few levels deep."""
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: AndCondition(*parts)),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: OrCondition(*parts)),
            inner.map(NotCondition),
        ),
        max_leaves=6,
    )


CONDITIONS = combined(st.one_of(PLAIN, SUCCESSES, CALLED, CUSTOM))

ARGUMENTS = st.sampled_from(({}, {"n": 1}, {"n": 3}, {"n": True}, {"n": [1, "a"], "in": True}, {"n": "1"}))
RESULTS = st.sampled_from((None, {"ticket": "C-1"}, {"ticket": None}, {"n": 3}, "text", [1]))
EXECUTIONS = st.builds(
    ToolExecution,
    st.sampled_from(("x", "y", "z")),
    ARGUMENTS,
    RESULTS,
    st.sampled_from((None, None, "no route to host")),
    allowed=st.booleans(),
    ran=st.sampled_from((True, True, False, None)),
)
STATES = st.builds(
    RunState,
    iterations=st.integers(0, 6),
    tokens=st.integers(0, 400),
    elapsed=st.floats(0, 50),
    confidence=st.sampled_from((None, 0.0, 0.5, 0.9, 1.0, float("nan"))),
    text=st.sampled_from(TEXTS),
    tool_calls_last_turn=st.integers(0, 2),
    tool_executions=st.lists(EXECUTIONS, max_size=4).map(tuple),
)


def ran(name: str, *, error: str | None = None, result: Any = None, **args: Any) -> RunState:
    """The state after one turn with one call that ran."""
    done = ToolExecution(name, args, result, error)
    return RunState(iterations=1, tool_calls_last_turn=1, tool_executions=(done,))

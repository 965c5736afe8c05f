"""Each condition alone: when it holds, what it says, and what it refuses to be made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from guideway import HostError
from guideway.termination import (
    ConfidenceMet,
    CustomCondition,
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

from .building import broken, late, ran, small, yes

HOLDS: list[tuple[TerminationCondition, RunState, str]] = [
    (MaxIterations(3), RunState(iterations=3), "max_iterations"),
    (TokenLimit(100), RunState(tokens=100), "token_budget"),
    (TimeLimit(1.5), RunState(elapsed=1.5), "time_budget"),
    (NoToolCalls(), RunState(iterations=1, text="Nothing found."), "no_tools"),
    (ConfidenceMet(0.85), RunState(confidence=0.85), "confidence_met"),
    (ConfidenceMet(0), RunState(confidence=0), "confidence_met"),
    (TextMention(r"\bESCALATE\b"), RunState(text="I ESCALATE."), r"text_mention:\bESCALATE\b"),
    (ToolCalled("x"), ran("x"), "tool_called:x"),
    (ToolCalled("x"), ran("x", error="refused"), "tool_called:x"),
    (ToolCalled("x", {"n": 1}), ran("x", n=1, more=[]), "tool_called:x"),
    (ToolCalled("x", small), ran("x", n=1), "tool_called:x"),
    (ToolCalled("x", where="args.n > 1"), ran("x", n=2), "tool_called:x"),
    (ToolCalled("x", expect="result.n == args.n"), ran("x", n=2, result={"n": 2}), "tool_called:x"),
    (CustomCondition(yes), RunState(), "custom"),
    (CustomCondition(late), RunState(iterations=3), "nothing new AND late"),
    (CustomCondition(lambda state: (True, None)), RunState(), "custom"),
]
HOLDS_NOT: list[tuple[TerminationCondition, RunState]] = [
    (MaxIterations(3), RunState(iterations=2)),
    (TokenLimit(100), RunState(tokens=99)),
    (TimeLimit(1.5), RunState(elapsed=1.4)),
    (NoToolCalls(), RunState()),
    (NoToolCalls(), RunState(iterations=1, tool_calls_last_turn=1)),
    (ConfidenceMet(0.85), RunState(confidence=0.84)),
    (TextMention("^$"), RunState()),
    (TextMention(r"\bESCALATE\b"), RunState(text="ESCALATED")),
    (ToolCalled("x"), RunState()),
    (ToolCalled("x"), ran("y")),
    (ToolCalled("x", require_success=True), ran("x", error="refused")),
    (ToolCalled("x", expect="true"), ran("x", error="refused")),
    (ToolCalled("x", {"n": 1}), ran("x", n=True)),
    (ToolCalled("x", {"n": None}), ran("x")),
    (ToolCalled("x", {"n": 1}), ran("x", n=float("nan"))),
    (ToolCalled("x", small), ran("x", n=2)),
    (ToolCalled("x", where="args.n > 1"), ran("x", n=1)),
    (ToolCalled("x", expect="result.n == args.n"), ran("x", n=2, result={"n": 3})),
]
UNKNOWN: list[tuple[TerminationCondition, RunState, str]] = [
    (ConfidenceMet(0.5), RunState(), "nobody has given a confidence"),
    (ConfidenceMet(0.5), RunState(confidence=float("nan")), "is no confidence"),
    (TextMention("a"), RunState(text="\ud800"), "surrogate"),
    (ToolCalled("x", small), ran("x"), "may have met it"),
    (ToolCalled("x", where="args.n > 1"), ran("x"), "may have met it"),
    (ToolCalled("x", expect="result.ticket != null"), ran("x", result="done"), "may have met it"),
    (CustomCondition(broken), RunState(), "LookupError: the index is gone"),
    (CustomCondition(lambda state: 1), RunState(), "answered 1"),  # type: ignore[arg-type,return-value]
    (CustomCondition(lambda state: "yes"), RunState(), "answered 'yes'"),  # type: ignore[arg-type,return-value]
    (CustomCondition(lambda state: (True, 3)), RunState(), "a tuple"),  # type: ignore[arg-type,return-value]
    (CustomCondition(lambda state: None), RunState(), "answered None"),  # type: ignore[arg-type,return-value]
]


@pytest.mark.parametrize(("condition", "state", "reason"), HOLDS)
def test_it_holds_and_says_why(condition: TerminationCondition, state: RunState, reason: str) -> None:
    """
    `check` gives yes, with the token of the condition or the function's own words.
    """
    assert condition.check(state) == (True, reason)
    assert (~condition).check(state) == (False, None)


@pytest.mark.parametrize(("condition", "state"), HOLDS_NOT)
def test_it_does_not_hold(condition: TerminationCondition, state: RunState) -> None:
    """
    `check` gives no, and no reason; turned round, it holds.
    """
    assert condition.check(state) == (False, None)
    assert (~condition).check(state) == (True, f"NOT {condition.reason}")


@pytest.mark.parametrize(("condition", "state", "why"), UNKNOWN)
def test_what_is_unknown_ends_nothing(condition: TerminationCondition, state: RunState, why: str) -> None:
    """
    Neither it nor its opposite holds, nothing is raised, and `explain` says what is missing (S44).
    """
    assert condition.check(state) == (False, None)
    assert (~condition).check(state) == (False, None)
    assert why in str(condition.explain(state))


@pytest.mark.parametrize("done", [
    ToolExecution("x", allowed=False, ran=False, error="blocked by a hook"),
    ToolExecution("x", allowed=False, ran=False),
    ToolExecution("x", allowed=False, ran=True, result="it ran against the rules, in record mode"),
    ToolExecution("x", ran=False, error="cancelled"),
    ToolExecution("x", ran=None, error="nobody knows"),
])  # fmt: skip
def test_s36_only_a_call_that_was_allowed_and_ran_counts(done: ToolExecution) -> None:
    """
    A blocked, denied, cancelled or unknown call satisfies no form of `ToolCalled`.
    """
    state = RunState(iterations=1, tool_executions=(done,))

    for condition in (ToolCalled("x"), ToolCalled("x", {}), ToolCalled("x", require_success=True)):
        assert condition.check(state) == (False, None)


def test_one_call_that_fits_is_enough() -> None:
    """
    Calls before and after it, of whatever fate, take nothing away.
    """
    calls = (
        ToolExecution("x", {"n": 1}, error="refused"),
        ToolExecution("x", {}, result={}),
        ToolExecution("x", {"n": 1}, result={"ticket": "C-1"}),
        ToolExecution("x", allowed=False, ran=False),
    )
    condition = ToolCalled("x", {"n": 1}, require_success=True, expect="result.ticket != null")

    assert condition.check(RunState(tool_executions=calls)) == (True, "tool_called:x")
    assert condition.check(RunState(tool_executions=calls[:2])) == (False, None)


def test_a_time_limit_reads_no_clock() -> None:
    """
    The same condition serves one run after another: nothing in it begins at the first check.
    """
    limit = TimeLimit(10)

    assert [limit.check(RunState(elapsed=e))[0] for e in (9, 11, 0, 9.9, 10)] == [False, True, False, False, True]


def test_an_interrupt_is_no_answer() -> None:
    """
    A predicate's own errors are unknown; what interrupts the program goes through.
    """

    def interrupted(state: RunState) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CustomCondition(interrupted).check(RunState())


async def _asynchronous(state: RunState) -> bool:
    return True


class _Asynchronous:
    async def __call__(self, state: RunState) -> bool:
        return True


BAD: list[tuple[Callable[[], Any], str]] = [
    *((lambda n=n: MaxIterations(n), "MaxIterations takes a whole number from 1 on") for n in (0, -3, 1.5, True, "8")),
    *((lambda n=n: TokenLimit(n), "TokenLimit takes a whole number from 1 on") for n in (0, -1, None)),
    *(
        (lambda n=n: TimeLimit(n), "positive and finite")
        for n in (0, -1, float("nan"), float("inf"), 10**400, True, "90s")
    ),
    *((lambda n=n: ConfidenceMet(n), "from 0 to 1") for n in (-0.1, 1.1, float("nan"), True, "0.9", None)),
    (lambda: TextMention(""), "TextMention takes a text"),
    (lambda: TextMention(7), "TextMention takes a text"),  # type: ignore[arg-type]
    (lambda: TextMention("a(b"), "no pattern at character 1: missing "),
    (lambda: TextMention(r"(a)[(]\((b"), "no pattern at character 8: missing "),
    (lambda: TextMention("ab[c"), "at character 2: missing ]"),
    (lambda: TextMention("(a)b)"), "at character 4: unexpected "),
    (lambda: TextMention("a**"), "at character 1: bad repetition"),
    (lambda: TextMention(r"\*ab(?=c)"), "at character 4: invalid perl operator"),
    (lambda: TextMention("ab\\"), "at character 2: trailing"),
    (lambda: TextMention("x" * 5000), "at most 4096"),
    (lambda: TextMention("\ud800"), "surrogate"),
    (lambda: ToolCalled(""), "ToolCalled takes a text"),
    (lambda: ToolCalled("x", [1]), "a map of arguments, or a function"),  # type: ignore[arg-type]
    (lambda: ToolCalled("x", {"n": {1}}), "no JSON: n"),
    (lambda: ToolCalled("x", require_success="yes"), "True or False"),  # type: ignore[arg-type]
    (lambda: ToolCalled("x", where="args.n = 1"), "`where` is no expression at character 7"),
    (lambda: ToolCalled("x", where="result.n == 1"), "`where` reads `result`"),
    (lambda: ToolCalled("x", expect="facts.y.n == 1"), "`expect` reads `facts`"),
    (lambda: ToolCalled("x", expect=3), "`expect` is no expression"),  # type: ignore[arg-type]
    (lambda: CustomCondition("yes"), "takes a function"),  # type: ignore[arg-type]
    (lambda: CustomCondition(_asynchronous), "asynchronous"),  # type: ignore[arg-type]
    (lambda: CustomCondition(_Asynchronous()), "asynchronous"),  # type: ignore[arg-type]
    (lambda: CustomCondition(yes, name=""), "takes a text"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_what_can_never_hold_is_refused_where_it_is_written(make: Callable[[], Any], message: str) -> None:
    """
    A limit of nothing, a pattern that is none, a threshold nobody reaches: the host's mistake, named at once.
    """
    with pytest.raises(HostError) as caught:
        make()

    assert message in str(caught.value)


def test_a_coroutine_in_disguise_is_unknown() -> None:
    """
    A plain function that gives a coroutine gives no answer, and leaves nothing unawaited behind.
    """
    condition = CustomCondition(lambda state: _asynchronous(state))  # type: ignore[arg-type,return-value]

    assert condition.check(RunState()) == (False, None)

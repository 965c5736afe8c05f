"""Stop reasons: one word of a fixed set for each way to end, by whole tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guideway.runtime.agent.reasons import StopReason, from_outcome, normalise, of
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

from .building import CONDITIONS, STATES

SEED = ("complete", "terminal_tool", "confidence_met", "max_iterations", "tool_loop", "no_tools", "grounding_failed",
        "token_budget", "time_budget", "interrupted", "error", "cancelled")  # fmt: skip
EVERYTHING = RunState(9, 10**6, 10**6, 1.0, "x AND error", 0, (ToolExecution("x"),))


def test_the_words_of_the_seed_are_all_there() -> None:
    """
    Those of the document, unchanged, and ours beside them; each normalises to itself.
    """
    ours = {"incomplete", "refusals", "hook_end", "hook_failed", "cost_budget", "context_exhausted", "waiting"}

    assert {*SEED, *ours} == {reason.value for reason in StopReason}
    assert all(normalise(reason.value) is reason for reason in StopReason)


@pytest.mark.parametrize(("token", "reason"), [
    ("tool_called:isolate_host", "terminal_tool"),
    ("tool_called:error", "terminal_tool"),
    ("text_mention:max_iterations", "complete"),
    ("signal:done", "complete"),
    ("custom", "complete"),
    ("custom:is_vip", "complete"),
    ("token_limit", "token_budget"),
    ("time_limit", "time_budget"),
    ("no_tool_calls", "no_tools"),
    ("tool_called:isolate_host AND confidence_met", "terminal_tool"),
    ("confidence_met AND tool_called:isolate_host", "terminal_tool"),
    ("no_tools AND confidence_met", "confidence_met"),
    ("tool_called:x AND max_iterations", "max_iterations"),
    ("NOT tool_called:x AND token_budget", "token_budget"),
    ("NOT max_iterations", "complete"),
    ("custom thing error in x", "complete"),
    ("error in x", "complete"),
    ("errors", "complete"),
    ("cancelled by the analyst", "complete"),
    ("max_iterations_reached", "complete"),
    ("MAX_ITERATIONS", "complete"),
    (" max_iterations", "complete"),
    ("text_mention:foo AND error", "complete"),
    ("nothing new AND max_iterations", "complete"),
    ("timeout: the SIEM", "complete"),
    ("", "complete"),
])  # fmt: skip
def test_tokens_are_read_whole(token: str, reason: str) -> None:
    """
    A word inside other words means nothing; the peer's `custom thing error in x` was an `error`.
    """
    assert normalise(token).value == reason


@pytest.mark.parametrize(("condition", "reason"), [
    (MaxIterations(1), "max_iterations"),
    (TokenLimit(1), "token_budget"),
    (TimeLimit(1), "time_budget"),
    (NoToolCalls(), "no_tools"),
    (ConfidenceMet(0.5), "confidence_met"),
    (ToolCalled("x"), "terminal_tool"),
    (TextMention("x AND error"), "complete"),
    (TextMention("x AND error") & ConfidenceMet(0.5), "confidence_met"),
    (CustomCondition(lambda state: (True, "the error is gone")), "complete"),
    (CustomCondition(lambda state: (True, "grounding_failed")), "grounding_failed"),
    (CustomCondition(lambda state: (True, "tool_called:y AND max_iterations")), "complete"),
    (ToolCalled("x") & MaxIterations(1), "max_iterations"),
    (ConfidenceMet(0.5) & ToolCalled("x"), "terminal_tool"),
    (ToolCalled("y") | ConfidenceMet(0.5) | MaxIterations(1), "confidence_met"),
    (~ToolCalled("y"), "complete"),
    (~ToolCalled("y") & NoToolCalls(), "no_tools"),
])  # fmt: skip
def test_a_judgement_is_read_by_its_conditions(condition: TerminationCondition, reason: str) -> None:
    """
    By what decided, not by its text: a pattern or a function may say whatever it likes.
    """
    assert of(condition.judge(EVERYTHING)).value == reason


@given(CONDITIONS, STATES)
def test_a_limit_is_never_a_goal(condition: TerminationCondition, state: RunState) -> None:
    """
    S37: where a limit is among what decided, the word is that of a limit, and otherwise it is none.
    """
    judgement = condition.judge(state)
    plain = all(not str(part.condition).startswith("~") for part in judgement.decisive)
    limits = ("max_iterations", "token_budget", "time_budget")

    assert not (judgement.limit and judgement.goal)
    if judgement.holds is True and plain:
        assert (of(judgement) in limits) is judgement.limit


@pytest.mark.parametrize(("condition", "limit", "goal"), [
    (MaxIterations(1), True, False),
    (ToolCalled("x"), False, True),
    (ToolCalled("x") & TokenLimit(1), True, False),
    (ToolCalled("x") | TokenLimit(1), False, True),
    (ToolCalled("y") | TokenLimit(1), True, False),
    (TextMention("x"), False, False),
    (TextMention("x") & TextMention("error"), False, False),
    (TextMention("x") & ConfidenceMet(0.5), False, True),
    (~ToolCalled("y"), False, True),
    (~TextMention("y"), False, False),
    (~TimeLimit(10**7), True, False),
    (ToolCalled("y"), False, False),
])  # fmt: skip
def test_s37_goals_and_limits_by_what_decided(condition: TerminationCondition, limit: bool, goal: bool) -> None:
    """
    An `&` with a limit in it is a stop; of an `|` the branch that holds says; words alone are no goal.
    """
    judgement = condition.judge(EVERYTHING)

    assert (judgement.limit, judgement.goal) == (limit, goal)


@pytest.mark.parametrize(("outcome", "outcome_class", "reason", "word"), [
    (None, None, None, "waiting"),
    ("success", "success", None, "complete"),
    ("success", None, None, "complete"),
    ("success", "success", "confidence_met", "confidence_met"),
    ("success", "success", "tool_called:x", "terminal_tool"),
    ("stopped:max_iterations", "stopped", None, "max_iterations"),
    ("stopped:token_limit", "stopped", None, "token_budget"),
    ("stopped:time_limit", "stopped", None, "time_budget"),
    ("stopped:cost_budget", "stopped", None, "cost_budget"),
    ("stopped:tool_loop", "stopped", None, "tool_loop"),
    ("stopped:cancelled", "stopped", None, "cancelled"),
    ("stopped:nudges", "stopped", None, "incomplete"),
    ("stopped:refusals", "stopped", None, "refusals"),
    ("stopped:rejected", "stopped", None, "interrupted"),
    ("stopped:timeout:ask", "stopped", None, "time_budget"),
    ("stopped:max_visits:look", "stopped", None, "incomplete"),
    ("stopped:tool_called:hand_over", "stopped", None, "terminal_tool"),
    ("stopped:tool_called:x AND max_iterations", "stopped", None, "max_iterations"),
    (r"stopped:text_mention:\bESCALATE\b", "stopped", None, "complete"),
    ("stopped:text_mention:a AND error", "stopped", None, "complete"),
    ("stopped:host", "stopped", None, "interrupted"),
    ("stopped:the error of my ways", "stopped", None, "interrupted"),
    ("stopped", "stopped", None, "complete"),
    ("escalated", "escalated", None, "complete"),
    ("failed", "failed", None, "error"),
    ("failed:contain", "failed", None, "error"),
    ("failed:policy:at_most-1", "failed", None, "error"),
    ("failed:unknown:pay", "failed", "tool_called:pay", "error"),
    ("incomplete:tool_called:x", "incomplete", "tool_called:x", "incomplete"),
    ("incomplete:look", "incomplete", None, "incomplete"),
    ("handed_over", "stopped", "tool_called:hand_over", "terminal_tool"),
    ("handed_over", "stopped", None, "complete"),
    ("rolled_back", "failed", None, "error"),
    ("error", "success", None, "complete"),
    ("locked", "success", None, "complete"),
])  # fmt: skip
def test_the_word_for_how_a_session_ended(
    outcome: str | None, outcome_class: str | None, reason: str | None, word: str
) -> None:
    """
    The engine's outcomes by their parts; the author's words by their class; a branch by its reason.
    """
    assert from_outcome(outcome, outcome_class, reason).value == word


@given(st.text(), st.sampled_from((None, "success", "stopped", "failed", "escalated", "incomplete")))
def test_any_outcome_has_a_word(outcome: str, outcome_class: str | None) -> None:
    """
    Whatever an author calls an end, it is never taken for a run that goes on.
    """
    assert from_outcome(outcome, outcome_class) in set(StopReason) - {StopReason.WAITING} or "waiting" in outcome

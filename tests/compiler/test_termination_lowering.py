"""`termination`: conditions as values, in listed order, each with the accepting state it leads to (S36, S37)."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.statemachine.conditions import (
    AllOf,
    AnyOf,
    ConfidenceMet,
    MaxIterations,
    Not,
    NoToolCalls,
    TextMention,
    TimeLimit,
    TokenLimit,
    ToolCalled,
)
from guideway.statemachine.definition import EndKind, OutcomeClass
from guideway.statemachine.expressions.expression import parse

from .helpers import agent, lower

OUTCOMES = {"handed_over": "stopped", "fixed": "success"}
GOAL, STOP = EndKind.GOAL, EndKind.STOP
SUCCESS, STOPPED = OutcomeClass.SUCCESS, OutcomeClass.STOPPED


@pytest.mark.parametrize(
    ("written", "condition", "target", "kind", "outcome", "outcome_class"),
    [
        ({"max_iterations": 4}, MaxIterations(4), "stopped:max_iterations", STOP, "stopped:max_iterations", STOPPED),
        ({"token_limit": 9}, TokenLimit(9), "stopped:token_limit", STOP, "stopped:token_limit", STOPPED),
        ({"time_limit": "2m"}, TimeLimit(120.0), "stopped:time_limit", STOP, "stopped:time_limit", STOPPED),
        ({"no_tool_calls": True}, NoToolCalls(), "no_tool_calls", GOAL, "success", SUCCESS),
        ({"tool_called": "t"}, ToolCalled("t"), "tool_called:t", GOAL, "success", SUCCESS),
        ({"confidence_met": 0.9}, ConfidenceMet(0.9), "confidence_met", GOAL, "success", SUCCESS),
        ({"text_mention": "x"}, TextMention("x"), "stopped:text_mention:x", GOAL, "stopped:text_mention:x", STOPPED),
        ({"tool_called": "t", "outcome": "handed_over"}, ToolCalled("t"), "handed_over", GOAL, "handed_over", STOPPED),
        ({"max_iterations": 4, "outcome": "fixed"}, MaxIterations(4), "fixed", STOP, "fixed", SUCCESS),
        ({"not": {"tool_called": "t"}}, Not(ToolCalled("t")), "NOT tool_called:t", GOAL, "success", SUCCESS),
        (
            {"all": [{"tool_called": "t"}, {"max_iterations": 4}]},
            AllOf((ToolCalled("t"), MaxIterations(4))),
            "stopped:tool_called:t AND max_iterations", STOP, "stopped:tool_called:t AND max_iterations", STOPPED,
        ),
        (
            {"any": [{"tool_called": "t"}, {"max_iterations": 4}]},
            AnyOf((ToolCalled("t"), MaxIterations(4))),
            "tool_called:t OR max_iterations", GOAL, "success", SUCCESS,
        ),
    ],
)  # fmt: skip
def test_s37_a_branch_leads_to_an_end_named_by_its_reason(
    written: dict[str, Any], condition: Any, target: str, kind: EndKind, outcome: str, outcome_class: OutcomeClass
) -> None:
    """Limits and texts stop, other branches are success; an author's word is the outcome itself."""
    definition = lower(agent("a", "t"), outcomes=OUTCOMES, termination=[written])

    [branch] = definition.termination
    assert (branch.condition, branch.target, branch.outcome) == (condition, target, written.get("outcome"))
    end = definition.states[target].end
    assert end is not None
    assert (end.kind, end.outcome, end.outcome_class) == (kind, outcome, outcome_class)
    assert (definition.anywhere[0].event, definition.anywhere[0].target) == ("terminated", target)


def test_branches_keep_their_order_and_a_map_is_one_branch() -> None:
    """The first true branch ends the run, so the order of the list is the order of the machine."""
    listed = lower(agent("a", "t"), termination=[{"tool_called": "t"}, {"max_iterations": 4}])
    single = lower(agent("a", "t"), termination={"any": [{"tool_called": "t"}, {"max_iterations": 4}]})

    assert [branch.reason for branch in listed.termination] == ["tool_called:t", "max_iterations"]
    assert [branch.reason for branch in single.termination] == ["tool_called:t OR max_iterations"]


def test_a_limit_as_key_and_as_condition_are_both_kept() -> None:
    """`max_iterations` at the top is the machine's limit; as a condition it is a branch with its own place."""
    definition = lower(agent("a"), max_iterations=9, termination=[{"max_iterations": 4}])

    assert definition.max_iterations == 9
    assert [branch.condition for branch in definition.termination] == [MaxIterations(4)]
    assert [edge.target for edge in definition.anywhere].count("stopped:max_iterations") == 1


def test_an_end_that_a_goal_also_leads_to_is_a_goal() -> None:
    """A word that a limit shares with a step's target is a declared end."""
    definition = lower(
        agent("a", next="fixed"), outcomes=OUTCOMES, termination=[{"max_iterations": 4, "outcome": "fixed"}]
    )

    end = definition.states["fixed"].end
    assert end is not None
    assert end.kind is GOAL


def test_a_word_of_a_limit_and_of_a_later_goal_is_a_goal() -> None:
    """Whichever comes first on the page."""
    limit, goal = {"max_iterations": 4, "outcome": "fixed"}, {"tool_called": "t", "outcome": "fixed"}

    for listed in ([limit, goal], [goal, limit]):
        end = lower(agent("a", "t"), outcomes=OUTCOMES, termination=listed).states["fixed"].end
        assert end is not None
        assert end.kind is GOAL


def test_guards_of_a_tool_called_are_expressions() -> None:
    """`where` reads the arguments, `expect` the result."""
    definition = lower(
        agent("a", "t"), termination=[{"tool_called": "t", "where": "args.n > 1", "expect": "result.ok"}]
    )

    assert definition.termination[0].condition == ToolCalled("t", parse("args.n > 1"), parse("result.ok"))

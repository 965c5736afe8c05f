"""Conditions as JSON and as lines of a playbook."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

import guideway
from guideway import HostError
from guideway.statemachine import conditions as machine
from guideway.statemachine.conditions import is_stop
from guideway.statemachine.expressions import parse
from guideway.termination import (
    ConfidenceMet,
    CustomCondition,
    MaxIterations,
    NoToolCalls,
    TerminationCondition,
    TextMention,
    TimeLimit,
    TokenLimit,
    ToolCalled,
    from_condition,
)

from .building import PLAIN, SUCCESSES, combined, small, yes


def compiled(condition: TerminationCondition) -> machine.Condition:
    """The condition, by way of a playbook."""
    book = {"id": "p", "name": "P", "steps": [{"id": "a", "description": "A", "expected_tools": ["x", "y"]}],
            "predicates": {"yes": {"description": "Says yes."}}, "termination": [condition.to_playbook()]}  # fmt: skip
    definition = guideway.load(book, flow=False).definition
    assert definition is not None
    return definition.termination[0].condition


@settings(max_examples=60, deadline=None)
@given(combined(PLAIN))
def test_a_playbook_keeps_the_condition(condition: TerminationCondition) -> None:
    """
    Written into a playbook, compiled and taken back, it is the same value, and a limit there as here (S37).
    """
    made = compiled(condition)

    assert from_condition(made) == condition
    assert is_stop(made) is condition.is_limit


@settings(max_examples=30, deadline=None)
@given(SUCCESSES)
def test_a_playbook_keeps_what_a_call_must_be(condition: ToolCalled) -> None:
    """
    Arguments become a `where`; what else there is stays, word for word.
    """
    back = from_condition(compiled(condition))

    assert isinstance(back, ToolCalled)
    assert (back.name, back.require_success, back.expect) == (condition.name, True, condition.expect)
    assert back.where == condition.where or condition.args is not None


@pytest.mark.parametrize(("condition", "item"), [
    (MaxIterations(8), {"max_iterations": 8}),
    (TokenLimit(9), {"token_limit": 9}),
    (TimeLimit(90), {"time_limit": "90s"}),
    (NoToolCalls(), {"no_tool_calls": True}),
    (ConfidenceMet(0.9), {"confidence_met": 0.9}),
    (TextMention("a|b"), {"text_mention": "a|b"}),
    (ToolCalled("x"), {"tool_called": "x"}),
    (ToolCalled("x", {}), {"tool_called": "x"}),
    (ToolCalled("x", {"n": "a\"b"}), {"tool_called": "x", "where": 'has(args.n) && args.n == "a\\"b"'}),
    (ToolCalled("x", {"in": -1}, where="args.m || true"),
     {"tool_called": "x", "where": 'has(args["in"]) && args["in"] == -1 && (args.m || true)'}),
    (CustomCondition(yes), {"custom": "yes"}),
    (CustomCondition(lambda state: True, name="quiet"), {"custom": "quiet"}),
    (~NoToolCalls() & MaxIterations(2), {"all": [{"not": {"no_tool_calls": True}}, {"max_iterations": 2}]}),
    (NoToolCalls() | MaxIterations(2), {"any": [{"no_tool_calls": True}, {"max_iterations": 2}]}),
])  # fmt: skip
def test_the_words_of_a_playbook(condition: TerminationCondition, item: dict[str, Any]) -> None:
    """
    Each condition is written in the words of FORMAT section 5.
    """
    assert condition.to_playbook() == item


@pytest.mark.parametrize(("condition", "why"), [
    (ToolCalled("x", small), "holds no Python"),
    (ToolCalled("x", {"filter": {"n": 1}}), "no way of writing a map"),
    (ToolCalled("x", {"filters": [{"n": 1}]}), "the argument `filters`"),
    (TimeLimit(1.5), "whole seconds"),
    (TimeLimit(1e9), "fewer than"),
    (CustomCondition(lambda state: True), "without a name"),
])  # fmt: skip
def test_what_a_playbook_cannot_say_is_refused(condition: TerminationCondition, why: str) -> None:
    """
    Nothing is left out in silence, however deep it lies.
    """
    for whole in (condition, ~condition, MaxIterations(3) | condition & NoToolCalls()):
        with pytest.raises(HostError, match=why):
            whole.to_playbook()


def test_the_example_of_the_format() -> None:
    """
    The branches that FORMAT shows can be had as values, and say what the compiled ones say.
    """
    whole = (ToolCalled("x", expect="result.ticket != null") & ConfidenceMet(0.9)) | TextMention(r"\bESCALATE\b")

    made = compiled(whole)

    assert machine.describe(made) == r"tool_called:x AND confidence_met OR text_mention:\bESCALATE\b"
    assert from_condition(made) == (
        ToolCalled("x", require_success=True, expect="result.ticket != null") & ConfidenceMet(0.9)
        | TextMention(r"\bESCALATE\b")
    )


def test_a_custom_condition_of_a_playbook_takes_its_function_by_name() -> None:
    """
    The playbook has the name, the host the function.
    """
    made = compiled(CustomCondition(yes))

    assert from_condition(made, {"yes": yes}) == CustomCondition(yes)
    with pytest.raises(HostError, match="`yes` is not among those given"):
        from_condition(made)


@pytest.mark.parametrize(("condition", "why"), [
    (machine.Signalled("go"), "only a session hears signals"),
    (machine.ToolCalled("x", where=parse("args.host == inputs.host")), "reads `inputs`"),
    (machine.AllOf((machine.ToolCalled("x", expect=parse("facts.y.n == 1")),)), "reads `facts`"),
])  # fmt: skip
def test_what_only_a_playbook_knows_cannot_be_taken_out_of_it(condition: machine.Condition, why: str) -> None:
    """
    Signals and facts are the session's.
    """
    with pytest.raises(HostError, match=why):
        from_condition(condition)


@pytest.mark.parametrize(("data", "message"), [
    (None, "a condition is an object, not None"),
    ([], "a condition is an object, not a list"),
    ({}, "exactly one of max_iterations, "),
    ({"max_iteration": 3}, "found max_iteration"),
    ({"max_iterations": 3, "token_limit": 3}, "found max_iterations, token_limit"),
    ({"max_iterations": 3, "outcome": "done"}, "beside `max_iterations` nothing is known by the name of 'outcome'"),
    ({"tool_called": "x", "arg": {}}, "beside `tool_called` nothing is known by the name of 'arg'"),
    ({"max_iterations": 0}, "MaxIterations takes a whole number"),
    ({"no_tool_calls": False}, "`no_tool_calls` is true, not False"),
    ({"tool_called": "x", "args": [1]}, "`args` is a map"),
    ({"tool_called": "x", "args": {}, "predicate": "small"}, "has one of them"),
    ({"tool_called": "x", "predicate": "smal"}, "'smal' is not among those in `predicates` (`small`)"),
    ({"custom": 3}, "the function 3 is not among"),
    ({"all": []}, "in `all`: a list of conditions is expected"),
    ({"any": {"max_iterations": 1}}, "in `any`: a list of conditions is expected"),
    ({"not": {"all": [{"max_iterations": 1}, {"text_mention": "("}]}}, "in `not.all[1]`: TextMention: no pattern"),
])  # fmt: skip
def test_json_that_is_no_condition_is_refused_with_its_place(data: Any, message: str) -> None:
    """
    Unknown keys, two conditions in one object, values out of range: never a guess.
    """
    with pytest.raises(HostError) as caught:
        TerminationCondition.from_json(data, {"small": small})

    assert message in str(caught.value)


def test_json_of_any_depth_is_answered() -> None:
    """
    A hostile file ends in an error of ours.
    """
    data: Any = {"max_iterations": 1}
    for _ in range(5000):
        data = {"not": data}

    with pytest.raises(HostError, match="at most 60"):
        TerminationCondition.from_json(data)


def test_a_dict_playbook_may_hold_conditions() -> None:
    """
    Under `termination`, in a list of items, and below `all`, `any` and `not`; each branch of an `|` is a branch.
    """
    x, limit = ToolCalled("x", require_success=True), MaxIterations(3)
    step = {"id": "a", "description": "A", "expected_tools": ["x"]}

    def reasons(termination: Any) -> list[str]:
        machine = guideway.load({"id": "p", "name": "P", "steps": [step], "termination": termination}, flow=False)
        assert machine.definition is not None
        return [branch.reason for branch in machine.definition.termination]

    assert reasons(x | limit) == reasons([x | limit]) == reasons([x, {"max_iterations": 3}])
    assert reasons(x | limit) == ["tool_called:x", "max_iterations"]
    assert reasons({"any": [{"tool_called": "x"}, limit]}) == ["tool_called:x OR max_iterations"]
    assert reasons([{"not": x & limit}]) == ["NOT tool_called:x AND max_iterations"]
    assert reasons([]) == []


def test_a_dict_playbook_with_a_condition_it_cannot_say_is_refused() -> None:
    """
    The host's mistake, named; nothing is loaded without the condition.
    """
    book = {"id": "p", "name": "P", "steps": [], "termination": [ToolCalled("x", small)]}

    with pytest.raises(HostError, match="holds no Python"):
        guideway.load(book)
    with pytest.raises(guideway.PlaybookError):
        guideway.load({"id": "p", "name": "P", "steps": [], "termination": [lambda state: True]})

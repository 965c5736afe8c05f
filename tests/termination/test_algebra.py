"""Laws of the algebra, whatever the conditions and the state."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guideway import HostError
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
    ToolCalled,
    leaves,
)

from .building import CLASSES, CONDITIONS, FUNCTIONS, NAMES, STATES

RANK = {False: 0, None: 1, True: 2}
A, B, C = ToolCalled("isolate_host"), ConfidenceMet(0.9), MaxIterations(10)


@given(CONDITIONS, CONDITIONS, STATES)
def test_de_morgan(left: TerminationCondition, right: TerminationCondition, state: RunState) -> None:
    """
    Turning a combination round turns its parts and its sign round, unknown included.
    """
    assert (~(left & right)).judge(state).holds == (~left | ~right).judge(state).holds
    assert (~(left | right)).judge(state).holds == (~left & ~right).judge(state).holds
    assert (~~left).judge(state).holds == left.judge(state).holds


@given(CONDITIONS, CONDITIONS, STATES)
def test_kleene(left: TerminationCondition, right: TerminationCondition, state: RunState) -> None:
    """
    With no < unknown < yes, `&` is the least, `|` the greatest, `~` the mirror (S44).
    """
    one, two = RANK[left.judge(state).holds], RANK[right.judge(state).holds]

    assert RANK[(left & right).judge(state).holds] == min(one, two)
    assert RANK[(left | right).judge(state).holds] == max(one, two)
    assert RANK[(~left).judge(state).holds] == 2 - one


@given(CONDITIONS, STATES)
def test_check_and_explain_say_the_same(condition: TerminationCondition, state: RunState) -> None:
    """
    Asking every part changes neither the answer nor the reason, and neither ever raises.
    """
    whole, (stop, reason) = condition.explain(state), condition.check(state)

    assert stop is (whole.holds is True)
    assert reason == (whole.reason if stop else None)
    assert bool(whole.decisive) is stop


@given(CONDITIONS)
def test_json_round_trip(condition: TerminationCondition) -> None:
    """
    A condition comes back from real JSON as the same value.
    """
    written = json.dumps(condition.to_json())

    assert TerminationCondition.from_json(json.loads(written), NAMES) == condition


@given(CONDITIONS)
def test_repr_round_trip(condition: TerminationCondition) -> None:
    """
    Python reads the `repr` back as the same value, with the same hash.
    """
    read = eval(repr(condition), {**CLASSES, **FUNCTIONS})  # noqa: S307

    assert (read, hash(read)) == (condition, hash(condition))


@given(CONDITIONS)
def test_copies_are_equal(condition: TerminationCondition) -> None:
    """
    A deep copy and a pickle are the same value.
    """
    assert copy.deepcopy(condition) == condition
    assert pickle.loads(pickle.dumps(condition)) == condition  # noqa: S301


@given(st.lists(CONDITIONS, min_size=3, max_size=3))
def test_grouping_makes_no_difference(parts: list[TerminationCondition]) -> None:
    """
    However a chain of one sign is put in brackets, it is one flat value.
    """
    a, b, c = parts

    assert (a & b) & c == a & (b & c) == AndCondition(a, b, c)
    assert (a | b) | c == a | (b | c) == OrCondition(a, b, c)


@given(st.lists(CONDITIONS, min_size=2, max_size=3), STATES)
def test_order_decides_the_reason_and_never_the_answer(parts: list[TerminationCondition], state: RunState) -> None:
    """
    Parts in any order stop the same runs.
    """
    assert len({AndCondition(*order).check(state)[0] for order in permutations(parts)}) == 1
    assert len({OrCondition(*order).check(state)[0] for order in permutations(parts)}) == 1


def test_equality_keeps_the_order_of_parts_and_not_that_of_arguments() -> None:
    """
    The order of parts gives the reason, so it counts; that of arguments in a map means nothing; `1` is no `true`.
    """
    assert A | C != C | A
    assert A & B != B & A
    assert ToolCalled("x", {"a": 1, "b": 2}) == ToolCalled("x", {"b": 2.0, "a": 1})
    assert hash(ToolCalled("x", {"a": 1, "b": 2})) == hash(ToolCalled("x", {"b": 2, "a": 1}))
    assert ToolCalled("x", {"a": 1}) != ToolCalled("x", {"a": True})
    assert ToolCalled("x") != ToolCalled("x", require_success=True)
    assert ConfidenceMet(1) == ConfidenceMet(1.0)
    both: TerminationCondition = A & B
    assert both != A | B


def test_pythons_precedence_holds() -> None:
    """
    `~` binds tighter than `&`, and `&` tighter than `|`; brackets say otherwise.
    """
    assert OrCondition(AndCondition(A, B), C) == A & B | C
    assert OrCondition(C, AndCondition(A, B)) == C | A & B
    assert AndCondition(A, OrCondition(B, C)) == A & (B | C)
    assert AndCondition(NotCondition(A), B) == ~A & B
    assert repr(A & B | C) == "(ToolCalled('isolate_host') & ConfidenceMet(0.9)) | MaxIterations(10)"


def test_the_parts_stay_typed_and_in_sight() -> None:
    """
    Whoever gets a combination can walk down to its parts.
    """
    whole = A & B | ~NoToolCalls() | C

    assert isinstance(whole, OrCondition)
    assert whole.conditions == (AndCondition(A, B), NotCondition(NoToolCalls()), C)
    assert list(leaves(whole)) == [A, B, NoToolCalls(), C]
    assert whole.reason == "tool_called:isolate_host AND confidence_met OR NOT no_tools OR max_iterations"


def test_a_condition_is_no_truth_value() -> None:
    """
    `and`, `or` and `not` would throw a part away without a word, so they are refused.
    """
    for wrong in (lambda: A and C, lambda: A or C, lambda: not A, lambda: bool(A & B)):
        with pytest.raises(HostError, match="combine conditions with"):
            wrong()


def test_only_conditions_combine() -> None:
    """
    Anything else is a mistake of the host's where it is written, and an empty combination too.
    """
    one: Any = A
    signs: list[Callable[[], Any]] = [lambda: one & True, lambda: "x" | one, lambda: one | None]
    for sign in signs:
        with pytest.raises(TypeError):
            sign()
    for make in (AndCondition, OrCondition):
        with pytest.raises(HostError, match="needs a condition"):
            make()
        with pytest.raises(HostError, match="'x' is none"):
            make(A, "x")  # type: ignore[arg-type]
    with pytest.raises(HostError, match="is none"):
        NotCondition(7)  # type: ignore[arg-type]


def test_nesting_has_an_end() -> None:
    """
    Conditions nest as deep as a playbook may, so that asking one never overruns the stack.
    """
    deep: TerminationCondition = C
    for _ in range(60):
        deep = ~deep

    assert deep.check(RunState(iterations=10)) == (True, "NOT " * 60 + "max_iterations")
    with pytest.raises(HostError, match="at most 60 deep"):
        _ = ~deep


def test_a_condition_cannot_be_changed() -> None:
    """
    It is a value: shared between runs, threads and tests.
    """
    for condition, key in ((C, "n"), (A, "name"), (A & B, "conditions"), (B, "threshold")):
        with pytest.raises(AttributeError):
            setattr(condition, key, 1)


def test_a_part_that_can_change_nothing_is_not_asked() -> None:
    """
    `check` stops at the part that decides; `explain` asks all of them.
    """
    asked: list[int] = []

    def count(state: RunState) -> bool:
        asked.append(1)
        return False

    reached = RunState(iterations=10)

    assert (C | CustomCondition(count)).check(reached) == (True, "max_iterations")
    assert (~C & CustomCondition(count)).check(reached) == (False, None)
    assert asked == []
    assert (C | CustomCondition(count)).explain(reached).holds is True
    assert asked == [1]

"""Rows 35 to 39 of seed four: the algebra keeps what its document promises."""

from __future__ import annotations

import json
from typing import Any

import pytest

from guideway import Failed, Outcome, Session, Succeeded, ToolCall
from guideway.runtime.agent.reasons import StopReason, normalise, of
from guideway.termination import (
    AndCondition,
    ConfidenceMet,
    CustomCondition,
    MaxIterations,
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

DOCUMENT = (ToolCalled("isolate_host") & ConfidenceMet(0.9)) | TextMention(r"\bESCALATE\b") | MaxIterations(10)
TICKET = ToolExecution("isolate_host", {"host": "ws-7"}, result={"ticket": "C-1"})


def host_contained(state: Any) -> bool:
    """The document's own example, word for word."""
    # Stop only once isolate_host actually returned a containment ticket —
    # not just when the call was emitted.
    return any(
        e.tool_name == "isolate_host" and (e.result or {}).get("ticket")
        for e in state.tool_executions
    )  # fmt: skip


def test_row_35_conditions_combine_and_stay_typed_inspectable_testable_serializable() -> None:
    """
    `&` and `|` with Python's precedence give values whose sides can be looked at, asked, and written down.
    """
    unbracketed = ToolCalled("isolate_host") & ConfidenceMet(0.9) | TextMention(r"\bESCALATE\b") | MaxIterations(10)

    assert unbracketed == DOCUMENT
    assert isinstance(DOCUMENT, OrCondition)
    assert isinstance(DOCUMENT.conditions[0], AndCondition)
    assert DOCUMENT.conditions[0].conditions == (ToolCalled("isolate_host"), ConfidenceMet(0.9))
    assert DOCUMENT.conditions[2].check(RunState(iterations=10)) == (True, "max_iterations")
    assert TerminationCondition.from_json(json.loads(json.dumps(DOCUMENT.to_json()))) == DOCUMENT


@pytest.mark.parametrize(("condition", "before", "after"), [
    (MaxIterations(2), RunState(iterations=1), RunState(iterations=2)),
    (TokenLimit(50), RunState(tokens=49), RunState(tokens=50)),
    (TimeLimit(2), RunState(elapsed=1.9), RunState(elapsed=2)),
    (NoToolCalls(), RunState(iterations=1, tool_calls_last_turn=1), RunState(iterations=2, text="All quiet.")),
    (ToolCalled("isolate_host"), RunState(iterations=1), RunState(tool_executions=(TICKET,))),
    (ToolCalled("isolate_host", args=lambda args: args["host"] == "ws-7"),
     RunState(tool_executions=(ToolExecution("isolate_host", {"host": "ws-8"}),)), RunState(tool_executions=(TICKET,))),
    (ConfidenceMet(0.85), RunState(confidence=0.8), RunState(confidence=0.85)),
    (TextMention(r"\bDONE\b"), RunState(text="undone, UNDONE"), RunState(text="It is DONE.")),
    (CustomCondition(lambda state: state.iterations > 2), RunState(iterations=2), RunState(iterations=3)),
])  # fmt: skip
def test_row_36_every_condition_of_the_table(
    condition: TerminationCondition, before: RunState, after: RunState
) -> None:
    """
    Iterations, tokens, time, no tools, a tool (with a predicate on its arguments), confidence, a regex, a function.
    """
    assert condition.check(before) == (False, None)
    assert condition.check(after)[0] is True


@pytest.mark.parametrize(("state", "reason", "stop_reason"), [
    (RunState(confidence=0.95, tool_executions=(TICKET,)), "tool_called:isolate_host AND confidence_met",
     StopReason.TERMINAL_TOOL),
    (RunState(text="ESCALATE"), r"text_mention:\bESCALATE\b", StopReason.COMPLETE),
    (RunState(iterations=10), "max_iterations", StopReason.MAX_ITERATIONS),
    (RunState(iterations=10, text="ESCALATE"), r"text_mention:\bESCALATE\b", StopReason.COMPLETE),
])  # fmt: skip
def test_row_37_the_reason_is_the_branchs_own_and_the_literal_is_normalised(
    state: RunState, reason: str, stop_reason: StopReason
) -> None:
    """
    `check` gives `(True, reason)`, joined with ` AND `; of an `|` the first true branch speaks; both ways to the
    literal agree.
    """
    assert DOCUMENT.check(state) == (True, reason)
    assert normalise(reason) is of(DOCUMENT.judge(state)) is stop_reason


def test_row_37_nothing_to_say_while_the_run_goes_on() -> None:
    """
    `check` gives `(False, None)`.
    """
    assert DOCUMENT.check(RunState(iterations=9, confidence=0.95)) == (False, None)


def test_row_38_a_predicate_may_answer_with_a_bool_or_with_a_tuple() -> None:
    """
    The document has one, the code the other; both are taken, and a tuple's words are kept.
    """
    plain = CustomCondition(lambda state: state.iterations >= 1)
    wordy = CustomCondition(lambda state: (state.iterations >= 1, "one turn is enough"))
    after = RunState(iterations=1)

    assert (plain.check(RunState()), plain.check(after)) == ((False, None), (True, "custom"))
    assert (wordy.check(RunState()), wordy.check(after)) == ((False, None), (True, "one turn is enough"))


@pytest.mark.parametrize(("done", "emitted", "succeeded", "contained"), [
    (ToolExecution("isolate_host", error="agent offline"), True, False, False),
    (ToolExecution("isolate_host", result={"ticket": None}), True, True, False),
    (ToolExecution("isolate_host", result={}), True, True, False),
    (ToolExecution("isolate_host"), True, True, False),
    (ToolExecution("isolate_host", result={"ticket": "C-1"}), True, True, True),
    (ToolExecution("isolate_host", allowed=False, ran=False, error="denied"), False, False, False),
])  # fmt: skip
def test_row_39_a_call_that_ran_is_told_from_one_that_succeeded_with_evidence(
    done: ToolExecution, emitted: bool, succeeded: bool, contained: bool
) -> None:
    """
    `ToolCalled`, `require_success`, and `expect` or the document's own function ask three different things.
    """
    state = RunState(iterations=1, tool_executions=(done,))
    evidence = ToolCalled("isolate_host", expect='result.ticket != null && result.ticket != ""')

    assert ToolCalled("isolate_host").check(state)[0] is emitted
    assert ToolCalled("isolate_host", require_success=True).check(state)[0] is succeeded
    assert evidence.check(state)[0] is contained
    assert (CustomCondition(host_contained) | MaxIterations(15)).check(state)[0] is contained


def test_row_39_in_a_playbook_only_a_success_counts() -> None:
    """
    A session ends by `tool_called` when the call has succeeded, not when it was made (S36).
    """
    import guideway

    item = ToolCalled("isolate_host", expect="result.ticket != null").to_playbook()
    session = Session(guideway.load({
        "id": "p", "name": "P", "termination": [{**item, "outcome": "stopped"}],
        "steps": [{"id": "a", "description": "Work.", "expected_tools": ["other"], "optional_tools": ["isolate_host"]}],
    }, flow=False))  # fmt: skip
    outcomes: list[Outcome] = [Failed("offline"), Succeeded({"ticket": None}), Succeeded({"ticket": "C-1"})]
    seen = []

    for number, outcome in enumerate(outcomes):
        [verdict] = session.propose([ToolCall("isolate_host", {}, f"c{number}")])
        assert verdict.allowed
        seen.append(session.observe(f"c{number}", outcome).outcome)

    assert seen == [None, None, "stopped"]

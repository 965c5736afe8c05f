"""The gotchas of seed four's document: each is found, or told, or impossible."""

from __future__ import annotations

import guideway
from guideway import Session, ToolCall
from guideway.termination import (
    AndCondition,
    ConfidenceMet,
    CustomCondition,
    MaxIterations,
    OrCondition,
    RunState,
    ToolCalled,
    ToolExecution,
)

STEPS = [{"id": "a", "description": "Contain it.", "expected_tools": ["isolate_host"]}]


def test_always_max_iterations_a_misspelt_tool_is_found() -> None:
    """
    In a playbook a tool that nothing calls is an error with the nearest name, before any run.
    """
    item = (ToolCalled("isolate_hots") | MaxIterations(8)).to_playbook()
    [found] = guideway.check({"id": "p", "name": "P", "steps": STEPS, "termination": [item]})

    assert "isolate_hots" in found.message
    assert "isolate_host" in (found.help or "")


def test_always_max_iterations_explain_shows_the_part_that_never_holds() -> None:
    """
    Printed, the whole says of each part whether it holds.
    """
    whole = (ToolCalled("isolate_host") & ConfidenceMet(0.85)) | MaxIterations(8)
    call = ToolExecution("isolate_host", {"host": "ws-7"})

    assert str(whole.explain(RunState(iterations=8, confidence=0.8, tool_executions=(call,)))).splitlines() == [
        "yes: tool_called:isolate_host AND confidence_met OR max_iterations",
        "  no: tool_called:isolate_host AND confidence_met",
        "    yes: tool_called:isolate_host",
        "    no: confidence_met",
        "  yes: max_iterations",
    ]


def test_always_max_iterations_a_run_without_one_has_a_limit_all_the_same() -> None:
    """
    S39: a playbook that says no limit has max(1000, 20 for each step).
    """
    machine = guideway.load({"id": "p", "name": "P", "steps": STEPS, "max_refusals": 10**6})
    session = Session(machine)
    turns = 0
    while session.outcome is None and turns < 2000:
        turns += 1
        session.propose([ToolCall("other", {}, f"c{turns}")])

    assert (session.outcome, turns) == ("stopped:max_iterations", 1000)


def test_precedence_and_binds_tighter_than_or() -> None:
    """
    With and without brackets it is the same value; other brackets make another, and `repr` shows which.
    """
    a, b, c = ToolCalled("isolate_host"), ConfidenceMet(0.85), MaxIterations(8)

    assert a & b | c == (a & b) | c == OrCondition(AndCondition(a, b), c)
    assert a & (b | c) == AndCondition(a, OrCondition(b, c))
    assert repr(a & (b | c)) == "ToolCalled('isolate_host') & (ConfidenceMet(0.85) | MaxIterations(8))"


def test_confidence_never_trips_without_reflexion_and_says_so() -> None:
    """
    Nobody gives a confidence, so it is unknown, not some default; `~` does not make it true either.
    """
    condition = ConfidenceMet(0.0)
    state = RunState(iterations=5, tokens=900)

    assert condition.check(state) == (False, None)
    assert (~condition).check(state) == (False, None)
    assert "nobody has given a confidence" in str(condition.explain(state))
    assert condition.check(RunState(confidence=0.0)) == (True, "confidence_met")


def test_tool_called_fires_before_containment_completes_unless_it_asks_for_the_ticket() -> None:
    """
    By itself it asks for the call, as the document says; `expect` asks for the result.
    """
    pending = RunState(tool_executions=(ToolExecution("isolate_host", result={"state": "pending", "ticket": None}),))
    done = RunState(tool_executions=(*pending.tool_executions, ToolExecution("isolate_host", result={"ticket": "C-1"})))
    evidence = ToolCalled("isolate_host", expect="result.ticket != null")

    assert ToolCalled("isolate_host").check(pending)[0] is True
    assert (evidence.check(pending)[0], evidence.check(done)[0]) == (False, True)


def test_a_predicate_over_executions_can_tell_which_of_them_counted() -> None:
    """
    A blocked call is among `tool_executions`, with `succeeded` false and no result.
    """
    blocked = RunState(tool_executions=(ToolExecution("isolate_host", allowed=False, ran=False, error="denied"),))
    made = RunState(tool_executions=(ToolExecution("isolate_host", result={"ticket": "C-1"}),))
    condition = CustomCondition(lambda state: any(e.succeeded for e in state.tool_executions))

    assert (condition.check(blocked)[0], condition.check(made)[0]) == (False, True)

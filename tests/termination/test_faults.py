"""Faults D1 and D13, on the level of the algebra and of a session."""

from __future__ import annotations

import guideway
from guideway import Session, Succeeded, ToolCall
from guideway.termination import (
    CustomCondition,
    MaxIterations,
    RunState,
    TextMention,
    ToolCalled,
    ToolExecution,
)

BLOCKED = ToolExecution("isolate_host", {"host": "dc-1"}, error="out of sequence", allowed=False, ran=False)
MADE = ToolExecution("isolate_host", {"host": "ws-7"}, result={"ticket": "C-1"})


def test_d1_a_blocked_call_satisfies_no_stop_condition() -> None:
    """
    The gate refused the isolation, so no condition ends the incident as contained; when it has run, they do.
    """
    conditions = [
        ToolCalled("isolate_host"),
        ToolCalled("isolate_host", require_success=True),
        ToolCalled("isolate_host", {"host": "dc-1"}),
        ToolCalled("isolate_host", lambda args: True),
        ToolCalled("isolate_host", where="true"),
    ]
    blocked, made = (RunState(iterations=1, tool_executions=(call,)) for call in (BLOCKED, MADE))

    assert [condition.check(blocked) for condition in conditions] == [(False, None)] * 5
    assert [condition.check(made)[0] for condition in conditions] == [True, True, False, True, True]


def test_d1_a_session_goes_on_after_a_blocked_call() -> None:
    """
    With the condition in the playbook, a denied call ends nothing; the same call, admitted and done, does.
    """
    item = {**ToolCalled("isolate_host").to_playbook(), "outcome": "stopped"}
    steps = [
        {"id": "look", "description": "Look it up.", "expected_tools": ["query_siem"]},
        {"id": "contain", "description": "Isolate it.", "expected_tools": ["isolate_host"]},
        {"id": "tell", "description": "Tell the owner.", "expected_tools": ["notify_owner"]},
    ]
    session = Session(guideway.load({"id": "p", "name": "P", "steps": steps, "termination": [item]}))

    [verdict] = session.propose([ToolCall("isolate_host", {}, "c1")])
    assert (verdict.allowed, session.outcome) == (False, None)
    session.propose([ToolCall("query_siem", {}, "c2")])
    session.observe("c2", Succeeded())
    session.propose([ToolCall("isolate_host", {}, "c3")])

    assert session.observe("c3", Succeeded()).outcome == "stopped"


def test_d13_a_pattern_is_a_regular_expression() -> None:
    r"""
    `\bDONE\b` finds the word, and not "undone"; case counts unless the pattern says otherwise.
    """
    word = TextMention(r"\bDONE\b")

    assert [word.check(RunState(text=text))[0] for text in ("All DONE.", "UNDONE", "undone", "done")] == [
        True, False, False, False,
    ]  # fmt: skip
    assert TextMention(r"(?i)\bdone\b").check(RunState(text="All Done."))[0] is True


def test_d13_a_pattern_takes_linear_time() -> None:
    """
    A pattern and a text that keep a backtracking engine busy for ever are answered here at once.
    """
    assert TextMention("(a+)+$").check(RunState(text="a" * 50_000 + "!")) == (False, None)


def test_d13_an_argument_predicate_works() -> None:
    """
    `ToolCalled(name, args=…)` takes a function, or the arguments themselves.
    """
    state = RunState(iterations=1, tool_executions=(MADE,))

    assert ToolCalled("isolate_host", args=lambda args: args["host"].startswith("ws-")).check(state)[0] is True
    assert ToolCalled("isolate_host", args=lambda args: args["host"].startswith("dc-")).check(state)[0] is False
    assert ToolCalled("isolate_host", args={"host": "ws-7"}).check(state)[0] is True


def test_d13_a_predicate_that_answers_with_a_bool_works() -> None:
    """
    It ends the run when it says yes; one that raises ends nothing, and the next condition is asked.
    """
    assert CustomCondition(lambda state: state.tokens > 10).check(RunState(tokens=11)) == (True, "custom")
    raises = CustomCondition(lambda state: state.no_such_thing) | MaxIterations(2)
    assert raises.check(RunState(iterations=1)) == (False, None)
    assert raises.check(RunState(iterations=2)) == (True, "max_iterations")

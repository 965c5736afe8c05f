"""
When a run ends: typed conditions that combine with `&`, `|` and `~`.

>>> from guideway.termination import ConfidenceMet, MaxIterations, RunState, TextMention, ToolCalled, ToolExecution
>>> termination = (
...     (ToolCalled("isolate_host") & ConfidenceMet(0.9))
...     | TextMention(r"\\bESCALATE\\b")
...     | MaxIterations(10)
... )
>>> isolated = ToolExecution("isolate_host", {"host": "ws-7"}, result={"ticket": "C-1"})
>>> termination.check(RunState(iterations=4, confidence=0.95, tool_executions=(isolated,)))
(True, 'tool_called:isolate_host AND confidence_met')
"""

from guideway.statemachine.termination import (
    AndCondition,
    ConfidenceMet,
    CustomCondition,
    Judgement,
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
    from_condition,
    items,
    leaves,
)

__all__ = [
    "AndCondition",
    "ConfidenceMet",
    "CustomCondition",
    "Judgement",
    "MaxIterations",
    "NoToolCalls",
    "NotCondition",
    "OrCondition",
    "RunState",
    "TerminationCondition",
    "TextMention",
    "TimeLimit",
    "TokenLimit",
    "ToolCalled",
    "ToolExecution",
    "from_condition",
    "items",
    "leaves",
]

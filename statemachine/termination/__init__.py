"""When a run ends: conditions that combine with `&`, `|` and `~`."""

from .base import TerminationCondition
from .called import ToolCalled
from .combine import AndCondition, NotCondition, OrCondition, leaves
from .compiled import from_condition
from .custom import CustomCondition
from .judgement import Judgement
from .limits import MaxIterations, TimeLimit, TokenLimit
from .listed import items
from .replies import ConfidenceMet, NoToolCalls, TextMention
from .state import RunState, ToolExecution

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

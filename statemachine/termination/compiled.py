"""From the conditions of a compiled playbook back to those of Python."""

from __future__ import annotations

from guideway.statemachine import conditions as machine
from guideway.statemachine.errors import HostError

from .base import Named, TerminationCondition
from .called import ToolCalled
from .combine import AndCondition, NotCondition, OrCondition
from .custom import CustomCondition
from .limits import MaxIterations, TimeLimit, TokenLimit
from .replies import ConfidenceMet, NoToolCalls, TextMention


def from_condition(condition: machine.Condition, predicates: Named | None = None) -> TerminationCondition:
    """
    The same condition as a value of Python; `predicates` gives the functions of `custom` by name.

    Raises:
        HostError: it needs a playbook: it waits for a signal, or reads facts.

    >>> from_condition(machine.AllOf((machine.ToolCalled("isolate_host"), machine.ConfidenceMet(0.9))))
    ToolCalled('isolate_host', require_success=True) & ConfidenceMet(0.9)
    """
    given = {} if predicates is None else predicates
    match condition:
        case machine.AllOf(parts):
            return AndCondition(*(from_condition(part, given) for part in parts))
        case machine.AnyOf(parts):
            return OrCondition(*(from_condition(part, given) for part in parts))
        case machine.Not(part):
            return NotCondition(from_condition(part, given))
        case machine.MaxIterations(limit):
            return MaxIterations(limit)
        case machine.TokenLimit(limit):
            return TokenLimit(limit)
        case machine.TimeLimit(seconds):
            return TimeLimit(seconds)
        case machine.NoToolCalls():
            return NoToolCalls()
        case machine.ConfidenceMet(threshold):
            return ConfidenceMet(threshold)
        case machine.TextMention(pattern):
            return TextMention(pattern)
        case _:
            return _needing_more(condition, given)


def _needing_more(condition: machine.Condition, predicates: Named) -> TerminationCondition:
    match condition:
        case machine.ToolCalled(tool, where, expect):
            texts = [rule.source if rule is not None else None for rule in (where, expect)]
            return ToolCalled(tool, require_success=True, where=texts[0], expect=texts[1])
        case machine.Custom(name) if name in predicates:
            return CustomCondition(predicates[name], name=name)
        case machine.Custom(name):
            raise HostError(f"the predicate `{name}` is not among those given; give it in `predicates`")
        case _:
            token = machine.describe(condition)
            raise HostError(f"`{token}` cannot be asked outside of a playbook: only a session hears signals")

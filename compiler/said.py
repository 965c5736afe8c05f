"""What a step, an approval, a condition or a playbook says, read off it alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from guideway.playbooks.approvals import ApprovalSpec, rules_of
from guideway.playbooks.models import Playbook
from guideway.playbooks.steps import PlaybookStep
from guideway.playbooks.terminations import TerminationItem
from guideway.statemachine.tools import best_match


def expires(approval: ApprovalSpec | list[ApprovalSpec] | None) -> bool:
    """Tell whether some rule of an approval has a deadline of its own."""
    return any(rule.timeout is not None for rule in rules_of(approval))


def may_call(callee: Playbook, tool: str) -> bool:
    """Tell whether a playbook, or perhaps one that it calls itself, may call the tool."""
    if callee.allow_extra_tools or best_match(tool, callee.optional_tools) is not None:
        return True
    for step, _ in callee.walk():
        named = [entry.tool for entry in (*step.expected_entries, *step.optional_entries)]
        if step.playbook is not None or step.uses or best_match(tool, named) is not None:
            return True
        if step.call is not None and step.call.tool == tool:
            return True
    return False


def writes(step: PlaybookStep) -> bool:
    """
    Tell whether a step that makes no call keeps a result under its id.

    >>> writes(PlaybookStep(id="p", playbook="enrich-ip")), writes(PlaybookStep(id="s", steps=[]))
    (True, False)
    """
    if step.for_each is not None or step.playbook is not None:
        return True
    return step.steps is not None and step.repeat is not None and step.repeat.collect is not None


def signals_in(items: Sequence[TerminationItem]) -> Iterator[str]:
    """Name the signals that conditions speak of."""
    for item in items:
        if item.signal is not None:
            yield item.signal
        yield from signals_in([*(item.all or ()), *(item.any or ()), *([item.not_] if item.not_ else ())])

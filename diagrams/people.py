"""What the boxes say of people: who is asked, what, and how many must agree."""

from __future__ import annotations

from collections.abc import Iterator

from guideway.statemachine.approvals import Approval
from guideway.statemachine.blocks import Ask

from .picture import Line, Role
from .texts import NOTE, duration, short


def asks(approval: Approval) -> Iterator[Line]:
    """Say what is asked, and who decides; of several rules, when each of them does."""
    rules = approval.rules()
    for place, rule in enumerate(rules, 1):
        number = f"{place} · " if len(rules) > 1 else ""
        if rule.when:
            yield Line(Role.GUARD, f"{number}when {short(rule.when.source)}")
        elif number and place > 1:
            yield Line(Role.GUARD, f"{number}otherwise")
        if rule.ask and (place == 1 or rule.ask != rules[place - 2].ask):
            yield Line(Role.NOTE, short(rule.ask, NOTE))
        yield Line(Role.LIMIT, " · ".join(_deciders(rule)))


def _deciders(rule: Approval) -> Iterator[str]:
    named = short(", ".join(rule.approvers), NOTE) if rule.approvers else "anybody"
    if rule.everyone:
        yield f"by one each of {named}"
    else:
        yield f"by {rule.count} of {named}" if rule.count > 1 else f"by {named}"
    if rule.excluded:
        yield f"not by {short(', '.join(rule.excluded), NOTE)}"
    if rule.timeout is not None:
        yield f"within {duration(rule.timeout)}"


def question(ask: Ask) -> Iterator[Line]:
    """Say what a person is asked, who may answer, and what an answer is."""
    yield Line(Role.NOTE, short(ask.question, NOTE))
    yield Line(Role.LIMIT, f"to {short(', '.join(ask.assignees), NOTE)}" if ask.assignees else "to anybody")
    if ask.choices:
        yield Line(Role.LIMIT, f"one of {short(', '.join(ask.choices), NOTE)}")
    if ask.fields:
        yield Line(Role.LIMIT, f"with {short(', '.join(ask.fields), NOTE)}")
    if ask.remind is not None:
        yield Line(Role.LIMIT, f"reminded every {duration(ask.remind)}")

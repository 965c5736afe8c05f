"""Verdicts and commands as plain JSON, both ways."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from guideway.statemachine.span import Span

from .records import stamp
from .verdicts import WORDS as ANSWERS
from .verdicts import Allow, Ask, Cancel, Defer, Deny, Illegal, LegalCall, NeedsApproval, RunCall, Wait

OFFER = ("tool", "step", "where", "because", "left", "needed", "needs_approval", "carries")


def answer_json(answer: Any) -> list[Any] | None:
    """The verdict a repeated proposal gets."""
    if answer is None:
        return None
    if isinstance(answer, Deny):
        return ["deny", *denial_json(answer)]
    return [ANSWERS[type(answer)], *(list(v) if isinstance(v, tuple) else v for v in answer)]


def denial_json(denial: Deny) -> list[Any]:
    """A denial, with all it teaches."""
    plain = [getattr(denial, name) for name in ("call_id", "tool", "code", "message", "step", "rule")]
    offers = [[getattr(call, name) for name in OFFER] for call in denial.legal]
    span, way = denial.span, denial.path
    return [
        *plain, span and list(span), denial.because, [lists(offer) for offer in offers],
        None if way is None else list(way), [list(budget) for budget in denial.budgets],
    ]  # fmt: skip


def lists(values: list[Any]) -> list[Any]:
    """Tuples among the values as lists."""
    return [list(value) if isinstance(value, tuple) else value for value in values]


def command_json(command: Any) -> list[Any]:
    """A command, its kind first."""
    values = [stamp(v) if isinstance(v, datetime) else list(v) if isinstance(v, tuple) else v for v in command]
    return [type(command).__name__, *values]


def moment(text: str | None) -> datetime | None:
    """The inverse of `stamp`."""
    return None if text is None else datetime.fromisoformat(text)


def answer_of(data: list[Any] | None) -> Any:
    """The inverse of `answer_json`."""
    if data is None:
        return None
    kind, *values = data
    if kind == "deny":
        return denial_of(values)
    classes: dict[str, Any] = {"allow": Allow, "defer": Defer, "needs_approval": NeedsApproval, "illegal": Illegal}
    return classes[kind](*(tuple(v) if isinstance(v, list) else v for v in values))


def denial_of(data: list[Any]) -> Deny:
    """The inverse of `denial_json`."""
    call_id, tool, code, message, step, rule, span, because, offers, way, budgets = data
    legal = tuple(LegalCall(*tuples(offer)) for offer in offers)
    place, path = (None if span is None else Span(*span)), (None if way is None else tuple(way))
    left = tuple((name, count) for name, count in budgets)
    return Deny(call_id, tool, code, message, step, rule, place, because, legal, path, left)


def tuples(values: list[Any]) -> list[Any]:
    """Lists among the values as the tuples they were."""
    return [tuple(value) if isinstance(value, list) else value for value in values]


def command_of(data: list[Any]) -> Any:
    """A command, by its kind."""
    kind, *values = data
    if kind == "Wait":
        return Wait(values[0], moment(values[1]), *values[2:])
    if kind == "Ask":
        return Ask(*tuples(values))
    return {"RunCall": RunCall, "Cancel": Cancel}[kind](*values)

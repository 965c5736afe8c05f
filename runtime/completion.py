"""When a step is done (S18, S20 to S22).  Pure: nothing here changes the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .cursors import Cursor
from .plan import Line
from .run import Bound, Run
from .scope import scope, truth


def all_met(cursor: Cursor, more: Mapping[int, int] | None = None, upto: int | None = None) -> bool:
    """Every expected entry (before index `upto`) has its successes; `more` adds successes not yet there."""
    counts = cursor.counts
    for line in cursor.row.needed:
        if upto is not None and line.index >= upto:
            return True
        if not line.met(counts.get(line.index, 0) + (more.get(line.index, 0) if more else 0)):
            return False
    return True


def would_close(cursor: Cursor, mine: list[Bound]) -> bool:
    """If these calls of the visit succeed, the step is complete or its `max_tool_calls` spent (S14.4)."""
    row, step = cursor.row, cursor.row.step
    mine = [bound for bound in mine if bound.line is not None]
    if step is None or not mine:
        return False
    if step.max_calls is not None and cursor.spent + len(mine) >= step.max_calls:
        return True
    if step.claims:
        return False
    more: dict[int, int] = {}
    for bound in mine:
        if bound.line is not None:
            more[bound.line.index] = more.get(bound.line.index, 0) + 1
    return bool(row.needed) and all_met(cursor, more) and cursor.successes + len(mine) >= step.min_calls


def held_open(run: Run, cursor: Cursor, claims: Mapping[str, Any] | None = None) -> str | None:
    """Why a step may not be declared complete: entries unmet, too few calls, or a `validation` not true."""
    step = cursor.row.step
    if step is None:
        return "no step is open"
    if not all_met(cursor):
        missing = next(line for line in cursor.row.needed if not line.met(cursor.counts.get(line.index, 0)))
        return f"`{step.id}` needs a success of `{missing.entry.tool}` first"
    if cursor.successes < step.min_calls:
        calls = "1 successful call" if step.min_calls == 1 else f"{step.min_calls} successful calls"
        return f"`{step.id}` needs {calls}, and has {cursor.successes}"
    if missed := unprobed(cursor):
        return f"`{step.id}` has not looked at `{missed}` yet"
    return invalid(run, cursor, claims)


def enough(cursor: Cursor) -> bool:
    """All entries are met, enough calls have succeeded, and every required probe was made."""
    step = cursor.row.step
    return step is not None and all_met(cursor) and cursor.successes >= step.min_calls and unprobed(cursor) is None


def unprobed(cursor: Cursor) -> str | None:
    """The first required probe that no successful call of the visit has made."""
    step = cursor.row.step
    return next((p.name for p in step.probes if p.name not in (cursor.probed or ())), None) if step else None


def invalid(run: Run, cursor: Cursor, claims: Mapping[str, Any] | None = None) -> str | None:
    """The first `validation` of the step that is not true, and why; `claims` are those about to be made."""
    step = cursor.row.step
    if step is None or not step.validation:
        return None
    names = scope(run, cursor.frame)
    if claims:
        names["claims"] = {**names["claims"], step.id: dict(claims)}
    for rule in step.validation:
        answer = truth(run, cursor.frame, rule, names)
        if answer is not True:
            return f"`{rule.source}` is not true" + (f": {answer}" if isinstance(answer, str) else "")
    return None


def admissible(cursor: Cursor) -> bool:
    """Some call can still be admitted in this visit (S21)."""
    row, step = cursor.row, cursor.row.step
    if step is None or (step.max_calls is not None and cursor.spent >= step.max_calls):
        return False
    definition = cursor.frame.plan.definition
    if definition.optional_tools or definition.extra_tools:
        return True
    return any(takes_more(cursor, line) for line in row.lines)


def takes_more(cursor: Cursor, line: Line) -> bool:
    """The entry has no quota, or one not reached."""
    return line.times is None or cursor.counts.get(line.index, 0) < line.times

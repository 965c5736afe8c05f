"""When a step is done (S18, S20 to S22).  Pure: nothing here changes the run."""

from __future__ import annotations

from collections.abc import Mapping

from .plan import Line
from .run import Bound, Run
from .scope import scope, truth


def all_met(run: Run, more: Mapping[int, int] | None = None, upto: int | None = None) -> bool:
    """Every expected entry (before index `upto`) has its successes; `more` adds successes not yet there."""
    counts = run.cursor.counts
    for line in run.row.needed:
        if upto is not None and line.index >= upto:
            return True
        if not line.met(counts.get(line.index, 0) + (more.get(line.index, 0) if more else 0)):
            return False
    return True


def would_close(run: Run, earlier: list[Bound]) -> bool:
    """If the earlier calls succeed, the step is complete or its `max_tool_calls` spent (S14.4)."""
    cursor, row, step = run.cursor, run.row, run.row.step
    mine = [b for b in earlier if b.line is not None and b.step == cursor.step and b.visit == cursor.visit]
    if step is None or not mine:
        return False
    if step.max_calls is not None and cursor.spent + len(mine) >= step.max_calls:
        return True
    more: dict[int, int] = {}
    for bound in mine:
        if bound.line is not None:
            more[bound.line.index] = more.get(bound.line.index, 0) + 1
    return bool(row.needed) and all_met(run, more) and cursor.successes + len(mine) >= step.min_calls


def held_open(run: Run) -> str | None:
    """Why a step without expected tools may not be declared complete: too few calls, or a `validation` not true."""
    step, cursor = run.row.step, run.cursor
    if step is None:
        return "no step is open"
    if cursor.successes < step.min_calls:
        return f"`{step.id}` needs {step.min_calls} successful calls, and has {cursor.successes}"
    return invalid(run)


def invalid(run: Run) -> str | None:
    """The first `validation` of the step that is not true, and why."""
    step = run.row.step
    for rule in step.validation if step else ():
        answer = truth(run, rule, scope(run))
        if answer is not True:
            return f"`{rule.source}` is not true" + (f": {answer}" if isinstance(answer, str) else "")
    return None


def admissible(run: Run) -> bool:
    """Some call can still be admitted in this visit (S21)."""
    cursor, row, step = run.cursor, run.row, run.row.step
    if step is None or (step.max_calls is not None and cursor.spent >= step.max_calls):
        return False
    definition = run.plan.definition
    if definition.optional_tools or definition.extra_tools:
        return True
    return any(takes_more(run, line) for line in row.lines)


def takes_more(run: Run, line: Line) -> bool:
    """The entry has no quota, or one not reached."""
    return line.times is None or run.cursor.counts.get(line.index, 0) < line.times

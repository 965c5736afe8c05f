"""Rounds of a `repeat`, over a call or over steps, and what is collected of them and of items (S28, S32)."""

from __future__ import annotations

from typing import Any

from guideway.statemachine.expressions import Expression
from guideway.statemachine.expressions import Unknown as Missing
from guideway.statemachine.steps import Repeat

from .cursors import Cursor
from .issue import wait
from .moves import fail
from .questions import written
from .run import Run
from .scope import truth


def gather(run: Run, cursor: Cursor, rule: Expression, names: dict[str, Any]) -> Any:
    """The value of a `collect`; one that is unknown fails the step of the cursor, and comes back as `Missing`."""
    value = written(rule(names, run.now))
    if isinstance(value, Missing):
        fail(run, cursor, f"collect: {value.why}")
    return value


def end_round(run: Run, cursor: Cursor, repeat: Repeat, names: dict[str, Any], *, held: bool = True) -> bool:
    """
    Count a round; True where it was the last, because `until` is true.

    Otherwise the next one is set, or the step has failed.  A round that did not hold collects nothing and ends nothing.
    """
    cursor.rounds += 1
    if held and repeat.collect is not None:
        item = gather(run, cursor, repeat.collect, names)
        if isinstance(item, Missing):
            return False
        cursor.collected = [*(cursor.collected or ()), item]
    if held and truth(run, cursor.frame, repeat.until, names) is True:
        return True
    if cursor.rounds >= repeat.at_most:
        fail(run, cursor, f"repeat: `{repeat.until.source}` was not true after {cursor.rounds} rounds")
    else:
        wait(run, cursor, repeat.wait)
    return False

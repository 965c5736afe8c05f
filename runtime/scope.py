"""What expressions see of a run (the last table of SEMANTICS)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from guideway.statemachine.expressions import Expression, Terms
from guideway.statemachine.expressions import Unknown as Missing

from .run import Run


def scope(run: Run, **more: Any) -> dict[str, Any]:
    """Root names and their values now; `more` adds `args`, `result`, `error`."""
    return {
        "inputs": run.inputs,
        "facts": run.facts,
        "history": run.history,
        "claims": claims(run),
        "terms": Terms(run.plan.definition.terms),
        "run": facts_of(run),
        **more,
    }


def claims(run: Run) -> dict[str, Any]:
    """What the agent says of itself."""
    said: dict[str, Any] = {"text": run.text}
    if run.confidence is not None:
        said["confidence"] = run.confidence
    return said


def facts_of(run: Run) -> dict[str, Any]:
    """What the runtime knows of the run: numbers are counts, `elapsed` is in seconds."""
    return {
        "id": run.run_id,
        "started_by": run.started_by,
        "iterations": run.iterations,
        "calls": run.calls,
        "tokens": run.tokens,
        "elapsed": elapsed(run.started, run.now),
    }


def elapsed(started: datetime | None, now: datetime | None) -> float:
    """Seconds from the start; 0 for a run that keeps no time."""
    if started is None or now is None:
        return 0
    seconds = (now - started).total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def truth(run: Run, expression: Expression, names: Mapping[str, Any] | None = None) -> bool | str:
    """
    Evaluate a condition: True, False, or, where it is unknown, why.

    A value that is no boolean is unknown, too: there is no truthiness.
    """
    value = expression(scope(run) if names is None else names, run.now)
    if value is True or value is False:
        return value
    if isinstance(value, Missing):
        return value.why
    return f"`{expression.source}` is no true or false"

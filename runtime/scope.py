"""What expressions see of a run (the last table of SEMANTICS)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from guideway.statemachine.expressions import Expression
from guideway.statemachine.expressions import Unknown as Missing

from .facts import copy
from .frames import Frame
from .run import Run

NO_DATA = ("predicate", "terms")


def plain(value: Any) -> Any:
    """A table that nobody has written to is shared, and no dict."""
    return dict(value) if isinstance(value, Mapping) else value


def scope(run: Run, frame: Frame, **more: Any) -> dict[str, Any]:
    """Root names and their values now, as `frame` sees them; `more` adds `args`, `result`, `error`."""
    names: dict[str, Any] = {
        "inputs": frame.inputs,
        "facts": frame.seen("facts"),
        "history": frame.seen("history"),
        "answers": frame.seen("answers"),
        "signals": frame.seen("signals"),
        "claims": claims(run, frame),
        "terms": frame.plan.terms,
        "run": facts_of(run, frame),
        **more,
    }
    if run.predicates:
        names["predicate"] = Asked(run.predicates, names)
    return names | frame.items() if frame.is_item else names


class Asked(Mapping[str, Any]):
    """
    The host's predicates, each asked when an expression reads it; one that raises is unknown (S30).

    What it is given is a copy: a predicate answers, and changes nothing.
    """

    def __init__(self, predicates: Mapping[str, Any], names: Mapping[str, Any]) -> None:
        self._predicates = predicates
        self._names = names

    def __getitem__(self, name: str) -> Any:
        try:
            seen = {key: copy(plain(value)) for key, value in self._names.items() if key not in NO_DATA}
            return self._predicates[name](seen)
        except Exception as error:
            return Missing(f'the predicate "{name}" raised {type(error).__name__}')

    def __iter__(self) -> Iterator[str]:
        return iter(self._predicates)

    def __len__(self) -> int:
        return len(self._predicates)


def claims(run: Run, frame: Frame) -> dict[str, Any]:
    """What the agent says of itself."""
    said: dict[str, Any] = {**frame.seen("claims"), "text": run.text}
    if run.confidence is not None:
        said["confidence"] = run.confidence
    return said


def facts_of(run: Run, frame: Frame) -> dict[str, Any]:
    """What the runtime knows: numbers are counts, `elapsed` is in seconds; a sub-playbook counts from its call."""
    owner = frame.owner
    turns, tokens, _, _ = owner.since
    return {
        "id": run.run_id,
        "started_by": run.started_by,
        "iterations": max(0, run.iterations - turns),
        "calls": run.calls if owner is run.frame else owner.calls,
        "tokens": run.tokens - tokens,
        "elapsed": elapsed(owner.started, run.now),
    }


def elapsed(started: datetime | None, now: datetime | None) -> float:
    """Seconds from the start; 0 for a run that keeps no time."""
    if started is None or now is None:
        return 0
    seconds = (now - started).total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def truth(run: Run, frame: Frame, expression: Expression, names: Mapping[str, Any] | None = None) -> bool | str:
    """
    Evaluate a condition: True, False, or, where it is unknown, why.

    A value that is no boolean is unknown, too: there is no truthiness.
    """
    value = expression(scope(run, frame) if names is None else names, run.now)
    if value is True or value is False:
        return value
    if isinstance(value, Missing):
        return value.why
    return f"`{expression.source}` is no true or false"

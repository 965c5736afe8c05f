"""Where a run has been, to be laid over a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Walk:
    """
    A run, or many, as counts.

    `visited` counts entries of states, `taken` edges as (source, event, target), `refused` refused calls by state;
    `current` are the states that wait now, `ended` is the accepting state reached.
    """

    visited: Mapping[str, int] = field(default_factory=dict)
    taken: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    current: frozenset[str] = frozenset()
    refused: Mapping[str, int] = field(default_factory=dict)
    ended: str | None = None

    @classmethod
    def from_records(cls, records: Iterable[Mapping[str, Any]]) -> Walk:
        """
        Read the lines of one run's trace.  Lines of other kinds, or without what is needed here, count for nothing.

        >>> walk = Walk.from_records([{"kind": "moved", "source": "a", "event": "completed", "target": "b"}])
        >>> walk.visited, walk.current
        ({'a': 1, 'b': 1}, frozenset({'b'}))
        """
        visited, taken, refused = Counter[str](), Counter[tuple[str, str, str]](), Counter[str]()
        here: str | None = None
        ended: str | None = None
        for record in records:
            match record:
                case {"kind": "started", "state": str(state)}:
                    visited[state], here = 1, state
                case {"kind": "moved", "source": str(source), "event": str(event), "target": str(target)}:
                    if not visited:
                        visited[source] = 1
                    visited[target] += 1
                    taken[source, event, target] += 1
                    here = target
                case {"kind": "decided", "verdict": "deny", "state": str(state)}:
                    refused[state] += 1
                    here = here or state
                case {"kind": "ended", "state": str(state)}:
                    ended = state
        if here is not None and not visited:
            visited[here] = 1
        current = frozenset({here} if here is not None and ended is None else ())
        return cls(dict(visited), dict(taken), current, dict(refused), ended)

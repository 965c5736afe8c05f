"""Where a run has been, to be laid over a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .paths import around, belongs, caller
from .standing import Standing


@dataclass(frozen=True, slots=True)
class Walk:
    """
    A run, or many, as counts.

    `visited` counts entries of states, `taken` edges as (source, event, target), `refused` refused calls by state;
    `current` are the states that wait now, `ended` is the accepting state reached, and `outcome` what was published
    there: an end of success does not count as one where something was still owed or is unknown.
    """

    visited: Mapping[str, int] = field(default_factory=dict)
    taken: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    current: frozenset[str] = frozenset()
    refused: Mapping[str, int] = field(default_factory=dict)
    ended: str | None = None
    outcome: str | None = None

    @classmethod
    def from_records(cls, records: Iterable[Mapping[str, Any]], frame: str = "") -> Walk:
        """
        Read the lines of one run's trace.  Lines of other kinds, or without what is needed here, count for nothing.

        A sub-playbook has a picture of its own, so its moves are read only where `frame` names its frame, as the lines
        do (`enrich/`); one that has returned, or that its caller has left, waits nowhere.  The items of a `for_each`
        (`ramp[2]/`) are drawn in the picture of their playbook.

        >>> walk = Walk.from_records([{"kind": "moved", "source": "a", "event": "completed", "target": "b"}])
        >>> walk.visited, walk.current
        ({'a': 1, 'b': 1}, frozenset({'b'}))
        """
        told, lines = _Told(), list(records)
        for record in lines:
            if belongs(record, frame):
                told.read(record)
        return told.walk(is_open=not frame or _is_open(lines, frame))


def _is_open(records: Sequence[Mapping[str, Any]], frame: str) -> bool:
    """Say whether a called playbook that has not returned is still under way: it is left when its caller moves on."""
    calls = [(line.get("kind"), line.get("frame")) == ("called", frame) for line in records]
    if True not in calls or "step" not in (call := records[calls.index(True)]):
        return True
    step, after = call["step"], records[calls.index(True) :]
    if any(_leaves(line, step, around(frame)) for line in after):
        return False
    return step in Walk.from_records(records, caller(frame)).current


def _leaves(record: Mapping[str, Any], step: str, frame: str) -> bool:
    """Say whether the line moves a cursor of the frame out of the step."""
    return (record.get("kind"), record.get("source"), record.get("frame") or "") == ("moved", step, frame)


@dataclass(slots=True)
class _Told:
    """What the lines read so far have told."""

    visited: Counter[str] = field(default_factory=Counter)
    taken: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    standing: Standing = field(default_factory=Standing)
    ended: str | None = None
    outcome: str | None = None

    def read(self, record: Mapping[str, Any]) -> None:
        match record:
            case {"kind": "started" | "called", "state": str(state)}:
                self._begin(state)
            case {"kind": "moved", "source": str(source), "event": str(event), "target": str(target)}:
                if not self.visited:
                    self._begin(source)
                self.visited[target] += 1
                self.taken[source, event, target] += 1
                self.standing.moved(source, event, target, record.get("frame") or "")
            case {"kind": "decided", "verdict": "deny", "state": str(state)}:
                if not self.visited:
                    self._begin(state)
                self.refused[state] += 1
            case {"kind": "closed", "step": str(step)}:
                self.visited[step] += 1
            case {"kind": "ending", "state": str(state)}:
                self.standing.at(state)
            case {"kind": "ended", "state": str(state)}:
                self.ended, self.outcome = state, record.get("outcome")
            case {"kind": "returned", "outcome": str(outcome)}:
                self.ended, self.outcome = min(self.standing.states, default=None), outcome

    def _begin(self, state: str) -> None:
        self.visited[state] = 1
        self.standing.at(state)

    def walk(self, *, is_open: bool) -> Walk:
        current = self.standing.states if self.ended is None and is_open else frozenset[str]()
        return Walk(dict(self.visited), dict(self.taken), current, dict(self.refused), self.ended, self.outcome)

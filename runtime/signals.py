"""Where outside signals come from, when a driver runs a playbook."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple, Protocol

from guideway.statemachine.definition import Definition


class Signal(NamedTuple):
    """Something that has happened outside, with any JSON."""

    name: str
    data: Any = None


class Signals(Protocol):
    """A source of signals."""

    def next(self, awaited: Collection[str]) -> Signal | None:
        """The next signal that has come, if any; steps wait for those `awaited` now."""
        ...


class NoSignals:
    """None ever comes."""

    def next(self, awaited: Collection[str]) -> Signal | None:
        """None, always."""
        return None


class GivenSignals:
    """
    Signals given beforehand.

    One that a step waits for comes when it is waited for, in the order given; one that only ends the run comes at once.

    >>> from guideway.statemachine.definition import Definition
    >>> given = GivenSignals([Signal("stop")], Definition("p", "P", "a", {}, {}))
    >>> given.next(()), given.next(())
    (Signal(name='stop', data=None), None)
    """

    def __init__(self, signals: Iterable[Signal], definition: Definition) -> None:
        self._left = list(signals)
        self._for_steps = definition.signals_waited_for

    def next(self, awaited: Collection[str]) -> Signal | None:
        """The first that is waited for, or that no step waits for."""
        for index, signal in enumerate(self._left):
            if signal.name in awaited or signal.name not in self._for_steps:
                return self._left.pop(index)
        return None

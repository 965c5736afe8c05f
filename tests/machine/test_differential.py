"""Our `Machine` and the library's, built from the same random description, must show the same in everything."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from transitions import core

from guideway.statemachine.machine import Event, Machine

from .twins import ADDRESS, Dice, World

MACHINES, BATCH, STEPS = 20_000, 1_000, 12


class Listener(logging.Handler):
    """Keeps what the library logs."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line, without object addresses."""
        self.lines.append(ADDRESS.sub("", record.getMessage()))


@pytest.fixture
def moves(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Count the events of our machines, and those of them that the library had to do."""
    counts = {"all": 0, "library": 0}
    short, library = Event.trigger, core.Event.trigger

    def ours(self: Event, *args: Any, **kwargs: Any) -> bool:
        counts["all"] += 1
        return short(self, *args, **kwargs)

    def theirs(self: core.Event, *args: Any, **kwargs: Any) -> bool:
        counts["library"] += isinstance(self, Event)
        return library(self, *args, **kwargs)

    monkeypatch.setattr(Event, "trigger", ours)
    monkeypatch.setattr(core.Event, "trigger", theirs)
    return counts


def everything_seen(base: type[core.Machine], seed: int) -> list[Any]:
    """Build the machine of this seed with the class `base`, poke it, and list all that can be seen."""
    dice = Dice(seed)
    spec = dice.spec()
    logger, listener = logging.getLogger("transitions.core"), Listener()
    logger.addHandler(listener)
    logger.propagate = False
    logger.setLevel(logging.INFO if seed % 16 == 0 else logging.WARNING)
    try:
        world = World(base, spec)
        results = [world.result(dice.step()) for _ in range(STEPS)]
    finally:
        logger.removeHandler(listener)
        logger.propagate = True
        logger.setLevel(logging.NOTSET)
    histories = [getattr(model, name, None) for model in world.models for name in ("history", "reads", "writes")]
    return [results, world.log, listener.lines, histories]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MACHINES, BATCH))
def test_no_random_machine_tells_us_from_the_library(first: int, moves: dict[str, int]) -> None:
    """
    Returned values, errors, callback logs, log lines and states agree; and both ways are really walked.
    """
    for seed in range(first, first + BATCH):
        assert everything_seen(core.Machine, seed) == everything_seen(Machine, seed), f"machine {seed}"

    assert moves["all"] > 5 * BATCH
    assert 0.2 < moves["library"] / moves["all"] < 0.8

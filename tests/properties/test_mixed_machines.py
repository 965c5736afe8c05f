"""The cursors of a run of the whole format go through the machine, callbacks and all."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Machine

from .checking import Frames, note
from .counting import seen
from .hosting import begin, driver, play, saved, verbs
from .mixing import compiled

SEEDS = 250


@pytest.mark.slow
def test_a_machine_with_callbacks_is_told_of_every_move() -> None:
    """A materialized machine with recording callbacks runs the same run; its callbacks hear each of its moves once."""
    count = seen("mixed runs, callbacks")
    for seed in range(SEEDS):
        machine = compiled(seed)
        if machine is None:
            continue
        assert machine.definition is not None
        told: list[tuple[str, str, str]] = []

        def tell(event: Any, told: list[tuple[str, str, str]] = told) -> None:
            told.append((event.transition.source, event.event.name, event.transition.dest))

        watched = Machine.of(machine.definition)
        watched.send_event = True
        watched.after_state_change = [tell]
        assert watched.materialized
        plain, heard = begin(machine), begin(watched)
        for verb in verbs(plain, driver(f"{seed} told", waste=0.05), 40):
            assert play(plain, verb) == play(heard, verb), (seed, verb)
        assert plain.records == heard.records, seed
        assert saved(plain) == saved(heard), seed
        moves = moves_of(plain.records, machine)
        assert [move[1:] for move in told] == [move[1:] for move in moves], seed
        for heard_from, moved_from in ((one[0], other[0]) for one, other in zip(told, moves, strict=True)):
            assert heard_from == moved_from or around(machine, moved_from, heard_from), (seed, heard_from, moved_from)
            count["jumps out of blocks"] += heard_from != moved_from
        count["moves heard"] += len(told)
        note(count, plain)
    assert min(count["moves heard"], count["moves in items"], count["event forked"]) > 100


def around(machine: Machine, inner: str, outer: str) -> bool:
    """The state `inner` lies in the block `outer`, which a jump out of it leaves."""
    definition = machine.definition
    assert definition is not None
    block = definition.states[inner].block
    while block and block != outer:
        block = definition.steps[block].block
    return block == outer


def moves_of(records: Any, machine: Machine) -> list[tuple[str, str, str]]:
    """The moves of the root playbook's own cursors: a playbook that is called has a machine of its own."""
    assert machine.definition is not None
    frames = Frames(machine.definition)
    found: list[tuple[str, str, str]] = []
    for kind, _, *values in records:
        if kind == "called":
            frames.called[values[4]] = values[0]
        elif kind == "moved" and frames.definition(values[5]) is machine.definition:
            found.append((values[0], values[1], values[2]))
    return found

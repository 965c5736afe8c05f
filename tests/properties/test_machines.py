"""A run is a walk of the machine that its playbook lowers to, and the stock library walks the same way."""

from __future__ import annotations

import random
from typing import Any

import pytest
import transitions

from guideway import Definition, Machine
from guideway.statemachine.definition import ANYWHERE, Edge

from .counting import seen, tally
from .drawing import FLAVOURS, machine_of
from .walking import Host, begin, play, records, saved, verbs

SEEDS = 500


class Walker:
    """The model of a stock machine: the edge that is to be taken is told to it."""

    state: str
    edge: Edge | None = None
    """what the session has chosen"""


class Told:
    """A guard that says yes to one edge only: the one the session chose."""

    def __init__(self, edge: Edge) -> None:
        self.edge = edge

    def __call__(self, event: Any) -> bool:  # noqa: D102 - what the class says
        return event.model.edge is self.edge


def stock(definition: Definition, walker: Walker) -> Any:
    """A `transitions.Machine` made of states and edges, and of nothing else that is ours."""
    machine = transitions.Machine(
        walker, states=list(definition.states), initial=definition.initial, send_event=True, auto_transitions=False
    )
    for edge in definition.edges():
        source: Any = list(definition.states) if edge.source == ANYWHERE else edge.source
        machine.add_transition(edge.event, source, edge.target, conditions=[Told(edge)])
    return machine


def chosen(definition: Definition, source: str, event: str, target: str) -> Edge:
    """The edge that a move took."""
    ways = [edge for edge in definition.edges() if (edge.event, edge.target) == (event, target)]
    return next(edge for edge in ways if edge.source in (source, ANYWHERE))


@pytest.mark.slow
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_stock_machine_walks_every_run(flavour: str) -> None:
    """Fed the events of a session, a stock machine built from states and edges passes through the same states."""
    count = seen(f"stock machine, {flavour}")
    for seed in range(SEEDS):
        machine = machine_of(flavour, seed)
        if machine is None:
            continue
        definition = machine.definition
        assert definition is not None
        session = begin(machine)
        host = Host(random.Random(seed), waste=0.05)
        for verb in verbs(session, host, 40):
            play(session, verb)
        walker = Walker()
        built = stock(definition, walker)
        for record in session.records:
            if record[0] != "moved":
                continue
            _, _, source, event, target, *_ = record
            assert walker.state == source
            if (event, target) == ("failed", "failed:host"):  # the engine's own, drawn nowhere
                walker.state = target
                count["the engine's own"] += 1
                continue
            walker.edge = chosen(definition, source, event, target)
            assert built.events[event].trigger(walker), (flavour, seed, record)
            assert walker.state == target, (flavour, seed, record)
            count["steps of the stock machine"] += 1
        assert walker.state == session.state
        tally(count, session.records)
    assert count["steps of the stock machine"] > 500


@pytest.mark.slow
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_machine_with_callbacks_is_told_of_every_move(flavour: str) -> None:
    """A materialized machine with recording callbacks runs the same run, and its callbacks hear each move once."""
    count = seen(f"callbacks, {flavour}")
    for seed in range(SEEDS):
        machine = machine_of(flavour, seed)
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
        for verb in verbs(plain, Host(random.Random(seed), waste=0.05), 30):
            assert play(plain, verb) == play(heard, verb), (flavour, seed, verb)
        assert records(plain) == records(heard), (flavour, seed)
        assert saved(plain) == saved(heard), (flavour, seed)
        assert told == [tuple(record[2:5]) for record in plain.records if record[0] == "moved"], (flavour, seed)
        count["moves heard"] += len(told)
        tally(count, plain.records)
    assert count["moves heard"] > 500

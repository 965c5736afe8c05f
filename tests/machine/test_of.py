"""`Machine.of`: built when asked for, and then the machine anybody would build from the definition's tables."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from transitions import core

import guideway
from guideway.statemachine.definition import Definition, Edge, End, EndKind, OutcomeClass, State, StateKind
from guideway.statemachine.errors import HostError
from guideway.statemachine.expressions import parse
from guideway.statemachine.machine import Machine

DONE = End(EndKind.GOAL, "done", OutcomeClass.SUCCESS)
LIBRARY = sorted(path.name for path in files("guideway.playbooks.library").iterdir() if path.name.endswith(".yaml"))


class Cursor:
    """What a session moves."""

    __slots__ = ("edge", "state")

    def __init__(self, state: str) -> None:
        self.state = state
        self.edge: Edge | None = None


class Ticket:
    """A model of a user's own, with a scope of facts for the guards."""

    def __init__(self, **facts: Any) -> None:
        self.scope = {"facts": facts}


def definition(*edges: Edge, end: str = "done", anywhere: tuple[Edge, ...] = ()) -> Definition:
    """Make a definition of its edges; `end` is its accepting state."""
    table: dict[str, dict[str, tuple[Edge, ...]]] = {}
    for edge in edges:
        row = table.setdefault(edge.source, {})
        row[edge.event] = (*row.get(edge.event, ()), edge)
    names = dict.fromkeys([name for edge in (*edges, *anywhere) for name in (edge.source, edge.target) if name != "*"])
    states = {
        name: State(name, StateKind.END, {}, end=DONE)
        if name == end
        else State(name, StateKind.STEP, table.get(name, {}))
        for name in names
    }
    return Definition("x", "x", edges[0].source, states, {}, anywhere=anywhere)


LINE = definition(Edge("look", "completed", "act"), Edge("look", "failed", "act"), Edge("act", "completed", "done"))
FORK = definition(
    Edge("look", "completed", "act", parse("facts.score > 5")),
    Edge("look", "completed", "ask", parse("facts.score > 2")),
    Edge("look", "completed", "done"),
    Edge("act", "completed", "look", parse("facts.again")),
    Edge("ask", "approved", "act"),
    Edge("ask", "rejected", "done"),
    anywhere=(Edge("*", "terminated", "done"), Edge("*", "terminated", "ask"), Edge("*", "timeout", "done")),
)
ODD = definition(
    Edge("100%", "=", "a: b"), Edge("a: b", "=", "="), Edge("=", "state", "end"), Edge("end", "trigger", "done")
)
HAND_MADE = {"line": LINE, "fork": FORK, "odd names": ODD}


def built_by_hand(given: Definition) -> core.Machine:
    """Build the library's own machine from the tables of a definition, in the plainest way."""
    states = [core.State(state.name, final=state.kind is StateKind.END) for state in given.states.values()]
    machine = core.Machine(model=None, states=states, initial=given.initial, auto_transitions=False, send_event=True)
    for state in given.states.values():
        here = [edge for branches in state.edges.values() for edge in branches]
        for edge in [*here, *given.anywhere]:
            event = machine.events.setdefault(edge.event, core.Event(edge.event, machine))
            event.add_transition(core.Transition(state.name, edge.target, question(edge)))  # type: ignore[arg-type]
    return machine


def question(edge: Edge) -> Callable[[core.EventData], bool]:
    """Ask the guard of the edge, or, of a model that has chosen, its choice."""

    def answer(data: core.EventData) -> bool:
        chosen = getattr(data.model, "edge", None)
        if chosen is not None:
            return chosen is edge
        return edge.guard is None or edge.guard(data.kwargs["scope"]) is True

    return answer


def definitions() -> list[Any]:
    """Give every definition: made by hand, and compiled from the playbooks of the library."""
    folder = files("guideway.playbooks.library")
    compiled = {name: guideway.load(Path(str(folder.joinpath(name)))).definition for name in LIBRARY}
    return [pytest.param(given, id=name) for name, given in {**HAND_MADE, **compiled}.items()]


def scopes(dice: random.Random) -> dict[str, Any]:
    """Draw a scope: some facts the guards ask for, of fitting and unfitting kinds, some missing."""
    drawn = {
        name: dice.choice([0, 3, 9, True, False, "text", None]) for name in ("score", "again") if dice.random() < 0.8
    }
    return {"facts": drawn, "inputs": drawn, "answers": {}, "claims": {}}


@pytest.mark.parametrize("given", definitions())
def test_a_random_walk_is_the_walk_of_a_machine_built_by_hand(given: Definition) -> None:
    """
    Events, guards, wrong events and questions are answered alike, step by step, by ours and by the library's class.
    """
    dice = random.Random(7)
    machine, stock = Machine.of(given), built_by_hand(given)
    assert (list(machine.states), machine.initial) == (list(stock.states), stock.initial)
    for _ in range(300):
        state = dice.choice(list(given.states))
        ours, theirs = Cursor(state), Cursor(state)
        assert sorted(machine.get_triggers(state)) == sorted(stock.get_triggers(state))
        for _ in range(5):
            event, scope = dice.choice(list(stock.events)), scopes(dice)
            answers = [answer(m, c, event, scope) for m, c in ((machine, ours), (stock, theirs))]
            assert answers[0] == answers[1]
            assert ours.state == theirs.state


def answer(machine: Any, cursor: Cursor, event: str, scope: dict[str, Any]) -> Any:
    """Ask whether the event may fire, then fire it; tell what comes of it, be it an error."""
    may = machine._can_trigger(cursor, event, scope=scope)
    try:
        return may, machine.events[event].trigger(cursor, scope=scope)
    except core.MachineError as error:
        return may, str(error)


@pytest.mark.parametrize("given", definitions())
def test_moving_is_the_same_before_and_after_building_and_fires_what_is_registered(given: Definition) -> None:
    """
    A move ends in the edge's target; built, it also runs the callbacks the library runs, in its order.
    """
    dice = random.Random(11)
    machine, lazy, stock = Machine.of(given), Machine.of(given), built_by_hand(given)
    logs: tuple[list[Any], list[Any]] = ([], [])
    for built, log in zip((machine, stock), logs, strict=True):
        listen(built, log)
    cursors = [Cursor(given.initial) for _ in range(3)]
    for _ in range(300):
        row = given.states[cursors[0].state]
        edge = dice.choice([*(edge for branches in row.edges.values() for edge in branches), *given.anywhere, None])
        if edge is None or (cursors[0].state == edge.target and dice.random() < 0.9):
            for cursor in cursors:
                cursor.state = given.initial
            continue
        machine.move(cursors[0], edge)
        lazy.move(cursors[1], edge)
        cursors[2].edge = edge
        stock.events[edge.event].trigger(cursors[2])
        assert {cursor.state for cursor in cursors} == {edge.target}
        assert cursors[0].edge is None

    assert logs[0] == logs[1] != []
    assert not lazy.materialized


def listen(machine: Any, log: list[Any]) -> None:
    """Register callbacks of every kind on some states, transitions and the machine."""

    def note(kind: str) -> Callable[[core.EventData], None]:
        def noted(data: core.EventData) -> None:
            way = data.transition and (data.transition.source, data.transition.dest)
            log.append((kind, data.event.name, way, data.model.state))  # type: ignore[attr-defined]

        return noted

    for state in list(machine.states.values())[::2]:
        state.add_callback("enter", note("enter"))
        state.add_callback("exit", note("exit"))
    for event in list(machine.events.values())[::2]:
        event.add_callback("before", note("before"))
        event.add_callback("after", note("after"))
    machine.finalize_event = [note("finally")]
    machine.on_final.append(note("final"))


@pytest.mark.parametrize(
    "touch",
    [
        lambda m: m.states,
        lambda m: m.events,
        lambda m: m.models,
        lambda m: m.initial,
        lambda m: m.get_triggers("look"),
        lambda m: m.get_state("act"),
        lambda m: m.on_enter_act("note"),
        lambda m: m.add_model(Ticket(), initial="look"),
        lambda m: m.before_state_change.append("note"),
        lambda m: setattr(m, "after_state_change", ["note"]),
    ],
)
def test_the_first_use_builds(touch: Callable[[Machine], Any]) -> None:
    """
    Making, asking for the definition and moving build nothing; any use as a machine of the library does.
    """
    machine = Machine.of(LINE)
    cursor = Cursor("look")
    machine.move(cursor, LINE.states["look"].edges["completed"][0])
    assert (machine.definition, machine.materialized, cursor.state) == (LINE, False, "act")

    touch(machine)

    assert machine.materialized
    assert machine.get_state("done").final
    assert isinstance(machine, core.Machine)


def test_a_callback_assigned_before_anything_else_is_kept() -> None:
    """
    Building does not lose what made it happen.
    """
    machine, seen = Machine.of(LINE), []
    machine.after_state_change = [lambda data: seen.append(data.model.state)]
    machine.move(Cursor("look"), LINE.states["look"].edges["failed"][0])

    assert seen == ["act"]


def test_guards_read_the_scope_of_a_users_own_model() -> None:
    """
    On a registered model `may_…` and events go by its `scope`, or the one given; an `edge` of its own is none of ours.
    """
    machine = Machine.of(FORK)
    hot, cold = Ticket(score=9), Ticket(score=3)
    models: list[Any] = [hot, cold]
    models[1].edge = "north"
    machine.add_model(models)

    assert [model.completed() for model in models] == [True, True]
    assert [model.state for model in models] == ["act", "ask"]
    assert not models[0].may_completed()
    assert models[0].completed(scope={"facts": {"again": True}})
    assert models[0].state == "look"


def test_a_callback_that_raises_leaves_the_cursor_where_it_was_called() -> None:
    """
    Before the move: the old state; after it: the new one; the error comes through, and the choice is forgotten.
    """
    edge = LINE.states["look"].edges["completed"][0]
    for what, state in (("on_exit_look", "look"), ("on_enter_act", "act")):
        machine, cursor = Machine.of(LINE), Cursor("look")
        getattr(machine, what)(lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            machine.move(cursor, edge)
        assert (cursor.state, cursor.edge) == (state, None)


def test_a_condition_added_to_the_machine_cannot_silently_stop_a_move() -> None:
    """
    The session has decided already, so a refusal is the embedding program's mistake and is said to be.
    """
    machine, cursor = Machine.of(LINE), Cursor("look")
    for transition in machine.get_transitions("completed"):
        transition.conditions.append(core.Condition(lambda _: False))

    with pytest.raises(HostError, match=r"`completed` leads from `look` to `act`, but .* left the cursor in `look`"):
        machine.move(cursor, LINE.states["look"].edges["completed"][0])


def test_an_edge_the_engine_made_up_is_taken_too() -> None:
    """
    A fault of the engine may have no edge in the definition: the states' callbacks run, and no other edge is taken.
    """
    machine, cursor, seen = Machine.of(LINE), Cursor("look"), []
    machine.on_enter_act(lambda _: seen.append("act"))
    machine.on_enter_done(lambda _: seen.append("done"))
    machine.move(cursor, Edge("*", "failed", "done"))

    assert (cursor.state, seen) == ("done", ["done"])


@pytest.mark.parametrize("build", [False, True])
def test_a_machine_can_be_pickled_and_copied(build: bool) -> None:
    """
    Its definition, guards included, comes out equal, and the twin moves by itself.
    """
    machine = Machine.of(FORK)
    if build:
        machine.on_enter_act  # noqa: B018 - to ask is to build
    for twin in (pickle.loads(pickle.dumps(machine)), copy.deepcopy(machine), copy.copy(machine)):  # noqa: S301
        assert (twin.definition, twin.materialized) == (FORK, build)
        cursor = Cursor("look")
        assert twin.definition is not None
        twin.move(cursor, twin.definition.states["look"].edges["completed"][1])
        assert cursor.state == "ask"
        assert twin.events["approved"].trigger(cursor)
        assert cursor.state == "act"


def test_threads_that_come_first_together_see_one_whole_machine() -> None:
    """
    However many ask at once, all get the same events, and never half of them.
    """
    edges = [Edge(f"s{i}", f"go{i % 50}", f"s{i + 1}") for i in range(2_000)]
    machine, found, start = Machine.of(definition(*edges, end="s2000")), [], threading.Barrier(8)

    def ask() -> None:
        start.wait()
        found.append((id(machine.events), len(machine.events), len(machine.states)))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [(id(machine.events), 50, 2_001)] * 8

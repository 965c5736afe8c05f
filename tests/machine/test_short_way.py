"""When an event may take the short way, and when the library must do it all."""

from __future__ import annotations

import copy
import logging
import pickle
from enum import StrEnum
from typing import Any

import pytest
from transitions import core

from guideway.statemachine.machine import Event, Machine


class Model:
    """Something with a state."""

    def __init__(self, state: Any = "A") -> None:
        self.state = state


class Tone(StrEnum):
    """Members that are texts too, and not those of their names."""

    A = "B"
    B = "A"


def two(kind: type[Machine] = Machine, **options: Any) -> Machine:
    """Build a machine that goes from A to B."""
    given: dict[str, Any] = {"states": ["A", "B"], "auto_transitions": False} | options
    return kind(model=None, initial="A", transitions=[["go", "A", "B"], ["go", "B", "A"]], **given)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """List the events the library had to do."""
    done: list[str] = []
    stock = core.Event.trigger

    def trigger(self: core.Event, model: Any, *args: Any, **kwargs: Any) -> bool:
        done.append(self.name)
        return stock(self, model, *args, **kwargs)

    monkeypatch.setattr(core.Event, "trigger", trigger)
    return done


def fire(machine: Machine, model: Any = None) -> str:
    """Fire `go` on a model in A; it must move."""
    model = model or Model()
    assert machine.events["go"].trigger(model, 1, key=2) is True
    return str(model.state)


def test_a_plain_event_never_reaches_the_library(library: list[str]) -> None:
    """
    Each of the ways to fire a plain event is short, for a model of its own and for the machine as its model.
    """
    machine = two()
    model: Any = Model()
    machine.add_model([model, "self"])

    assert [model.go(), model.trigger("go"), machine.go(), machine.trigger("go", 1)] == [True] * 4
    assert (fire(machine), model.state, machine.state) == ("B", "A", "A")
    assert library == []


def test_callbacks_count_from_the_moment_they_are_registered(library: list[str]) -> None:
    """
    A list that grows, or is replaced, after short moves is seen by the next one; emptied again, the short way is back.
    """
    machine, seen = two(), []
    for name in ("prepare_event", "before_state_change", "after_state_change", "finalize_event", "on_exception"):
        fire(machine)
        getattr(machine, name).append(lambda *_, name=name, **__: seen.append(name))
        fire(machine)
        setattr(machine, name, [])
        fire(machine)

    assert library == ["go"] * 5
    assert seen == ["prepare_event", "before_state_change", "after_state_change", "finalize_event"]


def test_final_states_are_short_until_somebody_wants_to_know(library: list[str]) -> None:
    """
    Entering a final state is the library's only where `on_final` is registered.
    """
    machine, seen = two(states=["A", {"name": "B", "final": True}]), []
    fire(machine)
    machine.on_final.append(lambda *_, **__: seen.append("final"))
    fire(machine)

    assert (library, seen) == (["go"], ["final"])


def test_a_listener_at_level_info_gets_every_line(library: list[str], caplog: pytest.LogCaptureFixture) -> None:
    """
    Where the library would write its log, it does.
    """
    machine = two()
    fire(machine)
    with caplog.at_level(logging.INFO, "transitions.core"):
        fire(machine)
    fire(machine)

    assert library == ["go"]
    assert len(caplog.messages) == 2


@pytest.mark.parametrize("name", ["callbacks", "callback", "set_state", "get_state", "get_model_state", "_process"])
def test_an_overridden_machine_method_is_called(name: str, library: list[str]) -> None:
    """
    By a subclass, by a mixin in front, or assigned to one machine: the library does it, through the new method.
    """
    stock = getattr(core.Machine, name)
    calls: list[str] = []

    def replaced(self: Any, *args: Any, **kwargs: Any) -> Any:
        calls.append(name)
        return stock(self, *args, **kwargs)

    mixin = type("Mixin", (), {name: replaced})
    machines = [two(type("Sub", (Machine,), {name: replaced})), two(type("Mixed", (mixin, Machine), {})), two()]
    setattr(machines[2], name, replaced.__get__(machines[2]))
    for machine in machines:
        calls.clear()
        assert fire(machine) == "B"
        assert bool(calls) is (name != "callback")  # nothing is registered, so there is nothing to call back

    assert library == ["go"] * 3


def test_a_subclass_that_changes_nothing_of_this_stays_short(library: list[str]) -> None:
    """
    Mixins, constructors and methods that have no part in a plain event cost nothing.
    """

    class Mixin:
        def hello(self) -> str:
            return "hello"

    class Sub(Mixin, Machine):
        def add_model(self, model: Any, initial: Any = None) -> None:
            super().add_model(model, initial)

    assert (fire(two(Sub)), library) == ("B", [])


def test_an_overridden_part_of_an_event_state_or_transition_is_called(library: list[str]) -> None:
    """
    Subclasses of them leave the short way, whichever method they change.
    """
    calls: list[str] = []

    class Gate(core.Transition):
        def _eval_conditions(self, event_data: Any) -> bool:
            calls.append("eval")
            return True

    class Shout(core.State):
        @property
        def name(self) -> str:
            calls.append("name")
            return str(self.value)

    class Loud(Event):
        def _process(self, event_data: Any) -> bool:
            calls.append("process")
            return super()._process(event_data)

    for part in ({"transition_cls": Gate}, {"state_cls": Shout}, {"event_cls": Loud}):
        machine = two(type("Sub", (Machine,), part))
        calls.clear()
        assert (fire(machine), bool(calls)) == ("B", True)

    assert library == ["go"] * 3


def test_states_that_are_members_of_an_enumeration_stay_members() -> None:
    """
    A `str` enumeration whose values are the names of other members moves by name, as with the library.
    """
    model = Model(Tone.A)
    machine = two(states=Tone)

    assert machine.events["go"].trigger(model)
    assert model.state is Tone.B


def test_another_state_attribute_is_another_question(library: list[str]) -> None:
    """
    A class may keep one attribute as it is and another behind a property.
    """

    class Both(Model):
        writes = 0

        @property
        def mood(self) -> str:
            return str(self.__dict__.get("kept", "A"))

        @mood.setter
        def mood(self, value: str) -> None:
            self.writes += 1
            self.__dict__["kept"] = value

    machine, model = two(), Both()
    machine.events["go"].trigger(model)
    machine.model_attribute = "mood"
    machine.events["go"].trigger(model)

    assert (model.state, model.mood, model.writes, library) == ("B", "B", 1, ["go"])


def test_errors_are_the_librarys() -> None:
    """
    A wrong source, an unknown event and an unknown destination are told in the library's words.
    """
    machine = two()
    model: Any = Model()
    machine.add_model(model)
    machine.add_transition("lose", "A", "nowhere")
    machine.add_transition("up", "B", "A")

    with pytest.raises(core.MachineError, match="Can't trigger event up from state A!"):
        model.up()
    with pytest.raises(AttributeError, match="Do not know event named 'unheard'"):
        model.trigger("unheard")
    with pytest.raises(ValueError, match="State 'nowhere' is not a registered state"):
        model.lose()
    assert model.state == "A"


def test_a_machine_survives_copies_and_pickles() -> None:
    """
    A copy moves on its own and sees its own callbacks, also when an event has met a class that cannot be pickled.
    """

    class Local(Model):
        """A class pickle cannot find."""

    machine = two()
    fire(machine, Local())
    for twin in (pickle.loads(pickle.dumps(machine)), copy.deepcopy(machine)):  # noqa: S301 - our own bytes
        assert fire(twin) == "B"
        seen: list[Any] = []
        twin.after_state_change.append(lambda *_, seen=seen, **__: seen.append(1))
        assert (fire(twin), fire(machine), seen) == ("B", "B", [1])


def test_events_are_named_as_the_librarys() -> None:
    """
    `repr` shows no difference: tools that print machines go on working.
    """
    assert repr(two().events["go"]).startswith("<Event('go')@")


def test_a_machine_of_its_own_may_have_any_event() -> None:
    """
    `move` is a method of machines made of a definition only, so elsewhere the name is free for an event.
    """
    machine: Any = Machine(states=["A", "B"], initial="A", transitions=[["move", "A", "B"]])

    assert machine.move() is True
    assert machine.state == "B"

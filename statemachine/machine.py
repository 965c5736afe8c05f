"""
The machine that moves: a `transitions.Machine` in the full sense, with a short way for the plain case.

Two things differ from the library's own class, and no meaning does.  An event with nothing registered on it writes the
new state and is done (`Event`).  And a machine made by `Machine.of` builds its states and events when somebody first
asks for them: the gate of a large playbook never does.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import EnumMeta
from functools import lru_cache
from inspect import getattr_static
from types import MemberDescriptorType, MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, cast

from transitions import core

from .errors import HostError

if TYPE_CHECKING:
    from .definition import Definition, Edge

F = TypeVar("F", bound=Callable[..., Any])

# What the library runs or reads for an event with nothing registered on it: who replaces one leaves the short way.
_METHODS = frozenset({
    "callback", "callbacks", "resolve_callable", "get_state", "set_state", "get_model_state", "_process",
    "_can_trigger",
})  # fmt: skip
_LISTS = (
    "_transition_queue", "_prepare_event", "_before_state_change", "_after_state_change", "_finalize_event",
    "_on_exception",
)  # fmt: skip
_WATCHED = _METHODS | {"_queued", *_LISTS}
_MACHINE_PARTS = _WATCHED | {
    "__getattribute__", "__setattr__", "states", "model_attribute", "has_queue", "_on_final", "on_final",
    *(name[1:] for name in _LISTS),
}  # fmt: skip
_EVENT_METHODS = frozenset({"_trigger", "_process", "_is_valid_source"})
_EVENT_PARTS = _EVENT_METHODS | {"__getattribute__", "__setattr__", "name", "machine", "transitions"}

# Read on every event: names of this module are quicker than attributes of another.
_State, _Transition, _INFO = core.State, core.Transition, logging.INFO
_enter, _exit, _execute = core.State.enter, core.State.exit, core.Transition.execute
_log = core._LOGGER
_logs: dict[int, bool] = getattr(_log, "_cache", {})
_write = object.__setattr__
_NONE: list[core.Transition] = []

_building = threading.RLock()


class Event(core.Event):
    """
    An event of the library, with a short way for the plain case.  Its name is part of what users see (`repr`).

    Everything is looked at anew each time, for callbacks may be registered and options changed at any moment.
    """

    _whole: ClassVar[bool] = True
    """No method the short way stands for has been replaced by a subclass."""
    _short: bool = False
    """The same, for this event, its machine's class, and what has been assigned to this event."""
    _kind: type | None = None
    """The class of the last model, if `_attribute` is plain storage in it."""
    _attribute: str = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._whole = _same(cls, Event, _EVENT_PARTS)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "machine":
            self.__dict__["_short"] = self._whole and getattr(type(value), "_whole", False)
        elif name in _EVENT_METHODS:
            self.__dict__["_short"] = False
        object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in {"_kind", "_attribute"}}

    def trigger(self, model: Any, *args: Any, **kwargs: Any) -> bool:
        """
        Fire the event on `model`: True if it moved.  Errors, and the order of callbacks, are the library's.

        The short way is for an event of which moving is all: no callback, guard, queue, log or override has a part.
        """
        machine = self.machine.__dict__
        attribute = machine["model_attribute"]
        if (
            self._short
            and not any(machine["_watched"])
            and (_logs.get(_INFO) is False or not _log.isEnabledFor(_INFO))
            and ((type(model) is self._kind and attribute == self._attribute) or self._knows(type(model), attribute))
        ):
            name = getattr(model, attribute)
            states = machine["states"]
            try:
                first = self.transitions.get(name, _NONE)[0]
                source, target = states[name], states[first.dest]
                if (
                    type(name) is str
                    and type(first) is _Transition
                    and type(source) is type(target) is _State
                    and first.source == name == source._name
                    and first.dest == target._name
                    and not (first.prepare or first.conditions or first.before or first.after)
                    and not (source.on_exit or target.on_enter or (target.final and machine["_on_final"]))
                    and first.execute.__func__ is _execute  # type: ignore[attr-defined]
                    and source.exit.__func__ is _exit  # type: ignore[attr-defined]
                    and target.enter.__func__ is _enter  # type: ignore[attr-defined]
                ):
                    _write(model, attribute, target._name)
                    return True
            except (LookupError, AttributeError, TypeError):
                pass  # whatever is wrong, the library finds it again and has the words for it
        return super().trigger(model, *args, **kwargs)

    def _knows(self, kind: type, attribute: str) -> bool:
        if not _is_storage(kind, attribute):
            return False
        self.__dict__.update(_kind=kind, _attribute=attribute)
        return True


class _Reserved:
    """
    A method that only a machine made of a definition has.

    On any other the name is free: a machine that is its own model may well have an event `move`.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, machine: Machine | None, kind: type) -> Any:
        if machine is None:
            return self.method
        if machine.definition is None:
            raise AttributeError(f"`{self.method.__name__}` is for machines made of a definition")
        return MethodType(self.method, machine)


def _reserved(method: F) -> F:
    return cast("F", _Reserved(method))


class Machine(core.Machine):
    """
    A `transitions.Machine`: same constructor, same callbacks, same errors, and quicker where nothing is registered.

    It can also be made of a `Definition`, see `of`.

    >>> machine = Machine(states=["asleep", "awake"], initial="asleep", transitions=[["wake", "asleep", "awake"]])
    >>> machine.wake(), machine.state
    (True, 'awake')
    """

    event_cls = Event
    definition: Definition | None = None
    """What the machine was made of; None if its states were given to the constructor."""

    _whole: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._whole = _same(cls, Machine, _MACHINE_PARTS)

    @classmethod
    def of(cls, definition: Definition) -> Self:
        """
        Make the machine of a definition.  It costs nothing: states and events are built when first asked for.

        The constructor of a subclass is not called.

        >>> from guideway.statemachine.definition import Definition, State, StateKind
        >>> machine = Machine.of(Definition("x", "x", "look", {"look": State("look", StateKind.STEP)}, {}))
        >>> machine.materialized, list(machine.states), machine.materialized
        (False, ['look'], True)
        """
        machine = cls.__new__(cls)
        machine.__dict__["definition"] = definition
        return machine

    @property
    def materialized(self) -> bool:
        """States, events and the rest of what `transitions` keeps are built."""
        return "events" in self.__dict__

    @_reserved
    def move(self, cursor: Cursor, edge: Edge) -> None:
        """
        Take `cursor` along exactly `edge`, whose guard the caller has already found true.

        Where the machine has been materialized this fires an event, so that callbacks run.  One of them may raise, and
        nothing is taken back: the cursor is then in the old state if it was called before the move (`prepare`,
        `before`, `on_exit`), in the new one if after it (`on_enter`, `after`).

        Raises `HostError` if what was registered on the machine has kept the cursor from getting there.
        """
        if "events" not in self.__dict__:
            cursor.state = edge.target
            return
        event = self.events[edge.event] if _offers(self.definition, cursor.state, edge) else self._own(cursor, edge)
        cursor.edge = edge
        try:
            event.trigger(cursor)
        finally:
            cursor.edge = None
        if cursor.state != edge.target:
            raise HostError(
                f"`{edge.event}` leads from `{edge.source}` to `{edge.target}`, but what is registered on the machine "
                f"left the cursor in `{cursor.state}`: callbacks may watch a run, conditions belong in the playbook"
            )

    def _own(self, cursor: Cursor, edge: Edge) -> core.Event:
        """Make an event for an edge the engine made up (a fault of its own): callbacks of states and machine run."""
        event = self._create_event(edge.event, self)
        event.add_transition(self._create_transition(cursor.state, edge.target))
        return event

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and self.definition is not None and not self.materialized:
            self._materialize()
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if self.definition is not None and not self.materialized:
            self._materialize()
        object.__setattr__(self, name, value)
        if name in _WATCHED:
            kept = self.__dict__
            kept["_watched"] = (kept.get("_queued"), not _METHODS.isdisjoint(kept), *(kept.get(n) for n in _LISTS))

    def _materialize(self) -> None:
        with _building:
            if not self.materialized and self.definition is not None:
                built = _build(type(self), self.definition)
                for event in built.events.values():
                    event.machine = self
                self.__dict__.update(built.__dict__)  # at once: no thread sees half of it

    def _get_trigger(self, model: Any, trigger_name: str, *args: Any, **kwargs: Any) -> bool:
        event = None if args or kwargs else self.events.get(trigger_name)
        return event.trigger(model) if event else super()._get_trigger(model, trigger_name, *args, **kwargs)


def _build(cls: type[Machine], definition: Definition) -> Machine:
    """Build what `transitions` keeps of a definition.  Not by `add_transition`: to it, `*` and `=` are no names."""
    machine = cls.__new__(cls)
    core.Machine.__init__(
        machine,
        model=None,
        states=[{"name": state.name, "final": state.end is not None} for state in definition.states.values()],
        initial=definition.initial,
        send_event=True,
        auto_transitions=False,
    )
    events = machine.events
    for source, name, edges in _branches(definition):
        event = events.get(name)
        if event is None:
            event = events[name] = machine._create_event(name, machine)
        sure = len(edges) == 1 and edges[0].guard is None
        for edge in edges:
            conditions = None if sure else [Guard(edge)]
            event.add_transition(machine._create_transition(source, edge.target, conditions))
    return machine


def _branches(definition: Definition) -> Iterator[tuple[str, str, tuple[Edge, ...]]]:
    """List what may follow each event in each state, in order: the state's own edges, then those of every state."""
    anywhere: dict[str, tuple[Edge, ...]] = {}
    for edge in definition.anywhere:
        anywhere[edge.event] = (*anywhere.get(edge.event, ()), edge)
    for state in definition.states.values():
        for event in dict.fromkeys((*state.edges, *anywhere)):
            yield state.name, event, (*state.edges.get(event, ()), *anywhere.get(event, ()))


def _offers(definition: Definition | None, state: str, edge: Edge) -> bool:
    """Tell whether `edge` itself, not one like it, leads out of `state` in the definition."""
    if definition is None:
        return False
    branches = definition.anywhere if edge.source != state else definition.states[state].edges.get(edge.event, ())
    return any(branch is edge for branch in branches)


@dataclass(frozen=True, slots=True)
class Guard:
    """
    The condition on a transition made of an edge.

    For a cursor that `Machine.move` is moving, it is the choice made there.  For any other model it is the edge's own
    guard, read in the scope given to the event (`machine.may_trigger("completed", scope=...)`) or held by the model.
    """

    edge: Edge

    def __call__(self, event: core.EventData) -> bool:
        """Say whether the edge may be taken."""
        taken = getattr(event.model, "edge", None)
        if isinstance(taken, type(self.edge)):
            return taken is self.edge
        if self.edge.guard is None:
            return True
        scope = event.kwargs.get("scope")
        if scope is None:
            scope = getattr(event.model, "scope", None)
        return self.edge.guard({} if scope is None else scope) is True


class Cursor(Protocol):
    """What `Machine.move` moves.  `edge` is the edge being taken while a move runs, else None."""

    state: str
    edge: Edge | None


def _same(cls: type, stock: type, names: frozenset[str]) -> bool:
    """Tell whether `cls` still has each of `names` as `stock` has it."""
    return all(getattr_static(cls, name, None) is getattr_static(stock, name, None) for name in names)


@lru_cache(maxsize=256)
def _is_storage(kind: type, attribute: str) -> bool:
    """
    Tell whether writing `attribute` on a `kind` is storage and nothing else: no property, no `__setattr__`.

    The library writes to the *elements* of a model that is a list or a tuple, so those are no storage either.
    """
    found = getattr_static(kind, attribute, None)
    return (
        not issubclass(kind, (list, tuple, EnumMeta))
        and kind.__getattribute__ is object.__getattribute__
        and kind.__setattr__ in (object.__setattr__, Machine.__setattr__)
        and (isinstance(found, MemberDescriptorType) or not hasattr(type(found), "__set__"))
    )

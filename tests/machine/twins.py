"""Random machines as plain data, and the building of one with a given class: the stock one or ours."""

from __future__ import annotations

import random
import re
from enum import Enum
from typing import Any

from transitions import core

Spec = dict[str, Any]
ADDRESS = re.compile(r"(0x|@|<Machine@)[0-9a-f]+")
STATES = ["A", "B", "C", "D"]
EVENTS = ["go", "back", "stay"]
WAYS = ["event", "event", "method", "method", "method", "name", "name", "dispatch", "may"]
ANSWERS = [True, True, True, False, 1, 0, "yes", "", None, [], "raise"]
ACTIONS = ["note"] * 8 + ["raise", "nest", "late"]
LISTS = ["prepare_event", "before_state_change", "after_state_change", "finalize_event", "on_exception", "on_final"]
VARIANTS = [
    "set_state",
    "get_model_state",
    "get_state",
    "callbacks",
    "callback",
    "_process",
    "state_cls",
    "transition_cls",
]
ASSIGNED = [
    ("machine", "callbacks"), ("machine", "set_state"), ("machine", "_process"), ("event", "_trigger"),
    ("event", "trigger"), ("state", "enter"), ("state", "exit"), ("transition", "execute"),
]  # fmt: skip


class Colours(Enum):
    """States that are members of an enumeration."""

    A, B, C, D = range(4)


class Plain:
    """The usual model."""

    def free(self, *_: Any, **__: Any) -> bool:
        """Be a guard found by its name."""
        return True


class Checked(Plain):
    """A model whose state is a property that notes each use."""

    def __init__(self) -> None:
        self.history: list[Any] = []
        self.reads = 0

    @property
    def state(self) -> Any:
        """The last state."""
        self.reads += 1
        return self.history[-1] if self.history else None

    @state.setter
    def state(self, value: Any) -> None:
        self.history.append(value)


class Watchful(Plain):
    """A model that sees every write to itself."""

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if name == "state":
            self.__dict__.setdefault("writes", []).append(value)


class Bag(list[Any]):
    """A model that is a list: the library writes the state to its elements."""

    state = status = "A"


class Loose:
    """A model that is never registered: a slot for the state."""

    __slots__ = ("state", "status")


MODELS = {kind.__name__: kind for kind in (Plain, Checked, Watchful, Bag)}


class Call:
    """A callback: notes what it sees, then does what it was made for.  It answers as a guard too."""

    def __init__(self, world: World, tag: str, action: Any) -> None:
        self.world, self.tag, self.action = world, tag, action

    def __repr__(self) -> str:
        return self.tag

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Note, then act."""
        world = self.world
        world.log.append((self.tag, self.seen(args), sorted(kwargs), world.states()))
        world.depth += 1
        try:
            if self.action == "raise":
                raise ValueError(self.tag)
            if self.action == "nest" and world.depth < 3 and len(world.log) < 200:  # a queue could feed itself for ever
                world.log.append(("nested", world.fire("event", "go", 0)))
            if self.action == "late" and world.depth < 2:
                world.machine.states["A"].add_callback("enter", Call(world, f"late {self.tag}", "note"))
        finally:
            world.depth -= 1
        return self.action

    @staticmethod
    def seen(args: tuple[Any, ...]) -> Any:
        """Tell what the library shows of the event."""
        if not args or not isinstance(args[0], core.EventData):
            return args
        data = args[0]
        way = data.transition and (data.transition.source, data.transition.dest)
        return (data.event.name, data.state.name, way, data.args, data.result, repr(data.error))


class World:
    """One machine with its models, its log, and the ways to poke it."""

    def __init__(self, base: type[Any], spec: Spec) -> None:
        self.log: list[Any] = []
        self.depth = 0
        options = {name: self.calls(tags) for name, tags in spec["lists"].items()} | spec["options"]
        states: Any = [
            {
                "name": s["name"],
                "final": s["final"],
                "on_enter": self.calls(s["enter"]),
                "on_exit": self.calls(s["exit"]),
            }
            for s in spec["states"]
        ]
        if spec["enum"]:
            states = [row | {"name": Colours[row["name"]]} for row in states]
        self.machine = variant(base, spec["variant"])(model=None, states=states, initial="A", **options)
        self.machine.log = self.log
        for row in spec["transitions"]:
            self.add(row)
        self.attribute = spec["options"]["model_attribute"]
        self.models: list[Any] = [MODELS[name]() for name in spec["models"]]
        if spec["own"]:
            self.models.append(self.machine)
        self.machine.add_model(self.models)
        loose = Loose()
        setattr(loose, self.attribute, Colours.A if spec["enum"] else "A")
        self.models.append(loose)

    def calls(self, rows: list[tuple[str, Any]]) -> list[Any]:
        """Make the callbacks of a list; a text is left for the library to look up."""
        return [tag if action == "by name" else Call(self, tag, action) for tag, action in rows]

    def add(self, row: Spec) -> None:
        """Add one transition."""
        lists = {name: self.calls(tags) for name, tags in row["lists"].items()}
        self.machine.add_transition(row["trigger"], row["source"], row["dest"], **lists)

    def states(self) -> list[str]:
        """Give the state of every model."""
        return [str(getattr(model, self.attribute, "none")) for model in getattr(self, "models", [])]

    def fire(self, way: str, event: str, which: int) -> Any:
        """Fire an event in one of the four ways a user can."""
        model = self.models[which % len(self.models)]
        if way == "dispatch":
            return self.machine.dispatch(event, 1, key=2)
        if way == "event" or isinstance(model, Loose):
            return self.machine.events[event].trigger(model, 1)
        if way == "may":
            return getattr(model, f"may_{event}")()
        return model.trigger(event) if way == "name" else getattr(model, event)(key=1)

    def poke(self, step: tuple[Any, ...]) -> Any:
        """Do one step: fire, or change the machine behind its back."""
        match step:
            case ("fire", way, event, which):
                return self.fire(way, event, which)
            case ("add", row):
                return self.add(row)
            case ("on", what, name, rows):
                for call in self.calls(rows):
                    getattr(self.machine, f"{what}_{name}")(call)
            case ("set", name, rows):
                setattr(self.machine, name, self.calls(rows))
            case ("append", name, rows):
                getattr(self.machine, name).extend(self.calls(rows))
            case ("state", row):
                self.machine.add_states(dict(row))
            case ("remove", event, source):
                self.machine.remove_transition(event, source)
            case ("option", name, value):
                setattr(self.machine, name, value)
            case ("assign", "machine", name):
                setattr(self.machine, name, Spy(self, name, getattr(self.machine, name)))
            case ("assign", "event", name):
                event = self.machine.events["go"]
                setattr(event, name, Spy(self, name, getattr(event, name)))
            case ("assign", "state", name):
                state = self.machine.get_state("B")
                setattr(state, name, Spy(self, name, getattr(state, name)))
            case ("assign", "transition", name):
                for transition in self.machine.get_transitions("go"):
                    setattr(transition, name, Spy(self, name, getattr(transition, name)))
        return None

    def result(self, step: tuple[Any, ...]) -> Any:
        """Do one step and tell all that can be seen of it, with no object addresses."""
        try:
            answer = ("returned", self.poke(step))
        except Exception as error:
            answer = (type(error).__name__, ADDRESS.sub("", str(error)))
        return answer, self.states(), self.machine.get_triggers("A", "B")


class Spy:
    """A method replaced on one object: notes the call and passes it on."""

    def __init__(self, world: World, tag: str, method: Any) -> None:
        self.world, self.tag, self.method = world, tag, method

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Note, then pass on."""
        self.world.log.append(("spy", self.tag))
        return self.method(*args, **kwargs)


def variant(base: type[Any], name: str) -> type[Any]:
    """Give the class itself, or a subclass that replaces one thing and notes each use of it."""

    def noting(method: str) -> Any:
        stock = getattr(base, method)

        def replaced(self: Any, *args: Any, **kwargs: Any) -> Any:
            self.__dict__.get("log", []).append(("own", method))
            return stock(self, *args, **kwargs)

        return replaced

    class OwnState(core.State):
        def enter(self, event_data: Any) -> None:
            event_data.machine.__dict__.get("log", []).append(("own", "enter"))
            super().enter(event_data)

    class OwnTransition(core.Transition):
        def execute(self, event_data: Any) -> bool:
            event_data.machine.__dict__.get("log", []).append(("own", "execute"))
            return bool(super().execute(event_data))

    members: dict[str, Any] = {"state_cls": OwnState, "transition_cls": OwnTransition}
    if name == "stock":
        return base
    return type("Machine", (base,), {name: members.get(name) or noting(name)})


class Dice(random.Random):
    """The choices a random machine is made of."""

    def calls(self, tag: str, share: float, actions: list[Any] = ACTIONS) -> list[tuple[str, Any]]:
        """Draw a list of one or two callbacks, in that share of cases."""
        if self.random() >= share:
            return []
        return [(f"{tag}{i}", self.choice(actions)) for i in range(self.choice([1, 1, 2]))]

    def transition(self, share: float) -> Spec:
        """Draw one transition: plain, wildcard, reflexive, internal, or to nowhere."""
        lists = {name: self.calls(name, share) for name in ("prepare", "before", "after")}
        lists |= {name: self.calls(name, share * 2, ANSWERS) for name in ("conditions", "unless")}
        if self.random() < share / 3:
            lists["conditions"].append((self.choice(["free", "nowhere"]), "by name"))
        return {
            "trigger": self.choice(EVENTS),
            "source": self.choice([*STATES, *STATES, "*", STATES[:2]]),
            "dest": self.choice([*STATES * 6, "=", "=", "=", None, "nowhere"]),
            "lists": lists,
        }

    def spec(self) -> Spec:
        """Draw a whole machine; most of them have few callbacks or none."""
        share = self.choice([0.0] * 6 + [0.03, 0.1, 0.25])
        lists = {name: self.calls(name, share / 2) for name in LISTS}
        return {
            "enum": self.random() < 0.06,
            "variant": self.choice(VARIANTS) if self.random() < 0.2 else "stock",
            "states": [
                {
                    "name": name,
                    "final": self.random() < 0.15,
                    "enter": self.calls(f"enter {name}", share),
                    "exit": self.calls(f"exit {name}", share),
                }
                for name in STATES
            ],
            "transitions": [
                {**self.transition(0), "trigger": event, "source": self.choice(["*", "A"])} for event in EVENTS
            ]
            + [self.transition(share) for _ in range(self.choice([4, 7, 10]))],
            "lists": {name: rows for name, rows in lists.items() if rows},
            "models": self.choices(["Plain"] * 16 + list(MODELS), k=self.choice([1, 1, 2])),
            "own": self.random() < 0.3,
            "options": {
                "queued": self.random() < 0.15,
                "send_event": self.random() < 0.5,
                "auto_transitions": self.random() < 0.15,
                "ignore_invalid_triggers": self.choice([None, False, True]),
                "model_attribute": self.choice(["state"] * 5 + ["status"]),
            },
        }

    def step(self) -> tuple[Any, ...]:
        """Draw one step: mostly firing, now and then a change."""
        if self.random() < 0.9:
            way = self.choice(WAYS)
            return ("fire", way, self.choice([*EVENTS * 4, "to_A", "unheard"]), self.randrange(4))
        match self.choice(["add", "on", "before", "set", "append", "state", "remove", "option", "assign"]):
            case "add":
                return ("add", self.transition(0.1))
            case "on":
                return ("on", self.choice(["on_enter", "on_exit"]), self.choice(STATES), self.calls("late", 1))
            case "before":
                return ("on", self.choice(["before", "after", "prepare"]), self.choice(EVENTS), self.calls("late", 1))
            case "set":
                return ("set", self.choice(LISTS), self.calls("set", 0.5))
            case "append":
                return ("append", self.choice(LISTS), self.calls("appended", 1))
            case "state":
                return ("state", {"name": self.choice(["B", "E"]), "final": self.random() < 0.5})
            case "remove":
                return ("remove", self.choice(EVENTS), self.choice([*STATES, "*"]))
            case "option":
                return ("option", self.choice(["_queued", "send_event", "ignore_invalid_triggers"]), True)
            case _:
                return ("assign", *self.choice(ASSIGNED))

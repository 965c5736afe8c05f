"""
One gated call: asked of the gate, recorded, and the run moved on; beside what the peers do for the same.

A playbook of N steps, one expected tool each, walked from the first step to the last but one.  The model's replies and
the tools' answers exist before the clock starts.  Every engine gets the same walk in the same run, in turns, and the
figure is the best of its rounds, so that a busy moment of the computer hits all of them.

- guideway: `propose([call])` and `observe(id, Succeeded(...))`: decide, record intent and outcome, advance.
- transitions: `model.trigger(name)` of a line of N states: a plain trigger, no gate and no record; and
  `may_trigger(name)` before it, which is how that library is asked first.
- statepilot: `pilot.step(tool)`: gate and history.
- tulip-agents: `on_before_tool_call` and `on_after_tool_call` of its playbook hook, on one event loop.
- python-statemachine: `send(event)`.

    python benchmarks/bench_gate.py
"""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Callable
from typing import Any

from table import Row, show

SIZES = (100, 1_000)
LARGE = (10_000, 100_000)
Round = Callable[[], float]
"""Runs one walk and returns seconds a call."""


def timed(calls: int, work: Callable[[], None]) -> float:
    """Seconds a call."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) / calls


def playbook(size: int) -> dict[str, Any]:
    """A line of steps."""
    steps = [{"id": f"s{i}", "description": f"step {i}", "expected_tools": [f"t{i}"]} for i in range(size)]
    return {"id": "line", "name": "Line", "max_iterations": 10 * size, "steps": steps}


def guideway(size: int) -> Round:
    """Our gate, the fast path in use."""
    from guideway import Session, Succeeded, ToolCall, load

    machine = load(playbook(size))
    work = [([ToolCall(f"t{i}", {"hours": 24}, f"c{i}")], f"c{i}", Succeeded({"hits": 3})) for i in range(size - 1)]

    def walk() -> float:
        session = Session(machine)
        propose, observe = session.propose, session.observe

        def go() -> None:
            for reply, call_id, outcome in work:
                propose(reply)
                observe(call_id, outcome)

        seconds = timed(len(work), go)
        assert session.state == f"s{size - 1}"
        return seconds

    return walk


def line_of_states(size: int, may: bool) -> Round:
    """The library's own machine; `may` asks before it fires."""
    import transitions

    names = [f"s{i}" for i in range(size)]
    moves = [[f"t{i}", names[i], names[i + 1]] for i in range(size - 1)]

    class Bare:
        pass

    model: Any = Bare()
    transitions.Machine(model=model, states=names, initial="s0", transitions=moves, auto_transitions=False)
    events = [f"t{i}" for i in range(size - 1)]

    def walk() -> float:
        model.state = "s0"

        def go() -> None:
            trigger, may_trigger = model.trigger, model.may_trigger
            if may:
                for event in events:
                    may_trigger(event)
                    trigger(event)
            else:
                for event in events:
                    trigger(event)

        return timed(len(events), go)

    return walk


def plain(size: int) -> Round:
    """A plain trigger."""
    return line_of_states(size, may=False)


def asked(size: int) -> Round:
    """Asked first, then fired."""
    return line_of_states(size, may=True)


def statepilot(size: int) -> Round:
    """Gate and history."""
    from statepilot import Pilot, StateMachine

    builder = StateMachine.builder().initial("s0")
    for i in range(size - 1):
        builder = builder.transition(f"s{i}", f"s{i + 1}", tool=f"t{i}")
    machine = builder.terminal(f"s{size - 1}").build()
    tools = [f"t{i}" for i in range(size - 1)]

    def walk() -> float:
        pilot = Pilot(machine)

        def go() -> None:
            for tool in tools:
                pilot.step(tool)

        return timed(len(tools), go)

    return walk


def tulip(size: int) -> Round:
    """The playbook hook of the nearest peer, driven by its own events."""
    from tulip.hooks.provider import AfterToolCallEvent, BeforeToolCallEvent
    from tulip.playbooks.hook import PlaybookEnforcerHook
    from tulip.playbooks.loader import load_playbook

    loaded = load_playbook(playbook(size))

    def walk() -> float:
        hook = PlaybookEnforcerHook(loaded)
        before = [
            BeforeToolCallEvent(tool_name=f"t{i}", tool_call_id=f"c{i}", arguments={"hours": 24})
            for i in range(size - 1)
        ]
        after = [
            AfterToolCallEvent(f"t{i}", "3", None, tool_call_id=f"c{i}", arguments={"hours": 24})
            for i in range(size - 1)
        ]

        async def go() -> float:
            start = time.perf_counter()
            for one, two in zip(before, after, strict=True):
                await hook.on_before_tool_call(one)
                await hook.on_after_tool_call(two)
            return (time.perf_counter() - start) / len(before)

        return asyncio.run(go())

    return walk


def statemachine(size: int) -> Round:
    """python-statemachine, states and events made in code."""
    peer = importlib.import_module("statemachine")  # by its name: our own room of that name lies beside this folder
    states = {f"s{i}": peer.State(initial=i == 0, final=i == size - 1) for i in range(size)}
    events = {f"t{i}": states[f"s{i}"].to(states[f"s{i + 1}"]) for i in range(size - 1)}
    machine: Any = type("Line", (peer.StateMachine,), {**states, **events})

    def walk() -> float:
        running = machine()

        def go() -> None:
            for event in events:
                running.send(event)

        return timed(len(events), go)

    return walk


PEERS: dict[str, tuple[Callable[[int], Round], int]] = {
    # name -> how to build a walk, rounds
    "guideway": (guideway, 60),
    "transitions trigger": (plain, 60),
    "transitions may + trigger": (asked, 5),
    "statepilot": (statepilot, 60),
    "tulip-agents": (tulip, 10),
    "python-statemachine": (statemachine, 3),
}
AT_ANY_SIZE = ("guideway", "transitions trigger", "statepilot")


def measure(size: int, names: tuple[str, ...]) -> list[Row]:
    """Time the peers in turns at one size."""
    walks = {name: PEERS[name][0](size) for name in names}
    rounds = {name: PEERS[name][1] if size <= 10_000 else 8 for name in names}
    best = dict.fromkeys(names, float("inf"))
    for turn in range(max(rounds.values())):
        for name in names:
            if turn < rounds[name]:
                best[name] = min(best[name], walks[name]())
    return [Row("gated call", size, name, seconds * 1e6) for name, seconds in best.items()]


def rows() -> list[Row]:
    """Every figure, in microseconds a call."""
    small = [row for size in SIZES for row in measure(size, tuple(PEERS))]
    return small + [row for size in LARGE for row in measure(size, AT_ANY_SIZE)]


if __name__ == "__main__":
    show("one gated call, µs", rows())

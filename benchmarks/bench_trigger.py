"""
One plain event through our `Machine` and through the library's own, side by side in one run.

A ring of states, one event, nothing registered: `event.trigger(model)` on a model the machine does not know, and
`model.go()` and `model.trigger("go")` on one it does.  Each figure is the best of many short rounds in which the two
classes take turns.  Processor time is counted, not the clock: on a busy computer the slower of two is interrupted
more often, which would flatter the quicker one.

    python benchmarks/bench_trigger.py
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypedDict

import transitions

from guideway.statemachine.machine import Machine

SIZES = (10, 100, 1_000)
LARGE = 100_000
ROUNDS, CALLS = 40, 2_000
PEERS: dict[str, type[transitions.Machine]] = {"guideway": Machine, "transitions": transitions.Machine}


class Row(TypedDict):
    """One figure: microseconds for one event, in a ring of `size` states."""

    name: str
    size: int
    peer: str
    micros: float


class Loose:
    """A model the machine does not know: all it needs is a state."""

    __slots__ = ("state",)

    def __init__(self, state: str) -> None:
        self.state = state


class Bound:
    """A model registered with the machine, which binds its events to it."""


def ring(kind: type[transitions.Machine], size: int) -> transitions.Machine:
    """Build a machine of `size` states whose one event leads round them."""
    names = [f"s{i}" for i in range(size)]
    moves = [["go", name, names[(i + 1) % size]] for i, name in enumerate(names)]
    return kind(model=None, states=names, initial="s0", transitions=moves, auto_transitions=False)


def ways(machine: transitions.Machine, bound: bool) -> dict[str, Callable[[], bool]]:
    """Give the ways to fire the event, each as a callable."""
    loose, event = Loose("s0"), machine.events["go"]
    found: dict[str, Callable[[], bool]] = {"event.trigger(model)": partial(event.trigger, loose)}
    if bound:
        model = Bound()
        machine.add_model(model)
        found["model.go()"] = model.go  # type: ignore[attr-defined]
        found['model.trigger("go")'] = partial(model.trigger, "go")  # type: ignore[attr-defined]
    return found


def measure(size: int, bound: bool = True) -> Iterator[Row]:
    """Time every way at one size, the peers in turns."""
    calls = {peer: ways(ring(kind, size), bound) for peer, kind in PEERS.items()}
    for name in calls["guideway"]:
        best = dict.fromkeys(PEERS, float("inf"))
        for _ in range(ROUNDS):
            for peer in PEERS:
                seconds = timeit.timeit(calls[peer][name], timer=time.process_time, number=CALLS)
                best[peer] = min(best[peer], seconds / CALLS)
        for peer, seconds in best.items():
            yield Row(name=name, size=size, peer=peer, micros=round(seconds * 1e6, 3))


def rows() -> list[Row]:
    """Measure everything.  At 100,000 states no model is registered, as a gate would not."""
    return [row for size in SIZES for row in measure(size)] + list(measure(LARGE, bound=False))


def main() -> None:
    """Print the figures and how many times quicker ours is."""
    figures = {(row["name"], row["size"], row["peer"]): row["micros"] for row in rows()}
    print(f"{'one plain event, µs':24}{'states':>9}{'guideway':>10}{'transitions':>13}{'ratio':>8}")
    for (name, size, peer), ours in figures.items():
        if peer == "guideway":
            theirs = figures[name, size, "transitions"]
            print(f"{name:24}{size:>9,}{ours:>10.2f}{theirs:>13.2f}{theirs / ours:>7.1f}x")


if __name__ == "__main__":
    main()

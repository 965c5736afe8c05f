"""
Which states share a box.

The router in front of a step is drawn with the state it lets a run into: its `when` becomes a line there.  Ends that
nobody wrote (a fault no step handles, a limit) share one box a kind, until a walk has been there.  Where the lists of
a block arrive by a failure needs no box: what happens then happens to the block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from guideway.statemachine.definition import BLOCKS, FAILED, Definition, EndKind, State, StateKind

from .walk import Walk

_BY_STEP = ("stopped:timeout", "stopped:max_visits")
"""Ends of which every step has its own."""


@dataclass(frozen=True, slots=True)
class Room:
    """The states of one box, the one it is named by last.  `merged` is the name of a box of unwritten ends."""

    states: tuple[State, ...]
    merged: str = ""

    @property
    def main(self) -> State:
        """The state the box is named by."""
        return self.states[-1]

    @property
    def block(self) -> str:
        """The block it is drawn in, by its step."""
        return self.main.block

    @property
    def begins(self) -> str:
        """The block it begins, by its step; none for other rooms."""
        return self.main.step.id if self.main.step and self.main.kind in BLOCKS else ""

    @property
    def outer(self) -> str:
        """The block that the frame it stands in is drawn in."""
        return self.main.step.block if self.main.step else ""


def rooms(definition: Definition, walk: Walk | None) -> tuple[Room, ...]:
    """Share the states out among boxes, in the order of the page, ends last."""
    folded = {head: (router,) for router, head in _routers(definition).items()}
    for state in definition.states.values():
        if is_failed(state) and state.block in definition.states:
            folded[state.block] = (*folded.get(state.block, ()), state.name)
    hidden = {name for names in folded.values() for name in names}
    drawn: list[Room] = []
    ends: dict[tuple[str, str], list[State]] = {}
    for name, state in definition.states.items():
        if state.kind is StateKind.END:
            merged = _merged(state, walk)
            ends.setdefault((merged, "" if merged else name), []).append(state)
        elif name in folded:
            drawn.append(Room((*(definition.states[other] for other in folded[name]), state)))
        elif name not in hidden:
            drawn.append(Room((state,)))
    written = [Room(tuple(states)) for (merged, _), states in ends.items() if not merged]
    unwritten = [Room(tuple(states), merged) for (merged, _), states in sorted(ends.items()) if merged]
    return (*drawn, *written, *unwritten)


def is_failed(state: State) -> bool:
    """Say whether the lists of a block arrive there by their failures."""
    return state.kind is StateKind.JOIN and state.step is not None and state.name == state.step.id + FAILED


def _routers(definition: Definition) -> Mapping[str, str]:
    """Find the routers that lead into one state of their own step."""
    found = {}
    for name, state in definition.states.items():
        entered = state.edges.get("entered", ())
        if state.kind is StateKind.ROUTER and state.step is not None and len(entered) == 1:
            head = definition.states[entered[0].target]
            if head.step == state.step and head.kind is not StateKind.END:
                found[name] = head.name
    return found


def _merged(state: State, walk: Walk | None) -> str:
    """Name the box of an end that the author did not write; empty where it has a box of its own."""
    if state.end is None or (walk and (walk.visited.get(state.name) or state.name in (walk.ended, *walk.current))):
        return ""
    if state.end.kind is EndKind.FAULT:
        return "failed"
    if state.end.kind is not EndKind.STOP or not state.name.startswith("stopped:") or state.name == "stopped:rejected":
        return ""
    return next((prefix for prefix in _BY_STEP if state.name.startswith(f"{prefix}:")), "stopped")

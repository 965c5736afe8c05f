"""Blocks and undos of a run, followed record by record: what is under way, and whether it ends when it should."""

from __future__ import annotations

from typing import Any, NamedTuple

from guideway.statemachine.definition import BLOCKS, JOIN, Definition, State, StateKind
from guideway.statemachine.steps import Step

from .declare import own


class Inside:
    """One visit of a block, as the records tell: lists begun, arrived, failed."""

    def __init__(self) -> None:
        self.begun = self.arrived = self.failed = self.wanted = 0


class Blocks:
    """Follows the blocks of a run: how many of their lists are under way, and whether they end when they should."""

    def __init__(self) -> None:
        self.open: dict[tuple[str, str], Inside] = {}

    def moved(
        self, definition: Definition, source: str, event: str, target: str, why: str | None, path: str
    ) -> None:  # fmt: skip
        """One move: into a block, to its end inside, or of the block itself."""
        state = definition.states[source]
        if state.kind in BLOCKS and state.step is not None:
            outer = path.rsplit("/", 2)[0] + "/" if state.kind is StateKind.EACH and path.count("/") > 1 else ""
            place = outer if state.kind is StateKind.EACH and event == "forked" else path
            if event == "forked":
                if is_first(state, target, path):  # whatever was inside before has been left by a jump
                    self.open[place, source] = Inside()
                self.begin(state.step, self.open[place, source])
                return
            self.end(state.step, self.open.pop((place, source), Inside()), event, why)
        self.arrive(definition, source, target, path)

    def begin(self, step: Step, block: Inside) -> None:
        """A list begins."""
        block.begun += 1
        if step.each is not None:
            assert block.begun - block.arrived <= step.each.concurrency, f"{step.id}: too many items at a time"
        elif step.parallel is None:
            assert block.begun - block.arrived == 1, f"{step.id}: one list inside another"

    def arrive(self, definition: Definition, source: str, target: str, path: str) -> None:
        """A list comes to its end, or fails; the end of a block inside is that of its step."""
        found = definition.states[target]
        if found.kind is not StateKind.JOIN or found.step is None:
            return
        whose = definition.states[source].step
        while whose is not None and whose.block and whose.block != found.step.id:
            whose = definition.steps[whose.block]
        if whose is None or whose.block != found.step.id:
            return
        outer = path.rsplit("/", 2)[0] + "/" if path.count("/") > 1 else ""
        block = self.open.get((outer if found.step.each is not None else path, found.step.id))
        if block is None:
            return
        if target.endswith(JOIN):
            block.arrived += 1
            block.wanted += found.step.parallel is None or whose.id not in found.step.parallel.optional
        else:
            block.failed += 1

    def end(self, step: Step, block: Inside, event: str, why: str | None) -> None:
        """The block is done, or not."""
        if event != "joined" or why == "by the host":
            return
        if step.parallel is not None:
            assert block.wanted >= step.parallel.needed, f"{step.id} joined with {block.wanted}"
        else:
            assert not block.failed, f"{step.id} joined after a failure"
            assert block.arrived == block.begun, f"{step.id} joined before its lists had arrived"


UNDOS = {"t3": "back3", "t5": "back5"}
"""What the pages of `mixing.py` declare: `t3` is taken back with its arguments, `t5` with the number it answered."""


class Success(NamedTuple):
    """A call that can be undone, once."""

    tool: str
    args: Any
    number: Any
    path: str


class Takings:
    """Follows what is taken back: successes only, each once, newest first."""

    def __init__(self) -> None:
        self.done: list[Success] = []
        self.args: dict[str, Any] = {}
        self.taken: dict[int, str] = {}
        """place of a success -> the call that takes it back"""

    def admitted(self, definition: Definition, call_id: str, tool: str, args: Any, step: str, path: str) -> None:
        """A call may run; one of an undo step takes something back."""
        self.args[call_id] = args
        found = definition.states.get(step)
        automatic = call_id.startswith(f"{path}{step}@")
        if not automatic or found is None or found.kind is not StateKind.UNDO:
            return
        asked = found.step.undo.tools if found.step is not None and found.step.undo is not None else ()
        free = [
            place for place, one in enumerate(self.done)
            if place not in self.taken and own(one.path, path) and (not asked or one.tool in asked)
        ]  # fmt: skip
        assert free, f"{call_id} takes back what was not done, or is taken back already"
        newest = free[-1]
        assert self.meant(self.done[newest], tool, args), f"{call_id} does not take back the newest"
        self.taken[newest] = call_id

    def meant(self, one: Success, tool: str, args: Any) -> bool:
        """The call takes the success back."""
        return UNDOS[one.tool] == tool and args == (one.args if one.tool == "t3" else {"n": one.number})

    def settled(self, call_id: str, tool: str, outcome: str, detail: Any, counts: bool, path: str) -> None:
        """A call is over: a success to be undone, or an undo that may be tried again."""
        if tool in UNDOS and counts:
            result = detail["result"]
            self.done.append(
                Success(tool, self.args[call_id], result.get("n") if isinstance(result, dict) else None, path)
            )
        if not counts:
            self.taken = {place: taker for place, taker in self.taken.items() if taker != call_id}


def is_first(state: State, target: str, path: str) -> bool:
    """The list that begins is the first of its block's visit (of a `repeat`: of its round)."""
    if state.kind is StateKind.EACH:
        return path.endswith("[0]/")
    return state.kind is not StateKind.FORK or target == state.edges["forked"][0].target

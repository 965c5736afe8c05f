"""Which branches of a `parallel` can come to its join."""

from __future__ import annotations

from collections.abc import Iterator

from guideway.statemachine.definition import FAILED, JOIN, Definition, State, StateKind
from guideway.statemachine.graph import ways

Branch = tuple[str, frozenset[str]]
"""The name of a branch, and the states in it."""


class Arrivals:
    """
    Looks through every branch of every `parallel` of a machine, the inner ones first.

    `short` names the steps of which too few branches can arrive, each with those that never do.  `carried` are the
    states of branches that never arrive, each with the join that takes the run on without them, or is to blame itself.
    """

    def __init__(self, definition: Definition) -> None:
        self.short: dict[str, tuple[Branch, ...]] = {}
        self.carried: list[tuple[str, str]] = []
        self._definition = definition
        forks = [state for state in definition.states.values() if state.kind is StateKind.FORK]
        for fork in reversed(forks):  # on the page, what lies inside comes later
            self._look(fork)

    def _look(self, fork: State) -> None:
        parallel = fork.step.parallel if fork.step is not None else None
        if parallel is None:
            return
        lost = []
        for branch, edge in zip(parallel.branches, fork.edges.get("forked", ()), strict=False):
            states = frozenset(self._through(edge.target, fork.name))
            if fork.name + JOIN not in states:
                lost.append((branch, states))
                inside = states - {fork.name + FAILED}
                self.carried += [(name, fork.name + JOIN) for name in inside if self._definition.states[name].step]
        needed = [name for name in parallel.branches if name not in parallel.optional]
        missing = tuple(branch for branch in lost if branch[0] in needed)
        if len(needed) - len(missing) < parallel.needed:
            self.short[fork.name] = missing

    def _through(self, first: str, fork: str) -> Iterator[str]:
        """Give what a branch may come to, up to where its fork ends."""
        closed = {fork + JOIN, fork + FAILED, *(other + JOIN for other in self.short)}
        waiting, seen = [first], {first}
        while waiting:
            name = waiting.pop()
            yield name
            if name not in closed:
                new = {edge.target for edge in ways(self._definition.states[name])} - seen
                seen |= new
                waiting += new

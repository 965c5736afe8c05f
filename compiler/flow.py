"""
The flow rules (GW2xx): where a run can go, and where it cannot.

They speak of the graph of states alone, so the order in which steps are declared means nothing to them, and a loop is
no finding as long as something leads out of it.  Linear in the size of the machine: no path is ever enumerated.

Steps side by side are all reached, and a run goes on behind them when enough branches arrive.  What runs at the end
(`finally`) is no part of this.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property

from guideway.playbooks.quiet import no_collection
from guideway.statemachine.definition import BLOCKS, JOIN, Definition, Edge, EndKind, State, StateKind
from guideway.statemachine.diagnostic import Diagnostic, Level, Related
from guideway.statemachine.graph import can_reach, reachable, shortest_path, ways
from guideway.statemachine.span import Span

from .exits import exits
from .joins import Arrivals, Branch

NOWHERE = Span("<dict>", 1, 1)

ONWARD = ("entered", "approved", "completed")
"""Events that lead on, in the order in which one step's states have them."""

WITNESSES = 20
"""As many dead ends are shown with the way into them; each costs a search of the whole machine."""


def check_definition(definition: Definition) -> list[Diagnostic]:
    """
    Look for flow faults in a compiled machine.

    >>> from guideway.statemachine.definition import Definition, State, StateKind
    >>> check_definition(Definition("none", "None", "success", {"success": State("success", StateKind.END)}, {}))
    []
    """
    if straight(definition):
        return []
    with no_collection():
        flow = Flow(definition)
        return [*unreachable_step(flow), *dead_end(flow), *join_never_met(flow)]


def straight(definition: Definition) -> bool:
    """
    Tell whether one walk from the first state passes through every step and ends at a goal: then there is no fault.

    Most playbooks are such lists, and a short file is checked in the time it takes to import a graph library.
    """
    state, seen = definition.states[definition.initial], set[str]()
    while state.end is None and state.name not in seen:
        seen.add(state.name)
        ways = next((found for event in ONWARD if (found := state.edges.get(event))), ())
        if not ways or (state.kind is StateKind.ASK and _answered(state)):
            return False
        state = definition.states[ways[-1].target]
    goal = state.end is not None and state.end.kind is EndKind.GOAL
    steps = {step.id for name in seen if (step := definition.states[name].step) is not None}
    return goal and len(steps) + len(definition.closing) == len(definition.steps)


def _answered(state: State) -> bool:
    """Some answer has a way of its own, so that it is no straight line."""
    return any(event.startswith("answered ") for event in state.edges)


class Flow:
    """A definition with what every flow rule asks of it first."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition

    @cached_property
    def reachable(self) -> frozenset[str]:
        """The states that a run may come to, whatever the guards say; a join never met is one fault, not also more."""
        return reachable(self.definition, more=[(name, name + JOIN) for name in self.broken])

    @cached_property
    def exits(self) -> frozenset[str]:
        """Declared ends, and where a call can end the run on purpose."""
        return exits(self.definition)

    @cached_property
    def arrivals(self) -> Arrivals:
        """Which branches arrive."""
        return Arrivals(self.definition)

    @cached_property
    def broken(self) -> Mapping[str, tuple[Branch, ...]]:
        """The joins that are never met, with the branches at fault; one that can end the run need not arrive."""
        short = self.arrivals.short
        return {name: lost for name, lost in short.items() if not any(self.exits & states for _, states in lost)}

    @cached_property
    def above(self) -> Mapping[str, str]:
        """For each step but the first of its list, the one above it there."""
        found, last = dict[str, str](), dict[str, str]()
        for step in self.definition.steps.values():
            if step.block in last:
                found[step.id] = last[step.block]
            last[step.block] = step.id
        return found

    def steps_of(self, states: Iterable[str]) -> set[str]:
        """The steps that the states belong to; where lists arrive, nobody is at work any more."""
        named = (self.definition.states[name] for name in states)
        return {state.step.id for state in named if state.step is not None and state.kind is not StateKind.JOIN}


def unreachable_step(flow: Flow) -> Iterator[Diagnostic]:
    """
    ## What it finds
    A step that no run can come to: nothing leads there from the first step.

    ## Why it matters
    What the step was written for never happens, and the page reads as if it did.

    ## Example
    ```yaml
    steps:
      - {id: look, expected_tools: [query_siem], next: success}
      - {id: contain, expected_tools: [isolate_host]}
    ```
    `look` ends the run, so `contain` is never reached.

    ## Repair
    Lead to it with `next`, `goto` or an `on_…` key; or delete the step.
    """
    definition = flow.definition
    lost = definition.steps.keys() - flow.steps_of(flow.reachable) - set(definition.closing)
    for name, followers in _roots(lost, definition):
        more = len(followers) - 1
        behind = f"`{followers[1]}`" if more == 1 else f"the {more}"
        also = f", nor can {behind} behind it" if more else ""
        yield Diagnostic(
            "GW201", Level.ERROR, f"step `{name}` can never be reached{also}", _span(name, definition),
            help="lead to it with `next`, `goto` or an `on_…` key, or delete it",
            related=tuple(_cut_off(name, flow)),
        )  # fmt: skip


def dead_end(flow: Flow) -> Iterator[Diagnostic]:
    """
    ## What it finds
    Steps that a run can come to and from which no declared end can be reached: every way leads back among them.

    ## Why it matters
    The run could only be stopped by a limit or a fault, never finished.  A limit is no goal: `max_iterations` does not
    hide it, nor do text, confidence or time.

    ## Example
    ```yaml
    steps:
      - {id: ask, expected_tools: [query_siem], next: think}
      - {id: think, expected_tools: [enrich], next: ask}
    ```

    ## Repair
    Give one of the steps a way out: a branch `{when: …, goto: success}`, an `on_exhausted` or an `on_failure`, or a
    termination branch `tool_called` for a tool that is legal there.
    """
    definition = flow.definition
    free = can_reach(definition, flow.exits, more=flow.arrivals.carried) if flow.exits else frozenset[str]()
    stuck = flow.reachable - free
    for index, (name, region) in enumerate(_roots(flow.steps_of(stuck), definition)):
        others = [f"`{other}`" for other in region[1:4]]
        among = f": every way stays among it and {', '.join(others)}" if others else ": every way leads back to it"
        way = shortest_path(definition, definition.initial, _states_of(name, definition)) if index < WITNESSES else ()
        yield Diagnostic(
            "GW202", Level.ERROR, f"no end can be reached from step `{name}`{among}", _span(name, definition),
            help="give one of them a way out, such as a branch to `success`",
            related=tuple(Related(_span(other, definition), f"`{other}` leads back") for other in region[1:4]),
            witness=tuple(_told(way or ())),
        )  # fmt: skip


def join_never_met(flow: Flow) -> Iterator[Diagnostic]:
    """
    ## What it finds
    A `parallel` of which fewer branches can ever arrive than `join` needs: every way through the others fails, or
    leads round and round.

    ## Why it matters
    The step can only fail, so nothing behind it ever happens.

    ## Example
    ```yaml
    - id: enrich
      parallel:
        address: {call: {tool: look_up}}
        account: {call: {tool: find_user}, next: failed}
    ```

    ## Repair
    Let the branch end: leave out its last `next`, or write `next: done`; or need fewer branches: `join: any`.
    """
    for name, branches in flow.broken.items():
        if name in flow.reachable:
            these = ", ".join(f"`{branch}`" for branch, _ in branches)
            verb = "never arrives" if len(branches) == 1 else "never arrive"
            yield Diagnostic(
                "GW204", Level.ERROR, f"`{name}` can never be joined: {these} {verb}", _span(name, flow.definition),
                help="let the branch end (`done`), or need fewer: `join: any`",
            )  # fmt: skip


# --- the graph, by step --------------------------------------------------------------------------------------------


def _states_of(step: str, definition: Definition) -> frozenset[str]:
    names = (step, f"{step}.entry", f"{step}.approval")
    return frozenset(s.name for s in _named(names, definition) if s.step is not None and s.step.id == step)


def _named(names: Iterable[str], definition: Definition) -> list[State]:
    return [definition.states[name] for name in names if name in definition.states]


def _span(step: str, definition: Definition) -> Span:
    return definition.steps[step].span or definition.span or NOWHERE


def _followers(step: str, definition: Definition) -> Iterator[str]:
    """Give the steps that some edge of `step` leads to; where a list arrives, those behind its block."""
    waiting, seen = _named(sorted(_states_of(step, definition)), definition), set[str]()
    while waiting:
        for edge in ways(waiting.pop(0)):
            target = definition.states.get(edge.target)
            if target is None or target.step is None:
                continue
            if target.kind is not StateKind.JOIN:
                yield target.step.id
            elif target.name not in seen:
                seen.add(target.name)
                waiting.append(target)


def _roots(members: Set[str], definition: Definition) -> Iterator[tuple[str, list[str]]]:
    """
    Divide steps into regions, one finding each: the step that leads, and all it leads to within `members`.

    Steps that no other member leads to come first, the rest in the order of the page, so a chain is one region.
    """
    if not members:
        return
    entered = {to for name in members for to in _followers(name, definition) if to in members and to != name}
    page = [name for name in definition.steps if name in members]
    seen: set[str] = set()
    first_of_all = (*(n for n in page if n not in entered), *(n for n in page if n in entered))
    regions = [_region(name, members, seen, definition) for name in first_of_all if name not in seen]
    order = {name: place for place, name in enumerate(page)}
    for region in sorted(regions, key=lambda region: order[region[0]]):
        yield region[0], region


def _region(first: str, members: Set[str], seen: set[str], definition: Definition) -> list[str]:
    region = [first]
    seen.add(first)
    waiting = deque(region)
    while waiting:
        for to in _followers(waiting.popleft(), definition):
            if to in members and to not in seen:
                seen.add(to)
                region.append(to)
                waiting.append(to)
    return region


def _cut_off(name: str, flow: Flow) -> Iterator[Related]:
    """Point at the step above, where it leads elsewhere: usually that is why."""
    above = flow.above.get(name)
    if above is None:
        return
    states = flow.definition.states
    left = states.get(above + JOIN) if states[above].kind in BLOCKS else states[above]
    went = [edge for edge in ways(left) if edge.event == "completed"] if left is not None else []
    if went and went[0].span is not None:
        target = states[went[0].target]
        there = f"`{target.name}`" if target.step is None or target.kind is not StateKind.JOIN else (
            f"the end of `{target.step.id}`"
        )  # fmt: skip
        yield Related(went[0].span, f"`{above}` goes to {there} instead of falling through")


def _told(way: Iterable[Edge]) -> Iterator[str]:
    for edge in way:
        yield f"{edge.source}: {edge.event} → {edge.target}"

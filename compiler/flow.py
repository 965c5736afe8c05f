"""
The flow rules (GW2xx): where a run can go, and where it cannot.

They speak of the graph of states alone, so the order in which steps are declared means nothing to them, and a loop is
no finding as long as something leads out of it.  Linear in the size of the machine: no path is ever enumerated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property

from guideway.playbooks.quiet import no_collection
from guideway.statemachine.conditions import AllOf, AnyOf, Condition, ToolCalled
from guideway.statemachine.definition import Definition, Edge, EndKind, State, StateKind
from guideway.statemachine.diagnostic import Diagnostic, Level, Related
from guideway.statemachine.graph import can_reach, reachable, shortest_path
from guideway.statemachine.span import Span
from guideway.statemachine.tools import best_match

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
        return [*unreachable_step(flow), *dead_end(flow)]


def straight(definition: Definition) -> bool:
    """
    Tell whether one walk from the first state passes through every step and ends at a goal: then there is no fault.

    Most playbooks are such lists, and a short file is checked in the time it takes to import a graph library.
    """
    state, seen = definition.states[definition.initial], set[str]()
    while state.end is None and state.name not in seen:
        seen.add(state.name)
        ways = next((found for event in ONWARD if (found := state.edges.get(event))), ())
        if not ways:
            return False
        state = definition.states[ways[-1].target]
    goal = state.end is not None and state.end.kind is EndKind.GOAL
    steps = {step.id for name in seen if (step := definition.states[name].step) is not None}
    return goal and steps == definition.steps.keys()


class Flow:
    """A definition with what every flow rule asks of it first."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition

    @cached_property
    def reachable(self) -> frozenset[str]:
        """The states that a run may come to, whatever the guards say."""
        return reachable(self.definition)

    @cached_property
    def above(self) -> Mapping[str, str]:
        """For each step but the first, the one above it on the page."""
        page = list(self.definition.steps)
        return dict(zip(page[1:], page, strict=False))

    def steps_of(self, states: Iterable[str]) -> set[str]:
        """The steps that the states belong to."""
        named = (self.definition.states[name].step for name in states)
        return {step.id for step in named if step is not None}


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
    lost = definition.steps.keys() - flow.steps_of(flow.reachable)
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
    exits = _exits(definition)
    stuck = flow.reachable - (can_reach(definition, exits) if exits else frozenset())
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


# --- the graph, by step --------------------------------------------------------------------------------------------


def _states_of(step: str, definition: Definition) -> frozenset[str]:
    names = (step, f"{step}.entry", f"{step}.approval")
    return frozenset(s.name for s in _named(names, definition) if s.step is not None and s.step.id == step)


def _named(names: Iterable[str], definition: Definition) -> list[State]:
    return [definition.states[name] for name in names if name in definition.states]


def _span(step: str, definition: Definition) -> Span:
    return definition.steps[step].span or definition.span or NOWHERE


def _followers(step: str, definition: Definition) -> Iterator[str]:
    """Give the steps that some edge of `step` leads to."""
    for state in _named(sorted(_states_of(step, definition)), definition):
        for branches in state.edges.values():
            for edge in branches:
                target = definition.states.get(edge.target)
                if target is not None and target.step is not None:
                    yield target.step.id


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
    went = flow.definition.states[above].edges.get("completed", ()) if above is not None else ()
    if went and went[0].span is not None:
        yield Related(went[0].span, f"`{above}` goes to `{went[0].target}` instead of falling through")


# --- what counts as an end ------------------------------------------------------------------------------------------


def _exits(definition: Definition) -> frozenset[str]:
    """Declared ends, and the states in which a call can satisfy a `tool_called` of `termination` (S47)."""
    goals = {s.name for s in definition.states.values() if s.end is not None and s.end.kind is EndKind.GOAL}
    wanted = {tool for branch in definition.termination for tool in _called(branch.condition)}
    if wanted:
        free = any(_legal_in_every_step(tool, definition) for tool in wanted)
        goals |= {s.name for s in definition.states.values() if _admits(s, wanted, free)}
    return frozenset(goals)


def _called(condition: Condition) -> Iterator[str]:
    match condition:
        case ToolCalled(tool):
            yield tool
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _called(part)
        case _:
            return


def _legal_in_every_step(tool: str, definition: Definition) -> bool:
    if best_match(tool, definition.optional_tools) is not None:
        return True
    return definition.extra_tools and best_match(tool, definition.named_tools) is None


def _admits(state: State, wanted: Set[str], free: bool) -> bool:
    """Tell whether a call of one of the tools may be legal in the state, guards aside."""
    step = state.step
    if step is not None and state.kind is StateKind.CALL and step.call is not None:
        return step.call.tool in wanted
    if step is None or state.kind is not StateKind.STEP:
        return False
    names = [entry.tool for entry in step.work.entries] if step.work else []
    return free or any(best_match(tool, names) is not None for tool in wanted)


def _told(way: Iterable[Edge]) -> Iterator[str]:
    for edge in way:
        yield f"{edge.source}: {edge.event} → {edge.target}"

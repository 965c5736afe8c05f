"""
What no machine may have, whoever wrote it.

A digest says that a machine is what its writer made of it, not that it can run.  Everything a runtime relies on without
asking is asked here, once, when an artifact is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .definition import ANYWHERE, BLOCKS, FAILED, FORMAT_VERSION, JOIN, Definition, State, StateKind
from .policies import Pattern, Policy
from .steps import Step


def faults(definition: Definition) -> Iterator[str]:
    """Say what no machine may have: an edge to nowhere, an end that is none, a name that is not its own."""
    yield from _own_faults(definition)
    for name, callee in definition.callees.items():
        if callee.id != name:
            yield f"the playbook `{name}` is called `{callee.id}`"
        if callee.callees:
            yield f"the playbook `{name}` holds playbooks of its own"
        yield from (f"in `{name}`: {fault}" for fault in _own_faults(callee))
    yield from _call_faults(definition)


def _own_faults(definition: Definition) -> Iterator[str]:
    if definition.format_version != FORMAT_VERSION:
        yield f"`{definition.id}` has the format {definition.format_version}"
    if definition.initial not in definition.states:
        yield f"the initial state `{definition.initial}` is missing"
    for name, state in definition.states.items():
        yield from _state_faults(name, state)
    for edge in definition.edges():
        if edge.target not in definition.states:
            yield f"`{edge.source}` leads to `{edge.target}`, which is missing"
    if stray := next((edge for edge in definition.anywhere if edge.source != ANYWHERE), None):
        yield f"an edge from anywhere says it comes from `{stray.source}`"
    for branch in definition.termination:
        target = definition.states.get(branch.target)
        if target is None or target.end is None:
            yield f"`{branch.reason}` ends the run in `{branch.target}`, which is no end"
    for table, key in ((definition.steps, "id"), (definition.tools, "name"), (definition.inputs, "name")):
        for name, value in table.items():
            if getattr(value, key) != name:
                yield f"`{name}` is called `{getattr(value, key)}`"
    yield from _block_faults(definition)
    yield from _closing_faults(definition)
    yield from _policy_faults(definition)


# --- states --------------------------------------------------------------------------------------------------------


def _state_faults(name: str, state: State) -> Iterator[str]:
    if state.name != name:
        yield f"the state `{name}` is called `{state.name}`"
    if (state.kind is StateKind.END) != (state.end is not None):
        yield f"the state `{name}` is an end without an outcome, or has an outcome and is no end"
    if state.kind is StateKind.END and state.edges:
        yield f"the end `{name}` leads on"
    if state.kind is not StateKind.END and state.step is None:
        yield f"the state `{name}` is of no step"
    need = _NEEDED.get(state.kind)
    if need is not None and state.step is not None and not need(state.step):
        yield f"the state `{name}` is a {state.kind.value}, and its step `{state.step.id}` says nothing of one"
    for event, branches in state.edges.items():
        if any((edge.source, edge.event) != (name, event) for edge in branches):
            yield f"an edge of `{name}` on `{event}` says it is another's"


def _waits(step: Step) -> bool:
    wait = step.wait
    return wait is not None and sum(part is not None for part in (wait.seconds, wait.until, wait.signal)) == 1


_NEEDED: Mapping[StateKind, Callable[[Step], bool]] = {
    StateKind.CALL: lambda step: step.call is not None,
    StateKind.APPROVAL: lambda step: step.approval is not None,
    StateKind.ASK: lambda step: step.ask is not None,
    StateKind.WAIT: _waits,
    StateKind.UNDO: lambda step: step.undo is not None,
    StateKind.FORK: lambda step: step.parallel is not None,
    StateKind.EACH: lambda step: step.each is not None,
    StateKind.LOOP: lambda step: step.repeat is not None,
    StateKind.FRAME: lambda step: step.playbook is not None,
}
"""What the step of a state must say, by the kind of the state."""


# --- blocks --------------------------------------------------------------------------------------------------------


def _block_faults(definition: Definition) -> Iterator[str]:
    """A block without its joins or its lists, a step in no block, blocks that lie in one another in a ring."""
    for step in definition.steps.values():
        outer = definition.states.get(step.block)
        if step.block and (outer is None or outer.kind not in BLOCKS):
            yield f"`{step.id}` lies in `{step.block}`, which is no block"
    for name, state in definition.states.items():
        if state.kind in BLOCKS:
            yield from _joins(name, state, definition)
    if ring := ring_in({name: [step.block] for name, step in definition.steps.items() if step.block}):
        yield f"blocks lie in one another in a ring: {' → '.join(ring)}"


def _joins(name: str, state: State, definition: Definition) -> Iterator[str]:
    for end in (JOIN, FAILED):
        met = definition.states.get(name + end)
        if met is None or met.kind is not StateKind.JOIN or met.step is None or met.step.id != name:
            yield f"`{name}{end}` is missing"
    lists = state.edges.get("forked", ())
    parallel = state.step.parallel if state.step is not None and state.kind is StateKind.FORK else None
    if len(lists) != (1 if parallel is None else len(parallel.branches)):
        yield f"`{name}` does not lead to each of its lists"
    if any(edge.guard is not None for edge in lists):
        yield f"`{name}` leads to one of its lists under a condition"
    if parallel is not None and not _can_join(parallel.branches, parallel.optional, parallel.needed):
        yield f"`{name}` can never be joined"


def _can_join(branches: tuple[str, ...], optional: tuple[str, ...], needed: int) -> bool:
    return set(optional) <= set(branches) and 1 <= needed <= len(branches) - len(optional)


def _closing_faults(definition: Definition) -> Iterator[str]:
    for name in definition.closing:
        state = definition.states.get(name)
        if state is None or state.kind is not StateKind.CALL or state.edges:
            yield f"`{name}` of `finally` is missing, or no single call"


# --- policies ------------------------------------------------------------------------------------------------------


def _policy_faults(definition: Definition) -> Iterator[str]:
    seen: set[str] = set()
    for policy in definition.policies:
        if policy.id in seen:
            yield f"two policies are called `{policy.id}`"
        seen.add(policy.id)
        if not all(map(_one_meaning, policy.events)):
            yield f"an event of the policy `{policy.id}` is not exactly one thing"
        if not (_counts(policy) if policy.counts else _moves(policy)):
            yield f"the table of the policy `{policy.id}` does not fit its events"


def _one_meaning(event: Pattern) -> bool:
    return sum(part is not None for part in (event.tool, event.step, event.approval, event.effect)) == 1


def _counts(policy: Policy) -> bool:
    bounded = policy.most is not None or policy.least is not None
    return bounded and len(policy.events) == 1 and policy.violated is None and not policy.open


def _moves(policy: Policy) -> bool:
    states = range(len(policy.table))
    columns = (len(policy.events), len(policy.events) + 1)
    named = (*policy.open, *(() if policy.violated is None else (policy.violated,)))
    return (
        all(len(row) in columns and all(state in states for state in row) for row in policy.table)
        and len({len(row) for row in policy.table}) == 1
        and all(state in states for state in named)
    )


# --- playbooks that call others ------------------------------------------------------------------------------------


def _call_faults(definition: Definition) -> Iterator[str]:
    """A call of no playbook, or of one that is being run already (S33)."""
    calls = {part.id: sorted(part.calls_others) for part in (*definition.callees.values(), definition)}
    for caller, called in calls.items():
        for name in called:
            if name not in definition.callees and name != definition.id:
                yield f"`{caller}` calls `{name}`, which is missing"
    if ring := ring_in(calls):
        yield f"playbooks call one another in a ring: {' → '.join(ring)}"


def ring_in(edges: Mapping[str, Iterable[str]]) -> list[str] | None:
    """
    Find a ring: names of which each leads to the next, the last being the first again; None where there is none.

    >>> ring_in({"a": ["b"], "b": ["c", "a"]}), ring_in({"a": ["b", "b"]})
    (['a', 'b', 'a'], None)
    """
    done: set[str] = set()
    for first in edges:
        way: dict[str, Any] = {}
        if first not in done:
            way[first] = iter(edges[first])
        while way:
            last = next(reversed(way))
            following = next((name for name in way[last] if name not in done), None)
            if following is None:
                done.add(last)
                del way[last]
            elif following in way:
                names = list(way)
                return [*names[names.index(following) :], following]
            else:
                way[following] = iter(edges.get(following, ()))
    return None

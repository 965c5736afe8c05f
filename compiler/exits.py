"""What counts as an end of a run: declared ones, and states in which a call can end it on purpose (S47)."""

from __future__ import annotations

from collections.abc import Iterator, Set

from guideway.statemachine.conditions import AllOf, AnyOf, Condition, ToolCalled
from guideway.statemachine.definition import Definition, EndKind, State, StateKind
from guideway.statemachine.tools import best_match


def exits(definition: Definition) -> frozenset[str]:
    """Declared ends, and the states in which a call can satisfy a `tool_called` of `termination` (S47)."""
    goals = {s.name for s in definition.states.values() if s.end is not None and s.end.kind is EndKind.GOAL}
    wanted = {tool for branch in definition.termination for tool in _called(branch.condition)}
    if wanted:
        free = any(_legal_in_every_step(tool, definition) for tool in wanted)
        goals |= {s.name for s in definition.states.values() if _admits(s, wanted, free, definition)}
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


def _admits(state: State, wanted: Set[str], free: bool, definition: Definition) -> bool:
    """Tell whether a call of one of the tools may be legal in the state, guards aside."""
    step = state.step
    if step is None:
        return False
    if step.playbook is not None and state.kind is StateKind.FRAME:
        return _calls(step.playbook.playbook, wanted, definition)
    if step.call is not None and state.kind is StateKind.CALL:
        return step.call.tool in wanted
    if state.kind is StateKind.UNDO:
        return any(tool.undo is not None and tool.undo.tool in wanted for tool in definition.tools.values())
    if state.kind is not StateKind.STEP:
        return False
    names = [entry.tool for entry in step.work.entries] if step.work else []
    return free or any(best_match(tool, names) is not None for tool in wanted)


def _calls(playbook: str, wanted: Set[str], definition: Definition) -> bool:
    """A caller's conditions see the calls of those it calls (S33); of one that is not at hand nothing is claimed."""
    waiting, seen = [playbook], {playbook}
    while waiting:
        callee = definition.callees.get(waiting.pop())
        if callee is None or callee.extra_tools:
            return True
        if any(best_match(tool, (*callee.named_tools, *callee.optional_tools)) is not None for tool in wanted):
            return True
        waiting += callee.calls_others - seen
        seen |= callee.calls_others
    return False

"""What the boxes and arrows say."""

from __future__ import annotations

from collections.abc import Iterator

from guideway.statemachine.definition import Definition, Edge, OutcomeClass, State, StateKind
from guideway.statemachine.steps import Step

from .inner import held, rounds
from .people import asks, question
from .picture import Line, Role, Shape
from .texts import NOTE, clean, duration, short
from .tools import called, taken_back, worked_with

_SHAPES = {StateKind.STEP: Shape.AGENT, StateKind.CALL: Shape.CALL, StateKind.APPROVAL: Shape.APPROVAL,
           StateKind.ROUTER: Shape.ROUTER, StateKind.ASK: Shape.ASK, StateKind.WAIT: Shape.WAIT,
           StateKind.UNDO: Shape.UNDO, StateKind.FRAME: Shape.PLAYBOOK, StateKind.FORK: Shape.FORK,
           StateKind.EACH: Shape.EACH, StateKind.LOOP: Shape.LOOP, StateKind.SECTION: Shape.SECTION,
           StateKind.JOIN: Shape.JOIN}  # fmt: skip
_ENDS = {OutcomeClass.SUCCESS: Shape.SUCCESS, OutcomeClass.STOPPED: Shape.STOPPED, OutcomeClass.FAILED: Shape.FAILED,
         OutcomeClass.ESCALATED: Shape.ESCALATED, OutcomeClass.INCOMPLETE: Shape.STOPPED}  # fmt: skip
_EVENTS = {"passed": "passed over", "advanced": "incomplete", "max_visits": "too many visits",
           "exhausted": "calls spent", "joined": "empty list", "again": "again"}  # fmt: skip
_ANSWER = "answered "

AS_PLANNED = frozenset({"completed", "approved", "entered", "forked", "joined", "again"})
"""Events whose arrows are solid, as are those of answers."""

_SILENT = AS_PLANNED - {"joined", "again"}


def planned(event: str) -> bool:
    """Say whether the event is what the step is there for."""
    return event in AS_PLANNED or event.startswith(_ANSWER)


def shape_of(state: State) -> Shape:
    """Choose the shape of a state."""
    return _ENDS[state.end.outcome_class] if state.end else _SHAPES[state.kind]


def title_of(state: State) -> str:
    """Name a state as its author did: an end by its outcome, the approval before a step and the step by the step."""
    return clean(state.end.outcome if state.end else state.step.id if state.step else state.name)


def lines_of(definition: Definition, state: State, *, guarded: bool) -> Iterator[Line]:
    """Say what happens in a state; with `guarded`, also what lets a run in (the router before it is drawn with it)."""
    step = state.step
    if step is None or state.end or state.kind is StateKind.JOIN:
        return
    if guarded and step.when:
        yield Line(Role.GUARD, f"when {short(step.when.source)}")
    if state.kind is StateKind.APPROVAL and step.approval:
        yield from asks(step.approval)
    else:
        yield from _done(definition, state, step)
    if limits := " · ".join(_limits(step, state, guarded)):
        yield Line(Role.LIMIT, limits)


def _done(definition: Definition, state: State, step: Step) -> Iterator[Line]:
    """Say what the step does, by its description and by what its kind has to show."""
    if step.description:
        yield Line(Role.NOTE, short(step.description, NOTE))
    if state.kind is StateKind.STEP:
        yield from _worked(definition, step)
    elif state.kind is StateKind.CALL and step.call:
        yield called(definition, step.call.tool, "⚙ ")
    elif state.kind is StateKind.ASK and step.ask:
        yield from question(step.ask)
    elif state.kind is StateKind.UNDO and step.undo:
        yield from taken_back(definition, step.undo)
    else:
        yield from held(step)


def _worked(definition: Definition, step: Step) -> Iterator[Line]:
    if step.work:
        yield from worked_with(definition, step.work)
    if step.claims:
        yield Line(Role.LIMIT, f"claims {short(', '.join(step.claims), NOTE)}")
    if step.probes:
        yield Line(Role.LIMIT, f"must look at {short(', '.join(probe.name for probe in step.probes), NOTE)}")


def label_of(edge: Edge, branches: tuple[Edge, ...]) -> tuple[str, str]:
    """
    Give the word of an edge (none for what goes as planned) and its guard, both ready to be shown.

    Of several guards the first true one wins, so they are numbered.
    """
    if edge.event == "forked":  # its edges are all taken
        return "", ""
    word = _EVENTS.get(edge.event, edge.event).removeprefix(_ANSWER).replace("unknown ", "unknown: ", 1)
    guard = short(edge.guard.source) if edge.guard else "otherwise" if len(branches) > 1 else ""
    if edge.guard and sum(branch.guard is not None for branch in branches) > 1:
        guard = f"{branches.index(edge) + 1} · {guard}"
    return ("" if edge.event in _SILENT else short(word)), guard


def _goes_on(state: State) -> str:
    """Say where a spent budget leads, if it is where the step leads anyway."""
    ahead = {edge.target for edge in state.edges.get("completed", ())}
    return ", then goes on" if {edge.target for edge in state.edges.get("advanced", ())} & ahead else ""


def _limits(step: Step, state: State, guarded: bool) -> Iterator[str]:
    if not step.required:
        yield "may be skipped"
    if state.kind is StateKind.STEP and step.max_calls is not None:
        yield f"≤ {step.max_calls} call{'s' if step.max_calls != 1 else ''}" + _goes_on(state)
    if step.call and state.kind is StateKind.CALL and step.call.repeat:
        yield rounds(step.call.repeat)
    if step.retry and state.kind is not StateKind.APPROVAL:
        yield f"retry {step.retry.at_most}"
    if guarded and step.max_visits is not None:
        yield f"≤ {step.max_visits} visit{'s' if step.max_visits != 1 else ''}"
    if step.timeout is not None:
        yield f"within {duration(step.timeout)}"

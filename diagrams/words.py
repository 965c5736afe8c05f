"""What the boxes and arrows say."""

from __future__ import annotations

from collections.abc import Iterator

from guideway.statemachine.definition import Definition, Edge, OutcomeClass, State, StateKind
from guideway.statemachine.steps import Approval, Entry, Step
from guideway.statemachine.tools import Effect

from .picture import Line, Role, Shape

LABEL = 40
"""The longest guard an arrow shows, in characters."""
NOTE = 72
TOOLS = 8

TIMES = "\N{MULTIPLICATION SIGN}"

_JOINER = "\u200d"
_SHAPES = {StateKind.STEP: Shape.AGENT, StateKind.CALL: Shape.CALL,
           StateKind.APPROVAL: Shape.APPROVAL, StateKind.ROUTER: Shape.ROUTER}  # fmt: skip
_ENDS = {OutcomeClass.SUCCESS: Shape.SUCCESS, OutcomeClass.STOPPED: Shape.STOPPED, OutcomeClass.FAILED: Shape.FAILED,
         OutcomeClass.ESCALATED: Shape.ESCALATED, OutcomeClass.INCOMPLETE: Shape.STOPPED}  # fmt: skip
_EVENTS = {"passed": "passed over", "advanced": "incomplete", "max_visits": "too many visits",
           "exhausted": "calls spent"}  # fmt: skip

AS_PLANNED = frozenset({"completed", "approved", "entered"})
"""Events whose arrows are solid."""


def clean(text: str) -> str:
    """
    Keep what can be seen: control characters, line ends and direction marks become spaces.

    >>> clean("wipe\\x1b[31m\\ndisk")
    'wipe [31m disk'
    """
    return " ".join("".join(c if c.isprintable() or c == _JOINER else " " for c in text).split())


def short(text: str, limit: int = LABEL) -> str:
    """
    Cut a text to `limit` characters.

    >>> short("facts.lookup.score >= 20", 12)
    'facts.looku…'
    """
    text = clean(text)
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def duration(seconds: float) -> str:
    """
    Write a time as the format does.

    >>> duration(5400), duration(0.5)
    ('1h30m', '0.5s')
    """
    if seconds != int(seconds) or seconds < 1:
        return f"{seconds:g}s"
    left, parts = int(seconds), []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts)


def shape_of(state: State) -> Shape:
    """Choose the shape of a state."""
    return _ENDS[state.end.outcome_class] if state.end else _SHAPES[state.kind]


def title_of(state: State) -> str:
    """Name a state as its author did: an end by its outcome, the approval before a step and the step by the step."""
    return clean(state.end.outcome if state.end else state.step.id if state.step else state.name)


def lines_of(definition: Definition, state: State, *, guarded: bool) -> Iterator[Line]:
    """Say what happens in a state; with `guarded`, also what lets a run in (the router before it is drawn with it)."""
    step = state.step
    if step is None or state.end:
        return
    if guarded and step.when:
        yield Line(Role.GUARD, f"when {short(step.when.source)}")
    if state.kind is StateKind.APPROVAL and step.approval:
        yield from _asks(step.approval)
    elif step.description:
        yield Line(Role.NOTE, short(step.description, NOTE))
    if state.kind is StateKind.STEP and step.work:
        yield from _tools(definition, step.work.entries, step.work.listed)
    if state.kind is StateKind.CALL and step.call:
        yield _tool(definition, step.call.tool, "⚙ ", "")
    if limits := " · ".join(_limits(step, state, guarded)):
        yield Line(Role.LIMIT, limits)


def label_of(edge: Edge, branches: tuple[Edge, ...]) -> tuple[str, str]:
    """
    Give the word of an edge (none for what goes as planned) and its guard, both ready to be shown.

    Of several guards the first true one wins, so they are numbered.
    """
    word = _EVENTS.get(edge.event, edge.event).replace("unknown ", "unknown: ", 1)
    guard = short(edge.guard.source) if edge.guard else "otherwise" if len(branches) > 1 else ""
    if edge.guard and sum(branch.guard is not None for branch in branches) > 1:
        guard = f"{branches.index(edge) + 1} · {guard}"
    return ("" if edge.event in AS_PLANNED else short(word)), guard


def _asks(approval: Approval) -> Iterator[Line]:
    if approval.ask:
        yield Line(Role.NOTE, short(approval.ask, NOTE))
    yield Line(Role.LIMIT, f"by {short(', '.join(approval.approvers), NOTE)}" if approval.approvers else "by anybody")


def _tools(definition: Definition, entries: tuple[Entry, ...], listed: bool) -> Iterator[Line]:
    for place, entry in enumerate(entries[:TOOLS], 1):
        sign = f"{place} · " if listed and not entry.optional else "◦ " if entry.optional else "• "
        notes = [f"{TIMES}{entry.times}"] if entry.times and entry.times > 1 else []
        notes += ["optional"] if entry.optional else []
        tool = definition.tool(entry.tool)
        notes += ["asks first"] if entry.approval or (tool and tool.approval) else []
        yield _tool(definition, entry.tool, sign, ", ".join(notes))
    if len(entries) > TOOLS:
        yield Line(Role.TOOL, f"… and {len(entries) - TOOLS} more")


def _tool(definition: Definition, name: str, sign: str, notes: str) -> Line:
    tool = definition.tool(name)
    danger = tool is not None and tool.effect is Effect.IRREVERSIBLE
    told = ", ".join(filter(None, ["irreversible" if danger else "", notes]))
    text = short(name) + (f" ({told})" if told else "")
    return Line(Role.DANGER, f"⚠ {text}") if danger else Line(Role.TOOL, sign + text)


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
        yield f"repeat ≤ {step.call.repeat.at_most} until {short(step.call.repeat.until.source)}"
    if step.retry and state.kind is not StateKind.APPROVAL:
        yield f"retry {step.retry.at_most}"
    if guarded and step.max_visits is not None:
        yield f"≤ {step.max_visits} visit{'s' if step.max_visits != 1 else ''}"
    if step.timeout is not None:
        yield f"within {duration(step.timeout)}"

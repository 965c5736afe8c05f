"""A denial teaches: what refused the call, what is legal now, and the shortest way to what was wanted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from guideway.statemachine.definition import StateKind
from guideway.statemachine.steps import Step

from .completion import all_met, enough, held_open
from .cursors import Cursor
from .monitors import out_of_question
from .own import Settled, clean
from .plan import Line, Row
from .run import Bound, Run, Status, first
from .verdicts import Deny, LegalCall

REASONS: Mapping[str, str] = {
    "run_over": "the run is over",
    "id_reused": "its call id was used before; every call needs an id of its own",
    "bad_args": "its arguments are not what the tool takes",
    "unknown_tool": "no tool of that name belongs to this playbook",
    "out_of_sequence": "it is not legal in the step the run is in",
    "where": "a rule of the playbook is not met",
    "quota": "the step asks for no more of it",
    "order": "tools before it in the step's list come first",
    "policy": "a policy of the playbook forbids it",
    "budget": "the step's calls are spent",
    "retry_wait": "it failed a moment ago and may be tried again only after a wait",
    "rejected": "exactly this call was rejected",
    "control": "the step cannot be left that way",
    "interrupted": "the program stopped before it was decided; propose it again",
    "after_failed": "a call before it in the same reply did not succeed; look at that first",
    "too_early": "it ran while it should have waited",
    "left": "the step it was meant for is over",
    "expired": "nobody approved it in time",
    "approval": "the question to the approver cannot be written",
}
"""Code of a denial -> what it says."""

OFFERS = 20
"""Legal calls that a denial lists; `Session.legal` has all of them."""

SEARCH_LIMIT = 5_000
"""States looked at for the way to a tool; past it the denial names no way."""


def refuse(
    run: Run,
    bound: Bound,
    code: str,
    detail: str = "",
    line: Line | None = None,
    rule: Any = None,
    cursor: Cursor | None = None,
    *,
    by_gate: bool = True,
) -> Deny:
    """Refuse a call for good: answer, record, and remember that its id is used."""
    detail = clean(detail)
    at = cursor or bound.cursor or first(run)
    denial = explain(run, bound, code, detail, line, rule, at)
    bound.status = Status.REFUSED
    if code != "id_reused":
        run.settled[bound.call_id] = Settled("denied")
    bound.answer = denial
    run.verdicts.append(denial)
    run.record(
        "decided", bound.call_id, bound.tool, bound.args, "deny", denial.step, at.row.name, code, detail or None,
        denial.rule, denial.because, at.frame.shown,
    )  # fmt: skip
    if run.turn is not None and by_gate and not bound.automatic and code not in ("after_failed", "run_over"):
        run.turn.denied = True
    return denial


def explain(
    run: Run, bound: Bound, code: str, detail: str = "", line: Line | None = None, rule: Any = None,
    cursor: Cursor | None = None,
) -> Deny:  # fmt: skip
    """Put the denial together; `cursor` is the one that refused, or that the call would have been for."""
    at = cursor or bound.cursor or first(run)
    detail = clean(detail)
    source = getattr(rule, "source", None)
    span = (line.entry.span if line else None) or getattr(rule, "span", None)
    because = line.because if line else getattr(rule, "because", None)
    if code == "where" and because is None and (tool := at.frame.tool(bound.tool)):
        because = tool.because
    offers = (call for call in legal(run) if code != "control" or (call.tool, call.step) != (bound.tool, at.step))
    open_now = tuple(islice(offers, OFFERS))
    way = (
        path_to(run, at, bound.tool)
        if code == "out_of_sequence"
        else list_before(at, line)
        if code == "order"
        else None
    )
    step = at.row.step.id if at.row.step else ""
    return Deny(
        bound.call_id, bound.tool, code, message(run, bound, code, detail, source, because, open_now, way), step,
        source, span, because, open_now, way, tuple(budgets(run, at)),
    )  # fmt: skip


def message(
    run: Run, bound: Bound, code: str, detail: str, source: str | None, because: str | None,
    open_now: tuple[LegalCall, ...], way: tuple[str, ...] | None,
) -> str:  # fmt: skip
    """Write the denial for the model."""
    parts = [f"`{bound.tool}` did not run: {REASONS[code]}" + (f" ({detail})" if detail else "") + "."]
    if source:
        parts.append(f"The rule: `{source}`" + (f", because {because}." if because else "."))
    elif because:
        parts.append(f"Because {because}.")
    if code == "run_over":
        return parts[0]
    parts += whereabouts(run)
    parts.append("Legal now: " + "; ".join(map(str, open_now)) + "." if open_now else standing(run))
    if way:
        parts.append(f"The way to `{bound.tool}`: " + " → ".join(way) + ".")
    return " ".join(parts)


def whereabouts(run: Run) -> list[str]:
    """The steps the run is in, in a sentence."""
    cursors = (run.single,) if run.single is not None else islice(run.leaves(), 2 * OFFERS)
    steps = list(dict.fromkeys(f"`{cursor.row.step.id}`" for cursor in cursors if cursor.row.step is not None))
    if len(steps) > 1:
        more = ", …" if len(steps) > OFFERS else ""
        return [f"The run is in steps {', '.join(steps[:OFFERS])}{more}."]
    return [f"The run is in step {steps[0]}."] if steps else []


def standing(run: Run) -> str:
    """What the run waits for, when the agent has nothing to call."""
    at = first(run)
    kind, step = at.row.kind, at.row.step
    if kind is StateKind.APPROVAL and step is not None:
        return f"A person decides on `{step.id}` first."
    if kind is StateKind.ASK and step is not None:
        return f"A person is asked in `{step.id}` first."
    if kind in (StateKind.CALL, StateKind.UNDO):
        return "The runtime is making a call of its own."
    return "No call is legal now."


def legal(run: Run) -> Iterator[LegalCall]:
    """Calls that are legal now, with their constraints, in cursor order and that of the page."""
    if run.ending is not None:
        return
    for cursor in (run.single,) if run.single is not None else run.leaves():
        if cursor.row.kind is StateKind.STEP:
            yield from legal_in(run, cursor)
    for frame in run.playbooks():
        for name in frame.plan.definition.optional_tools:
            tool = frame.tool(name)
            rules = (tool.where.source,) if tool and tool.where else ()
            asks = tool is not None and tool.approval is not None
            yield LegalCall(name, "", rules, tool.because if tool else None, needed=False, needs_approval=asks)


def legal_in(run: Run, cursor: Cursor) -> Iterator[LegalCall]:
    """What the step of a cursor still takes, control tools among it."""
    step = cursor.row.step
    if step is None:
        return
    if step.max_calls is None or cursor.spent < step.max_calls:
        lines = (line for line in cursor.row.lines if not barred(run, line, cursor))
        lines = (line for line in lines if not out_of_question(run, line.entry.tool, cursor))
        yield from (call for line in lines if (call := offer(cursor, line)))
    if may_complete(run, cursor):
        yield LegalCall("complete_step", step.id, needed=False, carries=tuple(step.claims))
    if not step.required and step.approval is None:
        yield LegalCall("skip_step", step.id, needed=False)


def barred(run: Run, line: Line, cursor: Cursor) -> bool:
    """The tool failed a moment ago and must wait for its next try (S23)."""
    until = (cursor.barred or {}).get(line.entry.tool)
    return until is not None and (run.now is None or run.now < until)


def may_complete(run: Run, cursor: Cursor) -> bool:
    """`complete_step` would be taken, given the right claims."""
    step = cursor.row.step
    if step is None or (cursor.row.needed and not step.claims):
        return False
    return enough(cursor) if step.claims else held_open(run, cursor) is None


def offer(cursor: Cursor, line: Line) -> LegalCall | None:
    """The entry as an offer, unless its quota is reached or the list says that others come first."""
    step, counts = cursor.row.step, cursor.counts
    done = counts.get(line.index, 0)
    if line.times is not None and done >= line.times:
        return None
    listed = step is not None and step.work is not None and step.work.listed and line.needed
    if listed and not all_met(cursor, upto=line.index):
        return None
    left = None if line.times is None else line.times - done
    needed = line.needed and not line.met(done)
    rules = tuple(rule.source for rule in line.where)
    return LegalCall(
        line.entry.tool, step.id if step else "", rules, line.because, left, needed, line.approval is not None
    )


def budgets(run: Run, cursor: Cursor) -> Iterator[tuple[str, int]]:
    """What is left: calls of the step, turns of the run, refusals in a row."""
    step, definition = cursor.row.step, run.plan.definition
    if step is not None and step.max_calls is not None:
        yield "calls of this step", max(0, step.max_calls - cursor.spent)
    yield "turns", max(0, definition.max_iterations - run.iterations)
    yield "refusals in a row", max(0, definition.max_refusals - run.refusals)


ONWARD = ("completed", "entered", "approved", "passed", "skipped", "forked", "again")
"""Events of success, which the way to a tool is made of."""


def path_to(run: Run, cursor: Cursor, tool: str) -> tuple[str, ...] | None:
    """The shortest way from here to a state that admits `tool`, as the calls and decisions on it."""
    rows, here = cursor.frame.plan.rows, cursor.row.name

    def admits(row: Row) -> bool:
        return row.name != here and any(line.entry.tool == tool for line in row.match(tool))

    way = search(rows, here, admits)
    if way is None:
        return None
    return (*(text for at, name in enumerate(way[:-1]) for text in demands_at(cursor, way, at, rows[name])), tool)


def search(rows: Mapping[str, Row], start: str, wanted: Callable[[Row], bool]) -> list[str] | None:
    """
    The states on the shortest way to one that is wanted, both ends among them.

    Breadth first over the edges that success takes, bounded, so that a denial stays cheap on a huge playbook.
    """
    came: dict[str, str] = {start: ""}
    queue = deque([start])
    while queue and len(came) < SEARCH_LIMIT:
        name = queue.popleft()
        if wanted(rows[name]):
            return list(reversed([name, *trail(came, name)]))
        for target in onward(rows[name]):
            if target not in came:
                came[target] = name
                queue.append(target)
    return None


def onward(row: Row) -> Iterator[str]:
    """Where success leads from a state."""
    for event, edges in row.state.edges.items():
        if event in ONWARD or event.startswith("answered "):
            yield from (edge.target for edge in edges)


def trail(came: Mapping[str, str], name: str) -> Iterator[str]:
    """The states before one, last to first."""
    while came[name]:
        name = came[name]
        yield name


def demands_at(cursor: Cursor, way: list[str], at: int, row: Row) -> list[str]:
    """What has to happen in one state of the way; at a join, in the other branches as well."""
    if row.kind is not StateKind.JOIN or row.step is None or row.step.parallel is None:
        return demands(cursor, row)
    return [text for start, other in others(cursor, way, at, row.step) for text in through(other, start, row.name)]


def others(cursor: Cursor, way: list[str], at: int, step: Step) -> Iterator[tuple[str, Cursor]]:
    """Where the other branches of a fork stand, or will begin."""
    if step.id in way[:at]:
        taken = way[way.index(step.id) + 1]
        heads = cursor.frame.plan.rows[step.id].state.edges["forked"]
        yield from ((edge.target, cursor) for edge in heads if edge.target != taken)
        return
    mine: Cursor | None = cursor
    while mine is not None and mine.level != step.id:
        mine = mine.parent
    if mine is not None and mine.parent is not None:
        yield from ((c.row.name, c) for c in mine.parent.children.values() if c is not mine)


def through(cursor: Cursor, start: str, join: str) -> list[str]:
    """What has to happen from a state to the join of its block."""
    rows = cursor.frame.plan.rows
    way = search(rows, start, lambda row: row.name == join) or [start]
    return [text for name in way for text in demands(cursor, rows[name])]


def list_before(cursor: Cursor, line: Line | None) -> tuple[str, ...]:
    """The tools that stand before an entry in an `order: listed` step, and the entry's own."""
    if line is None:
        return ()
    before = [other for other in cursor.row.needed if other.index < line.index]
    return (*(name for other in before for name in still_due(other, cursor.counts)), line.entry.tool)


def still_due(line: Line, counts: Mapping[int, int]) -> list[str]:
    """The tool of an entry, once for each success it still needs."""
    return [line.entry.tool] * max(0, (line.times or 1) - counts.get(line.index, 0))


def demands(cursor: Cursor, row: Row) -> list[str]:
    """The calls a state still asks for, or the decision it waits for."""
    if row.kind is StateKind.STEP:
        counts = cursor.counts if row is cursor.row else {}
        tools = [name for line in row.needed for name in still_due(line, counts)]
        ends = row.step is not None and (bool(row.step.claims) or not row.needed)
        return [*tools, "complete_step"] if ends else tools
    asked = {StateKind.APPROVAL: "approval of", StateKind.ASK: "answer in", StateKind.WAIT: "wait in"}.get(row.kind)
    return [f"({asked} {row.step.id})"] if asked and row.step is not None else []

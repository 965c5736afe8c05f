"""A denial teaches: what refused the call, what is legal now, and the shortest way to what was wanted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from guideway.statemachine.definition import StateKind

from .completion import held_open
from .own import Settled, clean
from .plan import Line, Row
from .run import Bound, Run, Status
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
    "budget": "the step's calls are spent",
    "retry_wait": "it failed a moment ago and may be tried again only after a wait",
    "rejected": "exactly this call was rejected",
    "control": "the step cannot be left that way",
    "after_failed": "a call before it in the same reply did not succeed; look at that first",
    "left": "the step it was meant for is over",
    "expired": "nobody approved it in time",
    "approval": "the question to the approver cannot be written",
}
"""Code of a denial -> what it says."""

SEARCH_LIMIT = 5_000
"""States looked at for the way to a tool; past it the denial names no way."""


def refuse(
    run: Run,
    bound: Bound,
    code: str,
    detail: str = "",
    line: Line | None = None,
    rule: Any = None,
    by_gate: bool = True,
) -> Deny:
    """Refuse a call for good: answer, record, and remember that its id is used."""
    detail = clean(detail)
    denial = explain(run, bound, code, detail, line, rule)
    bound.status = Status.REFUSED
    if code != "id_reused":
        run.settled[bound.call_id] = Settled("denied")
    bound.answer = denial
    run.verdicts.append(denial)
    step = run.row.step.id if run.row.step else ""
    run.record(
        "decided",
        bound.call_id,
        bound.tool,
        bound.args,
        "deny",
        step,
        run.row.name,
        code,
        detail or None,
        denial.rule,
        denial.because,
    )
    if run.turn is not None and by_gate and not bound.automatic and code not in ("after_failed", "run_over"):
        run.turn.denied = True
    return denial


def explain(run: Run, bound: Bound, code: str, detail: str = "", line: Line | None = None, rule: Any = None) -> Deny:
    """Put the denial together."""
    detail = clean(detail)
    source = getattr(rule, "source", None)
    span = (line.entry.span if line else None) or getattr(rule, "span", None)
    because = line.because if line else getattr(rule, "because", None)
    if code == "where" and because is None and (tool := run.plan.tool(bound.tool)):
        because = tool.because
    open_now = tuple(legal(run))
    way = path_to(run, bound.tool) if code == "out_of_sequence" else list_before(run, line) if code == "order" else None
    step = run.row.step.id if run.row.step else ""
    return Deny(
        bound.call_id, bound.tool, code, message(run, bound, code, detail, source, because, open_now, way), step,
        source, span, because, open_now, way, tuple(budgets(run)),
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
    step = run.row.step
    if step is not None:
        parts.append(f"The run is in step `{step.id}`.")
    parts.append("Legal now: " + "; ".join(map(str, open_now)) + "." if open_now else standing(run))
    if way:
        parts.append(f"The way to `{bound.tool}`: " + " → ".join(way) + ".")
    return " ".join(parts)


def standing(run: Run) -> str:
    """What the run waits for, when the agent has nothing to call."""
    kind, step = run.row.kind, run.row.step
    if kind is StateKind.APPROVAL and step is not None:
        return f"A person decides on `{step.id}` first."
    if kind is StateKind.CALL:
        return "The runtime is making a call of its own."
    return "No call is legal now."


def legal(run: Run) -> Iterator[LegalCall]:
    """Calls that are legal now, with their constraints, in the order of the page."""
    row, step, definition = run.row, run.row.step, run.plan.definition
    if run.ending is not None:
        return
    if row.kind is StateKind.STEP and step is not None:
        if step.max_calls is None or run.cursor.spent < step.max_calls:
            yield from (call for line in row.lines if (call := offer(run, row, line)))
        if not row.needed and held_open(run) is None:
            yield LegalCall("complete_step", step.id, needed=False)
        if not step.required and step.approval is None:
            yield LegalCall("skip_step", step.id, needed=False)
    for name in definition.optional_tools:
        tool = run.plan.tool(name)
        rules = (tool.where.source,) if tool and tool.where else ()
        yield LegalCall(name, "", rules, tool.because if tool else None, needed=False)


def offer(run: Run, row: Row, line: Line) -> LegalCall | None:
    """The entry as an offer, unless its quota is reached or the list says that others come first."""
    step, counts = row.step, run.cursor.counts
    done = counts.get(line.index, 0)
    if line.times is not None and done >= line.times:
        return None
    listed = step is not None and step.work is not None and step.work.listed and line.needed
    if listed and any(not other.met(counts.get(other.index, 0)) for other in row.needed if other.index < line.index):
        return None
    left = None if line.times is None else line.times - done
    needed = line.needed and not line.met(done)
    rules = tuple(rule.source for rule in line.where)
    return LegalCall(
        line.entry.tool, step.id if step else "", rules, line.because, left, needed, line.approval is not None
    )


def budgets(run: Run) -> Iterator[tuple[str, int]]:
    """What is left: calls of the step, turns of the run, refusals in a row."""
    step, definition = run.row.step, run.plan.definition
    if step is not None and step.max_calls is not None:
        yield "calls of this step", max(0, step.max_calls - run.cursor.spent)
    yield "turns", max(0, definition.max_iterations - run.iterations)
    yield "refusals in a row", max(0, definition.max_refusals - run.refusals)


def path_to(run: Run, tool: str) -> tuple[str, ...] | None:
    """
    The shortest way from here to a state that admits `tool`, as the calls and decisions on it.

    Breadth first over the edges that success takes, bounded, so that a denial stays cheap on a huge playbook.
    """
    came: dict[str, str] = {run.row.name: ""}
    queue = deque([run.row.name])
    while queue and len(came) < SEARCH_LIMIT:
        name = queue.popleft()
        row = run.plan.rows[name]
        if name != run.row.name and any(line.entry.tool == tool for line in row.match(tool)):
            return (*describe_way(run, came, name), tool)
        for event in ("completed", "entered", "approved", "passed", "skipped"):
            for edge in row.state.edges.get(event, ()):
                if edge.target not in came:
                    came[edge.target] = name
                    queue.append(edge.target)
    return None


def list_before(run: Run, line: Line | None) -> tuple[str, ...]:
    """The tools that stand before an entry in an `order: listed` step, and the entry's own."""
    if line is None:
        return ()
    before = [other for other in run.row.needed if other.index < line.index]
    return (*(name for other in before for name in still_due(other, run.cursor.counts)), line.entry.tool)


def still_due(line: Line, counts: Mapping[int, int]) -> list[str]:
    """The tool of an entry, once for each success it still needs."""
    return [line.entry.tool] * max(0, (line.times or 1) - counts.get(line.index, 0))


def describe_way(run: Run, came: Mapping[str, str], name: str) -> list[str]:
    """What has to happen in each state on the way, first to last."""
    names: list[str] = []
    while came[name]:
        name = came[name]
        names.append(name)
    return [text for name in reversed(names) for text in demands(run, run.plan.rows[name])]


def demands(run: Run, row: Row) -> list[str]:
    """The calls a state still asks for, or the decision it waits for."""
    if row.kind is StateKind.STEP:
        counts = run.cursor.counts if row is run.row else {}
        tools = [name for line in row.needed for name in still_due(line, counts)]
        return tools or ([] if row.needed else ["complete_step"])
    if row.kind is StateKind.APPROVAL and row.step is not None:
        return [f"(approval of {row.step.id})"]
    return []

"""
Deciding one call (S14).  Pure: nothing here changes the run.

The rules are asked in the order of S14, and the first that applies answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from guideway.statemachine.definition import StateKind
from guideway.statemachine.steps import Approval
from guideway.statemachine.tools import CONTROL, Effect

from .completion import all_met, held_open, would_close
from .own import key_of
from .plan import Line
from .reads import fact_names, roots
from .run import Bound, Run
from .schemas import problem
from .scope import scope, truth


class Admit(NamedTuple):
    """The call may run, for `line` (none: extra, optional everywhere, automatic), after `approval` if there is one."""

    line: Line | None
    approval: Approval | None


class Hold(NamedTuple):
    """Decide again later."""

    why: str


class Refuse(NamedTuple):
    """The call does not run.  `line` and `rule` are what refused it."""

    code: str
    detail: str = ""
    line: Line | None = None
    rule: Any = None


Decision = Admit | Hold | Refuse


def decide(run: Run, bound: Bound, *, behind: bool = False) -> Decision:
    """Decide `bound`; `behind` says that an earlier call of its wave was deferred."""
    plan = run.plan
    if run.ending is not None:  # S14.1
        return Refuse("run_over", run.ending)
    if refused := malformed(run, bound):
        return refused
    if behind:  # S14.2
        return Hold("a call before it waits") if plan.knows(bound.tool) else Refuse("unknown_tool")
    earlier = list(before(run, bound))
    if earlier and bound.tool in CONTROL:  # S17
        return Hold("calls before it are still running")
    if bound.tool in CONTROL:
        return control(run, bound)
    if earlier and (alone := irreversible(run, bound, earlier)):  # S14.3
        return Hold(alone)
    decision = automatic(run, bound, earlier) if bound.automatic else proposed(run, bound, earlier)
    if isinstance(decision, Refuse) and earlier and plan.knows(bound.tool):  # S14.6, S14.8
        return Hold("calls before it may change what is legal")
    return decision


def malformed(run: Run, bound: Bound) -> Refuse | None:
    """Arguments against the tool's schema; names nobody declared."""
    if bound.fault is not None:
        return Refuse(*bound.fault)
    definition, tool = run.plan.definition, run.plan.tool(bound.tool)
    if not bound.tool:
        return Refuse("unknown_tool")
    if tool is None and definition.closed_alphabet and bound.tool not in CONTROL and not run.plan.knows(bound.tool):
        return Refuse("unknown_tool")
    if tool is not None and (wrong := problem(tool.parameters, bound.args)):
        return Refuse("bad_args", wrong, rule=tool)
    return None


def before(run: Run, bound: Bound) -> Iterator[Bound]:
    """Outstanding calls that come before `bound`, oldest first."""
    for other in run.outstanding.values():
        if other is bound:
            return
        yield other


def irreversible(run: Run, bound: Bound, earlier: list[Bound]) -> str | None:
    """An irreversible call runs alone: say so where one meets another call."""
    effect = run.plan.effect
    if effect(bound.tool) is Effect.IRREVERSIBLE:
        return "it is irreversible and runs alone"
    if any(effect(other.tool) is Effect.IRREVERSIBLE for other in earlier):
        return "an irreversible call before it runs alone"
    return None


def proposed(run: Run, bound: Bound, earlier: list[Bound]) -> Decision:
    """S14.4 to S14.9 for an agent's call."""
    row, cursor = run.row, run.cursor
    lines = row.match(bound.tool)
    if earlier and unsettled(run, earlier):
        return Hold("calls before it may complete the step")
    if earlier and stale(run, bound, lines, earlier):
        return Hold("a rule it must satisfy reads what a call before it will answer")
    best = candidate(run, bound, lines)
    if isinstance(best, Hold | Refuse):
        return best
    step = row.step
    if best.line is not None and step is not None:
        if step.max_calls is not None and cursor.spent + reserved(run, bound) >= step.max_calls:
            return Refuse("budget", f"`{step.id}` allows {step.max_calls} calls", rule=step)
        if cursor.barred and (until := cursor.barred.get(bound.tool)) and (run.now is None or run.now < until):
            return Refuse("retry_wait", f"not before {until.isoformat()}")
    if cursor.rejected and key_of(bound.tool, bound.args) in cursor.rejected:
        return Refuse("rejected")
    return best


def stale(run: Run, bound: Bound, lines: tuple[Line, ...], earlier: list[Bound]) -> bool:
    """A `where` that matters reads what an earlier outstanding call may still change."""
    pending = {fact_of(other) for other in earlier}
    if any(line.volatile or line.fresh & pending or "*" in line.fresh for line in lines):
        return True
    tool, terms = run.plan.tool(bound.tool), run.plan.definition.terms
    if tool is None or tool.where is None:
        return False
    facts = fact_names(tool.where, terms)
    return bool(facts & pending or "*" in facts or roots(tool.where, terms) & {"run", "claims"})


def fact_of(bound: Bound) -> str:
    """The name under which a success of the call is kept."""
    return bound.line.fact if bound.line else bound.step if bound.automatic else bound.tool


def unsettled(run: Run, earlier: list[Bound]) -> bool:
    """Earlier calls may move the cursor: they complete its step, or spend its calls (S14.4)."""
    if run.row.kind is StateKind.STEP:
        return would_close(run, earlier)
    here = (run.cursor.step, run.cursor.visit)
    return any(other.automatic and (other.step, other.visit) == here for other in earlier)


def candidate(run: Run, bound: Bound, lines: tuple[Line, ...]) -> Decision:
    """S14.5: needed before repeat before optional before extra; then listed order."""
    row = run.row
    refused = Refuse("unknown_tool") if not run.plan.knows(bound.tool) else Refuse("out_of_sequence")
    ranked: list[tuple[int, int, Line]] = []
    if row.kind is StateKind.STEP:
        for line in lines:
            rank = rank_of(run, bound, line)
            if isinstance(rank, int):
                ranked.append((rank, line.index, line))
            else:
                refused = rank if isinstance(rank, Refuse) else refused
                if isinstance(rank, Hold):
                    return rank
    names = scope(run, args=bound.args) if any(line.where for _, _, line in ranked) else {}
    for _, _, line in sorted(ranked, key=lambda r: r[:2]):
        if (failed := unmet(run, line, names)) is None:
            return Admit(line, line.approval)
        refused = failed
    return outside(run, bound, refused)


def rank_of(run: Run, bound: Bound, line: Line) -> int | Hold | Refuse:
    """0 needed, 1 repeat, 2 optional; or why the entry takes no call now."""
    taken = run.cursor.counts.get(line.index, 0)
    waiting = sum(1 for other in same_visit(run) if other.line is line and other is not bound)
    if line.times is not None and taken + waiting >= line.times:
        return Refuse("quota", f"{line.times} is all the step asks for", line)
    if not line.needed:
        return 2
    if (step := run.row.step) and step.work and step.work.listed and not all_met(run, upto=line.index):
        return (
            Hold("tools before it in the list come first")
            if waiting_before(run, bound, line)
            else Refuse("order", "", line)
        )
    return 0 if taken + waiting < 1 or line.times is not None else 1


def waiting_before(run: Run, bound: Bound, line: Line) -> bool:
    """An entry earlier in the list has a call under way, made before this one."""
    return any(other.line is not None and other.line.index < line.index for other in before(run, bound))


def unmet(run: Run, line: Line, names: dict[str, Any]) -> Refuse | None:
    """The first `where` of the entry or its tool that is not true."""
    for rule in line.where:
        answer = truth(run, rule, names)
        if answer is not True:
            return Refuse("where", answer if isinstance(answer, str) else "", line, rule)
    return None


def outside(run: Run, bound: Bound, refused: Refuse) -> Decision:
    """Tools legal in every step: top-level `optional_tools`, and extra ones.  They count for no step."""
    plan = run.plan
    if not plan.is_optional(bound.tool) and not plan.is_extra(bound.tool):
        return refused
    return declared(run, bound)


def declared(run: Run, bound: Bound) -> Decision:
    """What `tools.T` itself demands of a call: `where` and `approval`."""
    tool = run.plan.tool(bound.tool)
    if tool is None:
        return Admit(None, None)
    if tool.where is not None:
        answer = truth(run, tool.where, scope(run, args=bound.args))
        if answer is not True:
            return Refuse("where", answer if isinstance(answer, str) else "", None, tool.where)
    return Admit(None, tool.approval)


def automatic(run: Run, bound: Bound, earlier: list[Bound]) -> Decision:
    """The runtime's own call (S28): the same gate, but it is its step's by right."""
    if run.cursor.rejected and key_of(bound.tool, bound.args) in run.cursor.rejected:
        return Refuse("rejected")
    if earlier and stale(run, bound, (), earlier):
        return Hold("a rule it must satisfy reads what a call before it will answer")
    return declared(run, bound)


def control(run: Run, bound: Bound) -> Decision:
    """`complete_step` and `skip_step` (S17), with nothing outstanding."""
    row, step = run.row, run.row.step
    if row.kind is not StateKind.STEP or step is None:
        return Refuse("control", "no step of yours is open")
    confidence = bound.args.get("confidence", 0)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        return Refuse("bad_args", "a confidence lies between 0 and 1")
    if bound.tool == "skip_step":
        if step.required:
            return Refuse("control", f"`{step.id}` is required")
        return Refuse("control", f"a person allowed `{step.id}`") if step.approval else Admit(None, None)
    if row.needed:
        tools = ", ".join(f"`{line.entry.tool}`" for line in row.needed)
        return Refuse("control", f"`{step.id}` completes when {tools} succeeded, not by being declared complete")
    if why := held_open(run):
        return Refuse("control", why)
    return Admit(None, None)


def same_visit(run: Run) -> list[Bound]:
    """Open calls that count for the visit the cursor is in."""
    cursor = run.cursor
    return [
        b for b in run.outstanding.values() if b.line is not None and b.step == cursor.step and b.visit == cursor.visit
    ]


def reserved(run: Run, bound: Bound) -> int:
    """Calls of this visit that are admitted and not settled."""
    return sum(1 for other in same_visit(run) if other is not bound)

"""
Deciding one call (S14).  Pure: nothing here changes the run.

The rules are asked in the order of S14, and the first that applies answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge

from guideway.statemachine.definition import StateKind
from guideway.statemachine.tools import CONTROL, Effect, Tool

from .candidates import NEEDED, Admit, Decision, Hold, Refuse, best_of, declared
from .completion import would_close
from .control import control
from .cursors import Cursor
from .frames import Frame
from .monitors import forbids
from .own import key_of
from .plan import Line
from .reads import fact_names, roots
from .run import Bound, Run
from .schemas import problem


def decide(run: Run, bound: Bound, *, behind: bool = False) -> Decision:
    """Decide `bound`; `behind` says that an earlier call of its wave was deferred."""
    closing = bound.cursor is not None and bound.cursor.closes
    if run.ending is not None and not closing:  # S14.1
        return Refuse("run_over", run.ending)
    if refused := malformed(run, bound):
        return refused
    if behind:  # S14.2
        return Hold("a call before it waits") if knows(run, bound.tool) else Refuse("unknown_tool")
    earlier = list(before(run, bound))
    if earlier and bound.tool in CONTROL:  # S17
        return Hold("calls before it are still running")
    if bound.tool in CONTROL:
        return control(run, bound)
    if earlier and (alone := irreversible(run, bound, earlier)):  # S14.3
        return Hold(alone)
    decision = automatic(run, bound, earlier) if bound.automatic else proposed(run, bound, earlier)
    if isinstance(decision, Admit):
        decision = by_callers(run, bound, decision)
    if isinstance(decision, Admit):
        decision = watched(run, bound, decision, earlier)
    if isinstance(decision, Refuse) and decision.code != "policy" and earlier and knows(run, bound.tool):
        return Hold("calls before it may change what is legal")  # S14.6, S14.8
    return decision


def knows(run: Run, tool: str) -> bool:
    """Some playbook that is open speaks of the tool (S14.2)."""
    return any(frame.plan.knows(tool) for frame in run.playbooks())


def tools_of(run: Run, bound: Bound) -> list[Tool]:
    """What is declared of the tool where the call is made; while nobody can tell, in every playbook that is open."""
    where: Iterable[Frame] = (bound.frame,) if bound.frame is not None else run.playbooks()
    return [tool for frame in where if (tool := frame.tool(bound.tool)) is not None]


def malformed(run: Run, bound: Bound) -> Refuse | None:
    """Arguments against the tool's schema; names nobody declared."""
    if bound.fault is not None:
        return Refuse(*bound.fault)
    if not bound.tool:
        return Refuse("unknown_tool")
    declared_by = tools_of(run, bound)
    closed = all(frame.plan.definition.closed_alphabet for frame in run.playbooks())
    if closed and not declared_by and bound.tool not in CONTROL and not knows(run, bound.tool):
        return Refuse("unknown_tool")
    wrong = [problem(tool.parameters, bound.args) for tool in declared_by]
    if wrong and all(wrong):
        return Refuse("bad_args", wrong[0] or "", rule=declared_by[0])
    return None


def before(run: Run, bound: Bound) -> Iterator[Bound]:
    """Outstanding calls that come before `bound`, oldest first."""
    for other in run.outstanding.values():
        if other is bound:
            return
        yield other


def effect_of(run: Run, bound: Bound) -> Effect:
    """What the call does to the world; where playbooks differ, the gravest of what they say."""
    effects = {tool.effect for tool in tools_of(run, bound)}
    return next((e for e in (Effect.IRREVERSIBLE, Effect.WRITE, Effect.READ) if e in effects), Effect.WRITE)


def irreversible(run: Run, bound: Bound, earlier: list[Bound]) -> str | None:
    """An irreversible call runs alone: say so where one meets another call."""
    if not run.plan.grave:
        return None
    if effect_of(run, bound) is Effect.IRREVERSIBLE:
        return "it is irreversible and runs alone"
    if any(effect_of(run, other) is Effect.IRREVERSIBLE for other in earlier):
        return "an irreversible call before it runs alone"
    return None


def proposed(run: Run, bound: Bound, earlier: list[Bound]) -> Decision:
    """S14.4 to S14.6, S14.8 for an agent's call: the cursors it concerns, in order."""
    found: list[Decision] = []
    for cursor in concerned(run, bound, earlier):
        lines = cursor.row.match(bound.tool) if cursor.row.kind is StateKind.STEP else ()
        if earlier and (why := undecided(bound, cursor, lines, earlier)):
            return Hold(why)  # one before it that needs the call would have had it
        answer = best_of(run, bound, cursor, lines)
        if isinstance(answer, Hold):
            return answer
        found.append(answer)
        if isinstance(answer, Admit) and answer.rank == NEEDED:
            return spendable(run, bound, answer)
    admitted = [answer for answer in found if isinstance(answer, Admit)]
    if admitted:
        return spendable(run, bound, min(admitted, key=lambda answer: answer.rank))
    return outside(run, bound, earlier, found)


def concerned(run: Run, bound: Bound, earlier: list[Bound]) -> Iterator[Cursor]:
    """The cursors that may admit the call, and those with calls under way that may hold it back; in order."""
    if run.single is not None:
        yield run.single
        return
    if run.openings is None:
        return
    places = run.openings.admitting(bound.tool)
    busy = {other.cursor for other in earlier if other.cursor is not None and not other.cursor.gone}
    if not busy:
        yield from (cursor for _, cursor in places)
        return
    others = sorted((cursor.order, cursor) for cursor in busy)
    last = None
    for _, cursor in merge(places, others, key=lambda place: place[0]):
        if cursor is not last:
            yield cursor
        last = cursor


def undecided(bound: Bound, cursor: Cursor, lines: tuple[Line, ...], earlier: list[Bound]) -> str | None:
    """Why the cursor cannot be decided on yet (S14.4)."""
    mine = [other for other in earlier if other.of(cursor)]
    at_work = cursor.row.kind is StateKind.STEP
    if would_close(cursor, mine) if at_work else any(other.automatic for other in mine):
        return "calls before it may complete the step"
    if stale(bound, cursor.frame, lines, earlier):
        return "a rule it must satisfy reads what a call before it will answer"
    return None


def stale(bound: Bound, frame: Frame, lines: tuple[Line, ...], earlier: list[Bound]) -> bool:
    """A `where` that matters reads what an earlier outstanding call may still change."""
    there = frame.declaring(bound.tool)
    tool, terms = there.plan.tool(bound.tool), there.plan.definition.terms
    reads = tool is not None and tool.where is not None
    if not reads and not any(line.volatile or line.fresh for line in lines):
        return False
    pending = {fact_of(other) for other in earlier}
    if any(line.volatile or line.fresh & pending or "*" in line.fresh for line in lines):
        return True
    if tool is None or tool.where is None:
        return False
    facts = fact_names(tool.where, terms)
    return bool(facts & pending or "*" in facts or roots(tool.where, terms) & {"run", "claims"})


def fact_of(bound: Bound) -> str:
    """The name under which a success of the call is kept."""
    return bound.line.fact if bound.line else bound.step if bound.automatic else bound.tool


def spendable(run: Run, bound: Bound, answer: Admit) -> Decision:
    """The budget of the step, the wait of a retry, and what a person has rejected (S14.8)."""
    cursor = answer.cursor
    if cursor is None:
        return answer
    step = cursor.row.step
    if answer.line is not None and step is not None:
        if step.max_calls is not None and cursor.spent + reserved(run, cursor, bound) >= step.max_calls:
            return Refuse("budget", f"`{step.id}` allows {step.max_calls} calls", rule=step, cursor=cursor)
        if cursor.barred and (until := cursor.barred.get(bound.tool)) and (run.now is None or run.now < until):
            return Refuse("retry_wait", f"not before {until.isoformat()}", cursor=cursor)
    if cursor.rejected and key_of(bound.tool, bound.args) in cursor.rejected:
        return Refuse("rejected", cursor=cursor)
    return answer


def outside(run: Run, bound: Bound, earlier: list[Bound], found: list[Decision]) -> Decision:
    """Tools legal in every step of a playbook: its `optional_tools`, and extra ones.  They count for no step."""
    for frame in run.playbooks():
        plan = frame.plan
        if plan.is_optional(bound.tool) or (plan.is_extra(bound.tool) and unnamed(run, bound.tool)):
            if earlier and stale(bound, frame, (), earlier):
                return Hold("a rule it must satisfy reads what a call before it will answer")
            return unrejected(run, bound, declared(run, bound, frame))
    refusals = [answer for answer in found if isinstance(answer, Refuse) and answer.code != "out_of_sequence"]
    if refusals:
        return refusals[-1]
    return Refuse("out_of_sequence" if knows(run, bound.tool) else "unknown_tool")


def unnamed(run: Run, tool: str) -> bool:
    """No step of any open playbook names the tool: what a caller's later step waits for is not extra inside."""
    return not any(tool in frame.plan.named for frame in run.playbooks())


def unrejected(run: Run, bound: Bound, answer: Decision) -> Decision:
    """A call that a person has rejected in the visit of the only cursor is not asked about again."""
    cursor = run.single
    if cursor is not None and cursor.rejected and key_of(bound.tool, bound.args) in cursor.rejected:
        return Refuse("rejected")
    return answer


def automatic(run: Run, bound: Bound, earlier: list[Bound]) -> Decision:
    """The runtime's own call (S28): the same gate, but it is its step's by right."""
    cursor, frame = bound.cursor, bound.frame or run.frame
    if cursor is not None and cursor.rejected and key_of(bound.tool, bound.args) in cursor.rejected:
        return Refuse("rejected")
    if earlier and stale(bound, frame, (), earlier):
        return Hold("a rule it must satisfy reads what a call before it will answer")
    return declared(run, bound, frame, cursor)


def by_callers(run: Run, bound: Bound, answer: Admit) -> Decision:
    """What a caller says of a tool that the playbook itself says nothing of holds inside as well."""
    there = answer.frame.declaring(bound.tool)
    if there is answer.frame.owner or answer.line is None:
        return answer
    demand = declared(run, bound, there, answer.cursor)
    if not isinstance(demand, Admit):
        return demand
    return answer if answer.approval is not None else answer._replace(approval=demand.approval)


def watched(run: Run, bound: Bound, answer: Admit, earlier: list[Bound]) -> Decision:
    """What the policies say of a call that is legal otherwise (S14.7)."""
    step = answer.cursor.step if answer.cursor is not None else ""
    found = forbids(run, bound, answer.frame, step, earlier)
    if found is None:
        return answer
    if found.maybe:
        return Hold(f"calls before it may decide on the policy `{found.policy.id}`")
    return Refuse("policy", found.policy.id, rule=found.policy, cursor=answer.cursor)


def same_visit(run: Run, cursor: Cursor) -> list[Bound]:
    """Open calls that count for the visit the cursor is in."""
    return [b for b in run.outstanding.values() if b.line is not None and b.of(cursor)]


def reserved(run: Run, cursor: Cursor, bound: Bound) -> int:
    """Calls of this visit that are admitted and not settled."""
    return sum(1 for other in same_visit(run, cursor) if other is not bound)

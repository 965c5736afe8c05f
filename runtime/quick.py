"""
The fast path: one plain call at a time, in a step that only counts.

It does in one go what `propose` and `observe` do by way of turns, waves and macro-steps, for the case that needs none
of them: nothing outstanding, no timer, no guard, no approval, no limit.  Whatever is not that case goes back to the
general path through `thaw`, which rebuilds the turn as `propose` would have left it.  A property test holds the two
paths together, record by record.
"""

from __future__ import annotations

from typing import Any

from .calls import Outcome, Succeeded, ToolCall
from .facts import copy
from .gate import all_met
from .run import Bound, Run, Status, Turn
from .verdicts import Allow, Progress


def propose(run: Run, call: ToolCall, text: str) -> Allow | None:
    """Admit the call, or None: the general path decides."""
    line = run.row.quick.get(call.name)
    if line is None or run.outstanding or run.timers or run.turn is not None or run.ending is not None:
        return None
    call_id = call.call_id
    if not call_id or call_id in run.settled or run.quick is not None:
        return None
    cursor = run.cursor
    if line.times is not None and cursor.counts.get(line.index, 0) >= line.times:
        return None
    try:
        args = copy(call.args)
    except ValueError:
        return None
    if type(args) is not dict:
        return None
    run.quick = (call_id, call.name, args, line, text)
    run.last = {}
    now, step = run.now, cursor.step
    run.records += (
        ("turn", now, run.iterations + 1, text, 0),
        ("decided", now, call_id, call.name, args, "allow", step, step, None, None),
    )
    return Allow(call_id, call.name, step)


def observe(run: Run, outcome: Outcome) -> Progress | None:
    """Settle the one outstanding call, or None: the general path does, after `thaw`."""
    if type(outcome) is not Succeeded or run.quick is None:
        return None
    call_id, tool, _, line, text = run.quick
    cursor, row, plan = run.cursor, run.row, run.plan
    number = run.iterations + 1
    if number >= plan.limit:
        return None
    counts, index = cursor.counts, line.index
    count = counts.get(index, 0) + 1
    edge, target = row.then, None
    done = line.met(count) and (len(row.needed) == 1 or all_met(run, {index: 1}))
    if done and not (edge and (target := plan.rows[edge.target]).quick):
        return None
    try:
        result = copy(outcome.result)
    except ValueError:
        return None
    now, step = run.now, cursor.step
    run.quick = None
    run.settled[call_id] = "ok"
    run.last[call_id] = outcome
    run.records.append(("settled", now, call_id, tool, "ok", {"result": result}, True, step))
    run.calls += 1
    run.nudges = run.refusals = 0
    if line.keep:
        plan.keeper.store(line.fact, result, run.facts, run.history)
    if target is not None and edge is not None and target.step is not None:
        plan.machine.move(cursor, edge)
        run.records.append(("moved", now, edge.source, "completed", edge.target, step, None))
        run.row = target
        step = cursor.step = target.step.id
        cursor.visit = run.visits[step] = run.visits.get(step, 0) + 1
        cursor.reset()
    else:
        counts[index] = count
        cursor.spent += 1
        cursor.successes += 1
    run.iterations = number
    run.text, run.text_only = text, False
    run.records.append(("turn_ended", now, number, None))
    return Progress(cursor.state, (), None)


def thaw(run: Run) -> None:
    """Rebuild the open turn of a call admitted by the fast path."""
    if run.quick is None:
        return
    call_id, tool, args, line, text = run.quick
    run.quick = None
    cursor = run.cursor
    bound = Bound(call_id, tool, args)
    bound.line, bound.status = line, Status.RUNNING
    bound.step, bound.visit = cursor.step, cursor.visit
    run.turn = Turn(run.iterations + 1, text, ((cursor.step, cursor.visit),))
    run.turn.calls.append(bound)
    run.outstanding[call_id] = bound


def same_call(run: Run, call: ToolCall) -> bool:
    """The call is the one the fast path has outstanding."""
    args: Any = run.quick and run.quick[2]
    return run.quick is not None and run.quick[:2] == (call.call_id, call.name) and dict(call.args) == args

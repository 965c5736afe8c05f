"""
The fast path: one plain call at a time, in a step that only counts.

It does in one go what `propose` and `observe` do by way of turns, waves and macro-steps, for the case that needs none
of them: nothing outstanding, no timer, no guard, no approval, no limit.  Where there are several cursors, the tool must
be that of one of them only.  Whatever is not that case goes back to the general path through `thaw`, which rebuilds
the turn as `propose` would have left it.  A property test holds the two paths together, record by record.
"""

from __future__ import annotations

from guideway.statemachine.definition import JOIN, StateKind

from .calls import Succeeded, ToolCall
from .completion import all_met
from .cursors import Cursor
from .facts import copy
from .plan import Plan, Row
from .run import Bound, Run, Status, Turn, first
from .turnstile import Held
from .verdicts import Allow, Progress

new = tuple.__new__
"""Makes a named tuple without the detour through its keyword arguments."""


def is_ready(run: Run) -> bool:
    """Nothing is under way, so the next call may take the fast path.  Asked at the end of each general verb."""
    if run.busy or run.outstanding or run.timers or run.turn or run.ending or run.pending or run.waiting:
        return False
    return run.single is not None or not (run.frames or run.watching or run.closers)


def only(run: Run, name: str) -> Cursor | None:
    """The one cursor of the root frame whose step speaks of the tool."""
    there = run.openings
    places = there.tools.get(name) if there is not None and not there.loose and type(name) is str else None
    if places is None or len(places) != 1 or places[0][1].frame is not run.frame:
        return None
    return places[0][1]


def propose(run: Run, call: ToolCall, text: str, held: list[Held]) -> Allow | None:
    """Admit the call and put it into `held`, or None: the general path decides.  The caller has the token."""
    if type(call) is not ToolCall or (text and not (type(text) is str and text.isascii())):
        return None
    name, args, call_id = call
    cursor = run.single or only(run, name)
    if cursor is None:
        return None
    row = cursor.row
    line = row.line
    if name != row.only:
        line = row.quick.get(name) if type(name) is str else None
        if line is None or (line.times is not None and cursor.counts.get(line.index, 0) >= line.times):
            return None
    if type(call_id) is not str or not call_id.isascii() or not call_id or call_id in run.settled:
        return None
    try:
        args = copy(args)
    except ValueError:
        return None
    if type(args) is not dict:
        return None
    step = cursor.step
    run.records.append(("admitted", run.now, run.iterations + 1, text, call_id, name, args, step))
    held.append((call_id, name, args, line, text, cursor))
    return new(Allow, (call_id, name, step, False))


def observe(run: Run, held: Held, outcome: Succeeded) -> Progress | None:
    """Settle the one outstanding call, or None: the general path does, after `thaw`.  The caller has the token."""
    call_id, tool, _, line, text, cursor = held
    plan = run.plan
    row, frame = cursor.row, cursor.frame
    number = run.iterations + 1
    if number >= plan.limit:
        return None
    done = row.hop or (line.met(cursor.counts.get(line.index, 0) + 1) and all_met(cursor, {line.index: 1}))
    target = row
    if done:
        onward = row.onward(plan.rows) or arrives(cursor, plan)
        if onward is None or "events" in plan.kept or onward.block != row.block:
            return None  # the target needs more than counting; or callbacks may be registered
        target = onward
    try:
        result = copy(outcome.result)
    except ValueError:
        return None
    run.settled[call_id] = ("ok", result, None)
    run.calls += 1
    run.nudges = run.refusals = 0
    if line.keep:
        plan.keeper.store(frame, line.fact, result)
    if done and run.openings is not None:
        run.openings.remove(cursor)
    if done and target.kind is StateKind.JOIN:
        arrive(cursor, target)
    elif done:
        cursor.state = target.name
        if cursor.spent or cursor.failures or cursor.rejected:
            cursor.reset()
        cursor.row = target
        step = cursor.step = target.name
        visits = frame.visits
        cursor.visit = visits[step] = visits.get(step, 0) + 1
        if run.openings is not None:
            run.openings.add(cursor)
    else:
        cursor.counts[line.index] = cursor.counts.get(line.index, 0) + 1
        cursor.spent += 1
        cursor.successes += 1
    run.records.append(("passed", run.now, number, call_id, tool, result, row.name, target.name if done else None))
    run.iterations = number
    run.text, run.text_only = text, False
    return target.arrived if run.single is not None else Progress(first(run).state, (), None)


def arrives(cursor: Cursor, plan: Plan) -> Row | None:
    """The join that the branch comes to, where others must still arrive, so that nothing follows from it."""
    parent, then = cursor.parent, cursor.row.then
    if parent is None or then is None or parent.block is None or parent.row.step is None:
        return None
    parallel = parent.row.step.parallel
    if parallel is None or then.target != parent.step + JOIN or parallel.optional:
        return None
    return plan.rows[then.target] if parent.block.arrived + 1 < parallel.needed else None


def arrive(cursor: Cursor, target: Row) -> None:
    """The branch is at its end."""
    parent = cursor.parent
    if parent is not None and parent.block is not None:
        del parent.children[cursor.index]
        parent.block.arrived += 1
        parent.block.left -= 1
    cursor.state, cursor.row, cursor.gone, cursor.step = target.name, target, True, ""


def thaw(run: Run, held: Held) -> None:
    """Rebuild the open turn of a call admitted by the fast path."""
    call_id, tool, args, line, text, cursor = held
    bound = Bound(call_id, tool, args)
    bound.line, bound.status = line, Status.RUNNING
    bound.cursor, bound.frame = cursor, cursor.frame
    bound.step, bound.visit = cursor.step, cursor.visit
    bound.answer = Allow(call_id, tool, cursor.step)
    run.turn = Turn(run.iterations + 1, text)
    run.turn.calls.append(bound)
    run.outstanding[call_id] = bound

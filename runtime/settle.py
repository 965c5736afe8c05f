"""What the outcome of a call does (S18 to S25, S28)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from guideway.statemachine.canonical import canonical
from guideway.statemachine.definition import FAILED, StateKind
from guideway.statemachine.patterns import pattern
from guideway.statemachine.steps import Retry
from guideway.statemachine.tools import Effect

from .completion import admissible, enough, invalid
from .cursors import Cursor
from .facts import copy, keep_fact, keep_list
from .frames import Frame
from .gate import fact_of, same_visit
from .issue import wait
from .lenient import settle_illegal
from .monitors import settled as watch
from .moves import fail, finish, take
from .owing import owes
from .own import Settled, clean
from .questions import ask_whether
from .rounds import end_round
from .run import Bound, Run, Status
from .schemas import problem
from .scope import scope, truth
from .undoing import log, undo_next, undone

LONGEST_WAIT = 30 * 24 * 3600.0
"""Seconds: no retry waits longer, whatever its backoff comes to."""


def apply(run: Run, bound: Bound, outcome: Settled) -> None:
    """Settle the reservation, write facts, counters and monitors, and move the cursor concerned (S9.2, S9.3)."""
    if outcome.word == "unknown" and not bound.illegal and must_reconcile(run, bound):
        ask_whether(run, bound)
        return
    if bound.illegal:
        settle_illegal(run, bound, outcome, detail(bound, outcome, None))
        return
    frame = bound.frame or run.frame
    fault = contract(run, bound, outcome)
    del run.outstanding[bound.call_id]
    bound.status = Status.DONE
    run.settled[bound.call_id] = outcome
    run.record(
        "settled", bound.call_id, bound.tool, outcome.word, detail(bound, outcome, fault), fault is None, bound.step,
        frame.shown,
    )  # fmt: skip
    if outcome.word != "cancelled":
        run.calls += 1
        for playbook in frame.playbooks():
            playbook.calls += playbook is not run.frame
    if outcome.word in ("ok", "unknown"):
        watch(run, bound, frame, outcome.value, fault is None)
    if fault is None:
        keep(run, bound, frame, outcome.value)
    mark(run, bound, fault is None)
    cursor = bound.cursor
    closes = cursor is not None and cursor.closes
    if outcome.word == "unknown" and frame.effect(bound.tool) is not Effect.READ and not closes:
        for playbook in frame.playbooks():
            playbook.unknown += (bound.tool,)
    if cursor is not None and bound.current and (run.ending is None or cursor.closes):
        after = after_automatic if bound.automatic else after_agents
        after(run, cursor, bound, outcome, fault)
    for other in list(run.held) if run.ending is None else ():
        check_step(run, other)  # a policy held it open, whatever else the call was for


def contract(run: Run, bound: Bound, outcome: Settled) -> str | None:
    """What is wrong with the outcome: `error`, `cancelled`, `unknown`, `result_schema` or `expect` (S25)."""
    if outcome.word != "ok":
        return outcome.word
    frame = bound.frame or run.frame
    tool, result = frame.tool(bound.tool), outcome.value
    if outcome.fault is not None:
        return outcome.fault
    if tool is not None and (wrong := problem(tool.result, result)):
        return clean(f"result_schema: {wrong}")
    expect = expectation(frame, bound)
    if expect is not None:
        answer = truth(run, frame, expect, scope(run, frame, args=bound.args, result=result))
        if answer is not True:
            return f"expect: `{expect.source}`" + (f": {answer}" if isinstance(answer, str) else "")
    return None


def expectation(frame: Frame, bound: Bound) -> Any:
    """The `expect` of the entry, or of the runtime's own call."""
    if bound.line:
        return bound.line.expect
    step = frame.plan.definition.steps.get(bound.step)
    return step.call.expect if bound.automatic and step and step.call and bound.reverses is None else None


def detail(bound: Bound, outcome: Settled, fault: str | None) -> Any:
    """What the record says beside the word."""
    if outcome.word != "ok" and not bound.substituted:
        return outcome.value
    told = {"result": outcome.value}
    if fault is not None and outcome.word == "ok":
        told["fault"] = fault
    return {**told, "substituted": True} if bound.substituted else told


def keep(run: Run, bound: Bound, frame: Frame, result: Any) -> None:
    """A success that counts: its fact, the `tool_called` conditions it meets, what it takes back or can be undone."""
    if bound.reverses is not None:
        undone(frame, bound)
    else:
        keep_fact(frame, fact_of(bound), result)
        log(frame, bound, result)
    for playbook in frame.playbooks():
        if bound.tool in playbook.unknown and repeatable(bound):
            # made again, so it no longer matters whether the tries before it happened
            playbook.unknown = tuple(tool for tool in playbook.unknown if tool != bound.tool)
        note_called(run, playbook, bound, result)


def note_called(run: Run, playbook: Frame, bound: Bound, result: Any) -> None:
    """The `tool_called` conditions of a playbook that the success meets, or may have met."""
    for condition in playbook.plan.called.get(bound.tool, ()):
        names = scope(run, playbook, args=bound.args, result=result)
        rules = (rule for rule in (condition.where, condition.expect) if rule is not None)
        answers = [truth(run, playbook, rule, names) for rule in rules]
        if all(answer is True for answer in answers):
            playbook.called |= {condition}
        elif False not in answers:
            playbook.doubted |= {condition}


def mark(run: Run, bound: Bound, good: bool) -> None:
    """Note for the turn whether its calls did what was asked."""
    turn = run.turn
    if turn is None or bound not in turn.calls:
        return
    if good:
        turn.succeeded = True
        run.nudges = run.refusals = 0
    else:
        turn.failed = True


def repeatable(bound: Bound) -> bool:
    """A second call does no harm (`effect: read` or `idempotent`)."""
    tool = bound.frame.tool(bound.tool) if bound.frame else None
    return tool is not None and tool.repeatable


def must_reconcile(run: Run, bound: Bound) -> bool:
    """An unknown call that may have changed something, with no edge of its own: a person looks (S24)."""
    closes = bound.cursor is not None and bound.cursor.closes
    if repeatable(bound) or run.ending is not None or closes:
        return False
    return not bound.current or bound.cursor is None or not unknown_event(bound.cursor, bound)


def unknown_event(cursor: Cursor, bound: Bound) -> str | None:
    """The event of an unknown call that the state has an edge for."""
    if bound.line is None and not bound.automatic:
        return None
    edges = cursor.row.state.edges
    return next((event for event in (f"unknown {bound.tool}", "unknown") if edges.get(event)), None)


def after_agents(run: Run, cursor: Cursor, bound: Bound, outcome: Settled, fault: str | None) -> None:
    """Registers of an agent's step, then S20 to S25."""
    line = bound.line
    if line is None or cursor.row.kind is not StateKind.STEP:
        return
    if outcome.word != "cancelled":
        cursor.spent += 1
    if fault is None:
        cursor.counts[line.index] = cursor.counts.get(line.index, 0) + 1
        cursor.successes += 1
        probe(cursor, bound)
    elif outcome.word == "unknown" and not repeatable(bound) and (event := unknown_event(cursor, bound)):
        take(run, cursor, event, f"nobody knows whether `{bound.tool}` happened")
        return
    elif outcome.word != "cancelled" and line.needed and failed_for_good(run, cursor, bound, outcome):
        fail(run, cursor, fault)
        return
    check_step(run, cursor)


def probe(cursor: Cursor, bound: Bound) -> None:
    """Note which required probes the call has made: those whose pattern is found in `TOOL {…arguments…}`."""
    step = cursor.row.step
    if step is None or not step.probes:
        return
    text = f"{bound.tool} {canonical(bound.args).decode()}"
    made = [p.name for p in step.probes if pattern(p.match).found_in(text)]
    cursor.probed = list(dict.fromkeys([*(cursor.probed or ()), *made]))


def failed_for_good(run: Run, cursor: Cursor, bound: Bound, outcome: Settled) -> bool:
    """An expected tool's failure: True takes `on_failure`; else the cursor stays and the model may try again (S23)."""
    step = cursor.row.step
    if bound.lost and repeatable(bound):
        return False
    cursor.failures += 1
    if step is not None and step.retry is not None and may_retry(run, cursor, bound, step.retry, outcome):
        pause = delay(step.retry, cursor.failures)
        if pause > 0 and run.now is not None:
            cursor.barred = {**(cursor.barred or {}), bound.tool: run.now + timedelta(seconds=pause)}
        return False
    return has_on_failure(cursor)


def may_retry(run: Run, cursor: Cursor, bound: Bound, retry: Retry, outcome: Settled) -> bool:
    """Tries are left, the tool bears repeating, `retry.when` is true.  A success against its contract has no retry."""
    if outcome.word == "ok" or not repeatable(bound) or cursor.failures > retry.at_most:
        return False
    if retry.when is None:
        return True
    error = outcome.value if outcome.word == "error" else {"type": "unknown", "message": "nobody knows"}
    names = scope(run, cursor.frame, args=bound.args, error=error)
    return truth(run, cursor.frame, retry.when, names) is True


def delay(retry: Retry, failures: int) -> float:
    """Seconds before the next try: `wait` times `backoff` for every try after the first, at most `LONGEST_WAIT`."""
    try:
        return min(float(retry.wait * retry.backoff ** (failures - 1)), LONGEST_WAIT)
    except OverflowError:
        return LONGEST_WAIT


def has_on_failure(cursor: Cursor) -> bool:
    """The author wrote where a failure of the step leads."""
    branches, step = cursor.row.state.edges.get("failed", ()), cursor.row.step
    return bool(branches) and step is not None and branches[0].target != default_failure(step.id, step.block)


def default_failure(step: str, block: str) -> str:
    """Where a failure leads that nobody has written a target for (S27)."""
    return f"{block}{FAILED}" if block else f"failed:{step}"


def check_step(run: Run, cursor: Cursor) -> None:
    """Complete, fail or exhaust an agent's step, where its registers say so (S20 to S22)."""
    row, step = cursor.row, cursor.row.step
    if row.kind is not StateKind.STEP or step is None or run.ending is not None or same_visit(run, cursor):
        return
    met = enough(cursor)
    spent = step.max_calls is not None and cursor.spent >= step.max_calls and cursor.spent > 0
    if met and step.claims:
        return  # it is completed by its claims alone
    if met and (row.needed or spent):
        if why := invalid(run, cursor):
            not_valid(run, cursor, why)
        elif owes(run, cursor) is None:
            take(run, cursor, "completed")
        elif cursor not in run.held:
            run.held.append(cursor)
    elif spent:
        exhausted(run, cursor)


def not_valid(run: Run, cursor: Cursor, why: str) -> None:
    """All entries are met and `validation` is not true: `on_failure`; else stay while a call is admissible (S21)."""
    if has_on_failure(cursor) or not admissible(cursor):
        fail(run, cursor, f"validation: {why}")


def exhausted(run: Run, cursor: Cursor) -> None:
    """The calls are spent and something is missing (S22)."""
    step, edges = cursor.row.step, cursor.row.state.edges
    if edges.get("advanced") and cursor.successes > 0:
        if step is not None and step.required:
            cursor.frame.owner.incomplete += (cursor.frame.mark(step.id),)
        take(run, cursor, "advanced", "its calls are spent; the step is incomplete")
    else:
        take(run, cursor, "exhausted", "its calls are spent")


def after_automatic(run: Run, cursor: Cursor, bound: Bound, outcome: Settled, fault: str | None) -> None:
    """S28: complete, another round, another try, or failure."""
    step = cursor.row.step
    if step is None or cursor.row.kind not in (StateKind.CALL, StateKind.UNDO):
        return
    if outcome.word == "ok":
        if fault is not None and (step.call is None or step.call.repeat is None):
            fail(run, cursor, fault)
        elif step.call is None:
            cursor.failures = 0
            undo_next(run, cursor)
        elif step.call.repeat is not None:
            round_done(run, cursor, bound, fault, outcome.value)
        else:
            complete_call(run, cursor)
    elif outcome.word == "unknown" and not repeatable(bound) and (event := unknown_event(cursor, bound)):
        take(run, cursor, event, f"nobody knows whether `{bound.tool}` happened")
    else:
        try_again(run, cursor, bound, outcome)


def try_again(run: Run, cursor: Cursor, bound: Bound, outcome: Settled) -> None:
    """Issue the same call again after its wait, if `retry` allows; a call that did not run fails the step."""
    step = cursor.row.step
    if outcome.word == "cancelled":
        fail(run, cursor, "cancelled")
        return
    if bound.lost and repeatable(bound):
        cursor.again, cursor.granted = bound.args, True
        wait(run, cursor, 0)
        return
    cursor.failures += 1
    if step is not None and step.retry is not None and may_retry(run, cursor, bound, step.retry, outcome):
        cursor.again, cursor.granted = bound.args, True
        wait(run, cursor, delay(step.retry, cursor.failures))
    else:
        fail(run, cursor, outcome.word)


def round_done(run: Run, cursor: Cursor, bound: Bound, fault: str | None, result: Any) -> None:
    """One round of `repeat`: `until` true completes, else the next one after its wait, at most `at_most`."""
    step = cursor.row.step
    repeat = step.call.repeat if step and step.call else None
    if repeat is None:
        return
    names = scope(run, cursor.frame, args=bound.args, result=result)
    if end_round(run, cursor, repeat, names, held=fault is None):
        complete_call(run, cursor)


def complete_call(run: Run, cursor: Cursor) -> None:
    """The call did what it was for."""
    step, collected = cursor.row.step, cursor.collected
    if step is not None and collected is not None:
        keep_list(cursor.frame, step.id, copy(collected))
    finish(run, cursor)

"""What the outcome of a call does (S18 to S25, S28)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from guideway.statemachine.definition import StateKind
from guideway.statemachine.expressions import Unknown as Missing
from guideway.statemachine.steps import Retry
from guideway.statemachine.tools import Effect

from .completion import admissible, all_met, invalid
from .facts import copy
from .gate import fact_of, same_visit
from .issue import wait
from .moves import fail, take
from .own import Settled, clean
from .questions import ask_whether, written
from .run import Bound, Run, Status
from .schemas import problem
from .scope import scope, truth

LONGEST_WAIT = 30 * 24 * 3600.0
"""Seconds: no retry waits longer, whatever its backoff comes to."""


def apply(run: Run, bound: Bound, outcome: Settled) -> None:
    """Settle the reservation, write facts and counters, and move the cursor concerned (S9.2, S9.3)."""
    if outcome.word == "unknown" and must_reconcile(run, bound):
        ask_whether(run, bound)
        return
    fault = contract(run, bound, outcome)
    del run.outstanding[bound.call_id]
    bound.status = Status.DONE
    run.settled[bound.call_id] = outcome
    run.record("settled", bound.call_id, bound.tool, outcome.word, detail(outcome, fault), fault is None, bound.step)
    if outcome.word != "cancelled":
        run.calls += 1
    if fault is None:
        keep(run, bound, outcome.value)
    mark(run, bound, fault is None)
    if outcome.word == "unknown" and run.plan.effect(bound.tool) is not Effect.READ:
        run.unknown.append(bound.tool)
    if run.ending is None and current(run, bound):
        after_automatic(run, bound, outcome, fault) if bound.automatic else after_agents(run, bound, outcome, fault)


def contract(run: Run, bound: Bound, outcome: Settled) -> str | None:
    """What is wrong with the outcome: `error`, `cancelled`, `unknown`, `result_schema` or `expect` (S25)."""
    if outcome.word != "ok":
        return outcome.word
    tool, result = run.plan.tool(bound.tool), outcome.value
    if outcome.fault is not None:
        return outcome.fault
    if tool is not None and (wrong := problem(tool.result, result)):
        return clean(f"result_schema: {wrong}")
    step = run.plan.definition.steps.get(bound.step)
    expect = bound.line.expect if bound.line else step.call.expect if bound.automatic and step and step.call else None
    if expect is not None:
        answer = truth(run, expect, scope(run, args=bound.args, result=result))
        if answer is not True:
            return f"expect: `{expect.source}`" + (f": {answer}" if isinstance(answer, str) else "")
    return None


def detail(outcome: Settled, fault: str | None) -> Any:
    """What the record says beside the word."""
    if outcome.word == "ok":
        return {"result": outcome.value} if fault is None else {"result": outcome.value, "fault": fault}
    return outcome.value


def keep(run: Run, bound: Bound, result: Any) -> None:
    """A success that counts: its fact, and the `tool_called` conditions it meets."""
    run.plan.keeper.store(fact_of(bound), result, run.facts, run.history)
    if bound.tool in run.unknown and repeatable(run, bound):
        # made again, so it no longer matters whether the tries before it happened
        run.unknown = [tool for tool in run.unknown if tool != bound.tool]
    for condition in run.plan.called.get(bound.tool, ()):
        names = scope(run, args=bound.args, result=result)
        answers = [truth(run, rule, names) for rule in (condition.where, condition.expect) if rule is not None]
        if all(answer is True for answer in answers):
            run.called |= {condition}
        elif False not in answers:
            run.doubted |= {condition}


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


def current(run: Run, bound: Bound) -> bool:
    """The visit the call was admitted under is not over."""
    return (bound.step, bound.visit) == (run.cursor.step, run.cursor.visit) and (
        bound.automatic or bound.line is not None
    )


def repeatable(run: Run, bound: Bound) -> bool:
    """A second call does no harm (`effect: read` or `idempotent`)."""
    tool = run.plan.tool(bound.tool)
    return tool is not None and tool.repeatable


def must_reconcile(run: Run, bound: Bound) -> bool:
    """An unknown call that may have changed something, with no edge of its own: a person looks (S24)."""
    if repeatable(run, bound) or run.ending is not None or not current(run, bound):
        return not repeatable(run, bound) and run.ending is None
    return not unknown_event(run, bound)


def unknown_event(run: Run, bound: Bound) -> str | None:
    """The event of an unknown call that the state has an edge for."""
    edges = run.row.state.edges
    return next((event for event in (f"unknown {bound.tool}", "unknown") if edges.get(event)), None)


def after_agents(run: Run, bound: Bound, outcome: Settled, fault: str | None) -> None:
    """Registers of an agent's step, then S20 to S25."""
    cursor, line = run.cursor, bound.line
    if line is None or run.row.kind is not StateKind.STEP:
        return
    if outcome.word != "cancelled":
        cursor.spent += 1
    if fault is None:
        cursor.counts[line.index] = cursor.counts.get(line.index, 0) + 1
        cursor.successes += 1
    elif outcome.word == "unknown" and not repeatable(run, bound) and (event := unknown_event(run, bound)):
        take(run, event, f"nobody knows whether `{bound.tool}` happened")
        return
    elif outcome.word != "cancelled" and line.needed and failed_for_good(run, bound, outcome):
        fail(run, fault)
        return
    check_step(run)


def failed_for_good(run: Run, bound: Bound, outcome: Settled) -> bool:
    """An expected tool's failure: True takes `on_failure`; else the cursor stays and the model may try again (S23)."""
    cursor, step = run.cursor, run.row.step
    cursor.failures += 1
    if step is not None and step.retry is not None and may_retry(run, bound, step.retry, outcome):
        pause = delay(step.retry, cursor.failures)
        if pause > 0 and run.now is not None:
            cursor.barred = {**(cursor.barred or {}), bound.tool: run.now + timedelta(seconds=pause)}
        return False
    return has_on_failure(run)


def may_retry(run: Run, bound: Bound, retry: Retry, outcome: Settled) -> bool:
    """Tries are left, the tool bears repeating, `retry.when` is true.  A success against its contract has no retry."""
    if outcome.word == "ok" or not repeatable(run, bound) or run.cursor.failures > retry.at_most:
        return False
    if retry.when is None:
        return True
    error = outcome.value if outcome.word == "error" else {"type": "unknown", "message": "nobody knows"}
    return truth(run, retry.when, scope(run, args=bound.args, error=error)) is True


def delay(retry: Retry, failures: int) -> float:
    """Seconds before the next try: `wait` times `backoff` for every try after the first, at most `LONGEST_WAIT`."""
    try:
        return min(float(retry.wait * retry.backoff ** (failures - 1)), LONGEST_WAIT)
    except OverflowError:
        return LONGEST_WAIT


def has_on_failure(run: Run) -> bool:
    """The author wrote where a failure of the step leads."""
    branches, step = run.row.state.edges.get("failed", ()), run.row.step
    return bool(branches) and step is not None and branches[0].target != f"failed:{step.id}"


def check_step(run: Run) -> None:
    """Complete, fail or exhaust an agent's step, where its registers say so (S20 to S22)."""
    cursor, row, step = run.cursor, run.row, run.row.step
    if row.kind is not StateKind.STEP or step is None or run.ending is not None or same_visit(run):
        return
    met = all_met(run) and cursor.successes >= step.min_calls
    spent = step.max_calls is not None and cursor.spent >= step.max_calls and cursor.spent > 0
    if met and (row.needed or spent):
        if why := invalid(run):
            not_valid(run, why)
        else:
            take(run, "completed")
    elif spent:
        exhausted(run)


def not_valid(run: Run, why: str) -> None:
    """All entries are met and `validation` is not true: `on_failure`; else stay while a call is admissible (S21)."""
    if has_on_failure(run) or not admissible(run):
        fail(run, f"validation: {why}")


def exhausted(run: Run) -> None:
    """The calls are spent and something is missing (S22)."""
    step, edges = run.row.step, run.row.state.edges
    if edges.get("advanced") and run.cursor.successes > 0:
        if step is not None and step.required:
            run.incomplete.append(step.id)
        take(run, "advanced", "its calls are spent; the step is incomplete")
    else:
        take(run, "exhausted", "its calls are spent")


def after_automatic(run: Run, bound: Bound, outcome: Settled, fault: str | None) -> None:
    """S28: complete, another round, another try, or failure."""
    step = run.row.step
    if run.row.kind is not StateKind.CALL or step is None or step.call is None:
        return
    if outcome.word == "ok":
        if step.call.repeat is not None:
            round_done(run, bound, fault, outcome.value)
        elif fault is not None:
            fail(run, fault)
        else:
            complete_call(run)
    elif outcome.word == "unknown" and not repeatable(run, bound) and (event := unknown_event(run, bound)):
        take(run, event, f"nobody knows whether `{bound.tool}` happened")
    else:
        try_again(run, bound, outcome)


def try_again(run: Run, bound: Bound, outcome: Settled) -> None:
    """Issue the same call again after its wait, if `retry` allows; a call that did not run fails the step."""
    step, cursor = run.row.step, run.cursor
    if outcome.word == "cancelled":
        fail(run, "cancelled")
        return
    cursor.failures += 1
    if step is not None and step.retry is not None and may_retry(run, bound, step.retry, outcome):
        cursor.again, cursor.granted = bound.args, True
        wait(run, delay(step.retry, cursor.failures))
    else:
        fail(run, outcome.word)


def round_done(run: Run, bound: Bound, fault: str | None, result: Any) -> None:
    """One round of `repeat`: `until` true completes, else the next one after its wait, at most `at_most`."""
    step, cursor = run.row.step, run.cursor
    repeat = step.call.repeat if step and step.call else None
    if repeat is None:
        return
    cursor.rounds += 1
    names = scope(run, args=bound.args, result=result)
    if fault is None:
        if repeat.collect is not None:
            item = written(repeat.collect(names, run.now))
            if isinstance(item, Missing):
                fail(run, f"collect: {item.why}")
                return
            cursor.collected = [*(cursor.collected or ()), item]
        if truth(run, repeat.until, names) is True:
            complete_call(run)
            return
    if cursor.rounds >= repeat.at_most:
        fail(run, f"repeat: `{repeat.until.source}` was not true after {cursor.rounds} rounds")
    else:
        wait(run, repeat.wait)


def complete_call(run: Run) -> None:
    """The call did what it was for."""
    step, collected = run.row.step, run.cursor.collected
    if step is not None and collected is not None:
        run.plan.keeper.store(step.id, copy(collected), run.facts, {})
    if why := invalid(run):
        fail(run, f"validation: {why}")
    else:
        take(run, "completed")

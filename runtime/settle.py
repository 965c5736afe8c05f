"""What the outcome of a call does (S18 to S25, S28)."""

from __future__ import annotations

from typing import Any

from guideway.statemachine.definition import StateKind
from guideway.statemachine.steps import Retry

from .calls import WORDS, Cancelled, Failed, Outcome, Succeeded, Unknown, error_value
from .completion import admissible, all_met, invalid
from .facts import copy
from .gate import same_visit
from .issue import wait
from .moves import fail, take
from .questions import ask_whether
from .run import Bound, Run, Status
from .schemas import problem
from .scope import scope, truth


def apply(run: Run, bound: Bound, outcome: Outcome) -> None:
    """Settle the reservation, write facts and counters, and move the cursor concerned (S9.2, S9.3)."""
    if isinstance(outcome, Unknown) and must_reconcile(run, bound):
        ask_whether(run, bound)
        return
    result, fault = contract(run, bound, outcome)
    del run.outstanding[bound.call_id]
    run.commands.pop(bound.call_id, None)
    bound.status = Status.DONE
    word = WORDS[type(outcome)]
    run.settled[bound.call_id] = word
    run.last[bound.call_id] = outcome
    run.record("settled", bound.call_id, bound.tool, word, detail(outcome, result, fault), fault is None, bound.step)
    if not isinstance(outcome, Cancelled):
        run.calls += 1
    good = isinstance(outcome, Succeeded) and fault is None
    if good:
        keep(run, bound, result)
    mark(run, bound, good)
    if isinstance(outcome, Unknown) and not repeatable(run, bound):
        run.unknown.append(bound.tool)
    if run.ending is None and current(run, bound):
        after_automatic(run, bound, outcome, fault, result) if bound.automatic else after_agents(run, bound, outcome, fault)


def contract(run: Run, bound: Bound, outcome: Outcome) -> tuple[Any, str | None]:
    """A copy of the result, and what is wrong: `error`, `cancelled`, `unknown`, `result_schema` or `expect` (S25)."""
    if not isinstance(outcome, Succeeded):
        return None, WORDS[type(outcome)]
    tool = run.plan.tool(bound.tool)
    try:
        result = copy(outcome.result)
    except ValueError as error:
        return None, f"result_schema: {error}"
    if tool is not None and (wrong := problem(tool.result, result)):
        return result, f"result_schema: {wrong}"
    step = run.plan.definition.steps.get(bound.step)
    expect = bound.line.expect if bound.line else step.call.expect if bound.automatic and step and step.call else None
    if expect is not None:
        answer = truth(run, expect, scope(run, args=bound.args, result=result))
        if answer is not True:
            return result, f"expect: `{expect.source}`" + (f": {answer}" if isinstance(answer, str) else "")
    return result, None


def detail(outcome: Outcome, result: Any, fault: str | None) -> Any:
    """What the record says beside the word."""
    if isinstance(outcome, Failed):
        return error_value(outcome)
    if isinstance(outcome, Succeeded):
        return {"result": result} if fault is None else {"result": result, "fault": fault}
    return None


def keep(run: Run, bound: Bound, result: Any) -> None:
    """A success that counts: its fact, and the `tool_called` conditions it meets."""
    name = bound.line.fact if bound.line else bound.step if bound.automatic else bound.tool
    run.plan.keeper.store(name, result, run.facts, run.history)
    for condition in run.plan.called.get(bound.tool, ()):
        names = scope(run, args=bound.args, result=result)
        rules = [rule for rule in (condition.where, condition.expect) if rule is not None]
        if all(truth(run, rule, names) is True for rule in rules):
            run.called.add(condition)


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
    return (bound.step, bound.visit) == (run.cursor.step, run.cursor.visit) and (bound.automatic or bound.line is not None)


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


def after_agents(run: Run, bound: Bound, outcome: Outcome, fault: str | None) -> None:
    """Registers of an agent's step, then S20 to S25."""
    cursor, line = run.cursor, bound.line
    if line is None or run.row.kind is not StateKind.STEP:
        return
    if not isinstance(outcome, Cancelled):
        cursor.spent += 1
    if fault is None:
        cursor.counts[line.index] = cursor.counts.get(line.index, 0) + 1
        cursor.successes += 1
    elif isinstance(outcome, Unknown) and not repeatable(run, bound) and (event := unknown_event(run, bound)):
        take(run, event, f"nobody knows whether `{bound.tool}` happened")
        return
    elif not isinstance(outcome, Cancelled) and line.needed and failed_for_good(run, bound, outcome, fault):
        fail(run, fault)
        return
    check_step(run)


def failed_for_good(run: Run, bound: Bound, outcome: Outcome, fault: str) -> bool:
    """An expected tool's failure: True takes `on_failure`; else the cursor stays and the model may try again (S23)."""
    cursor, step = run.cursor, run.row.step
    cursor.failures += 1
    if step is not None and step.retry is not None and may_retry(run, bound, step.retry, outcome):
        pause = delay(step.retry, cursor.failures)
        if pause > 0 and run.now is not None:
            from datetime import timedelta

            cursor.barred = {**(cursor.barred or {}), bound.tool: run.now + timedelta(seconds=pause)}
        return False
    return has_on_failure(run)


def may_retry(run: Run, bound: Bound, retry: Retry, outcome: Outcome) -> bool:
    """Tries are left, the tool bears repeating, and `retry.when` is true.  A success that broke its contract has none."""
    if isinstance(outcome, Succeeded) or not repeatable(run, bound) or run.cursor.failures > retry.at_most:
        return False
    if retry.when is None:
        return True
    error = error_value(outcome) if isinstance(outcome, Failed) else {"type": "unknown", "message": "nobody knows"}
    return truth(run, retry.when, scope(run, args=bound.args, error=error)) is True


def delay(retry: Retry, failures: int) -> float:
    """Seconds before the next try: `wait` times `backoff` for every try after the first."""
    return float(retry.wait * retry.backoff ** (failures - 1))


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


def after_automatic(run: Run, bound: Bound, outcome: Outcome, fault: str | None, result: Any) -> None:
    """S28: complete, another round, another try, or failure."""
    step = run.row.step
    if run.row.kind is not StateKind.CALL or step is None or step.call is None:
        return
    if isinstance(outcome, Succeeded):
        if step.call.repeat is not None:
            round_done(run, bound, fault, result)
        elif fault is not None:
            fail(run, fault)
        else:
            complete_call(run)
    elif isinstance(outcome, Unknown) and not repeatable(run, bound) and (event := unknown_event(run, bound)):
        take(run, event, f"nobody knows whether `{bound.tool}` happened")
    else:
        try_again(run, bound, outcome)


def try_again(run: Run, bound: Bound, outcome: Outcome) -> None:
    """Issue the same call again after its wait, if `retry` allows; a call that did not run fails the step."""
    step, cursor = run.row.step, run.cursor
    if isinstance(outcome, Cancelled):
        fail(run, "cancelled")
        return
    cursor.failures += 1
    if step is not None and step.retry is not None and may_retry(run, bound, step.retry, outcome):
        cursor.again = bound.args
        wait(run, delay(step.retry, cursor.failures))
    else:
        fail(run, WORDS[type(outcome)])


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
            cursor.collected = [*(cursor.collected or ()), repeat.collect(names, run.now)]
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

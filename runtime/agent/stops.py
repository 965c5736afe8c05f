"""What ends a run beside its playbook: the host's limits, its termination condition, loops, and hooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from guideway.runtime.own import key_of
from guideway.statemachine.canonical import canonical
from guideway.statemachine.termination.state import RunState, ToolExecution

from . import reasons
from .events import LimitReached
from .live import Live

LOOP = (
    "`{tool}` has now given the same result to the same arguments {times} times in a row. Once more, and the run is "
    "stopped: do something else."
)


def spent(live: Live) -> bool:
    """A budget is spent before the model is asked; then the run has been stopped for it."""
    for limit, value, reason, stop_reason in budgets(live):
        live.emit(LimitReached(limit, value))
        live.stop(reason, stop_reason)
        return True
    return False


def budgets(live: Live) -> Iterator[tuple[str, float, str, str]]:
    """The limits that are reached: name, value, reason, normalised reason."""
    limits, memory, usage = live.settings.limits, live.memory, live.memory.usage
    if limits.max_iterations is not None and memory.iterations >= limits.max_iterations:
        yield "max_iterations", memory.iterations, "max_iterations", "max_iterations"
    if limits.tokens is not None and usage.tokens >= limits.tokens:
        yield "tokens", usage.tokens, "token_budget", "token_budget"
    if limits.cost is not None and usage.cost >= limits.cost:
        yield "cost", usage.cost, "cost_budget", "cost_budget"
    if live.out_of_time():
        yield "seconds", limits.seconds or 0.0, "time_budget", "time_budget"
    if limits.calls is not None and memory.calls >= limits.calls and was_short(live):
        yield "calls", memory.calls, "calls", "max_iterations"  # the seed: a "hard cap on tool calls"
    if limits.context_window is not None and memory.context >= limits.context_window:
        yield "context_window", memory.context, "context_exhausted", "context_exhausted"


def was_short(live: Live) -> bool:
    """The model wanted more calls than the host's limit gives."""
    last = live.memory.executions[-1] if live.memory.executions else None
    return last is not None and (last.error or "").startswith("the run's budget of ")


def after_turn(live: Live) -> None:
    """Ask, after a turn, whether the run should end; a playbook that has ended is asked no more."""
    if live.over or live.session.outcome is not None:
        return
    if live.terminate:
        live.stop("hook_end", "hook_end")
    elif refused(live):
        live.stop("refusals", "refusals")
    elif repeats(live):
        live.emit(LimitReached("max_repeats", live.settings.limits.max_repeats or 0))
        live.stop("tool_loop", "tool_loop")
    else:
        warn(live)
        conclude(live)


def conclude(live: Live) -> None:
    """Ask the termination condition; its reason keeps the branch's own words."""
    condition = live.settings.termination
    if condition is None:
        return
    judgement = condition.judge(state_of(live))
    if judgement.holds is True:
        live.stop(judgement.reason, reasons.of(judgement), goal=judgement.goal)


def refused(live: Live) -> bool:
    """So many turns in a row had nothing but refused calls: by the gate, or by hooks before it."""
    limits, memory = live.settings.limits, live.memory
    mine = limits.refusals is not None and memory.refused >= limits.refusals
    return mine or memory.unproposed >= live.definition.max_refusals


def repeats(live: Live, fewer: int = 0) -> bool:
    """The same call has had the same result so many times in a row, or so many fewer."""
    most = live.settings.limits.max_repeats
    ran = [execution for execution in live.memory.executions if execution.ran and not execution.automatic]
    if most is None or len(ran) < most - fewer:
        return False
    return len({print_of(execution) for execution in ran[fewer - most :]}) == 1


def warn(live: Live) -> None:
    """A loop is warned of once before it is stopped (row 34): after the second time of three."""
    most, memory = live.settings.limits.max_repeats, live.memory
    if most is None or most < 3 or not memory.messages or memory.messages[-1]["role"] != "tool":
        return
    if repeats(live, fewer=1):
        tool = [execution for execution in memory.executions if execution.ran][-1].tool_name
        memory.messages.append({"role": "user", "content": LOOP.format(tool=tool, times=most - 1)})


def print_of(execution: ToolExecution) -> str:
    """Call and result as one text."""
    came = canonical([execution.result, execution.error]).decode()
    return key_of(execution.tool_name, as_map(execution.arguments)) + came


def as_map(args: Any) -> dict[str, Any]:
    """Arguments as a map, also where the model wrote none."""
    return args if isinstance(args, dict) else {"": args}


def state_of(live: Live) -> RunState:
    """The run as conditions see it."""
    memory = live.memory
    started, now = memory.started, live.clock.now()
    return RunState(
        iterations=memory.iterations,
        tokens=memory.usage.tokens,
        elapsed=(now - started).total_seconds() if started is not None else 0.0,
        confidence=live.confidence,
        text=memory.reply,
        tool_calls_last_turn=memory.last_calls or 0,
        tool_executions=tuple(memory.executions),
        messages=tuple(memory.messages),
        claims=live.claims,
        metadata=dict(memory.state),
    )

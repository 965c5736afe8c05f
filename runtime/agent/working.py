"""Running tools: those of the model's that the gate allowed, and those that the playbook calls by itself."""

from __future__ import annotations

import asyncio

from guideway.runtime.calls import Cancelled, Failed, Outcome, Substituted, ToolCall, Unknown
from guideway.runtime.hooks.points import UNSET, BeforeTool
from guideway.runtime.models.tools import ToolRaisedError, run
from guideway.runtime.situation import definition_for, overtaken
from guideway.runtime.verdicts import Cancel, RunCall
from guideway.statemachine.termination.state import ToolExecution

from .calling import changed, heed, plain
from .deals import Deal, own, said_of
from .events import ToolFinished, ToolStarted
from .live import Live
from .offers import tool_for
from .pool import Running


async def begin(live: Live) -> bool:
    """Begin what may run now; False where there is nothing."""
    began = False
    for command in live.session.commands:
        if isinstance(command, Cancel):
            began = cancel(live, command.call_id) or began
        elif isinstance(command, RunCall) and command.call_id not in live.pool and room(live):
            call = live.session.call(command.call_id)
            live.emit(ToolStarted(own(ToolCall(command.tool, call.args, call.call_id)), True))
            live.pool.start(call, work(live, live.session.call(command.call_id)), automatic=True)
            began = True
    while live.ready and room(live):
        await begin_one(live, live.ready.popleft())
        began = True
    return began


def room(live: Live) -> bool:
    """Another call may begin beside those that run."""
    return live.settings.parallel or not len(live.pool)


def cancel(live: Live, call_id: str) -> bool:
    """The run is over: ask the call to stop; one that never began did not happen."""
    if call_id in live.pool:
        live.pool.cancel(call_id)
        return False
    observe(live, call_id, Cancelled())
    return True


async def begin_one(live: Live, deal: Deal) -> None:
    """Begin a call of the model's, unless it was overtaken, or a hook that runs after the gate says otherwise."""
    if overtaken(live.session, deal.call_id):
        settle(live, deal, Cancelled())
        return
    deal.used = as_decided(live, deal)
    await ask_again(live, deal)
    if overtaken(live.session, deal.call_id):
        settle(live, deal, Cancelled())
        return
    instead = instead_of_running(deal)
    if instead is not None:
        settle(live, deal, instead)
        return
    deal.ran = True
    live.memory.calls += 1
    live.emit(ToolStarted(own(deal.used)))
    live.pool.start(deal.used, work(live, live.session.call(deal.call_id)))


async def ask_again(live: Live, deal: Deal) -> None:
    """Hooks that run after the policy see the call as it was allowed, also one allowed in another segment (row 30)."""
    if deal.point is None:
        deal.point = BeforeTool(live.facts(), deal.used, live.session.decide)
        deal.point.value = deal.value
    point = deal.point
    point.admitted, point.call = True, own(deal.used)
    deal.admitted = True  # a hook that keeps its point cannot say otherwise
    await live.hooks.admitted(point)


def as_decided(live: Live, deal: Deal) -> ToolCall:
    """The call with the arguments that were decided on, which a person may have edited; under the agent's own name."""
    decided = live.session.call(deal.call_id)
    return ToolCall(deal.used.name, decided.args, decided.call_id)


def instead_of_running(deal: Deal) -> Outcome | None:
    """What a hook makes of an allowed call: stopped, changed (and so another call), answered, failed."""
    if changed(deal):
        return Cancelled()
    heed(deal)
    if deal.blocked is not None:
        return Cancelled()
    if deal.fault is not None:
        return Failed(deal.fault)
    return None if deal.value is UNSET else Substituted(deal.value)


async def work(live: Live, call: ToolCall) -> Outcome:
    """Run the tool that the gate has admitted, with the arguments that it decided on: `call` is the session's word."""
    definition = definition_for(live.session, call.call_id)
    tool = live.settings.tools.get(call.name) or tool_for(live.settings.tools, definition, call.name)
    if tool is None:
        return Failed({"type": "NoSuchTool", "message": f"nobody gave a tool `{call.name}`"})
    return await run(tool, call.args, live.settings.on_tool_exception)


def collect(live: Live) -> bool:
    """Observe what has come of calls, in the order in which they began; False where none is done."""
    done = live.pool.finished()
    for running in done:
        take_in(live, running)
    return bool(done)


def take_in(live: Live, running: Running) -> None:
    """Observe what has come of one call."""
    outcome = outcome_of(live, running)
    live.emit(ToolFinished(own(running.call), outcome, running.duration, running.automatic))
    deal = None if running.automatic else live.deal(running.call.call_id)
    if deal is not None:
        settle(live, deal, outcome, running.duration)
        return
    if running.automatic:
        live.memory.executions.append(executed(running.call, outcome))
    observe(live, running.call.call_id, outcome)


def executed(call: ToolCall, outcome: Outcome) -> ToolExecution:
    """A call of the playbook's own, as conditions and the result know it."""
    shown, wrong = said_of(outcome)
    ran = None if isinstance(outcome, Unknown) else not isinstance(outcome, Cancelled)
    result, error = (None, str(shown)) if wrong else (plain(shown), None)
    return ToolExecution(call.name, dict(call.args), result, error, call.call_id, True, ran, automatic=True)


def outcome_of(live: Live, running: Running) -> Outcome:
    """What came of a task; of one that was cancelled nobody knows (S24)."""
    task: asyncio.Task[Outcome] = running.task
    if not task.done() or task.cancelled():
        return Unknown()
    error = task.exception()
    if error is None:
        return task.result()
    live.stop("error", "error", error=error, session=False)
    if isinstance(error, ToolRaisedError):
        return error.outcome
    return Failed({"type": type(error).__name__, "message": str(error)})


def settle(live: Live, deal: Deal, outcome: Outcome, duration: float = 0.0) -> None:
    """A call of the model's is over."""
    if deal.blocked is not None:
        deal.outcome = outcome
        deal.show(deal.blocked, True)
    else:
        deal.take(outcome, duration)
    observe(live, deal.call_id, outcome)


def observe(live: Live, call_id: str, outcome: Outcome) -> None:
    """Tell the session, and take the answers for calls that waited for this one."""
    live.take(live.session.observe(call_id, outcome, live.clock.now()).verdicts)


def give_up(live: Live) -> None:
    """Calls that were allowed and have not begun did not happen."""
    while live.ready:
        settle(live, live.ready.popleft(), Cancelled())


def give_up_quietly(live: Live) -> None:
    """The same where the session may be beyond hearing it (its journal failed)."""
    try:
        give_up(live)
    except Exception:  # the first fault is the one to tell
        live.ready.clear()

"""
One segment of a run, from its start to its end, or to where it must wait for somebody.

The session says what is to be done; the loop does it: tools as tasks side by side, people and the user as callbacks,
time by the clock, the model whenever an agent's step is open and nothing of its last reply is under way.
"""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta

from guideway.runtime.hooks.points import AtEnd, HookFailedError, Start
from guideway.runtime.situation import open_steps, overtaken
from guideway.runtime.verdicts import Wait
from guideway.statemachine.errors import GuidewayError

from . import people, working
from .calling import mend
from .events import RunEnded, RunStarted, TerminateEvent, Waiting
from .keeping import pending, save
from .live import OWN_STATE, Live, known
from .outcomes import result_of
from .result import SUSPENDED, AgentResult
from .turning import finish, turn


async def run_segment(live: Live) -> AgentResult:
    """
    Drive the run until it has ended or must wait; hooks hear of the end, whatever happens.

    Raises:
        asyncio.CancelledError: the task was cancelled; the run has been left in order, and can be taken up again.
        Exception: the host's mistake, or its journal's failure, or what a callback raised; hooks have heard of it.
    """
    memory = live.memory
    memory.segments += 1
    live.emit(RunStarted(memory.run_id, memory.prompt, memory.segments))
    try:
        await lived(live)
    except asyncio.CancelledError as error:
        live.stop("interrupted", "interrupted", error=error, session=False)
        await leave(live)
        await ended(live)
        raise
    except Exception as error:
        live.stop("error", "error", error=error, session=False)
        await leave(live)
        await ended(live)
        raise
    return await ended(live)


async def lived(live: Live) -> None:
    """From the start to the end; what a hook raises ends the run (row 23)."""
    try:
        if await started(live):
            await drive(live)
    except HookFailedError as error:
        live.stop("hook_failed", "hook_failed", error=error)
    await leave(live)


async def started(live: Live) -> bool:
    """Hooks may replace transcript and instructions, or cancel the run before it starts (row 41)."""
    memory = live.memory
    point = Start(live.facts(), [*memory.messages], memory.instructions, live.settings.model.name)
    await live.hooks.start(point)
    memory.messages, memory.instructions = [*point.messages], point.system_prompt
    if point.state is not None:
        memory.state = {name: value for name, value in point.state.items() if name not in OWN_STATE}
    save(live)
    if point.cancelled is not None:
        live.stop(point.cancelled or "cancelled", "cancelled", error=point.error)
    return not live.over


async def drive(live: Live) -> None:
    """Do the next thing there is to do, until there is none."""
    while not live.over:
        live.tell()
        await live.drain()
        if live.session.outcome is not None and not live.memory.deals:
            return
        if live.out_of_time():
            live.stop("time_budget", "time_budget")
        elif not await step(live):
            return


async def step(live: Live) -> bool:
    """The next thing; False where nothing can be done but wait for somebody."""
    if working.collect(live) or people.collect(live) or await working.begin(live):
        return True
    if live.pool.awaited:
        await wait(live, beside_work=True)
        return True
    if people.put(live) or people.deliver(live):
        return True
    if live.memory.deals:
        if live.session.outcome is not None or not (live.turn_open or open_deals(live)):
            await finish(live)
            return True
    elif open_steps(live.session) and (not live.memory.talking or people.answered(live)):
        if not await sit_out(live):
            await turn(live)
        return True
    return await pass_time(live)


def open_deals(live: Live) -> bool:
    """Calls of the turn are still to be decided: after a crash the turn may be over, and the question not."""
    return any(not deal.over and pending(live.session, deal) for deal in live.memory.deals)


async def wait(live: Live, *, beside_work: bool = False) -> None:
    """Wait for a call, a decision, or a time, whichever comes first; what falls due is let happen."""
    tasks, due = [*live.pool.tasks, *live.questions.values()], live.due()
    await live.rest(tasks, live.real(due) if beside_work else due)
    if due is not None and live.clock.now() >= due:
        live.tick()
        leave_behind(live)


def leave_behind(live: Live) -> None:
    """A call whose step is over runs on, and nothing waits for it any more (S26)."""
    for running in live.pool.items():
        if not running.left and overtaken(live.session, running.call.call_id):
            live.pool.leave(running.call.call_id)


async def pass_time(live: Live) -> bool:
    """Wait for a decision that somebody is making, for a call that was left, or for a time that a step waits for."""
    times = [c.due for c in live.session.commands if isinstance(c, Wait) and c.due is not None]
    before = known(live.session)
    if times or live.questions or len(live.pool):
        if times and not live.questions and not len(live.pool):
            live.emit(Waiting(live.session.waiting, min(times)))
        await wait(live)
        if times and not live.questions:
            live.put.clear()  # who put a question off may be asked again after a while
        return True
    if live.settings.poll is not None and people.may_hear(live):
        await live.rest([], live.clock.now() + timedelta(seconds=live.settings.poll))
        live.tick()
        return True
    live.tick()
    return live.session.outcome is not None or known(live.session) > before


async def sit_out(live: Live) -> bool:
    """Where a call was refused because its tool must rest a while, let that time pass before the model goes on."""
    barred, now = live.session.barred, live.clock.now()
    times = [barred[tool] for tool in live.rested if tool in barred and barred[tool] > now]
    if not times:
        live.rested = []
        return False
    other = live.due()
    await live.rest([], max(times) if other is None else min(max(times), other))
    live.tick()
    return True


async def leave(live: Live) -> None:
    """Leave in order: calls under way are stopped, and of those nobody knows; questions are given up, not withdrawn."""
    for task in live.questions.values():
        task.cancel()
    await asyncio.gather(*live.questions.values(), return_exceptions=True)
    live.questions.clear()
    working.give_up_quietly(live)
    for running in await live.pool.stop():
        with contextlib.suppress(GuidewayError):  # the first fault is the one to tell
            working.take_in(live, running)
    working.give_up_quietly(live)  # what those have made possible
    with contextlib.suppress(GuidewayError):
        if live.memory.deals and live.over and live.session.outcome is not None:
            await finish(live)
        mend(live)
        live.tell()
        save(live)


async def ended(live: Live) -> AgentResult:
    """Tell hooks and listeners how the segment ended."""
    result = result_of(live)
    if result.status == SUSPENDED and not live.over:
        live.emit(Waiting(result.waiting, result.next_due))
    else:
        live.emit(TerminateEvent(result.reason, result.stop_reason))
    point = AtEnd(live.facts(), result.status, result.stop_reason, result.success, result.output, result.error)
    await live.hooks.end(point)
    result = result_of(live)
    live.emit(RunEnded(result))
    if live.taken is None:
        await live.drain()
    return result

"""A turn with calls: hooks first, then the gate on the whole batch, then the tools; and what the model reads of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from itertools import count
from typing import Any

from guideway.runtime.calls import Substituted, ToolCall
from guideway.runtime.hooks.points import AfterTool, BeforeTool, HookFailedError
from guideway.runtime.marks import HIDDEN
from guideway.runtime.models.messages import Message
from guideway.runtime.verdicts import Verdict
from guideway.statemachine.canonical import normal
from guideway.statemachine.termination.state import ToolExecution
from guideway.statemachine.tools import Effect

from .deals import Deal, arguments, own
from .events import ToolDecided
from .keeping import save
from .live import Live

SPENT = "the run's budget of {limit} calls is spent; this call did not run"
MOST = 128
"""Calls of one reply that are looked at: a model that wants thousands has gone wrong, and others wait for the loop."""
LOST = "its arguments hold a mark in the place of a value that was hidden and is not known any more; get it anew"
AGAIN = 3
"""How often one call may be made anew at the wish of hooks."""


async def propose(live: Live, deals: list[Deal], text: str = "") -> None:
    """Ask hooks about each call, then the gate about all that are left, in the order of the reply."""
    for place, deal in enumerate(deals):
        await ask_hooks(live, deal, deals[:place])
    fit(deals)
    within_budget(live, deals)
    for deal in deals:
        if deal.blocked is not None:
            stopped_by_hook(live, deal)
    live.memory.deals += deals
    left = [deal for deal in deals if deal.blocked is None]
    if not left:
        live.memory.unproposed += 1
        return
    live.memory.unproposed = 0
    save(live)
    verdicts = live.session.propose(
        [deal.used for deal in left], text=text, usage=live.memory.carried, now=live.clock.now()
    )
    live.memory.carried = type(live.memory.carried)()
    for deal, verdict in zip(left, verdicts, strict=True):
        live.decide(deal, verdict)


async def ask_hooks(live: Live, deal: Deal, before: Sequence[Deal]) -> None:
    """Let hooks change the call, answer it or stop it; whatever they say is no fact (S53)."""

    def policy(call: ToolCall) -> Verdict:
        ahead = [other.used for other in before if other.blocked is None]
        return live.session.foresee([*ahead, call])[-1]

    deal.point = BeforeTool(live.facts(), deal.used, policy)
    await live.hooks.before_tool(deal.point)
    heed(deal)


def heed(deal: Deal) -> None:
    """Take over what hooks have left of the call."""
    point = deal.point
    if point is None:
        return
    if not deal.admitted:
        deal.used = ToolCall(str(point.call.name), arguments(point.call.args), deal.used.call_id)
    deal.blocked = point.blocked
    deal.value = point.value
    if point.error is not None:
        deal.fault = f"{type(point.error).__name__}: {point.error}"


def fit(deals: Sequence[Deal]) -> None:
    """Calls past the most that one reply may hold, and those that pass on a mark for a value, are stopped."""
    for deal in deals[MOST:]:
        deal.blocked = f"a reply has at most {MOST} calls; this one did not run"
    for deal in deals:
        if f"{HIDDEN}{{" in str(deal.used.args) and deal.blocked is None:
            deal.blocked = LOST


def within_budget(live: Live, deals: Sequence[Deal]) -> None:
    """Calls past the host's own limit are stopped before the gate is asked."""
    limit = live.settings.limits.calls
    if limit is None:
        return
    left = limit - live.memory.calls
    for deal in deals:
        if deal.blocked is None:
            left -= 1
            if left < 0:
                deal.blocked = SPENT.format(limit=limit)


def stopped_by_hook(live: Live, deal: Deal) -> None:
    """A blocked call is not proposed: it is noted in the record, and the model reads the reason."""
    reason = str(deal.blocked)
    deal.show(reason, True)
    live.session.note("hook_blocked", {"call_id": deal.call_id, "tool": deal.used.name, "why": reason})
    live.emit(ToolDecided(own(deal.used), None, reason))


async def closed(live: Live) -> bool:
    """
    Close the turn once all its calls are over: hooks hear of each, in the order of the reply.

    False where hooks want calls made anew: those are proposed now, each a call of its own (S53).
    """
    again = await all_told(live)
    if again and live.session.outcome is None and not live.over and not live.turn_open:
        fresh = [Deal(call, call, stands_for=deal.stands_for or deal.call.call_id) for deal, call in again]
        await propose(live, fresh)
        return False
    read_back(live)
    return True


async def all_told(live: Live) -> list[tuple[Deal, ToolCall]]:
    """
    Tell hooks of every call that is over; the calls to make anew.

    Raises:
        HookFailedError: a hook failed; the others have been told all the same, and what ran is remembered.
    """
    again: list[tuple[Deal, ToolCall]] = []
    fault: HookFailedError | None = None
    for deal in [deal for deal in live.memory.deals if not deal.told]:
        try:
            call = await told(live, deal)
            if call is not None and (fresh := renumbered(live, deal, call, again)) is not None:
                again.append((deal, fresh))
        except HookFailedError as error:
            fault = fault or error
    if fault is not None:
        raise fault
    return again


async def told(live: Live, deal: Deal) -> ToolCall | None:
    """Tell hooks of a call that is over; the call to make anew, where there is one."""
    if not deal.over:
        if deal.call_id in live.pool:
            live.pool.leave(deal.call_id)
        deal.show("nobody waits for it any more: its step is over", True)
    error = str(deal.shown) if deal.is_error else None
    point = AfterTool(
        live.facts(), deal.used, deal.ran, copy.deepcopy(deal.shown), deal.is_error, error, deal.verdict,
        deal.blocked is not None, deal.duration,
    )  # fmt: skip
    deal.told = True
    remember(live, deal)
    await live.hooks.after_tool(point)
    deal.shown, deal.is_error = plain(point.shown), point.is_error
    if point.terminate:
        live.terminate = True
    if deal.point is not None and changed(deal):
        return deal.point.call
    return deal.used if point.retry else None


def changed(deal: Deal) -> bool:
    """A hook changed the call after the gate had allowed it: it did not run, and the new one is proposed (S53)."""
    point = deal.point
    if point is None or not deal.admitted or deal.ran or point.blocked is not None:
        return False
    return (point.call.name, point.call.args) != (deal.used.name, deal.used.args)


def renumbered(
    live: Live, deal: Deal, call: ToolCall, again: Sequence[tuple[Deal, ToolCall]] = ()
) -> ToolCall | None:  # fmt: skip
    """The call under an id that no call of the run has had; None where it was made anew often enough."""
    first = deal.stands_for or deal.call.call_id
    times = sum(other.stands_for == first for other in live.memory.deals)
    times += sum(first == (other.stands_for or other.call.call_id) for other, _ in again)
    if times >= AGAIN:
        return None
    taken = {deal.call_id for deal in live.memory.deals} | {made.call_id for _, made in again}
    taken |= {execution.call_id for execution in live.memory.executions}
    number = next(number for number in count(times + 1) if f"{first}~{number}" not in taken)
    return ToolCall(call.name, call.args, f"{first}~{number}")


def remember(live: Live, deal: Deal) -> None:
    """Keep what came of the call, for conditions and for the result: what the tool said, not what hooks show (S53)."""
    allowed = deal.blocked is None and (deal.verdict is None or deal.verdict.allowed)
    result, error = (None, str(deal.shown)) if deal.is_error else (plain(deal.shown), None)
    args: Any = deal.used.args if isinstance(deal.used.args, str) else plain(dict(deal.used.args))
    ran = deal.ran or is_evidence(live, deal)
    live.memory.executions.append(ToolExecution(deal.used.name, args, result, error, deal.call_id, allowed, ran))


def is_evidence(live: Live, deal: Deal) -> bool:
    """A result that a hook gave stands for a call of a tool that only reads, and of no other (S53)."""
    declared = live.definition.tool(deal.used.name)
    return isinstance(deal.outcome, Substituted) and declared is not None and declared.effect is Effect.READ


def read_back(live: Live) -> None:
    """Write the messages that answer the calls of the reply, in its order; the latest that ran stands for a call."""
    memory = live.memory
    for deal in memory.deals:
        if deal.stands_for is not None:
            continue
        last = deal
        for other in memory.deals:
            if other.stands_for == deal.call.call_id and (other.ran or not last.ran):
                last = other
        memory.messages.append({
            "role": "tool", "call_id": deal.call.call_id, "name": deal.call.name, "content": last.shown,
            "is_error": last.is_error,
        })  # fmt: skip
    memory.deals = []


def mend(live: Live) -> None:
    """A reply whose calls never came so far is answered all the same: providers refuse a transcript with open calls."""
    messages = live.memory.messages
    last: Message = messages[-1] if messages else {}
    if last.get("role") == "assistant" and not live.memory.deals:
        for call in last.get("tool_calls", ()):
            messages.append({
                "role": "tool", "call_id": call["call_id"], "name": call["name"], "is_error": True,
                "content": "the call did not run",
            })  # fmt: skip


def plain(value: Any) -> Any:
    """The value as JSON; what is none, as text."""
    try:
        return normal(value)
    except ValueError:
        try:
            return json.loads(json.dumps(value, default=str))
        except (TypeError, ValueError):
            return str(value)

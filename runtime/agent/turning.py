"""One turn of the loop: the model is asked, and what it says goes to hooks, gate, tools and user."""

from __future__ import annotations

import json
from typing import Any

from guideway.runtime.hooks.points import Turned
from guideway.runtime.models.messages import Message, ModelReply
from guideway.runtime.situation import converses
from guideway.runtime.verdicts import Deny

from .calling import closed, propose
from .deals import Deal
from .endings import onward
from .events import Nudged, TurnStarted
from .keeping import save
from .live import Live, known
from .speaking import converse, observe, speak
from .stops import after_turn, conclude, spent, state_of

ASK_CONFIDENCE = (
    "How sure are you that the task is done, and done right? "
    'Answer with JSON alone: {"confidence": NUMBER}, the number from 0 to 1.'
)


async def turn(live: Live) -> None:
    """Ask the model, and do what it says as far as that goes without waiting for a tool or a person."""
    memory = live.memory
    if spent(live):
        return
    await live.hooks.turn_started(Turned(live.facts(), memory.iterations))
    live.emit(TurnStarted(memory.iterations, live.session.states))
    go_on(live)
    reply = await speak(live)
    if reply is None:
        return
    memory.messages.append(reply.as_message())
    memory.reply, memory.last_calls = reply.text, len(reply.calls)
    memory.output = reply.text if reply.text.strip() else memory.output
    if reply.confidence is not None:
        claim(live, reply.confidence)
    if reply.calls:
        memory.empties = 0
        await propose(live, [Deal(call, call) for call in reply.calls], reply.text)
    elif reply.text.strip():
        memory.empties = 0
        await end_turn(live, text_only(live, reply))
    else:
        await end_turn(live, empty(live))


def go_on(live: Live) -> None:
    """After a reply that ended nothing the model is told to go on, and what is missing (S16)."""
    memory = live.memory
    last: Message | None = memory.messages[-1] if memory.messages else None
    if last is None or last["role"] != "assistant" or last.get("tool_calls"):
        return
    nudged, nothing = memory.nudge == "nudged", memory.nudge == "empty"
    text = onward(live.session, nudged=nudged, empty=nothing)
    memory.messages.append({"role": "user", "content": text})
    if nudged or nothing:
        live.emit(Nudged(text))


def text_only(live: Live, reply: ModelReply) -> str:
    """A reply without calls: it may end a step, go to the user, or be sent back (S16)."""
    memory, session = live.memory, live.session
    if live.settings.open and not live.over:
        conclude(live)  # without a playbook the text would end the run before the condition was asked
        if live.over:
            return "on"
    to_the_user = converses(session)
    before = known(session)
    session.propose([], text=reply.text, usage=memory.carried, now=live.clock.now())
    memory.carried = type(memory.carried)()
    memory.talking = to_the_user and session.outcome is None
    effects = [record[3] for record in session.since(before) if record[0] == "turn_ended"]
    return "nudged" if "nudged" in effects else "on"


def empty(live: Live) -> str:
    """Neither text nor calls: nothing was said, so nothing is proposed; too many of them end the run as nudges do."""
    memory = live.memory
    memory.empties += 1
    live.session.note("empty_reply", {"in_a_row": memory.empties}, live.clock.now())
    if memory.empties > live.definition.max_nudges:
        live.stop("nudges", "incomplete")
    return "empty"


async def finish(live: Live) -> bool:
    """Close a turn whose calls are all over; False where hooks have calls made anew first."""
    memory = live.memory
    denied = [deal.verdict for deal in memory.deals if isinstance(deal.verdict, Deny)]
    denied = [denial for denial in denied if denial.code not in ("after_failed", "run_over")]
    worked = any(deal.over and not deal.is_error for deal in memory.deals)
    live.rested = [denial.tool for denial in denied if denial.code == "retry_wait"]
    if not await closed(live):
        return False
    memory.refused = 0 if worked or not denied else memory.refused + 1
    if live.settings.reflexion and live.session.outcome is None and not live.over:
        await reflect(live)
    await end_turn(live, None)
    return True


async def end_turn(live: Live, nudge: str | None) -> None:
    """The turn is over: count it, tell hooks, and ask whether the run should end."""
    memory = live.memory
    memory.iterations, memory.nudge = memory.iterations + 1, nudge
    await live.hooks.turn_ended(Turned(live.facts(), memory.iterations - 1))
    window = live.settings.limits.context_window
    await observe(live, "context_usage", {"tokens": memory.context, "window": window})
    save(live)
    await observe(live, "save_point", {"iteration": memory.iterations})
    after_turn(live)


async def reflect(live: Live) -> None:
    """Ask how sure the model is, or the host's own function; it is a claim, and evidence of nothing."""
    reflexion: Any = live.settings.reflexion
    if callable(reflexion):
        said = reflexion(state_of(live))
        said = await said if hasattr(said, "__await__") else said
        claim(live, said)
        return
    messages = live.memory.messages
    before = len(messages)
    messages.append({"role": "user", "content": ASK_CONFIDENCE})
    try:
        reply = await converse(live, live.memory.instructions, ())
    finally:
        del messages[before:]  # a question beside the run: no part of the transcript
    if reply is not None:
        claim(live, confidence_in(reply.text))


def claim(live: Live, confidence: Any) -> None:
    """Note a confidence; what is no number from 0 to 1 says nothing."""
    right = isinstance(confidence, int | float) and not isinstance(confidence, bool) and 0 <= confidence <= 1
    if right and live.session.outcome is None:
        live.take(live.session.claim(confidence=confidence, now=live.clock.now()).verdicts)


def confidence_in(text: str) -> Any:
    """
    The number in a JSON answer; None where there is none.

    >>> confidence_in('Sure: {"confidence": 0.9}'), confidence_in("very")
    (0.9, None)
    """
    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1])
    except ValueError:
        return None
    return found.get("confidence") if isinstance(found, dict) else None

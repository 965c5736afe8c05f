"""The calls of an agent in `shadow` mode: they run without being asked about, and are judged then (S55)."""

from __future__ import annotations

from collections.abc import Sequence

from .calls import ToolCall
from .clocks import Clock
from .plan import plan_of
from .session import Session
from .toolbox import Tools, call_tool, find_tool
from .verdicts import Verdict


def witnessed(session: Session, tools: Tools, calls: Sequence[ToolCall], clock: Clock) -> list[Verdict]:
    """Run each, and say what the gate would have said of it."""
    definition = plan_of(session.machine).definition
    verdicts = []
    for call in calls:
        outcome = call_tool(find_tool(tools, definition, call.name), call.name, call.args)
        verdicts.append(session.witness(call, outcome, now=clock.now()))
    return verdicts

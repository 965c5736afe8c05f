"""What a segment of a run came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from guideway.runtime.approvals import Question
from guideway.runtime.calls import Usage
from guideway.runtime.models.messages import Message
from guideway.runtime.session import Session
from guideway.statemachine.termination.state import ToolExecution

from .events import Event
from .reasons import StopReason

COMPLETED, SUSPENDED, FAILED = "completed", "suspended", "failed"


@dataclass(frozen=True, slots=True)
class AgentResult:
    """
    How a segment ended, and where the run stands.

    `success` is the playbook's word, never the model's: the run has ended, and its outcome is of class success.
    """

    run_id: str
    output: Any = None
    """the text of the last reply, or what a hook gave"""
    stop_reason: StopReason = StopReason.WAITING
    """normalised"""
    reason: str = ""
    """the same in the own words of what ended it: `tool_called:isolate_host`, `exhausted:contain` …"""
    status: str = SUSPENDED
    """`completed`, `suspended` (the run goes on when somebody decides or answers) or `failed`"""
    outcome: str | None = None
    """of the session; None while the run has not ended"""
    success: bool = False
    messages: list[Message] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    iterations: int = 0
    model_calls: int = 0
    tool_executions: tuple[ToolExecution, ...] = ()
    pending: tuple[Question, ...] = ()
    """what people are asked"""
    waiting: tuple[str, ...] = ()
    """for whom or what the run waits, a line each"""
    next_due: datetime | None = None
    """when the next timer falls due: go on then, at the latest"""
    events: tuple[Event, ...] = ()
    """of this segment, without its last"""
    hook_states: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    error: BaseException | None = None
    session: Session | None = field(default=None, repr=False)
    state: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """all there is to save, as JSON; `Agent.resume` takes it, in this process or another.  Sensitive values are in it
    as they are: keep it where you keep secrets."""

    @property
    def cost(self) -> float:
        """What the model has cost, in the currency of the price table."""
        return self.usage.cost

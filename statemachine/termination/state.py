"""What a condition is asked about: how far a run has come, as its host tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolExecution:
    """
    One call, of the model's or of the playbook's own, and what came of it.

    >>> ToolExecution("isolate_host", {"host": "ws-7"}, result={"ticket": "C-1"}).succeeded
    True
    >>> ToolExecution("isolate_host", allowed=False, ran=False, error="it was blocked").succeeded
    False
    """

    tool_name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    """what the tool answered; None of a call that did not run"""
    error: str | None = None
    """what went wrong: the tool's own error, or why the call did not run"""
    call_id: str = ""
    allowed: bool = True
    """the gate, the hooks and the people asked let it through"""
    ran: bool | None = True
    """the tool ran; None where nobody can say"""
    automatic: bool = False
    """the playbook made it, not the model"""

    @property
    def counts(self) -> bool:
        """It was allowed and it ran, well or badly; a blocked, denied, cancelled or unknown call does not (S36)."""
        return self.allowed and self.ran is True

    @property
    def succeeded(self) -> bool:
        """It counts, and no error came of it."""
        return self.counts and self.error is None


@dataclass(frozen=True, slots=True)
class RunState:
    """
    How far a run has come, as conditions see it after each turn.

    >>> RunState(iterations=3, tool_executions=(ToolExecution("query_siem"),)).tool_executions[0].result is None
    True
    """

    iterations: int = 0
    """turns of the model that are over"""
    tokens: int = 0
    """what all of them used together"""
    elapsed: float = 0.0
    """seconds since the run began, by the run's own clock"""
    confidence: float | None = None
    """from 0 to 1; None until somebody has given one (`reflexion=`, or `Session.claim`)"""
    text: str = ""
    """the text of the last reply"""
    tool_calls_last_turn: int = 0
    """calls that the last reply asked for, whatever came of them"""
    tool_executions: tuple[ToolExecution, ...] = ()
    """every call so far, in the order of the replies; blocked ones too, with `allowed` false"""
    messages: tuple[Mapping[str, Any], ...] = ()
    claims: Mapping[str, Any] = field(default_factory=dict)
    """what the model has claimed, by step; never evidence"""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """whatever the host adds"""

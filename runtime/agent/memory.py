"""What there is of a run beside its session: the transcript, what hooks have saved, what it has cost."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from guideway.runtime.answers_json import moment
from guideway.runtime.calls import Usage
from guideway.runtime.models.messages import Message
from guideway.runtime.records import stamp
from guideway.statemachine.canonical import normal
from guideway.statemachine.errors import HostError
from guideway.statemachine.termination.state import ToolExecution

from .deals import Deal

VERSION = 1
COUNTS = (
    "model_calls", "iterations", "calls", "segments", "empties", "refused", "unproposed", "context",
)  # fmt: skip


@dataclass(slots=True)
class Memory:
    """Everything of a run that is no state of the playbook.  It is JSON when it is saved."""

    run_id: str
    prompt: str = ""
    instructions: str = ""
    state: dict[str, Any] = field(default_factory=dict)
    """values given to `run` and `send` by keyword"""
    messages: list[Message] = field(default_factory=list)
    hook_states: dict[str, Any] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    carried: Usage = field(default_factory=Usage)
    """used, and not told to the session yet: of replies that were not proposed"""
    executions: list[ToolExecution] = field(default_factory=list)
    deals: list[Deal] = field(default_factory=list)
    """calls of the open turn"""
    reply: str = ""
    """the text of the latest reply"""
    last_calls: int | None = None
    """calls in the latest reply that is over"""
    started: datetime | None = None
    nudge: str | None = None
    """how the reply before ended that called nothing: `nudged`, `empty`, `on`"""
    talking: bool = False
    """the agent has spoken to the user, who has not answered"""
    output: Any = None
    model_calls: int = 0
    iterations: int = 0
    calls: int = 0
    segments: int = 0
    empties: int = 0
    refused: int = 0
    unproposed: int = 0
    context: int = 0
    """tokens of the latest request, as far as the provider says"""

    def to_json(self) -> dict[str, Any]:
        """
        All of it, for another process.

        Raises:
            HostError: something given by keyword, or saved by a hook, is no JSON.
        """
        plain: dict[str, Any] = {name: getattr(self, name) for name in COUNTS}
        plain |= {
            "version": VERSION, "run_id": self.run_id, "prompt": self.prompt, "instructions": self.instructions,
            "state": self.state, "messages": self.messages, "hook_states": self.hook_states,
            "usage": usage_json(self.usage), "carried": usage_json(self.carried), "reply": self.reply,
            "executions": [vars_of(each) for each in self.executions],
            "deals": [deal.to_json() for deal in self.deals], "last_calls": self.last_calls,
            "started": stamp(self.started), "nudge": self.nudge,
            "talking": self.talking, "output": self.output,
        }  # fmt: skip
        try:
            found: dict[str, Any] = normal(plain)
        except ValueError as error:
            raise HostError(f"the state of run {self.run_id} cannot be saved: {error}") from None
        return found

    @classmethod
    def of_json(cls, saved: Mapping[str, Any]) -> Memory:
        """
        The run as it was saved.

        Raises:
            HostError: this is no such state, or of a later version.
        """
        if not isinstance(saved, Mapping) or saved.get("version") != VERSION:
            raise HostError("this is no state of a run that this version of guideway can read")
        try:
            own = copy.deepcopy(dict(saved))
            memory = cls(own["run_id"], own["prompt"], own["instructions"], own["state"], own["messages"])
            for name in (*COUNTS, "hook_states", "reply", "last_calls", "nudge", "talking", "output"):
                setattr(memory, name, own[name])
            memory.usage, memory.carried = Usage(**own["usage"]), Usage(**own["carried"])
            memory.started = moment(own.get("started"))
            memory.executions = [ToolExecution(**each) for each in own["executions"]]
            memory.deals = [Deal.of_json(each) for each in own["deals"]]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise HostError(f"the state of the run is damaged: {type(error).__name__} {error}") from None
        return memory


def usage_json(usage: Usage) -> dict[str, Any]:
    """The four numbers."""
    return {
        "tokens": usage.tokens, "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
        "cost": usage.cost,
    }  # fmt: skip


def vars_of(execution: ToolExecution) -> dict[str, Any]:
    """An execution as JSON."""
    return {each.name: getattr(execution, each.name) for each in fields(execution)}

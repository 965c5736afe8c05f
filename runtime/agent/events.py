"""What an agent's run tells while it goes on: a closed family of values, in the order in which things happened."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from guideway.runtime.approvals import Question
from guideway.runtime.calls import Outcome, ToolCall
from guideway.runtime.models.messages import ModelReply, ModelRequest
from guideway.runtime.verdicts import Verdict

if TYPE_CHECKING:
    from .result import AgentResult


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A segment of a run begins: `run`, or `send`; segments count from 1."""

    run_id: str
    prompt: str
    segment: int = 1


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn begins; `number` counts from 0, `states` is where the run stands."""

    number: int
    states: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelRequested:
    """The model is being asked, with exactly this."""

    request: ModelRequest


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the reply's text, while it is being written; a hook may still replace the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """The reply, as hooks have left it."""

    reply: ModelReply


@dataclass(frozen=True, slots=True)
class ToolDecided:
    """The gate has answered on a call; None where a hook stopped it before the gate was asked."""

    call: ToolCall
    verdict: Verdict | None
    blocked: str | None = None


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool begins to run; `automatic`: the playbook makes the call, no model asked for it."""

    call: ToolCall
    automatic: bool = False


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """What came of a call that ran; `duration` in seconds."""

    call: ToolCall
    outcome: Outcome
    duration: float = 0.0
    automatic: bool = False


@dataclass(frozen=True, slots=True)
class Moved:
    """The run went from one state to another."""

    source: str
    event: str
    target: str
    step: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """A person is asked."""

    question: Question


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing can be done now: for whom or what the run waits, a line each, and when the next timer is due."""

    what: tuple[str, ...]
    due: datetime | None = None


@dataclass(frozen=True, slots=True)
class Nudged:
    """The model is told to go on, since its reply ended nothing."""

    text: str


@dataclass(frozen=True, slots=True)
class LimitReached:
    """A limit of the agent's is spent, and the run is stopped for it."""

    limit: str
    value: float


@dataclass(frozen=True, slots=True)
class TerminateEvent:
    """The run is over: `reason` in the own words of what ended it, `stop_reason` normalised."""

    reason: str
    stop_reason: str


@dataclass(frozen=True, slots=True)
class CustomEvent:
    """What a hook put into the stream."""

    name: str
    data: Any = field(default=None)


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A segment is over, and this is what it came to; always the last."""

    result: AgentResult


Event = (
    RunStarted | TurnStarted | ModelRequested | TextDelta | ModelReplied | ToolDecided | ToolStarted | ToolFinished
    | Moved | ApprovalAsked | Waiting | Nudged | LimitReached | TerminateEvent | CustomEvent | RunEnded
)  # fmt: skip

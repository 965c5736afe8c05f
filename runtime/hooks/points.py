"""
The points of an agent's loop at which hooks are asked: what each may see, and what each may change.

The loop makes a point, the dispatcher shows it to the layers, the loop does what the point says then.  What protects a
run is built into the points: a block cannot be taken back, and nothing that a hook says of a call is a fact (S53).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from guideway.runtime.calls import ToolCall, Usage
from guideway.runtime.models.messages import Message, ModelReply, ToolSpec
from guideway.statemachine.errors import GuidewayError

UNSET: Any = object()
"""Not said, as distinct from None."""


class HookFailedError(GuidewayError):
    """A hook raised where that fails the run; what it raised is the cause."""


@dataclass(slots=True)
class Facts:
    """What hooks may know of the run.  Everything here is the loop's; changes that a hook makes are not kept."""

    run_id: str = ""
    session_id: str | None = None
    prompt: str = ""
    iteration: int = 0
    """turns that are over"""
    max_iterations: int = 0
    model_calls: int = 0
    usage: Usage = field(default_factory=Usage)
    messages: Sequence[Message] = ()
    state: Mapping[str, Any] = field(default_factory=dict)
    """the whole state of the run, with the values given to `run` or `send` by keyword"""
    hook_states: dict[str, Any] = field(default_factory=dict)
    """what hooks have saved, by their names; saved with the run"""
    emit: Callable[[Any], None] = lambda event: None
    """puts an event of a hook's own into the agent's stream"""


@dataclass(slots=True)
class End:
    """A hook ends the run now, with this output."""

    output: Any = None


@dataclass(slots=True)
class Start:
    """A segment of a run begins (`run`, or `send`).  `messages` and `system_prompt` may be replaced."""

    facts: Facts
    messages: list[Message]
    system_prompt: str = ""
    model: str = ""
    cancelled: str | None = None
    """a hook cancels the run before it starts; this is why"""
    error: BaseException | None = None
    """the error that such a run ends with, where it is one of its own"""
    state: dict[str, Any] | None = None
    """what takes the place of the values given by keyword; None: they stay"""


@dataclass(slots=True)
class Turned:
    """A turn of the loop starts, or is over."""

    facts: Facts
    number: int
    """from 0 on"""


@dataclass(slots=True)
class BeforeModel:
    """The model is about to be asked.  `messages` and `system_prompt` may be replaced, for this request alone."""

    facts: Facts
    messages: list[Message]
    tools: tuple[ToolSpec, ...]
    system_prompt: str = ""
    end: End | None = None


@dataclass(slots=True)
class AfterModel:
    """The model has replied; `messages` ends with the reply.  The reply may be replaced, or asked for again."""

    facts: Facts
    reply: ModelReply
    messages: Sequence[Message]
    retry: bool = False
    feedback: str | None = None
    """what the model is told when it is asked again"""
    end: End | None = None


class BeforeTool:
    """
    A call is about to go to the gate, which lies inside of all hooks and decides on what they leave.

    >>> point = BeforeTool(Facts(), ToolCall("isolate_host", {"host": "ws-7"}, "c1"))
    >>> point.block("not today")
    >>> point.block("")              # nothing takes a block back
    >>> point.blocked
    'not today'
    """

    def __init__(self, facts: Facts, call: ToolCall, policy: Callable[[ToolCall], Any] | None = None) -> None:
        self.facts = facts
        self.asked = call
        """the call as the model made it"""
        self._call = call
        self.policy = policy
        """says what the gate would answer (`Session.decide`), for layers that run after the policy only"""
        self.admitted = False
        """the gate has allowed the call: from here on a change is a new call, proposed again"""
        self._blocked: str | None = None
        self.value: Any = UNSET
        """a result that a hook gives instead of running the tool"""
        self.error: BaseException | None = None
        """what a hook raised; it counts as the tool's own error"""

    @property
    def call(self) -> ToolCall:
        """The call as the hooks so far have left it; name and arguments may be replaced, the id may not."""
        return self._call

    @call.setter
    def call(self, call: ToolCall) -> None:
        if not isinstance(call, ToolCall) or not isinstance(call.name, str):
            raise TypeError(f"a call is a guideway.ToolCall with a name, and no {type(call).__name__}")
        if not isinstance(call.args, Mapping | type(self.asked.args)):  # what a model writes may be anything
            raise TypeError(f"the arguments of a call are a map, and no {type(call.args).__name__}")
        self._call = ToolCall(call.name, call.args, self.asked.call_id)

    @property
    def blocked(self) -> str | None:
        """Why a hook has stopped the call; None where none has."""
        return self._blocked

    def block(self, reason: str) -> None:
        """Stop the call, for good: the first reason stands."""
        if self._blocked is None:
            self._blocked = reason or "blocked by a hook"

    def change(self, *, name: str | None = None, args: Mapping[str, Any] | None = None) -> None:
        """Replace name or arguments; the id stays."""
        self.call = ToolCall(name or self.call.name, self.call.args if args is None else args, self.call.call_id)

    @property
    def settled(self) -> bool:
        """The tool will not run: blocked, answered by a hook, or failed in one."""
        return self._blocked is not None or self.value is not UNSET or self.error is not None


@dataclass(slots=True)
class AfterTool:
    """
    A call is over: it ran, or it did not (blocked by a hook, denied by the gate, rejected by a person, given up).

    `shown` is what the model will read and may be replaced; the fact stays what the tool answered (S53).
    """

    facts: Facts
    call: ToolCall
    """with the arguments that were used"""
    ran: bool
    shown: Any = None
    is_error: bool = False
    error: str | None = None
    verdict: Any = None
    """the latest verdict of the gate; None where a hook stopped the call before"""
    blocked_by_hook: bool = False
    duration: float = 0.0
    """seconds"""
    retry: bool = False
    """a hook wants the call made again: that is a new call, with an admission of its own"""
    terminate: bool = False
    """a hook wants the run to end after this turn"""


@dataclass(slots=True)
class AtEnd:
    """A segment is over.  Nothing here changes how."""

    facts: Facts
    outcome: str
    """`completed`, `suspended` or `failed`"""
    stop_reason: str
    success: bool
    output: Any = None
    error: BaseException | None = None


@dataclass(slots=True)
class Observation:
    """Something to be told of and not to be changed: `save_point`, `context_usage`, `model_update` …"""

    facts: Facts
    type: str
    data: Mapping[str, Any] = field(default_factory=dict)

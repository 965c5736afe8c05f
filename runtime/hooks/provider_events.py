"""Events of seed one's dialect: what may be set is said, and everything else cannot be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class RunRef:
    """Which run an event is of."""

    run_id: str = ""
    thread_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


class ProtectedEvent:
    """
    An event of which some fields may be set, and no other.

    >>> event = BeforeModelCallEvent(messages=[], tools=())
    >>> event.tools = ("other",)
    Traceback (most recent call last):
    AttributeError: `tools` of a BeforeModelCallEvent cannot be set; what can: messages
    """

    writable: ClassVar[tuple[str, ...]] = ()
    run: RunRef
    emit: Callable[[Any], None]

    def _init(self, **fields: Any) -> None:
        for name, value in {"run": RunRef(), "emit": lambda event: None, **fields}.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.writable:
            can = ", ".join(self.writable) or "nothing"
            raise AttributeError(f"`{name}` of a {type(self).__name__} cannot be set; what can: {can}")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"`{name}` of a {type(self).__name__} cannot be deleted")


class BeforeModelCallEvent(ProtectedEvent):
    """The model is about to be asked; `tools` are for looking."""

    writable = ("messages",)
    messages: list[dict[str, Any]]
    tools: tuple[Any, ...]

    def __init__(self, messages: list[dict[str, Any]], tools: tuple[Any, ...], **more: Any) -> None:
        self._init(messages=messages, tools=tools, **more)


class AfterModelCallEvent(ProtectedEvent):
    """The model has replied: set `response` to replace the reply, `retry` to ask again (with `retry_feedback`)."""

    writable = ("response", "retry", "retry_feedback")
    response: Any
    retry: bool
    retry_feedback: str | None
    messages: list[dict[str, Any]]

    def __init__(self, response: Any, messages: list[dict[str, Any]], **more: Any) -> None:
        self._init(response=response, messages=messages, retry=False, retry_feedback=None, **more)


class BeforeToolCallEvent(ProtectedEvent):
    """
    A tool is about to be called: set `arguments` to change them, `cancel` to stop it, for a reason the model reads.

    Arguments that the gate does not see (`secret_arguments` of the seed's implementation) cannot be given: what is not
    decided on does not run.  `cancel`, once set, stays.
    """

    writable = ("arguments", "cancel")
    arguments: dict[str, Any]
    cancel: bool | str
    tool_name: str
    tool_call_id: str

    def __init__(self, tool_name: str, tool_call_id: str, arguments: dict[str, Any], **more: Any) -> None:
        self._init(tool_name=tool_name, tool_call_id=tool_call_id, arguments=arguments, cancel=False, **more)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "cancel" and getattr(self, "cancel", False):
            return  # a block is not taken back, and its first reason stands
        super().__setattr__(name, value)


class AfterToolCallEvent(ProtectedEvent):
    """A call has run: set `result` to change what the model reads, `retry` to have it made again."""

    writable = ("result", "retry")
    result: Any
    retry: bool
    tool_name: str
    tool_call_id: str
    arguments: dict[str, Any]
    error: str | None
    ran: bool
    """False: the result was given by a hook, and the tool did not run"""

    def __init__(
        self, tool_name: str, tool_call_id: str, arguments: dict[str, Any], result: Any = None,
        error: str | None = None, ran: bool = True, **more: Any,
    ) -> None:  # fmt: skip
        self._init(
            tool_name=tool_name, tool_call_id=tool_call_id, arguments=arguments, result=result, error=error,
            ran=ran, retry=False, **more,
        )  # fmt: skip

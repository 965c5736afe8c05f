"""
The dialect of seed two: hooks whose methods return what they want done.

Any object with some of `on_start(ctx)`, `before_model(ctx)`, `after_model(ctx)`, `before_tool(call)`,
`after_tool(call, result)`, `on_end(ctx, outcome)` is one, synchronous or not: `hook(obj)` says so, or the base `Hook`.
`on_start`, `before_model` and `before_tool` come in the order of the list, the others in reverse (row 22).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .layers import name_of
from .points import UNSET

__all__ = ["UNSET", "Hook", "HookAction", "HookContext", "ToolCall", "ToolError", "ToolResult", "hook"]


class Hook:
    """
    A hook of this dialect: derive from it, or wrap an object with `hook`.

    >>> class Stop:
    ...     def before_model(self, ctx):
    ...         return HookAction(end=True, output="enough") if ctx.model_calls >= 2 else None
    >>> hook(Stop()).name
    'Stop'
    """

    def __init__(self, inner: Any = None) -> None:
        self._inner = inner

    @property
    def inner(self) -> Any:
        """The object that has the methods."""
        inner = getattr(self, "_inner", None)
        return self if inner is None else inner

    @property
    def name(self) -> str:
        """Under which its state is saved: its `name`, else the name of its class (row 24)."""
        return type(self).__name__ if self.inner is self else name_of(self.inner)


def hook(obj: Any) -> Hook:
    """An object with some of the methods, as a hook of this dialect."""
    return obj if isinstance(obj, Hook) else Hook(obj)


@dataclass
class HookContext:
    """
    What a hook sees.  `state` is a copy: changes are not kept.

    `messages` is the transcript, as dicts; in `after_model` it ends with the new reply.  `hook_state` is what this hook
    saved, or None.
    """

    run_id: str
    messages: list[dict[str, Any]]
    model_calls: int
    hook_state: Any
    state: dict[str, Any]


@dataclass
class HookAction:
    """
    What a hook wants done; None changes nothing.

    `state` saves a JSON value for this hook, None included: left unset, the saved one is kept.  `messages` is another
    transcript to send (before_model), `message` another reply (after_model), as a message dict.  `end` ends the run,
    with `output` and the stop reason `hook_end`.
    """

    state: Any = field(default_factory=lambda: UNSET)
    messages: list[dict[str, Any]] | None = None
    message: dict[str, Any] | None = None
    end: bool = False
    output: Any = None


@dataclass
class ToolCall:
    """A call, as hooks see it; in before_tool change name or args and return it, to run the changed call."""

    call_id: str
    name: str
    args: dict[str, Any] = field(default_factory=dict)


@dataclass
class ToolResult:
    """Returned by before_tool to skip the tool, and by after_tool to replace what the model reads."""

    value: Any


class ToolError(Exception):
    """Raised by before_tool or after_tool: it counts as the tool's own error."""

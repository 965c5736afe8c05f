"""No hooks at all."""

from __future__ import annotations

from typing import Any


class NoHooks:
    """The dispatcher of an agent without hooks: nothing is asked, and nothing is copied for anybody."""

    names: tuple[str, ...] = ()

    async def _nothing(self, point: Any) -> None:
        """Ask nobody."""

    start = turn_started = turn_ended = before_model = after_model = before_tool = admitted = after_tool = _nothing
    end = observe = _nothing


def hooks_of(hooks: tuple[Any, ...]) -> Any:
    """
    The dispatcher for these hooks.

    Raises:
        HostError: one of them is no hook.
    """
    if not hooks:
        return NoHooks()
    from guideway.runtime.hooks.dispatch import Hooks

    return Hooks.of(list(hooks))

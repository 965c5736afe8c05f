"""On whose behalf a hook is asked: the loop may ask in a task of its own, so as not to wait for one that hangs."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any

_ASKER: ContextVar[asyncio.Task[Any] | None] = ContextVar("guideway_asker", default=None)


def asker() -> asyncio.Task[Any] | None:
    """The task whose work waits for what the hook says; it runs no tool meanwhile."""
    return _ASKER.get() or asyncio.current_task()


async def on_behalf_of(task: asyncio.Task[Any] | None, work: Coroutine[Any, Any, None]) -> None:
    """Ask in a task of its own, for another one."""
    _ASKER.set(task)
    await work

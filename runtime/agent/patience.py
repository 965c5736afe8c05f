"""A hook that hangs does not hold a run past its limits, or past being cancelled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from guideway.runtime.hooks.asking import on_behalf_of

if TYPE_CHECKING:
    from .live import Live

GRACE = 5.0
"""Seconds that whoever was asked to stop has for it: hooks, and tools that do not heed being cancelled."""

log = logging.getLogger("guideway.agent")


class Patient:
    """The dispatcher of a run: each point is waited for until the run is to end, and then for a moment more."""

    def __init__(self, hooks: Any, live: Live) -> None:
        self._hooks, self._live = hooks, live
        self.names: tuple[str, ...] = hooks.names

    def __getattr__(self, name: str) -> Callable[[Any], Coroutine[Any, Any, None]]:
        ask = getattr(self._hooks, name)
        return lambda point: self._wait(name, ask(point))

    async def _wait(self, name: str, asked: Coroutine[Any, Any, None]) -> None:
        live = self._live
        task = asyncio.ensure_future(on_behalf_of(asyncio.current_task(), asked))
        try:
            while not task.done() and not live.over:
                await live.rest([task], live.real(live.deadline))
                if not task.done() and live.out_of_time():
                    live.stop("time_budget", "time_budget")
            if not task.done():
                await asyncio.wait({task}, timeout=GRACE)
        finally:
            await stopped([task])
        if not task.done() or task.cancelled():
            log.warning("a hook of run %s did not come back from %s in time", live.memory.run_id, name)
        else:
            task.result()


async def stopped(tasks: list[asyncio.Task[Any]]) -> None:
    """Ask tasks to stop, and wait a while; one that goes on all the same is left behind."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=GRACE)

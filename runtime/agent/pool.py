"""Calls that are running: a task each, collected in the order in which they were started."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from guideway.runtime.calls import Outcome, ToolCall

from .patience import GRACE


@dataclass(slots=True)
class Running:
    """One call under way."""

    call: ToolCall
    task: asyncio.Task[Outcome]
    automatic: bool
    """the playbook makes it, not the model"""
    began: float = field(default_factory=time.perf_counter)
    asked: bool = False
    """it has been asked to stop"""
    left: bool = False
    """its step is over; nothing waits for it"""

    @property
    def duration(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self.began


class Pool:
    """The running calls of one run."""

    def __init__(self) -> None:
        self._running: dict[str, Running] = {}

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._running

    def __len__(self) -> int:
        return len(self._running)

    @property
    def tasks(self) -> list[asyncio.Task[Outcome]]:
        """All tasks."""
        return [running.task for running in self._running.values()]

    @property
    def awaited(self) -> list[asyncio.Task[Outcome]]:
        """Tasks of calls whose step is still open: the run waits for these."""
        return [running.task for running in self._running.values() if not running.left]

    def start(self, call: ToolCall, work: Coroutine[Any, Any, Outcome], *, automatic: bool = False) -> None:
        """Begin a call."""
        self._running[call.call_id] = Running(call, asyncio.ensure_future(work), automatic)

    def finished(self) -> list[Running]:
        """Those that are done, oldest first; the pool lets go of them."""
        done = [running for running in self._running.values() if running.task.done()]
        for running in done:
            del self._running[running.call.call_id]
        return done

    def leave(self, call_id: str) -> None:
        """Nothing waits for this call any more; it runs on."""
        self._running[call_id].left = True

    def cancel(self, call_id: str) -> None:
        """Ask the call to stop, once: what it does to stop cleanly is not cut off."""
        running = self._running[call_id]
        if not running.asked:
            running.asked = True
            running.task.cancel()

    def items(self) -> list[Running]:
        """Those that are running, oldest first."""
        return list(self._running.values())

    async def stop(self) -> list[Running]:
        """Ask all to stop, and wait until they have; those that go on all the same are left behind."""
        for call_id in self._running:
            self.cancel(call_id)
        if self._running:
            await asyncio.wait(self.tasks, timeout=GRACE)
        left, self._running = list(self._running.values()), {}
        return left

"""Plain functions beside the event loop: a thread for each call."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def beside(function: Callable[[], T], name: str) -> T:
    """
    Run a function that raises nothing in a thread of its own, with the context variables of the caller.

    Unlike `asyncio.to_thread` it needs no place in a pool, so calls that wait for one another never starve, and neither
    the end of the loop nor that of the process waits for a function that hangs.  A cancelled wait does not stop it.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(result: T) -> None:
        if not done.done():
            done.set_result(result)

    def work() -> None:
        result = context.run(function)
        if not loop.is_closed():
            try:
                loop.call_soon_threadsafe(deliver, result)
            except RuntimeError:
                return  # closed just now: nobody waits any more

    threading.Thread(target=work, name=f"guideway tool {name}", daemon=True).start()
    return await done

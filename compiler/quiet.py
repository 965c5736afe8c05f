"""A pause of the cyclic garbage collector while many objects are made and none is thrown away."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """
    Hold the collector, and let it run again afterwards if it ran before.

    Lowering 100,000 steps makes millions of objects; walking them again and again costs as much as making them.

    >>> with no_collection():
    ...     gc.isenabled()
    False
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

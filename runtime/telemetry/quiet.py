"""Whatever goes wrong in watching a run is said once, and never reaches the run."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import update_wrapper
from typing import Concatenate, ParamSpec, TypeVar

LOGGER = logging.getLogger("guideway.telemetry")

P = ParamSpec("P")
S = TypeVar("S", bound="Quiet")


class Quiet:
    """Something that watches, and whose faults are its own."""

    _said = False

    def fault(self, error: Exception) -> None:
        """Say it the first time; the type alone, since the text may hold anything."""
        if not self._said:
            self._said = True
            LOGGER.warning(
                "%s failed with %s and goes on without what it missed; this is said once",
                type(self).__name__, type(error).__name__,
            )  # fmt: skip


def quietly(method: Callable[Concatenate[S, P], None]) -> Callable[Concatenate[S, P], None]:
    """Let nothing that the method raises out."""

    def guarded(self: S, /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception as error:  # a run must not fail because somebody watches it
            self.fault(error)

    update_wrapper(guarded, method)
    return guarded

"""The keys of exceptions and limits, which steps and `defaults` share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .attempts import Retry
from .base import Maybe, Part
from .branches import Target
from .values import MAX_SECONDS, Duration

MAX_COUNT = 1_000_000_000
Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]
PositiveCount = Annotated[int, Field(ge=1, le=MAX_COUNT)]
Seconds = Annotated[float, Field(gt=0, le=MAX_SECONDS)]


class Handlers(Part):
    """The keys of exceptions and limits, which a step and `defaults` share."""

    max_tool_calls: Count | None = Field(
        default=None, description="How many calls a visit of the step may spend; 0 allows none."
    )
    max_visits: Maybe[PositiveCount] = Field(default=None, description="How many times a run may enter the step.")
    retry: Maybe[Retry] = Field(
        default=None, description="How often a failed call of a read or idempotent tool is tried again."
    )
    timeout: Maybe[Duration] = Field(default=None, description="The deadline of a visit: `90s`, `15m`, `1h30m`.")
    timeout_seconds: Seconds | None = Field(default=None, description="The deadline of a visit, in seconds.")
    on_failure: Maybe[Target] = Field(default=None, description="Where to go when the step fails.")
    on_reject: Maybe[Target] = Field(default=None, description="Where to go when a person says no.")
    on_timeout: Maybe[Target] = Field(default=None, description="Where to go when the deadline has passed.")
    on_exhausted: Maybe[Target] = Field(
        default=None, description="Where to go when `max_tool_calls` is spent and an expected tool is missing."
    )
    on_unknown: Maybe[Target] = Field(
        default=None, description="Where to go when nobody knows whether a call happened."
    )
    on_max_visits: Maybe[Target] = Field(default=None, description="Where to go instead, once `max_visits` is spent.")


class Defaults(Handlers):
    """Step keys for every step that takes them; a step's own key wins."""

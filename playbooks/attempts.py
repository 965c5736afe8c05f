"""Trying again: `retry` after a failure, `repeat` until something holds."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from .base import Maybe, Part
from .values import Delay, Expr

MAX_RETRIES = 100
MAX_BACKOFF = 10
MAX_ROUNDS = 100_000


class RetrySpec(Part):
    """Try a failed call again.  Reads and idempotent tools only."""

    at_most: int = Field(ge=0, le=MAX_RETRIES, description="How many times a failed call may be tried again.")
    wait: Maybe[Delay] = Field(default=None, description="How long to wait before the next try: `1s`, `5m`.")
    backoff: float = Field(
        default=1.0, ge=1, le=MAX_BACKOFF, description="By what each wait is multiplied after a try; 2 doubles it."
    )
    when: Maybe[Expr] = Field(
        default=None, description='Which failures are worth another try, such as `error.type == "Throttled"`.'
    )


class RepeatSpec(Part):
    """Call, or go through the steps, again until something holds: a bounded loop."""

    until: Expr = Field(description="The condition that ends the loop; beside `call` it may read `result`.")
    at_most: int = Field(ge=1, le=MAX_ROUNDS, description="How many rounds at most; then the step fails.")
    wait: Maybe[Delay] = Field(default=None, description="How long to wait between two rounds.")
    collect: Maybe[Expr] = Field(default=None, description="What to keep of each round.")


def _written(value: Any) -> Any:
    """Turn `retry: 2` into the map it stands for."""
    return {"at_most": value} if isinstance(value, int) and not isinstance(value, bool) else value


class _NumberOrMap:
    """Show both forms in the schema."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "integer", "minimum": 0, "maximum": MAX_RETRIES}, handler(schema)]}


Retry = Annotated[RetrySpec, BeforeValidator(_written), _NumberOrMap()]
"""A map, or the number of tries."""

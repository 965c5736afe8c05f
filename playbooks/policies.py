"""Rules over the whole run: the key `policies`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Discriminator, Field, StringConstraints, Tag

from .base import Maybe, Part, fault
from .values import TOOL_PATTERN, Expr, Name, ToolName

MAX_TIMES = 1_000_000
_Argument = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_SAME: list[str] = Field(
    default_factory=list, description="The arguments that must agree for two calls to belong together."
)


class EventSpec(Part):
    """A call of a tool, under conditions."""

    tool: ToolName = Field(description="The tool that is called.")
    where: Maybe[Expr] = Field(default=None, description="Which calls are meant; it reads `args`.")
    expect: Maybe[Expr] = Field(default=None, description="Which results are meant; it reads `result`.")


def _form(value: Any) -> str | None:
    return "~word" if isinstance(value, str) else "~call" if isinstance(value, dict | EventSpec) else None


Word = Annotated[str, StringConstraints(min_length=1, max_length=220, pattern=TOOL_PATTERN)]
Event = Annotated[
    Annotated[Word, Tag("~word")] | Annotated[EventSpec, Tag("~call")],
    Discriminator(
        _form,
        custom_error_type="GW024",
        custom_error_message="must be a tool, `step:S`, `approval:S`, `effect:irreversible`, or a map with `tool`",
    ),
]
"""`T`, `step:S`, `approval:S`, `effect:irreversible`, or a call under conditions."""


class OrderSpec(Part):
    """One event before another."""

    first: Event = Field(description="The event that comes first.")
    then: Event = Field(description="The event that may only follow it.")
    same: list[_Argument] = _SAME


class ResponseSpec(Part):
    """One event that calls for another."""

    after: Event = Field(description="The event that calls for an answer.")
    eventually: Event = Field(description="The event that answers it.")
    same: list[_Argument] = _SAME


class CountSpec(Part):
    """How often an event may or must happen."""

    event: Event = Field(description="The event that is counted.")
    times: int = Field(ge=1, le=MAX_TIMES, description="How often.")
    same: list[_Argument] = _SAME


def _two(value: Any) -> Any:
    if isinstance(value, list) and len(value) != 2:
        raise fault("GW024", f"must be a list of two events, not of {len(value)}", "write `[ONE, OTHER]`")
    return value


Pair = Annotated[list[Event], Field(min_length=2, max_length=2), BeforeValidator(_two)]
"""Two events, in either order."""


class PolicySpec(Part):
    """One policy: exactly one of the kinds that DECLARE names, and beside it an `id` and a `because`."""

    id: Maybe[Name] = Field(default=None, description="What refusals call the policy; left out: its kind and position.")
    because: Maybe[str] = Field(default=None, description="The reason, told on a refusal.")
    precedence: Maybe[OrderSpec] = Field(default=None, description="`then` only after a `first`.")
    succession: Maybe[OrderSpec] = Field(
        default=None, description="`then` only after a `first`, and each `first` is followed by a `then`."
    )
    chain_precedence: Maybe[OrderSpec] = Field(default=None, description="`then` only directly behind a `first`.")
    chain_succession: Maybe[OrderSpec] = Field(
        default=None, description="`first` and `then` only as neighbours, in this order."
    )
    response: Maybe[ResponseSpec] = Field(default=None, description="Behind `after` comes `eventually` before success.")
    chain_response: Maybe[ResponseSpec] = Field(
        default=None, description="Directly behind `after` comes `eventually` and nothing else."
    )
    never: Maybe[Event] = Field(default=None, description="An event that may not happen.")
    at_most: Maybe[CountSpec] = Field(default=None, description="How often an event may happen.")
    at_least: Maybe[CountSpec] = Field(default=None, description="How often an event must have happened by success.")
    exactly: Maybe[CountSpec] = Field(default=None, description="How often an event may and must happen.")
    not_together: Maybe[Pair] = Field(default=None, description="Two events of which a run may see only one.")

    @property
    def kind(self) -> str:
        """
        The kind that was written; empty where none was.

        >>> PolicySpec(never="wipe_disk").kind
        'never'
        """
        return next((key for key in POLICY_KINDS if getattr(self, key) is not None), "")


POLICY_KINDS = tuple(key for key in PolicySpec.model_fields if key not in {"id", "because"})


class PredicateSpec(Part):
    """A yes or no that the host answers."""

    description: str = Field(default="", description="What is asked, for the people who answer it in code.")

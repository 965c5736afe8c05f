"""Where a step may go: a target, or a list of branches of which the first true one is taken."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from .base import Maybe, Part
from .values import Expr, Name


class Branch(Part):
    """One way on."""

    when: Maybe[Expr] = Field(default=None, description="The condition of this branch; only the last may lack one.")
    goto: Name = Field(description="The step or outcome to go to.")
    because: Maybe[str] = Field(default=None, description="Why the branch is there.")


def _form(value: Any) -> str | None:
    return "~target" if isinstance(value, str) else "~branches" if isinstance(value, list) else None


Target = Annotated[
    Annotated[Name, Tag("~target")] | Annotated[list[Branch], Tag("~branches")],
    Discriminator(
        _form,
        custom_error_type="GW024",
        custom_error_message="must be a step, an outcome, or a list of `{when, goto}`",
    ),
]
"""A step id, an outcome word, or branches."""

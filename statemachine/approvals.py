"""Who must allow what (S29, S30)."""

from __future__ import annotations

from dataclasses import dataclass, field

from .expressions import Expression
from .span import Span


@dataclass(frozen=True, slots=True)
class Approval:
    """
    A person decides before the work (on a step) or before one exact call (on a tool or an entry).

    `ask`, `approvers` and `excluded` are texts that may hold `{{ EXPR }}`; no approvers means anybody the host lets
    decide.  A list of rules is its first rule, which holds the others in `more`: top to bottom, the first whose `when`
    is true or unknown decides; where none applies nobody is asked.
    """

    ask: str = ""
    approvers: tuple[str, ...] = ()
    because: str | None = None
    span: Span | None = field(default=None, compare=False)
    when: Expression | None = None
    count: int = 1
    """How many different persons must allow it."""
    everyone: bool = False
    """`count: all`: one from each of `approvers`, and different persons."""
    excluded: tuple[str, ...] = ()
    """Who may not decide (`except`)."""
    timeout: float | None = None
    """Seconds until the question expires."""
    more: tuple[Approval, ...] = ()

    def rules(self) -> tuple[Approval, ...]:
        """This rule and those after it."""
        return (self, *self.more)

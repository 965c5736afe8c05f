"""`CustomCondition`: anything that can be written in Python."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import Any

from guideway.statemachine.errors import HostError

from .base import TerminationCondition
from .checks import shown, words
from .judgement import Judgement
from .names import name_of
from .state import RunState

Said = bool | tuple[bool, str | None]
"""What a predicate answers: yes or no, or that with a reason in its own words."""


@dataclass(frozen=True, slots=True, repr=False)
class CustomCondition(TerminationCondition):
    """
    `fn(state)` says yes: with `True`, or with `(True, "its reason")`.

    A predicate that raises, or answers anything else, is unknown, and unknown is not true: it ends nothing and breaks
    nothing.  `explain` says what it did.  `name` is that under which the condition is written down; by default the
    function's own.

    Raises:
        HostError: `fn` cannot be called, or is asynchronous.

    >>> from guideway.termination import RunState
    >>> def quiet(state):
    ...     return state.iterations > 2, "nothing new for a while"
    >>> CustomCondition(quiet).check(RunState(iterations=3))
    (True, 'nothing new for a while')
    >>> print(CustomCondition(lambda state: 1 / 0, name="broken").explain(RunState()))
    unknown: custom (ZeroDivisionError: division by zero)
    """

    fn: Callable[[Any], Said] = field(hash=False)
    name: str | None = None

    def __post_init__(self) -> None:
        if not callable(self.fn):
            raise HostError(f"CustomCondition takes a function of the run's state, not {shown(self.fn)}")
        if iscoroutinefunction(self.fn) or iscoroutinefunction(getattr(self.fn, "__call__", None)):  # noqa: B004
            raise HostError("CustomCondition takes a plain function; an asynchronous one cannot be asked between turns")
        if self.name is not None:
            words("CustomCondition: name", self.name)
        if self.name == name_of(self.fn, strict=False):
            object.__setattr__(self, "name", None)  # its own name, so that both ways of writing are equal

    @property
    def reason(self) -> str:
        """`custom`; a predicate may give its own words when it holds."""
        return "custom"

    def judge(self, state: RunState, *, whole: bool = False) -> Judgement:
        """Ask the function, once."""
        try:
            said = self.fn(state)
        except Exception as error:
            return Judgement(self, None, self.reason, why=f"{type(error).__name__}: {error}")
        holds, reason = said if isinstance(said, tuple) and len(said) == 2 else (said, None)
        if not isinstance(holds, bool) or not (reason is None or isinstance(reason, str)):
            if isinstance(said, Coroutine):
                said.close()
            return Judgement(self, None, self.reason, why=f"it answered {shown(said)}, which is no yes or no")
        return Judgement(self, holds, reason or self.reason)

    @property
    def known_as(self) -> str:
        """
        The name under which it is written down.

        Raises:
            HostError: the function has none.
        """
        return self.name or name_of(self.fn)

    def to_json(self) -> dict[str, Any]:
        """`{"custom": name}`."""
        return {"custom": self.known_as}

    def to_playbook(self) -> dict[str, Any]:
        """`custom: name`; the playbook declares it under `predicates`, and the host gives it to the session."""
        return self.to_json()

    def __repr__(self) -> str:
        named = f", name={self.name!r}" if self.name is not None else ""
        return f"CustomCondition({name_of(self.fn, strict=False)}{named})"

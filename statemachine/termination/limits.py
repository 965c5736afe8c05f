"""Limits: conditions that stop a run, and never mean that it got anywhere (S37)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from guideway.statemachine.errors import HostError

from .base import TerminationCondition
from .checks import integral, positive, whole_number
from .judgement import Judgement
from .state import RunState


class Limit(TerminationCondition):
    """What may be spent; an `&` with a limit in it is one (S37)."""

    __slots__ = ()

    @property
    def is_limit(self) -> bool:
        """It is."""
        return True


@dataclass(frozen=True, slots=True, repr=False)
class MaxIterations(Limit):
    """
    The run has had `n` turns of the model.

    Raises:
        HostError: `n` is no whole number from 1 on.

    >>> from guideway.termination import RunState
    >>> MaxIterations(8).check(RunState(iterations=8))
    (True, 'max_iterations')
    """

    n: int

    def __post_init__(self) -> None:
        whole_number("MaxIterations", self.n)

    @property
    def reason(self) -> str:
        """`max_iterations`."""
        return "max_iterations"

    def judge(self, state: RunState, *, whole: bool = False) -> Judgement:
        """Reached: `n` turns are over."""
        return Judgement(self, state.iterations >= self.n, self.reason)

    def to_json(self) -> dict[str, Any]:
        """`{"max_iterations": n}`."""
        return {"max_iterations": self.n}

    def to_playbook(self) -> dict[str, Any]:
        """`max_iterations: n`."""
        return self.to_json()

    def __repr__(self) -> str:
        return f"MaxIterations({self.n})"


@dataclass(frozen=True, slots=True, repr=False)
class TokenLimit(Limit):
    """
    The model has used `n` tokens, questions and answers together.

    Raises:
        HostError: `n` is no whole number from 1 on.

    >>> from guideway.termination import RunState
    >>> TokenLimit(1000).check(RunState(tokens=1000))
    (True, 'token_budget')
    """

    n: int

    def __post_init__(self) -> None:
        whole_number("TokenLimit", self.n)

    @property
    def reason(self) -> str:
        """`token_budget`."""
        return "token_budget"

    def judge(self, state: RunState, *, whole: bool = False) -> Judgement:
        """Reached: `n` tokens are used up."""
        return Judgement(self, state.tokens >= self.n, self.reason)

    def to_json(self) -> dict[str, Any]:
        """`{"token_limit": n}`."""
        return {"token_limit": self.n}

    def to_playbook(self) -> dict[str, Any]:
        """`token_limit: n`."""
        return self.to_json()

    def __repr__(self) -> str:
        return f"TokenLimit({self.n})"


@dataclass(frozen=True, slots=True, repr=False)
class TimeLimit(Limit):
    """
    The run has lasted `seconds`, by its own clock: `RunState.elapsed` counts from its beginning.

    The condition reads no clock, so it can be used again, saved, and asked in a test.

    Raises:
        HostError: `seconds` is no positive, finite number.

    >>> from guideway.termination import RunState
    >>> TimeLimit(90).check(RunState(elapsed=90.5))
    (True, 'time_budget')
    """

    seconds: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "seconds", positive("TimeLimit", self.seconds))

    @property
    def reason(self) -> str:
        """`time_budget`."""
        return "time_budget"

    def judge(self, state: RunState, *, whole: bool = False) -> Judgement:
        """Reached: so many seconds are over."""
        return Judgement(self, state.elapsed >= self.seconds, self.reason)

    def to_json(self) -> dict[str, Any]:
        """`{"time_limit": seconds}`."""
        return {"time_limit": integral(self.seconds)}

    def to_playbook(self) -> dict[str, Any]:
        """
        `time_limit: 90s`.

        Raises:
            HostError: a playbook counts whole seconds, and at most 999,999,999 of them.
        """
        if not self.seconds.is_integer() or self.seconds >= 10**9:
            raise HostError(f"a playbook counts whole seconds, fewer than 10^9: {self!r} cannot be written in one")
        return {"time_limit": f"{int(self.seconds)}s"}

    def __repr__(self) -> str:
        return f"TimeLimit({integral(self.seconds)})"

"""The base of every condition: how they combine, and what each can be asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from guideway.statemachine.errors import HostError

from .judgement import Judgement
from .state import RunState

if TYPE_CHECKING:
    from .combine import AndCondition, NotCondition, OrCondition

Named = Mapping[str, Callable[..., Any]]
"""Predicates by the names under which a condition was written down."""


class TerminationCondition(ABC):
    """
    When a run should end: a value that combines with `&`, `|` and `~`.

    Python's own precedence holds: `~` binds tighter than `&`, `&` tighter than `|`; `and`, `or` and `not` would throw a
    part away, so a condition refuses to be a truth value.  Two conditions are equal when they are written alike, in the
    same order: the order decides which reason is given.

    >>> from guideway.termination import ConfidenceMet, MaxIterations, RunState, ToolCalled
    >>> stop = ToolCalled("isolate_host") & ConfidenceMet(0.9) | MaxIterations(10)
    >>> stop
    (ToolCalled('isolate_host') & ConfidenceMet(0.9)) | MaxIterations(10)
    >>> stop.check(RunState(iterations=10))
    (True, 'max_iterations')
    """

    __slots__ = ()

    @property
    def is_limit(self) -> bool:
        """A limit: a run that ends by it was stopped, and reached nothing (S37)."""
        return False

    @property
    def is_mention(self) -> bool:
        """It rests on the words of the model alone."""
        return False

    @property
    @abstractmethod
    def reason(self) -> str:
        """The token that names the condition: `max_iterations`, `tool_called:isolate_host`."""

    @abstractmethod
    def judge(self, state: RunState, *, whole: bool = False) -> Judgement:
        """
        Say what holds; a part that can change nothing any more is asked only with `whole`.

        It does not raise, whatever a predicate does.
        """

    def decisive(self, parts: tuple[Judgement, ...]) -> tuple[Judgement, ...]:
        """Of what the parts of a combination that holds have said, that by which it holds; none: it holds by itself."""
        return ()

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """
        Write the condition as JSON, which `from_json` reads back.

        Raises:
            HostError: a function in it has no name to be found by.
        """

    @abstractmethod
    def to_playbook(self) -> dict[str, Any]:
        """
        Write the condition as an item of a playbook's `termination`.

        In a playbook only a success satisfies `tool_called` (S36), and a `custom` predicate, which the host gives to
        the session, is asked about what expressions see.

        Raises:
            HostError: the playbook has no words for it; the message says for what.
        """

    @staticmethod
    def from_json(data: Any, predicates: Named | None = None) -> TerminationCondition:
        """
        Read what `to_json` has written; functions are found in `predicates` by their names.

        Raises:
            HostError: it is no condition; the message says where.

        >>> TerminationCondition.from_json({"all": [{"no_tool_calls": True}, {"max_iterations": 3}]})
        NoToolCalls() & MaxIterations(3)
        """
        from .reading import read

        return read(data, {} if predicates is None else predicates)

    def check(self, state: RunState) -> tuple[bool, str | None]:
        """Say whether the run should end, and by what; what is unknown ends nothing."""
        judgement = self.judge(state)
        return (True, judgement.reason) if judgement.holds is True else (False, None)

    def explain(self, state: RunState) -> Judgement:
        """Say of every part whether it holds; print it to read it."""
        return self.judge(state, whole=True)

    def __and__(self, other: TerminationCondition) -> AndCondition:
        from .combine import AndCondition

        return AndCondition(self, other) if isinstance(other, TerminationCondition) else NotImplemented

    def __or__(self, other: TerminationCondition) -> OrCondition:
        from .combine import OrCondition

        return OrCondition(self, other) if isinstance(other, TerminationCondition) else NotImplemented

    def __invert__(self) -> NotCondition:
        from .combine import NotCondition

        return NotCondition(self)

    def __bool__(self) -> bool:
        raise HostError(
            "a condition is neither true nor false by itself: combine conditions with `&`, `|` and `~` "
            "(not `and`, `or`, `not`), and ask with `check(state)`; `is None` tells whether there is one"
        )

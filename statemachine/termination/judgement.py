"""What a condition says of a state, part by part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .base import TerminationCondition

_WORDS = {True: "yes", False: "no", None: "unknown"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """
    What a condition says of one state, and what its parts do.

    >>> from guideway.termination import MaxIterations, RunState, ToolCalled
    >>> print((ToolCalled("isolate_host") | MaxIterations(2)).explain(RunState(iterations=2)))
    yes: tool_called:isolate_host OR max_iterations
      no: tool_called:isolate_host
      yes: max_iterations
    """

    condition: TerminationCondition
    holds: bool | None
    """None where it is unknown: a predicate raised, nobody gave a confidence; that ends nothing (S44)"""
    reason: str
    """why the run ends, in the words of the branch that holds; the condition's token where none does"""
    parts: tuple[Judgement, ...] = ()
    why: str = ""
    """what made it unknown"""

    @property
    def decisive(self) -> tuple[Judgement, ...]:
        """The parts that are no combination and by which the run ends; none where it does not."""
        return tuple(self._decisive()) if self.holds is True else ()

    @property
    def limit(self) -> bool:
        """The run ends by a limit, which is never a goal: one of the decisive parts is one (S37)."""
        return any(part.condition.is_limit for part in self.decisive)

    @property
    def goal(self) -> bool:
        """The run ends by a goal: not by a limit, and not by words of the model alone (S37)."""
        said = all(part.condition.is_mention for part in self.decisive)
        return self.holds is True and not said and not self.limit

    def _decisive(self) -> Iterator[Judgement]:
        inner = self.condition.decisive(self.parts)
        if not inner:
            yield self
        for part in inner:
            yield from part._decisive()

    def __str__(self) -> str:
        return "\n".join(self._lines(""))

    def _lines(self, indent: str) -> Iterator[str]:
        said = f" ({self.why})" if self.why else ""
        own = "" if self.parts or self.holds is not True else self.reason
        yield f"{indent}{_WORDS[self.holds]}: {own or self.condition.reason}{said}"
        for part in self.parts:
            yield from part._lines(indent + "  ")

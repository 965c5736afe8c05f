"""`&`, `|` and `~`: three-valued, flat, and open to look into."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from guideway.statemachine.errors import HostError

from .base import TerminationCondition
from .checks import shown
from .judgement import Judgement
from .state import RunState

DEEPEST = 60
"""Conditions inside one another, as deep as a playbook may nest."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class AndCondition(TerminationCondition):
    """
    All of its conditions hold; its reason is theirs, joined with ` AND `.

    Raises:
        HostError: it is given none, or something that is no condition.

    >>> from guideway.termination import MaxIterations, NoToolCalls, RunState
    >>> both = AndCondition(NoToolCalls(), MaxIterations(2))
    >>> both.conditions
    (NoToolCalls(), MaxIterations(2))
    >>> both.check(RunState(iterations=2))
    (True, 'no_tools AND max_iterations')
    """

    conditions: tuple[TerminationCondition, ...]

    def __init__(self, *conditions: TerminationCondition) -> None:
        object.__setattr__(self, "conditions", flat(AndCondition, conditions))

    @property
    def is_limit(self) -> bool:
        """One of its parts is a limit."""
        return any(part.is_limit for part in self.conditions)

    @property
    def is_mention(self) -> bool:
        """All of its parts do."""
        return all(part.is_mention for part in self.conditions)

    @property
    def reason(self) -> str:
        """The tokens of the parts, joined with ` AND `."""
        return " AND ".join(part.reason for part in self.conditions)

    def judge(self, state: RunState, *, whole: bool = False) -> Judgement:
        """False where a part is false, else unknown where one is unknown (Kleene)."""
        parts = asked(self.conditions, state, whole, decided_by=False)
        holds = strongest(parts, False)
        words = " AND ".join(part.reason for part in parts) if holds is True else self.reason
        return Judgement(self, holds, words, parts)

    def decisive(self, parts: tuple[Judgement, ...]) -> tuple[Judgement, ...]:
        """All of them."""
        return parts

    def to_json(self) -> dict[str, Any]:
        """`{"all": [...]}`."""
        return {"all": [part.to_json() for part in self.conditions]}

    def to_playbook(self) -> dict[str, Any]:
        """`all: [...]`."""
        return {"all": [part.to_playbook() for part in self.conditions]}

    def __repr__(self) -> str:
        return written("AndCondition", " & ", self.conditions)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class OrCondition(TerminationCondition):
    """
    One of its conditions holds; the reason is that of the first that does.

    Raises:
        HostError: it is given none, or something that is no condition.

    >>> from guideway.termination import MaxIterations, NoToolCalls, RunState
    >>> OrCondition(NoToolCalls(), MaxIterations(2)).check(RunState(iterations=2, tool_calls_last_turn=1))
    (True, 'max_iterations')
    """

    conditions: tuple[TerminationCondition, ...]

    def __init__(self, *conditions: TerminationCondition) -> None:
        object.__setattr__(self, "conditions", flat(OrCondition, conditions))

    @property
    def is_limit(self) -> bool:
        """All of its parts are limits; by which of them a run has ended, a `Judgement` says."""
        return all(part.is_limit for part in self.conditions)

    @property
    def is_mention(self) -> bool:
        """All of its parts do."""
        return all(part.is_mention for part in self.conditions)

    @property
    def reason(self) -> str:
        """The tokens of the parts, joined with ` OR `."""
        return " OR ".join(part.reason for part in self.conditions)

    def judge(self, state: RunState, *, whole: bool = False) -> Judgement:
        """True where a part is true, else unknown where one is unknown (Kleene)."""
        parts = asked(self.conditions, state, whole, decided_by=True)
        holds = strongest(parts, True)
        words = next((part.reason for part in parts if part.holds is True), self.reason)
        return Judgement(self, holds, words, parts)

    def decisive(self, parts: tuple[Judgement, ...]) -> tuple[Judgement, ...]:
        """The first that holds."""
        return tuple(part for part in parts if part.holds is True)[:1]

    def to_json(self) -> dict[str, Any]:
        """`{"any": [...]}`."""
        return {"any": [part.to_json() for part in self.conditions]}

    def to_playbook(self) -> dict[str, Any]:
        """`any: [...]`."""
        return {"any": [part.to_playbook() for part in self.conditions]}

    def __repr__(self) -> str:
        return written("OrCondition", " | ", self.conditions)


@dataclass(frozen=True, slots=True, repr=False)
class NotCondition(TerminationCondition):
    """
    Its condition does not hold; where that is unknown, so is this.

    >>> from guideway.termination import MaxIterations, RunState
    >>> (~MaxIterations(2)).check(RunState(iterations=1))
    (True, 'NOT max_iterations')
    """

    condition: TerminationCondition

    def __post_init__(self) -> None:
        flat(NotCondition, (self.condition,))

    @property
    def conditions(self) -> tuple[TerminationCondition, ...]:
        """The one condition that it turns round."""
        return (self.condition,)

    @property
    def is_limit(self) -> bool:
        """A limit turned round is one still (S37)."""
        return self.condition.is_limit

    @property
    def is_mention(self) -> bool:
        """Its part does."""
        return self.condition.is_mention

    @property
    def reason(self) -> str:
        """The token of the part, with `NOT` before it."""
        return f"NOT {self.condition.reason}"

    def judge(self, state: RunState, *, whole: bool = False) -> Judgement:
        """Turn yes and no round, and nothing else."""
        part = self.condition.judge(state, whole=whole)
        return Judgement(self, None if part.holds is None else not part.holds, self.reason, (part,))

    def to_json(self) -> dict[str, Any]:
        """`{"not": {...}}`."""
        return {"not": self.condition.to_json()}

    def to_playbook(self) -> dict[str, Any]:
        """`not: {...}`."""
        return {"not": self.condition.to_playbook()}

    def __repr__(self) -> str:
        return f"~{bracketed(self.condition)}"


Combination = AndCondition | OrCondition | NotCondition


def leaves(condition: TerminationCondition) -> Iterable[TerminationCondition]:
    """
    Walk down to the conditions that are no combination, in the order of writing.

    >>> from guideway.termination import MaxIterations, NoToolCalls, ToolCalled
    >>> list(leaves(~ToolCalled("x") & NoToolCalls() | MaxIterations(3)))
    [ToolCalled('x'), NoToolCalls(), MaxIterations(3)]
    """
    if isinstance(condition, Combination):
        for part in condition.conditions:
            yield from leaves(part)
    else:
        yield condition


def flat(kind: type[TerminationCondition], conditions: tuple[object, ...]) -> tuple[TerminationCondition, ...]:
    """Check the parts, and take those of the same kind out of their brackets: `(a & b) & c` is `a & b & c`."""
    found: list[TerminationCondition] = []
    for part in conditions:
        if not isinstance(part, TerminationCondition):
            raise HostError(f"{kind.__name__} combines conditions, and {shown(part)} is none")
        same = isinstance(part, AndCondition | OrCondition) and isinstance(part, kind)
        found += part.conditions if isinstance(part, AndCondition | OrCondition) and same else [part]
    if not found:
        raise HostError(f"{kind.__name__} needs a condition: of none, nobody could say when it holds")
    if max(map(depth, found)) >= DEEPEST:
        raise HostError(f"conditions lie at most {DEEPEST} deep inside one another; flatten this one")
    return tuple(found)


def depth(condition: TerminationCondition) -> int:
    """How many combinations lie inside one another."""
    return 1 + max(map(depth, condition.conditions)) if isinstance(condition, Combination) else 0


def asked(
    conditions: tuple[TerminationCondition, ...], state: RunState, whole: bool, *, decided_by: bool
) -> tuple[Judgement, ...]:
    """Ask the parts in order, up to the one that decides."""
    parts: list[Judgement] = []
    for condition in conditions:
        parts.append(condition.judge(state, whole=whole))
        if parts[-1].holds is decided_by and not whole:
            break
    return tuple(parts)


def strongest(parts: tuple[Judgement, ...], decided_by: bool) -> bool | None:
    """The value that decides where a part has it, else unknown where a part is, else the other."""
    answers = [part.holds for part in parts]
    return decided_by if decided_by in answers else None if None in answers else not decided_by


def written(name: str, sign: str, conditions: tuple[TerminationCondition, ...]) -> str:
    """The combination as Python reads it back."""
    if len(conditions) == 1:
        return f"{name}({conditions[0]!r})"
    return sign.join(map(bracketed, conditions))


def bracketed(condition: TerminationCondition) -> str:
    """A combination of several needs brackets inside another."""
    several = isinstance(condition, AndCondition | OrCondition) and len(condition.conditions) > 1
    return f"({condition!r})" if several else repr(condition)

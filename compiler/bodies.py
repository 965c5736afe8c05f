"""The bodies of `for_each` steps: what is named or written there belongs to one item (S32)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from guideway.playbooks.blocks import ForEachSpec
from guideway.playbooks.steps import PlaybookStep

from .findings import Path


@dataclass(frozen=True, slots=True)
class Body:
    """What runs once per item of the step `step`, which stands at `path`."""

    step: str
    path: Path
    spec: ForEachSpec


class Bodies:
    """
    Finds the bodies that a place on the page lies in.

    >>> look = PlaybookStep(id="look", description="Look")
    >>> each = PlaybookStep(id="each", for_each=ForEachSpec(as_="host", in_="inputs.hosts"), steps=[look])
    >>> bodies = Bodies([(each, ("steps", 0)), (look, ("steps", 0, "steps", 0))])
    >>> [body.spec.as_ for body in bodies.around(("steps", 0, "steps", 0, "when"))], bodies.around(("steps", 0, "when"))
    (['host'], ())
    """

    def __init__(self, steps: Iterable[tuple[PlaybookStep, Path]]) -> None:
        self._at: dict[Path, Body] = {}
        for step, path in steps:
            if step.for_each is not None:
                body = Body(step.id, path, step.for_each)
                self._at[(*path, "steps")] = self._at[(*path, "for_each", "collect")] = body

    def __bool__(self) -> bool:
        return bool(self._at)

    def around(self, path: Path) -> tuple[Body, ...]:
        """Give the bodies around a place, the outermost first."""
        if not self._at:
            return ()
        return tuple(self._at[path[:end]] for end in range(1, len(path) + 1) if path[:end] in self._at)

"""Targets (`next`, `goto`, `on_…`) resolved to states."""

from __future__ import annotations

from collections.abc import Mapping

from guideway.playbooks.branches import Branch
from guideway.statemachine.expressions.expression import Expression

from .chain import Way, Ways
from .defaults import Target
from .ends import DONE, Ends
from .findings import Path
from .names import unknown_target
from .reading import Reader


class Targets:
    """
    Resolves targets against the steps and outcomes of one playbook.

    Targets of `defaults` and of `tools` serve many steps; each is resolved and reported once.
    """

    def __init__(self, heads: Mapping[str, str], ends: Ends, reader: Reader) -> None:
        self._heads = heads
        self._ends = ends
        self._reader = reader
        self._shared: dict[Path, Ways] = {}

    def ways(self, target: Target, path: Path) -> Ways:
        """Give the branches of a target; a name that is unknown is reported and left out."""
        if path in self._shared:
            return self._shared[path]
        ways = self._branches(target, path) if isinstance(target, list) else self._one(target, path, None)
        if path[0] != "steps":
            self._shared[path] = ways
        return ways

    def _branches(self, branches: list[Branch], path: Path) -> Ways:
        ways: list[Way] = []
        for index, branch in enumerate(branches):
            guard = self._reader.expression(branch.when, "when", (*path, index, "when"))
            ways += self._one(branch.goto, (*path, index, "goto"), guard)
        return tuple(ways)

    def _one(self, target: str, path: Path, guard: Expression | None) -> Ways:
        findings = self._reader.findings
        span = findings.at(path)
        if target in self._heads:
            return (Way(self._heads[target], guard, span),)
        if self._ends.is_word(target):
            return (Way(self._ends.named(target), guard, span, outcome=True),)
        known = (*self._ends.classes, DONE)
        findings.add(path, unknown_target(target, span, findings.offer(self._heads), findings.offer(known)))
        return ()

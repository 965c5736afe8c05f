"""Targets (`next`, `goto`, `on_…`, `choices`) resolved to states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from guideway.statemachine.diagnostic import Diagnostic
from guideway.statemachine.expressions.expression import Expression
from guideway.statemachine.span import Span

from .block_rules import target_in_any_order, target_inside, target_outside
from .chain import Way, Ways
from .defaults import Listing, Target
from .ends import DONE, Ends
from .findings import Path
from .lists import ANY_ORDER
from .names import unknown_target
from .reading import Reader


class Spot(NamedTuple):
    """Where a step is entered, the list it stands in, and where it is written."""

    head: str
    home: Listing
    path: Path


class Targets:
    """
    Resolves targets against the steps and outcomes of one playbook.

    A target is a step of the same list or of one around it, as long as no list between them runs beside others.
    Targets of `defaults` and of `tools` serve many steps; each is resolved and reported once.
    """

    def __init__(self, spots: Mapping[str, Spot], ends: Ends, reader: Reader) -> None:
        self._spots = spots
        self._ends = ends
        self._reader = reader
        self._shared: dict[Path, Ways] = {}

    def ways(self, target: Target, path: Path, home: Listing) -> Ways:
        """Give the branches of a target written in a list; a name that leads nowhere is reported and left out."""
        if path in self._shared:
            return self._shared[path]
        ways = self._branches(target, path, home)
        if path[0] in ("defaults", "tools"):
            self._shared[path] = ways
        return ways

    def _branches(self, target: Target, path: Path, home: Listing) -> Ways:
        if isinstance(target, str):
            return self._one(target, path, home, None)
        ways: list[Way] = []
        for index, branch in enumerate(target):
            guard = self._reader.expression(branch.when, "when", (*path, index, "when"))
            ways += self._one(branch.goto, (*path, index, "goto"), home, guard)
        return tuple(ways)

    def _one(self, target: str, path: Path, home: Listing, guard: Expression | None) -> Ways:
        span = self._reader.findings.at(path)
        spot = self._spots.get(target)
        if spot is not None and leads(home, spot.home):
            return (Way(spot.head, guard, span),)
        if spot is None and self._ends.is_word(target):
            way = self._end(target, home, guard, span)
            if way is not None:
                return (way,)
        self._reader.findings.add(path, self._fault(target, spot, home, span))
        return ()

    def _end(self, word: str, home: Listing, guard: Expression | None, span: Span) -> Way | None:
        """`done` leaves the list; other words end the playbook; where lists run side by side only `failed` leads."""
        if word == DONE and home.block:
            return Way(home.join, guard, span)
        if home.fence is None:
            return Way(self._ends.named(word), guard, span, outcome=True)
        return Way(home.fence.failed, guard, span) if word == "failed" else None

    def _fault(self, word: str, spot: Spot | None, home: Listing, span: Span) -> Diagnostic:
        findings = self._reader.findings
        if spot is None and not self._ends.is_word(word):
            known = (*self._ends.classes, DONE)
            return unknown_target(word, span, findings.offer(self._spots), findings.offer(known))
        fence = home.fence.block if home.fence is not None else ""
        if ANY_ORDER in (fence, spot.home.block if spot else ""):
            return target_in_any_order(word, span)
        if spot is None or (fence and spot.home in around(home)):
            return target_outside(word, fence, span, end=spot is None)
        beside = spot.home.block in {listing.block for listing in around(home)}
        return target_inside(word, spot.home.block, span, findings.at(spot.path), beside=beside)


def around(home: Listing) -> list[Listing]:
    """Give the list and those around it, the innermost first."""
    found = [home]
    while found[-1].outer is not None:
        found.append(found[-1].outer)
    return found


def leads(home: Listing, to: Listing) -> bool:
    """Tell whether a jump may lead from one list to another: outwards, and past no list that runs beside others."""
    here: Listing | None = home
    while here is not None and here is not to:
        here = None if here.concurrent else here.outer
    return here is to

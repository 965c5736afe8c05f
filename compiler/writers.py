"""Who keeps which result: no two branches under one name, and all that the items of a `for_each` give."""

from __future__ import annotations

from collections.abc import Iterator

from guideway.playbooks.steps import PlaybookStep
from guideway.statemachine.tools import is_pattern

from .block_rules import two_writers
from .defaults import Keys, Listing
from .findings import Path
from .lists import ANY_ORDER
from .reading import Reader
from .said import writes

Written = dict[str, Path]
"""Names of facts, each with the first place on the page that writes it."""


def check_writers(own: Listing, reader: Reader) -> None:
    """
    Report facts that two branches of one `parallel` write, wherever in them.

    Where the steps of the playbook have no order, and for optional tools, only names that something reads matter: a
    playbook of the plain form may name a tool in several steps.
    """
    if any(keys.lists for keys in own.steps):
        _Writers(reader).of(own)


def keep_results(reader: Reader) -> None:
    """
    Keep whole what an item of a `for_each` may give.

    Without `collect` that is the last fact the item wrote (S32), and a fact that nothing reads is not kept (S5).
    """
    read = reader.projections
    for step, names in reader.scope.item_facts().items():
        if read.reads(step):
            for name in names:
                read.note(("facts", name))


class _Writers:
    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def of(self, listing: Listing) -> Written:
        """Give what the steps of a list write in the frame of the list."""
        found: Written = {}
        for keys in listing.steps:
            for name, path in self._own(keys, listing.block == ANY_ORDER):
                found.setdefault(name, path)
            inner = [self.of(each) for each in keys.lists]
            if keys.kind == "parallel":
                self._compare(keys, inner)
            if keys.kind != "for_each":
                for each in inner:
                    found = each | found
        return found

    def _compare(self, keys: Keys, branches: list[Written]) -> None:
        """Report each name that a second branch writes as well."""
        names = list(keys.step.parallel or {})
        first: dict[str, tuple[str, Path]] = {}
        for branch, written in zip(names, branches, strict=True):
            for name, path in written.items():
                earlier, where = first.setdefault(name, (branch, path))
                if earlier != branch:
                    at = self.reader.findings.at
                    fault = two_writers(name, keys.step.id, (earlier, branch), at(path), at(where))
                    self.reader.findings.add(path, fault)

    def _own(self, keys: Keys, any_order: bool) -> Iterator[tuple[str, Path]]:
        step, path = keys.step, keys.path
        if step.call is not None or writes(step):
            yield step.id, path
        for name, where, firm in _kept(step, path):
            if (firm and not any_order) or self.reader.projections.reads(name):
                yield name, where


def _kept(step: PlaybookStep, path: Path) -> Iterator[tuple[str, Path, bool]]:
    """What an agent's calls are kept under; of an optional tool without `as` nobody may ever ask."""
    for key, entries in (("expected_tools", step.expected_tools), ("optional_tools", step.optional_tools)):
        for index, entry in enumerate(entries):
            tool, name = (entry, None) if isinstance(entry, str) else (entry.tool, entry.as_)
            if name is not None or not is_pattern(tool):
                yield name or tool, (*path, key, index), name is not None or key == "expected_tools"

"""Findings, gathered while a playbook is lowered; lowering never stops at the first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from guideway.playbooks.models import Playbook
from guideway.playbooks.nodes import path_text
from guideway.statemachine.diagnostic import Diagnostic, Level
from guideway.statemachine.span import Span

Path = tuple[str | int, ...]
"""Keys and indexes from the top of the playbook to a value."""


WITHOUT_PLACES = "<dict>"
"""The file of a playbook that was given as a dict or built in Python."""


MANY = 50
"""After so many findings no name is suggested any more."""


class Findings:
    """The findings about one playbook, and the way from a path to a place."""

    def __init__(self, playbook: Playbook) -> None:
        self._playbook = playbook
        self._has_places = playbook.file != WITHOUT_PLACES
        self.found: list[Diagnostic] = []

    def add(self, path: Path, finding: Diagnostic) -> None:
        """Keep a finding about a value.  A dict has no places, so there the message names the path."""
        if not self._has_places:
            finding = replace(finding, message=f"{path_text(path)}: {finding.message}")
        self.found.append(finding)

    def offer(self, names: Iterable[str]) -> Iterable[str]:
        """Give the names that a finding may suggest: none on a page with very many findings, to save time."""
        return names if len(self.found) < MANY else ()

    @property
    def refused(self) -> bool:
        """One of them is an error, so there will be no machine."""
        return any(finding.level is Level.ERROR for finding in self.found)

    def at(self, path: Path) -> Span:
        """The place of a value."""
        return self._playbook.span(path)

    def key_at(self, path: Path) -> Span:
        """The place of the key of a value."""
        return self._playbook.key_span(path)

    def inside(self, path: Path, offset: int) -> Span:
        """The place of one character of a text."""
        return self._playbook.text_span(path, offset)

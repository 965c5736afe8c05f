"""What reading hands on: the tree, the findings, and the way back from a path to a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from guideway.statemachine.diagnostic import Diagnostic, Level
from guideway.statemachine.span import Span

from .nodes import Node

Path = Sequence[str | int]


@dataclass(slots=True)
class Document:
    """
    One source, read.

    `root` is None where nothing could be read.  `complete` is False when reading had to stop early: the tree holds what
    came before, so nothing may be said to be missing from it.  `has_places` is False for a dict, whose spans all are
    line 1 column 1: name the path (`nodes.path_text`) in messages.
    """

    root: Node | None
    file: str
    diagnostics: list[Diagnostic] = field(default_factory=list)
    complete: bool = True
    has_places: bool = True

    @property
    def ok(self) -> bool:
        """Whether the source was read without an error."""
        return self.complete and not any(d.level is Level.ERROR for d in self.diagnostics)

    def span(self, where: Node | Path = ()) -> Span:
        """The place of a node, or of the deepest node that exists on a path."""
        if isinstance(where, Node):
            return Span(self.file, where.line, where.column)
        if self.root is None:
            return Span(self.file, 1, 1)
        node = self.root.at(where)
        return Span(self.file, node.line, node.column)

    def key_span(self, path: Path) -> Span:
        """The place of the key at the end of a path; of the value where the path ends at a list item or at nothing."""
        if path and self.root is not None:
            place = self.root.at(path[:-1]).key_places.get(str(path[-1]))
            if place is not None:
                return Span(self.file, *place)
        return self.span(path)

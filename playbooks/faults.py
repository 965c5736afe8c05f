"""A fault of shape, before it has a place: rules and models speak of paths, documents of lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from guideway.statemachine.diagnostic import Diagnostic, Level, Related
from guideway.statemachine.span import Span

from .document import Document
from .nodes import path_text

Path = tuple[str | int, ...]

AS_WRITTEN = "{as written}"
"""Stands in a repair for the value as its author wrote it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at a path.  `at` says whether the key or the value is to be shown."""

    code: str
    path: Path
    message: str
    help: str | None = None
    at: Literal["key", "value"] = "value"
    related: tuple[tuple[Path, str], ...] = ()
    meant: str | None = None
    """The known key that an unknown one probably stands for."""

    def placed(self, document: Document) -> Diagnostic:
        """Give the fault its place.  A dict has none, so there the message names the path."""
        span = document.key_span(self.path) if self.at == "key" else document.span(self.path)
        message = self.message if document.has_places else f"{path_text(self.path)}: {self.message}"
        related = tuple(Related(_shown(document, path), text) for path, text in self.related)
        repair = self.help and self.help.replace(AS_WRITTEN, self._written(document))
        return Diagnostic(self.code, Level.ERROR, message, span, repair or None, related)

    def _written(self, document: Document) -> str:
        """The value letter for letter, where there is a page: `1e3`, and not the number it stands for."""
        node = document.root.at(self.path) if document.root is not None else None
        return str(node.text if node is not None and document.has_places else node.plain() if node else "")


def _shown(document: Document, path: Path) -> Span:
    """A branch is shown by its name, everything else by its value."""
    return document.key_span(path) if path[-2:-1] == ("parallel",) else document.span(path)


def key_text(path: Path) -> str:
    """
    Name a value by its key.

    >>> key_text(("steps", 0, "hints", 1)), key_text(("steps", 2)), key_text(())
    ('`hints[1]`', '`steps[2]`', 'the playbook')
    """
    start = max((i for i, part in enumerate(path) if isinstance(part, str)), default=0)
    return f"`{path_text(path[start:])}`" if path else "the playbook"


def value_text(value: Any) -> str:
    """
    Name a value in a message, never at length.

    >>> value_text("3"), value_text(3), value_text(True), value_text([1])
    ('the text "3"', 'the number 3', '`true`', 'a list')
    """
    match value:
        case None:
            return "nothing"
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float():
            return f"the number {value}"
        case str():
            return f'the text "{short(value)}"'
        case list():
            return "a list" if value else "an empty list"
        case _:
            return "a map" if value else "an empty map"


def short(text: str, limit: int = 60) -> str:
    """
    Cut a text for a message, and show what cannot be seen.

    >>> short("a\\nb"), short("x" * 9, 4)
    ('a\\\\nb', 'xxxx…')
    """
    cut = text if len(text) <= limit else text[:limit] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)

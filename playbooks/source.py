"""Where the words of a playbook stand; a playbook built in Python stands nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from guideway.statemachine.diagnostic import Diagnostic
from guideway.statemachine.span import Span

if TYPE_CHECKING:
    from .reader import Document

Path = Sequence[str | int]


class Source:
    """The document behind a playbook.  All sources are equal: where the words stand is no part of what they say."""

    __slots__ = ("document", "findings")

    def __init__(self, document: Document | None = None) -> None:
        self.document = document
        self.findings: tuple[Diagnostic, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Source)

    def __hash__(self) -> int:
        return 0

    @property
    def file(self) -> str:
        """A path, `<text>` or `<dict>`."""
        return self.document.file if self.document else "<dict>"

    def span(self, path: Path = ()) -> Span:
        """The place of the deepest value on the way."""
        return self.document.span(self._written(path)) if self.document else Span("<dict>", 1, 1)

    def key_span(self, path: Path) -> Span:
        """The place of the key of that value."""
        return self.document.key_span(self._written(path)) if self.document else Span("<dict>", 1, 1)

    def text_span(self, path: Path, offset: int) -> Span:
        """The place of one character of a text."""
        document = self.document
        if document is None or document.root is None:
            return Span("<dict>", 1, 1)
        return Span(document.file, *document.root.at(self._written(path)).text_offset(offset))

    def _written(self, path: Path) -> tuple[str | int, ...]:
        """Leave out the indexes of a list that was written as the single value it stands for."""
        written: list[str | int] = []
        node = self.document.root if self.document else None
        for part in path:
            value = node.value if node else None
            if isinstance(part, int) and type(value) is not list:
                continue
            written.append(part)
            if type(value) is dict:
                node = value.get(part)
            else:
                node = value[part] if type(value) is list and isinstance(part, int) and part < len(value) else None
        return tuple(written)

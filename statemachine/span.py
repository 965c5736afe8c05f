"""Where a word of a playbook stands."""

from __future__ import annotations

from typing import NamedTuple


def escaped(text: object) -> str:
    """
    A text on one line, with all that cannot be seen written out.

    No name of a file forges a place with it, and nothing that others wrote moves a terminal's cursor.

    >>> escaped("a\\nb.yaml")
    'a\\\\nb.yaml'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


class Span(NamedTuple):
    """
    One place in one source.

    Lines and columns count from 1, columns in code points.
    A playbook that was given as a dict has the file `<dict>`, one given as text `<text>`.

    >>> str(Span("triage.yaml", 3, 5))
    'triage.yaml:3:5'
    """

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        file = self.file if self.file.isprintable() else escaped(self.file)
        return f"{file}:{self.line}:{self.column}"

    def right(self, columns: int) -> Span:
        """
        Move along the line: the place of the character `columns` further on.

        >>> str(Span("a.yaml", 1, 1).right(4))
        'a.yaml:1:5'
        """
        return Span(self.file, self.line, self.column + columns)

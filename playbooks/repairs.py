"""
Reading on after a syntax error: the part with the known repair is replaced by a stand-in of the same length.

libyaml stops at the first error; a person wants all of them.  Where a hint knows the repair (always "quote this"), the
text is read once more with harmless letters in that place, so all other places stay true, and the builder puts the
author's words back.
"""

from __future__ import annotations

from .builder import Builder
from .hints import Fault, Hint, explain
from .places import place_of

MAX_REPAIRS = 20
MAX_REREAD = 2_000_000
"""Characters read again for repairs, in all: a bound on the time that a broken file can cost."""


class Repairs:
    """The text with its stand-ins, and what the author wrote in their places."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.stand_ins: dict[int, str] = {}
        self._spans: list[tuple[int, int]] = []
        self._stuck = False

    @property
    def possible(self) -> bool:
        """Whether one more reading may be spent."""
        done = len(self._spans) + 1
        return not self._stuck and done <= MAX_REPAIRS and done * len(self.text) <= MAX_REREAD

    def take(self, fault: Fault, out: Builder) -> bool:
        """Report a syntax error; True when reading may start again with the part repaired."""
        return self.make(explain(self.text, fault), out)

    def make(self, hint: Hint, out: Builder) -> bool:
        """Report what a hint says and repair it; False when that cannot be."""
        line, column = place_of(self.text, hint.index)
        out.report(hint.code, hint.message, line, column, hint.help)
        if hint.value is None or hint.end <= hint.start or not self.possible:
            return False
        if any(start < hint.end and hint.start < end for start, end in self._spans):
            self._stuck = True
            return False
        self.stand_ins[hint.start] = hint.value
        self._spans.append((hint.start, hint.end))
        self.text = self.text[: hint.start] + "x" * (hint.end - hint.start) + self.text[hint.end :]
        return True

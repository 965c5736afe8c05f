"""
Patterns an author writes: RE2 through google-re2, and nowhere else.

RE2 matches in time linear in the text, so no pattern and no text can hang a gate (`(a+)+$` on forty `a`s is an
ordinary question).  The price is that look-around and back-references do not exist.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .errors import GuidewayError

LONGEST = 4096
"""Longest pattern, in code points."""


class PatternError(GuidewayError):
    """The text is no RE2 pattern; the message says why in RE2's own words."""


class Pattern:
    """
    A compiled RE2 pattern.

    >>> Pattern("^[a-z]+[0-9]$").found_in("host7")
    True
    >>> Pattern("(")
    Traceback (most recent call last):
        ...
    guideway.statemachine.patterns.PatternError: missing ): (
    """

    __slots__ = ("_compiled", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self._compiled = _compile(source)

    def found_in(self, text: str) -> bool | None:
        """Tell whether some part of `text` matches; None when the text is no Unicode text (a lone surrogate)."""
        try:
            return self._compiled.search(text) is not None
        except UnicodeEncodeError:
            return None

    def __repr__(self) -> str:
        return f"Pattern({self.source!r})"


@lru_cache(maxsize=1024)
def pattern(source: str) -> Pattern:
    """
    Compile, or take from the cache.

    Raises `PatternError` as `Pattern` does.

    >>> pattern("a+").found_in("caat")
    True
    """
    return Pattern(source)


def _compile(source: str) -> Any:
    import re2  # lazily: most playbooks hold no pattern

    if len(source) > LONGEST:
        raise PatternError(f"the pattern has {len(source)} characters; at most {LONGEST} are read")
    options = re2.Options()
    options.log_errors = False  # RE2 would write to the host's stderr
    try:
        return re2.compile(source, options)
    except re2.error as fault:
        detail = fault.args[0] if fault.args else fault
        raise PatternError(detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)) from None
    except UnicodeEncodeError:
        raise PatternError("the pattern holds half a surrogate pair, which is no character") from None

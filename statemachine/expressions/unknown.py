"""The third truth value: what an expression gives when its data cannot answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn


@dataclass(frozen=True, slots=True)
class Unknown:
    """
    No value, and the reason in words.

    An unknown is neither true nor false.  It has no truth value in Python either, so that `if value:` cannot
    let one pass by accident: test with `value is True` or `isinstance(value, Unknown)`.

    >>> Unknown("facts.enrich is missing")
    Unknown(why='facts.enrich is missing')
    """

    why: str

    def __bool__(self) -> NoReturn:
        raise TypeError(f"an unknown is neither true nor false ({self.why}); compare with `is True`")

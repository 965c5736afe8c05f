"""The words of the language: root names, functions, macros."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

ROOTS: tuple[str, ...] = (
    "args", "result", "error", "facts", "history", "inputs", "answers",
    "signals", "claims", "terms", "run", "predicate", "now",
)  # fmt: skip
"""Every root name there is; loop names come on top.  Which of them a place may read is the compiler's to say."""

MACROS: tuple[str, ...] = ("all", "exists", "filter", "map")
WORDS: tuple[str, ...] = ("true", "false", "null", "in")


@dataclass(frozen=True, slots=True)
class Function:
    """
    One function as authors see it.

    `call` is how it is written; `method` and `plain` say which of `x.f()` and `f(x)` are legal;
    `arguments` is the least and the greatest number of arguments, the receiver not counted.
    """

    name: str
    call: str
    says: str
    method: bool
    plain: bool
    arguments: tuple[int, int]


_ALL = (
    Function("size", "size(x)", "length of a string (code points), list or map; also `x.size()`", True, True, (0, 1)),
    Function("has", "has(a.b)", "true if the path leads to a value; null is a value", False, True, (1, 1)),
    Function("default", "default(x, d)", "x, or d where x is unknown", False, True, (2, 2)),
    Function("matches", 's.matches("^a+$")', "true if some part of s matches the RE2 pattern", True, False, (1, 1)),
    Function("startsWith", 's.startsWith("a")', "true if s begins so", True, False, (1, 1)),
    Function("endsWith", 's.endsWith("a")', "true if s ends so", True, False, (1, 1)),
    Function("contains", 's.contains("a")', "true if the string s holds the other string", True, False, (1, 1)),
    Function("timestamp", 'timestamp("2026-01-31T09:00:00Z")',
             "a moment, from RFC 3339 text or whole seconds since 1970", False, True, (1, 1)),
    Function("duration", 'duration("1h30m")', "a length of time, from h, m, s, ms, us, ns", False, True, (1, 1)),
    Function("getDayOfWeek", 't.getDayOfWeek("Europe/Berlin")', "day of the week there (UTC unless said); Sunday is 0",
             True, False, (0, 1)),
    Function("getHours", 't.getHours("Europe/Berlin")', "hour of the day there, 0 to 23; of a duration: whole hours",
             True, False, (0, 1)),
    Function("double", "double(x)", "a number as a float, so that it can be reckoned with floats", False, True, (1, 1)),
    Function("predicate", 'predicate("is_vip")', "a yes or no that the host supplies", False, True, (1, 1)),
)  # fmt: skip

FUNCTIONS: dict[str, Function] = {function.name: function for function in _ALL}
"""Every function by its name; the macros are in `MACROS`."""


def nearest(word: str, words: tuple[str, ...]) -> str | None:
    """
    Find the word that was probably meant, whatever its case.

    >>> nearest("startswith", ("startsWith", "endsWith"))
    'startsWith'
    """
    by_lower = {known.lower(): known for known in words}
    found = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.7)
    return by_lower[found[0]] if found else None

"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

SHORT_LIST = 8
"""As many known names as a message still lists."""

_MANY = 500
"""Of so many names each is compared; of more, those that begin alike and are about as long."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """
    Find the known name closest to `word`, whatever its case; None where nothing is close.

    The similarity is that of `difflib.get_close_matches` (Ratcliff and Obershelp).

    >>> nearest("query_seim", ["isolate_host", "query_siem"])
    'query_siem'
    >>> nearest("Success", ["success", "failed"])
    'success'
    """
    by_lower = {name.lower(): name for name in known}
    if word.lower() in by_lower:
        return by_lower[word.lower()]
    candidates = list(by_lower)
    if len(candidates) > _MANY:
        begin, long = word[:1].lower(), len(word)
        candidates = [name for name in candidates if name[:1] == begin and abs(len(name) - long) <= 3][:_MANY]
    found = get_close_matches(word.lower(), candidates, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def hint(word: str, known: Iterable[str], otherwise: str = "") -> str | None:
    """
    Say what to write instead: the nearest name, the known ones where they are few, else `otherwise`.

    >>> hint("query_seim", ["isolate_host", "query_siem"])
    'did you mean `query_siem`? known: `isolate_host`, `query_siem`'
    >>> hint("x", [], "declare it under `inputs`")
    'declare it under `inputs`'
    """
    names = list(dict.fromkeys(known))
    parts = [f"did you mean `{guess}`?"] if (guess := nearest(word, names)) else []
    if 0 < len(names) <= SHORT_LIST:
        parts.append("known: " + ", ".join(f"`{name}`" for name in names))
    if otherwise and not guess:
        parts.insert(0, otherwise + (";" if parts else ""))
    return " ".join(parts) or None

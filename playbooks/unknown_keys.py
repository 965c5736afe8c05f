"""What to say of a key that the format does not know at that place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import Part
from .faults import Fault, Path, short
from .guesses import guess
from .levels import LABELS, homes, keys, level_at
from .models import Defaults, PlaybookStep
from .suggest import distance, nearest


def unknown_key(path: Path, beside: Mapping[str, Any]) -> Fault:
    """
    Say of a key what it should have been, or where it belongs.

    >>> unknown_key(("steps", 0, "wehn"), {}).message
    'unknown key `wehn` in a step; did you mean `when`?'
    """
    model, key = level_at(path[:-1]), str(path[-1])
    where = LABELS[model] if model else "here"
    if instead := guess(model, key, beside):
        return Fault(
            "GW021", path, f"unknown key `{short(key)}` {where}; {instead}", None, "key", meant=_first_word(instead)
        )
    if model is Defaults and key in keys(PlaybookStep):
        message = f"`{key}` cannot be a default; write it on each step"
        return Fault("GW022", path, message, f"defaults take {listed_keys(Defaults)}", "key")
    meant = meant_key(path)
    if (places := homes(key)) and not (meant and distance(key, meant) == 1):
        message = f"`{key}` has no meaning {where}; it belongs {' or '.join(places)}"
        return Fault("GW022", path, message, None, "key")
    return _unknown(path, model, where, key)


def _unknown(path: Path, model: type[Part] | None, where: str, key: str) -> Fault:
    meant = meant_key(path)
    hint = f"; did you mean `{meant}`?" if meant else ""
    listed = f"the keys known {where} are {listed_keys(model)}" if model and not meant else None
    return Fault("GW020", path, f"unknown key `{short(key)}` {where}{hint}", listed, "key", meant=meant)


def _first_word(instead: str) -> str | None:
    """
    The key that an instruction names first.

    >>> _first_word("write `wait: 10m`")
    'wait'
    """
    parts = instead.split("`")
    return parts[1].partition(":")[0] if len(parts) > 1 else None


def meant_key(path: Path) -> str | None:
    """The known key nearest to the last one of a path."""
    model = level_at(path[:-1])
    return nearest(str(path[-1]), tuple(keys(model))) if model else None


def listed_keys(model: type[Part] | None) -> str:
    """The legal keys of a map, for a message."""
    return ", ".join(f"`{key}`" for key in keys(model)) if model else ""

"""How values and calls are written for people: short, and with nothing in them that could move a cursor."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from guideway.statemachine.span import escaped

LONGEST = 120
"""Characters of one value in a line."""
WIDEST = 200
"""Characters of the arguments of one call."""


def call_text(tool: str, args: Any) -> str:
    """
    A call as people read it.

    >>> call_text("isolate_host", {"host": "ws-7", "hours": 2})
    'isolate_host(host="ws-7", hours=2)'
    """
    return f"{printable(tool)}({arguments(args) if isinstance(args, Mapping) else ''})"


def arguments(args: Mapping[str, Any]) -> str:
    """Names and values, shortened: the trace holds them whole."""
    whole = ", ".join(f"{printable(name)}={value_text(value, 60)}" for name, value in args.items())
    return printable(whole, WIDEST)


def value_text(value: Any, limit: int = LONGEST) -> str:
    """A value as JSON, never at length."""
    return printable(json.dumps(value, ensure_ascii=False), limit)


def printable(text: Any, limit: int = LONGEST) -> str:
    r"""
    Cut a text, and show what cannot be seen.

    >>> printable("a\x1b[31mb\n"), printable("x" * 9, 4)
    ('a\\x1b[31mb\\n', 'xxxx…')
    """
    text = str(text)
    cut = text if len(text) <= limit else text[:limit] + "…"
    return escaped(cut)

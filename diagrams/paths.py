"""The frames that the lines of a trace name: of called playbooks, and of items."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_ITEMS = re.compile(r"(?:[^/]*\[\d+\](?:#\d+)?/)*")
"""The frames of items, and of items in them."""


def belongs(record: Mapping[str, Any], frame: str) -> bool:
    """Say whether the line is of the frame, or of an item in it."""
    path = record.get("frame") or ""
    return isinstance(path, str) and path.startswith(frame) and bool(_ITEMS.fullmatch(path[len(frame) :]))


def around(frame: str) -> str:
    """
    Name the frame directly around another: of a caller, or of an item of its; none for that of the run.

    >>> around("enrich/"), around("ramp[2]/enrich/")
    ('', 'ramp[2]/')
    """
    outer = frame.removesuffix("/").rpartition("/")[0]
    return f"{outer}/" if outer else ""


def caller(frame: str) -> str:
    """
    Name the frame of the playbook that called the one of a frame.

    >>> caller("enrich/"), caller("ramp[2]/enrich/"), caller("ramp[2]/enrich/hosts[0]/look/")
    ('', '', 'ramp[2]/enrich/')
    """
    outer = around(frame)
    while outer and _ITEMS.fullmatch(outer[len(around(outer)) :]):
        outer = around(outer)
    return outer

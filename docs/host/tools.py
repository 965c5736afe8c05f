"""Tools for the playbooks of these pages, on data that is the same at every start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_copies = ["monday", "sunday", "saturday"]
_looks = iter([40, 100, 100])
_busy = iter([True, False])


class Busy(Exception):  # noqa: N818  (its name is what playbooks read as `error.type`)
    """The storage does something else."""


def start_copy(volume: str, token: str) -> dict[str, Any]:
    """Begin; the first time the storage is busy."""
    if next(_busy, False):
        raise Busy(f"{volume} is being checked")
    return {"started": volume, "with_token": bool(token)}


def copy_state() -> dict[str, Any]:
    """How far it is."""
    percent = next(_looks, 100)
    return {"percent": percent, "sum": "9f2c" if percent == 100 else ""}


def list_copies() -> dict[str, Any]:
    """The copies there are, newest first."""
    return {"copies": list(_copies)}


def remove_copy(copy: str) -> dict[str, Any]:
    """Remove one."""
    _copies.remove(copy)
    return {"removed": copy}


def enrich_indicator(host: str) -> dict[str, Any]:
    """Look a host up."""
    return {"verdict": "malicious" if host == "ws-7" else "clean"}


def isolate_host(host: str) -> dict[str, Any]:
    """Take a host off the network."""
    return {"isolated": host}


def read_case(case_id: str) -> dict[str, Any]:
    """Read a case."""
    return {"id": case_id, "open": True}


def read_log(number: int) -> dict[str, Any]:
    """Read one of its logs."""
    return {"number": number, "lines": ["a guess got in"]}


def look_up(host: str) -> dict[str, Any]:
    """Look a neighbour up."""
    return {"host": host, "verdict": "clean"}


def add_note(text: str) -> dict[str, Any]:
    """Write a note."""
    return {"characters": len(text)}


def close_case(case_id: str) -> dict[str, Any]:
    """Close a case."""
    return {"closed": case_id}


def query_siem(host: str) -> dict[str, Any]:
    """Search for a host."""
    return {"hits": 3, "host": host}


TOOLS: dict[str, Callable[..., Any]] = {
    "storage.remove": remove_copy,
    **{
        tool.__name__: tool
        for tool in (
            start_copy, copy_state, list_copies, enrich_indicator, isolate_host, read_case, read_log, look_up, add_note,
            close_case, query_siem,
        )
    },
}  # fmt: skip

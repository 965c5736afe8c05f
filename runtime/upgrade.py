"""Snapshots of version 1, from when a run had one frame and one cursor, as those of today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .saving import COPIED, PLAIN

FRAME = ("inputs", "visits", "facts", "history", "incomplete", "unknown", "called", "doubted", "started")
REGISTERS = (
    "state", "step", "visit", "spent", "successes", "failures", "rounds", "issued", "again", "granted", "shown",
    "collected", "rejected", "counts", "barred",
)  # fmt: skip


def completed(data: Mapping[str, Any]) -> dict[str, Any]:
    """A snapshot from before there were modes and substituted results."""
    bounds = data.get("bound", ())
    later = {"illegal": False, "substituted": False}
    parts = [{**later, **part} if isinstance(part, dict) else part for part in bounds]
    return {"mode": "enforce", **data, "bound": parts if isinstance(bounds, list) else bounds}


def from_version_1(data: Mapping[str, Any]) -> dict[str, Any]:
    """Put what there was into the first frame and the first cursor; nothing is lost, and nothing else was there."""
    old = data["cursor"]
    return {
        **{name: data[name] for name in PLAIN if name in data},
        "claims": int(data["confidence"] is not None),
        "signals": 0,
        **dict(zip(COPIED, (data["retired"], {}, {}), strict=True)),
        "version": 2,
        "digest": data["digest"],
        "started": data["started"],
        "now": data["now"],
        "frames": [{**{name: data[name] for name in FRAME}, "root": 0, "since": [0, 0, 0, 0]}],
        "cursors": [{"frame": 0, **{name: old[name] for name in REGISTERS if old[name] is not None}}],
        "bound": [bound(part) for part in data["bound"]],
        "open": [],
        "closers": [],
        "fresh": [0] if data["fresh"] else [],
        "watching": [],
        "held": [],
        "outstanding": data["outstanding"],
        "waiting": data["waiting"],
        "turn": data["turn"] and turn(data["turn"]),
        "settled": data["settled"],
        "pending": [pending(part) for part in data["pending"]],
        "timers": [timer(part, old["issued"]) for part in data["timers"]],
        "commands": data["commands"],
    }


def bound(part: Mapping[str, Any]) -> dict[str, Any]:
    """A call belonged to the cursor where it counted for an entry or was the runtime's own."""
    mine = part["line"] is not None or part["automatic"]
    placed = mine or part["status"] != "deferred"
    return {**part, "cursor": 0 if mine else None, "frame": 0 if placed else None, "reverses": None}


def turn(part: Mapping[str, Any]) -> dict[str, Any]:
    """A turn remembered where it began as step and visit."""
    return {**part, "began": [[0, step, visit] for step, visit in part["began"]]}


def pending(part: list[Any]) -> dict[str, Any]:
    """A question was a list, and one person's word was enough."""
    names = ("approval_id", "of", "step", "visit", "ask", "approvers", "call", "tool", "args")
    more = {"cursor": 0, "excluded": [], "count": 1, "everyone": False, "said": []}
    return {**dict(zip(names, part, strict=True)), **more}


def timer(part: list[Any], issued: int) -> list[Any]:
    """A timer knew its step and visit; the command of a wake was named after the latest call."""
    due, kind, step, visit = part
    about = f"wake {step}@{visit}.{issued}" if kind == "wake" else ""
    return [due, kind, 0 if step else None, step, visit, about]

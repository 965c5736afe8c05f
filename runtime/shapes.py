"""What the parts of a snapshot look like, so that one that was edited or cut is refused and not run (S1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Kinds = tuple[type, ...]
Shape = Mapping[str, Kinds]

TEXT: Kinds = (str,)
TEXT_OR_NONE: Kinds = (str, type(None))
NUMBER: Kinds = (int,)
NUMBER_OR_NONE: Kinds = (int, type(None))
YES_OR_NO: Kinds = (bool,)
MAP: Kinds = (dict,)
MAP_OR_NONE: Kinds = (dict, type(None))
LIST: Kinds = (list,)
LIST_OR_NONE: Kinds = (list, type(None))
ANY: Kinds = (object,)

RUN: Shape = {
    "run_id": TEXT, "started_by": TEXT, "iterations": NUMBER, "calls": NUMBER, "tokens": NUMBER, "nudges": NUMBER,
    "refusals": NUMBER, "numbered": NUMBER, "claims": NUMBER, "signals": NUMBER,
    "confidence": (int, float, type(None)), "text": TEXT, "text_only": YES_OR_NO, "ending": TEXT_OR_NONE,
    "outcome": TEXT_OR_NONE, "started": TEXT_OR_NONE, "now": TEXT_OR_NONE, "retired": MAP, "mail": MAP,
    "mode": TEXT, "signalled": MAP, "frames": LIST, "cursors": LIST, "bound": LIST, "open": LIST, "closers": LIST,
    "fresh": LIST,
    "watching": LIST, "held": LIST, "outstanding": LIST, "waiting": LIST, "turn": MAP_OR_NONE, "settled": MAP,
    "pending": LIST, "timers": LIST, "commands": LIST,
}  # fmt: skip

FRAME: Shape = {
    "inputs": MAP, "visits": MAP, "anew": MAP, "facts": MAP, "history": MAP, "answers": MAP, "claims": MAP,
    "signals": MAP, "incomplete": LIST, "unknown": LIST, "path": TEXT, "name": TEXT, "item": ANY, "latest": ANY,
    "monitors": MAP, "done": LIST, "calls": NUMBER, "ending": TEXT, "outputs": MAP, "closed": NUMBER,
    "playbook": TEXT_OR_NONE, "outer": NUMBER_OR_NONE, "root": NUMBER, "caller": NUMBER_OR_NONE,
    "closer": NUMBER_OR_NONE, "is_item": YES_OR_NO, "called": LIST, "doubted": LIST, "since": LIST,
    "started": TEXT_OR_NONE,
}  # fmt: skip

CURSOR: Shape = {
    "state": TEXT, "frame": NUMBER, "parent": NUMBER_OR_NONE, "index": NUMBER, "gone": YES_OR_NO, "left": TEXT,
    "step": TEXT, "visit": NUMBER, "spent": NUMBER, "successes": NUMBER, "failures": NUMBER, "rounds": NUMBER,
    "issued": NUMBER, "again": MAP_OR_NONE, "granted": YES_OR_NO, "shown": TEXT_OR_NONE, "collected": LIST_OR_NONE,
    "rejected": LIST_OR_NONE, "probed": LIST_OR_NONE, "counts": MAP, "barred": MAP, "block": MAP_OR_NONE,
}  # fmt: skip

BLOCK: Shape = {"items": LIST_OR_NONE, "started": NUMBER, "arrived": NUMBER, "left": NUMBER, "results": MAP}

BOUND: Shape = {
    "call_id": TEXT, "tool": TEXT, "args": MAP, "automatic": YES_OR_NO, "step": TEXT, "visit": NUMBER,
    "orphan": YES_OR_NO, "approved": YES_OR_NO, "illegal": YES_OR_NO, "substituted": YES_OR_NO,
    "fault": LIST_OR_NONE, "cursor": NUMBER_OR_NONE,
    "frame": NUMBER_OR_NONE, "status": TEXT, "line": NUMBER_OR_NONE, "reverses": NUMBER_OR_NONE,
    "outcome": LIST_OR_NONE, "answer": LIST_OR_NONE,
}  # fmt: skip

PENDING: Shape = {
    "approval_id": TEXT, "of": TEXT, "cursor": NUMBER_OR_NONE, "step": TEXT, "visit": NUMBER, "ask": TEXT,
    "approvers": LIST, "excluded": LIST, "count": NUMBER, "everyone": YES_OR_NO, "said": LIST,
    "call": NUMBER_OR_NONE, "tool": TEXT_OR_NONE, "args": MAP_OR_NONE,
}  # fmt: skip

TURN: Shape = {
    "number": NUMBER, "text": TEXT, "denied": YES_OR_NO, "failed": YES_OR_NO, "succeeded": YES_OR_NO, "began": LIST,
    "calls": LIST,
}  # fmt: skip

TIMER: tuple[Kinds, ...] = (TEXT, TEXT, NUMBER_OR_NONE, TEXT, NUMBER, TEXT)

LISTS_OF_NUMBERS = ("open", "closers", "fresh", "watching", "held", "outstanding", "waiting")
COUNTS = {"visits": int, "anew": int, "history": list}
TEXTS = ("incomplete", "unknown")


def check_shape(data: Mapping[str, Any]) -> None:
    """
    Hold a snapshot against its shape.

    Raises:
        ValueError: something in it is missing, or of another kind; the message says what.
    """
    fits(data, RUN, "the snapshot", whole=True)
    for name in LISTS_OF_NUMBERS:
        all_are(data[name], int, name)
    for frame in data["frames"]:
        fits(frame, FRAME, "a frame")
        for name, kind in COUNTS.items():
            all_are(frame.get(name, {}).values(), kind, name)
        for name in TEXTS:
            all_are(frame.get(name, ()), str, name)
        all_are(frame["since"], int, "since")
        all_are(frame.get("done", ()), list, "done")
    for cursor in data["cursors"]:
        fits(cursor, CURSOR, "a cursor")
        all_are(cursor.get("counts", {}).values(), int, "counts")
        if cursor.get("block") is not None:
            fits(cursor["block"], BLOCK, "a block", whole=True)
    check_calls(data)


def check_calls(data: Mapping[str, Any]) -> None:
    """Calls, questions, the turn, and timers."""
    for bound in data["bound"]:
        fits(bound, BOUND, "a call", whole=True)
        all_are((bound["fault"] or ())[:1], str, "fault")
    for pending in data["pending"]:
        fits(pending, PENDING, "a question", whole=True)
        all_are((*pending["approvers"], *pending["excluded"]), str, "approvers")
    if data["turn"] is not None:
        fits(data["turn"], TURN, "the turn", whole=True)
        all_are(data["turn"]["calls"], int, "calls")
    for timer in data["timers"]:
        if type(timer) is not list or len(timer) != len(TIMER):
            raise ValueError("a timer has six parts")
        for value, kinds in zip(timer, TIMER, strict=True):
            is_one_of(value, kinds, "a timer")


def fits(part: Any, shape: Shape, what: str, *, whole: bool = False) -> None:
    """The part is a map of the shape; with `whole`, nothing of it is missing."""
    if type(part) is not dict and not (isinstance(part, Mapping) and shape is RUN):
        raise ValueError(f"{what} is no map")
    for name, kinds in shape.items():
        if name in part:
            is_one_of(part[name], kinds, f"`{name}` of {what}")
        elif whole:
            raise ValueError(f"`{name}` of {what} is missing")


def is_one_of(value: Any, kinds: Kinds, what: str) -> None:
    """The value is of one of the kinds; true and false are no numbers, and no number is below zero."""
    if kinds is ANY:
        return
    if type(value) not in kinds or (type(value) is int and value < 0):
        raise ValueError(f"{what} is no {' or '.join(kind.__name__ for kind in kinds)}")


def all_are(values: Any, kind: type, what: str) -> None:
    """Every one of the values is of the kind."""
    for value in values:
        is_one_of(value, (kind,), f"a part of `{what}`")

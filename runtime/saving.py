"""A run written down: frames and cursors first, everything else by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .answers_json import answer_json, command_json
from .cursors import Block, Cursor
from .facts import copy
from .frames import Frame
from .own import Digest, Settled, fingerprint
from .plan import Plan
from .records import stamp
from .run import Bound, Pending, Run, Timer, Turn

VERSION = 2

PLAIN = (
    "run_id", "started_by", "iterations", "calls", "tokens", "nudges", "refusals", "numbered", "confidence", "text",
    "text_only", "ending", "outcome", "claims", "signals", "mode",
)  # fmt: skip
COPIED = ("retired", "mail", "signalled")
FRAME_TABLES = (
    "inputs", "visits", "anew", "facts", "history", "answers", "claims", "signals", "incomplete", "unknown",
)  # fmt: skip
FRAME_PLAIN = ("path", "name", "item", "latest", "monitors", "done", "calls", "ending", "outputs", "closed")
REGISTERS = (
    "index", "gone", "left", "step", "visit", "spent", "successes", "failures", "rounds", "issued", "again", "granted",
    "shown", "collected", "rejected", "probed",
)  # fmt: skip
PLACE = ("state", "frame", "parent")
PARTS = ("call_id", "tool", "args", "automatic", "step", "visit", "orphan", "approved", "illegal", "substituted")


class Numbers:
    """Every frame, cursor and unsettled call of a run, with its number."""

    def __init__(self, run: Run) -> None:
        calls = [*run.outstanding.values(), *(run.turn.calls if run.turn else ()), *run.waiting]
        self.bounds = list({id(bound): bound for bound in calls}.values())
        self.cursors = list({id(cursor): cursor for cursor in self._cursors(run)}.values())
        self.frames = list({id(frame): frame for frame in self._frames(run)}.values())
        self._of = {id(one): i for many in (self.frames, self.cursors, self.bounds) for i, one in enumerate(many)}

    def _cursors(self, run: Run) -> Iterator[Cursor]:
        yield from run.cursors()
        for bound in self.bounds:
            if bound.cursor is not None:
                yield bound.cursor
        for frame in run.closers:
            if frame.root is not None:
                yield frame.root

    def _frames(self, run: Run) -> Iterator[Frame]:
        yield run.frame
        named = (*run.frames, *run.closers, *(c.frame for c in self.cursors), *(b.frame for b in self.bounds))
        for frame in named:
            around = list(outwards(frame))
            yield from reversed(around)

    def of(self, one: Frame | Cursor | Bound | None) -> int | None:
        """The number of one; of a cursor that is gone and forgotten, none."""
        return None if one is None else self._of.get(id(one))


def outwards(frame: Frame | None) -> Iterator[Frame]:
    """A frame and all around it, callers' frames too."""
    while frame is not None:
        yield frame
        frame = frame.outer


def write(run: Run) -> dict[str, Any]:
    """The run as JSON."""
    numbers = Numbers(run)
    of = numbers.of
    return {
        "version": VERSION,
        "digest": run.plan.definition.digest,
        **{name: getattr(run, name) for name in PLAIN},
        **{name: copy(getattr(run, name)) for name in COPIED},
        "started": stamp(run.started),
        "now": stamp(run.now),
        "frames": [frame_json(frame, numbers) for frame in numbers.frames],
        "cursors": [cursor_json(cursor, numbers) for cursor in numbers.cursors],
        "bound": [bound_json(bound, numbers) for bound in numbers.bounds],
        "open": [of(frame) for frame in run.frames],
        "closers": [of(frame) for frame in run.closers],
        "fresh": [of(cursor) for cursor in run.fresh if not cursor.gone],
        "watching": [of(cursor) for cursor in run.watching],
        "held": [of(cursor) for cursor in run.held],
        "outstanding": [of(bound) for bound in run.outstanding.values()],
        "waiting": [of(bound) for bound in run.waiting],
        "turn": turn_json(run.turn, numbers),
        "settled": {call_id: settled_json(run, call_id) for call_id in run.settled},
        "pending": [pending_json(pending, numbers) for pending in run.pending.values()],
        "timers": [timer_json(timer, numbers) for timer in run.timers],
        "commands": [command_json(command) for command in run.commands.values()],
    }


def frame_json(frame: Frame, numbers: Numbers) -> dict[str, Any]:
    """A frame; what it has not used is left out."""
    leaves = leaves_of(frame.plan)
    plain = {name: copy(value) for name in FRAME_PLAIN if (value := getattr(frame, name)) not in (None, "", 0)}
    written: dict[str, Any] = {
        **plain,
        **{name: copy(dict_or_list(getattr(frame, name))) for name in FRAME_TABLES if getattr(frame, name)},
        "playbook": frame.plan.definition.id if frame.plan is not frame.plan.root else None,
        "outer": numbers.of(frame.outer),
        "root": numbers.of(frame.root),
        "caller": numbers.of(frame.caller),
        "closer": numbers.of(frame.closer),
        "is_item": frame.is_item,
        "called": [i for i, leaf in enumerate(leaves) if leaf in frame.called],
        "doubted": [i for i, leaf in enumerate(leaves) if leaf in frame.doubted],
        "since": list(frame.since),
        "started": stamp(frame.started),
    }
    if frame.is_item and "item" not in written:
        written["item"] = copy(frame.item)
    return {key: value for key, value in written.items() if value not in (None, []) or key == "item"}


def dict_or_list(value: Any) -> Any:
    """A table as JSON can hold it."""
    return list(value) if isinstance(value, list | tuple) else dict(value)


def leaves_of(plan: Plan) -> list[Any]:
    """The `tool_called` conditions of a playbook, in their order."""
    return [leaf for found in plan.called.values() for leaf in found]


def cursor_json(cursor: Cursor, numbers: Numbers) -> dict[str, Any]:
    """Place and registers; those that are as an entry leaves them are left out."""
    written: dict[str, Any] = {
        "state": cursor.state,
        "frame": numbers.of(cursor.frame),
        "parent": None if cursor.gone else numbers.of(cursor.parent),
        **{name: copy(getattr(cursor, name)) for name in REGISTERS},
        "counts": {str(index): count for index, count in cursor.counts.items()},
        "barred": {tool: stamp(until) for tool, until in (cursor.barred or {}).items()},
        "block": block_json(cursor.block),
    }
    return {key: value for key, value in written.items() if not_nothing(value) or (key in PLACE and value is not None)}


def not_nothing(value: Any) -> bool:
    """The value says something: a register at rest is zero, false, empty or none."""
    return value is not None and value is not False and value != 0 and value not in ("", {})


def block_json(block: Block | None) -> dict[str, Any] | None:
    """What the cursor of a block knows."""
    if block is None:
        return None
    return {
        "items": copy(block.items), "started": block.started, "arrived": block.arrived, "left": block.left,
        "results": {str(index): copy(value) for index, value in block.results.items()},
    }  # fmt: skip


def bound_json(bound: Bound, numbers: Numbers) -> dict[str, Any]:
    """A call that is not settled."""
    log = (bound.frame.owner.done if bound.frame else None) or []
    return {
        **{name: copy(getattr(bound, name)) for name in PARTS},
        "fault": list(bound.fault) if bound.fault else None,
        "cursor": numbers.of(bound.cursor),
        "frame": numbers.of(bound.frame),
        "status": bound.status.value,
        "line": bound.line.index if bound.line else None,
        "reverses": next((i for i, entry in enumerate(log) if entry is bound.reverses), None),
        "outcome": list(bound.outcome) if bound.outcome else None,
        "answer": answer_json(bound.answer),
    }


def settled_json(run: Run, call_id: str) -> list[Any]:
    """How a call ended.  Its value is replaced by its digest, here and in the run: it is only compared from now on."""
    word, value, fault = run.settled[call_id]
    if value is None:
        return [word, None, fault]
    if not isinstance(value, Digest):
        value = Digest(fingerprint(value).hex())
        run.settled[call_id] = Settled(word, value, fault)
    return [word, value.sha256, fault]


def turn_json(turn: Turn | None, numbers: Numbers) -> dict[str, Any] | None:
    """The open turn."""
    if turn is None:
        return None
    return {
        "number": turn.number, "text": turn.text, "denied": turn.denied, "failed": turn.failed,
        "began": [[numbers.of(cursor), step, visit] for cursor, step, visit in turn.began if not cursor.gone],
        "succeeded": turn.succeeded, "calls": [numbers.of(bound) for bound in turn.calls],
    }  # fmt: skip


def pending_json(pending: Pending, numbers: Numbers) -> dict[str, Any]:
    """A question to a person."""
    return {
        "approval_id": pending.approval_id, "of": pending.of, "cursor": numbers.of(pending.cursor),
        "step": pending.step, "visit": pending.visit, "ask": pending.ask, "approvers": list(pending.approvers),
        "excluded": list(pending.excluded), "count": pending.count, "everyone": pending.everyone,
        "said": [[by, list(groups)] for by, groups in pending.said], "call": numbers.of(pending.call),
        "tool": pending.tool, "args": copy(pending.args),
    }  # fmt: skip


def timer_json(timer: Timer, numbers: Numbers) -> list[Any]:
    """A timer."""
    return [stamp(timer.due), timer.kind, numbers.of(timer.cursor), timer.step, timer.visit, timer.about]

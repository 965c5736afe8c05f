"""A run made again from what `saving` wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .answers_json import answer_of, command_of, moment
from .cursors import NO_CHILDREN, Block, Cursor
from .facts import copy
from .frames import Frame
from .leaving import alone
from .openings import Openings
from .own import Digest, Settled, same_json
from .plan import Plan
from .run import Bound, Pending, Run, Status, Timer, Turn
from .saving import COPIED, FRAME_PLAIN, FRAME_TABLES, PARTS, PLAIN, REGISTERS, leaves_of, write

Data = Mapping[str, Any]


def rebuild(plan: Plan, data: Data) -> Run:
    """The inverse of `saving.write`; whatever is not as it was written there raises one of many errors."""
    frames = data["frames"]
    run = Run(plan, copy(frames[0].get("inputs", {})), data["run_id"], data["started_by"], moment(data["started"]))
    for name in (*PLAIN, *COPIED):
        setattr(run, name, like(getattr(run, name), data[name], name))
    run.now = moment(data["now"])
    made = [run.frame]
    for part in frames[1:]:
        made.append(frame_of(plan, part, made))
    cursors = cursors_of(run, data["cursors"], made)
    for frame, part in zip(made, frames, strict=True):
        fill(frame, part, cursors)
    run.root = whole(run.frame.root)
    run.frames = [made[i] for i in data["open"]]
    run.closers = [made[i] for i in data["closers"]]
    run.size += sum(len(frame.plan.definition.steps) for frame in run.frames)
    bounds = [bound_of(part, made, cursors) for part in data["bound"]]
    run.outstanding = {bounds[i].call_id: bounds[i] for i in data["outstanding"]}
    run.waiting = [bounds[i] for i in data["waiting"]]
    run.turn = turn_of(data["turn"], bounds, cursors)
    run.settled = {call_id: settled_of(value) for call_id, value in data["settled"].items()}
    run.pending = {p["approval_id"]: pending_of(p, bounds, cursors) for p in data["pending"]}
    run.timers = sorted((timer_of(part, cursors) for part in data["timers"]), key=lambda timer: timer.rank)
    run.strays = sum(bound.orphan for bound in bounds)
    run.commands = {c[1]: command_of(c) for c in data["commands"]}
    run.fresh = [cursors[i] for i in data["fresh"]]
    run.watching = [cursors[i] for i in data["watching"]]
    run.held = [cursors[i] for i in data["held"]]
    run.single = run.root if alone(run) else None
    if run.single is None:
        run.openings = Openings(cursor for cursor in run.root.all() if not cursor.children)
    return run


def check_agreement(data: Data) -> None:
    """
    A question shows the call that it is on, and a command is the call that was admitted.

    Raises:
        ValueError: they differ, so somebody has edited one of them.
    """
    calls = {bound["call_id"]: bound["args"] for bound in data["bound"]}
    for pending in data["pending"]:
        about = data["bound"][pending["call"]] if pending["call"] is not None else pending
        if not same_json(about["args"], pending["args"]):
            raise ValueError(f"{pending['approval_id']} shows other arguments than its call has")
    for kind, call_id, *rest in data["commands"]:
        if kind == "RunCall" and not same_json(calls.get(call_id), rest[1]):
            raise ValueError(f"the command {call_id} has other arguments than its call")


def twin(run: Run) -> Run:
    """A copy of the run: whatever moves in one of them leaves the other alone."""
    made = rebuild(run.plan, write(run))
    made.predicates, made.restored = run.predicates, run.restored
    return made


def whole(root: Cursor | None) -> Cursor:
    """
    The root cursor.

    Raises:
        ValueError: there is none.
    """
    if root is None:
        raise ValueError("no cursor is the root")
    return root


def like(fresh: Any, saved: Any, name: str) -> Any:
    """
    A copy of a saved value, which must be of the kind that a new run has there.

    Raises:
        ValueError: it is of another kind.  Where a new run has none yet, anything goes.
    """
    if fresh is not None and type(saved) is not type(fresh):
        raise ValueError(f"`{name}` is no {type(fresh).__name__}")
    return copy(saved)


def frame_of(plan: Plan, data: Data, made: list[Frame]) -> Frame:
    """A frame, without its contents; the frames around it have been made before it."""
    outer = made[data["outer"]]
    mine = plan.callee(data["playbook"]) if data.get("playbook") is not None else plan
    frame = Frame(mine, copy(data.get("inputs", {})), outer)
    if data.get("is_item"):
        frame.owner = outer.owner
    return frame


def fill(frame: Frame, data: Data, cursors: list[Cursor]) -> None:
    """The contents of a frame."""
    for name in FRAME_TABLES:
        if name in data:
            setattr(frame, name, table_of(getattr(frame, name), data[name], name))
    for name in FRAME_PLAIN:
        if name in data:
            setattr(frame, name, like(getattr(frame, name), data[name], name))
    leaves = leaves_of(frame.plan)
    frame.called = frozenset(leaves[i] for i in data.get("called", ()))
    frame.doubted = frozenset(leaves[i] for i in data.get("doubted", ()))
    turns, tokens, claims, signals = data["since"]
    frame.since, frame.started = (turns, tokens, claims, signals), moment(data.get("started"))
    for name in ("root", "caller", "closer"):
        if name in data:
            setattr(frame, name, cursors[data[name]])


def table_of(fresh: Any, saved: Any, name: str) -> Any:
    """A table, or a tuple of names, that is of the kind a new frame has there."""
    if isinstance(fresh, tuple):
        return tuple(like([], saved, name))
    return like({}, saved, name)


def cursors_of(run: Run, parts: list[Data], frames: list[Frame]) -> list[Cursor]:
    """Every cursor, each hung up under the one that holds it."""
    made: list[Cursor] = []
    for part in parts:
        frame = frames[part["frame"]]
        parent = made[part["parent"]] if "parent" in part else None
        cursor = Cursor(frame.plan.rows[part["state"]], frame, parent)
        for name in REGISTERS:
            if name in part:
                setattr(cursor, name, like(getattr(cursor, name), part[name], name))
        cursor.counts = {int(index): count for index, count in part.get("counts", {}).items()}
        barred = {tool: until for tool, text in part.get("barred", {}).items() if (until := moment(text))}
        cursor.barred = barred or None
        cursor.block = block_of(part.get("block"))
        if parent is not None and not cursor.gone:
            if parent.children is NO_CHILDREN:
                parent.children = {}
            if cursor.index in parent.children:
                raise ValueError("two cursors have one place")
            parent.children[cursor.index] = cursor
        made.append(cursor)
        if not cursor.gone and cursor.row.block != cursor.level:
            raise ValueError(f"a cursor stands in `{cursor.state}`, outside its block")
    return made


def block_of(data: Data | None) -> Block | None:
    """What the cursor of a block knows."""
    if data is None:
        return None
    block = Block(copy(data["items"]))
    block.started, block.arrived, block.left = data["started"], data["arrived"], data["left"]
    block.results = {int(index): copy(value) for index, value in data["results"].items()}
    return block


def bound_of(data: Data, frames: list[Frame], cursors: list[Cursor]) -> Bound:
    """A call that is not settled."""
    bound = Bound(data["call_id"], data["tool"], copy(data["args"]), data["automatic"])
    for name in PARTS[4:]:
        setattr(bound, name, like(getattr(bound, name), data[name], name))
    bound.fault = tuple(data["fault"]) if data["fault"] else None
    bound.status = Status(data["status"])
    bound.cursor = None if data["cursor"] is None else cursors[data["cursor"]]
    bound.frame = None if data["frame"] is None else frames[data["frame"]]
    if data["line"] is not None and bound.frame is not None:
        bound.line = bound.frame.plan.rows[bound.step].lines[data["line"]]
    if data["reverses"] is not None and bound.frame is not None:
        bound.reverses = (bound.frame.owner.done or [])[data["reverses"]]
    bound.outcome = Settled(*data["outcome"]) if data["outcome"] else None
    bound.answer = answer_of(data["answer"])
    return bound


def settled_of(data: list[Any]) -> Settled:
    """The inverse of `settled_json`."""
    word, sha256, fault = data
    return Settled(word, None if sha256 is None else Digest(sha256), fault)


def turn_of(data: Data | None, bounds: list[Bound], cursors: list[Cursor]) -> Turn | None:
    """The open turn."""
    if data is None:
        return None
    turn = Turn(data["number"], data["text"], tuple((cursors[i], step, visit) for i, step, visit in data["began"]))
    turn.calls = [bounds[i] for i in data["calls"]]
    turn.denied, turn.failed, turn.succeeded = data["denied"], data["failed"], data["succeeded"]
    return turn


def pending_of(data: Data, bounds: list[Bound], cursors: list[Cursor]) -> Pending:
    """A question to a person."""
    cursor = None if data["cursor"] is None else cursors[data["cursor"]]
    pending = Pending(data["approval_id"], data["of"], cursor, data["ask"], tuple(data["approvers"]))
    pending.step, pending.visit = data["step"], data["visit"]
    if cursor is not None:
        cursor.asking = True
    pending.excluded, pending.count, pending.everyone = tuple(data["excluded"]), data["count"], data["everyone"]
    pending.said = [(by, tuple(groups)) for by, groups in data["said"]]
    pending.call = None if data["call"] is None else bounds[data["call"]]
    pending.tool, pending.args = data["tool"], pending.call.args if pending.call else copy(data["args"])
    return pending


def timer_of(data: list[Any], cursors: list[Cursor]) -> Timer:
    """
    A timer.

    Raises:
        ValueError: it is due at no time.
    """
    due, kind, cursor, step, visit, about = data
    when = moment(due)
    if when is None:
        raise ValueError("a timer without a time")
    at = None if cursor is None else cursors[cursor]
    timer = Timer(when, kind, at, about)
    if at is not None:
        at.timed = True
    timer.step, timer.visit = step, visit
    return timer

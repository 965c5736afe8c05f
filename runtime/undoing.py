"""The step `undo`: what has succeeded is taken back, newest first, by calls of the runtime's own (S30)."""

from __future__ import annotations

from typing import Any

from guideway.statemachine.expressions import Unknown as Missing

from .cursors import Cursor
from .facts import copy
from .frames import Frame
from .issue import make
from .moves import fail, finish
from .questions import text
from .run import Bound, Run


def log(frame: Frame, bound: Bound, result: Any) -> None:
    """Remember a success whose undo is declared, and its frame; what an undo does is not undone again."""
    tool = frame.tool(bound.tool)
    if tool is None or tool.undo is None or bound.reverses is not None:
        return
    owner = frame.owner
    owner.done = [*(owner.done or ()), [bound.tool, copy(bound.args), copy(result), frame.path]]


def undo_next(run: Run, cursor: Cursor) -> None:
    """
    Take back the newest success that the step asks for; complete when none is left.

    Those of its frame, and of the items that began inside it: an item leaves alone what other items did.
    """
    step, owner = cursor.row.step, cursor.frame.owner
    if step is None or step.undo is None:
        return
    mine = left_to_undo(cursor)
    entry = next((entry for entry in mine if not is_being_undone(run, entry)), None)
    if entry is None and mine:
        run.watching.append(cursor)
        return
    if entry is None:
        finish(run, cursor)
        return
    tool, args, result, _ = entry
    declared = owner.tool(tool)
    if declared is None or declared.undo is None:
        fail(run, cursor, f"undo: `{tool}` declares no undo")
        return
    again = cursor.again
    if again is None and declared.undo.args is not None:
        again = text(run, dict(declared.undo.args), {"args": args, "result": result})
    if isinstance(again, Missing):
        fail(run, cursor, f"undo of `{tool}`: {again.why}")
        return
    make(run, cursor, declared.undo.tool, args if again is None else again, entry)


def left_to_undo(cursor: Cursor) -> list[list[Any]]:
    """What the step is to take back, newest first."""
    step = cursor.row.step
    wanted = step.undo.tools if step is not None and step.undo is not None else ()
    log = cursor.frame.owner.done or ()
    return [e for e in reversed(log) if e[3].startswith(cursor.frame.path) and (not wanted or e[0] in wanted)]


def is_being_undone(run: Run, entry: list[Any]) -> bool:
    """Another step's call is about to take the success back: it is not taken back twice."""
    return any(bound.reverses is entry for bound in (*run.outstanding.values(), *run.waiting))


def can_go_on(run: Run, cursor: Cursor) -> bool:
    """A step that waited for another one's undo has something to do again, or is done."""
    mine = left_to_undo(cursor)
    return not mine or not all(is_being_undone(run, entry) for entry in mine)


def undone(frame: Frame, bound: Bound) -> None:
    """The success is taken back, and is not taken back twice."""
    owner = frame.owner
    owner.done = [entry for entry in owner.done or () if entry is not bound.reverses] or None

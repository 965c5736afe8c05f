"""The step `undo`: what has succeeded is taken back, newest first, by calls of the runtime's own (S30)."""

from __future__ import annotations

from typing import Any

from guideway.statemachine.expressions import Unknown as Missing

from .completion import invalid
from .cursors import Cursor
from .facts import copy
from .frames import Frame
from .issue import make
from .moves import fail, take
from .questions import text
from .run import Bound, Run


def log(frame: Frame, bound: Bound, result: Any) -> None:
    """Remember a success whose undo is declared, and its frame; what an undo does is not undone again."""
    tool = frame.plan.tool(bound.tool)
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
    wanted = step.undo.tools
    mine = (e for e in reversed(owner.done or ()) if e[3].startswith(cursor.frame.path))
    entry = next((e for e in mine if not wanted or e[0] in wanted), None)
    if entry is None:
        finish(run, cursor)
        return
    tool, args, result, _ = entry
    declared = owner.plan.tool(tool)
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


def undone(frame: Frame, bound: Bound) -> None:
    """The success is taken back, and is not taken back twice."""
    owner = frame.owner
    owner.done = [entry for entry in owner.done or () if entry is not bound.reverses] or None


def finish(run: Run, cursor: Cursor) -> None:
    """Nothing is left to take back."""
    if why := invalid(run, cursor):
        fail(run, cursor, f"validation: {why}")
        return
    take(run, cursor, "completed")

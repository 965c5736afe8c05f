"""What moves by itself, and the commands of states newly entered (S9.4, S9.6, S11)."""

from __future__ import annotations

from guideway.statemachine.definition import BLOCKS, JOIN, StateKind

from .asking import ask_person
from .blocks import arrive, next_round, open_block
from .callees import call_playbook, give_back
from .cursors import Cursor
from .issue import ask_for_step, call
from .moves import is_entry, take
from .run import Run
from .scope import truth
from .undoing import undo_next
from .waits import begin_wait


def automatic(run: Run) -> None:
    """Leave every state that waits for nothing, in cursor order (S9.4)."""
    while run.restless and run.ending is None:
        moved = dict.fromkeys(run.restless)
        run.restless = []
        for cursor in moved if len(moved) == 1 else sorted(moved, key=lambda cursor: cursor.order):
            if not cursor.gone and run.ending is None:
                go_on(run, cursor)
    run.restless.clear()


def go_on(run: Run, cursor: Cursor) -> None:
    """Take the one automatic move of a cursor, if its state has one."""
    row, kind = cursor.row, cursor.row.kind
    if kind is StateKind.JOIN:
        pass_join(run, cursor)
    elif kind in BLOCKS:
        if cursor.block is None:
            open_block(run, cursor)
    elif kind is StateKind.FRAME:
        if cursor.block is None:
            call_playbook(run, cursor)
    elif kind is StateKind.END:
        if cursor.frame is not run.frame:
            give_back(run, cursor)
    elif kind is StateKind.ROUTER:
        event, why = gatekeeper(run, cursor) if is_entry(row) else ("completed", "")
        take(run, cursor, event, why)
    elif kind is StateKind.STEP and row.step is not None and row.step.max_calls == 0 and row.needed:
        take(run, cursor, "exhausted")


def pass_join(run: Run, cursor: Cursor) -> None:
    """A list of a block arrives; or the cursor of the block itself goes on."""
    row, step = cursor.row, cursor.row.step
    if step is None:
        return
    if cursor.level == step.id and cursor.parent is not None:
        arrive(run, cursor)
    else:
        take(run, cursor, "completed" if row.name == step.id + JOIN else "failed")


def gatekeeper(run: Run, cursor: Cursor) -> tuple[str, str]:
    """Decide the router in front of a step: `when` first, then `max_visits` (S11)."""
    step, frame = cursor.row.step, cursor.frame
    if step is not None and step.when is not None:
        answer = truth(run, frame, step.when)
        if answer is False:
            return "passed", ""
        if answer is not True:
            return "failed", f"guard_unknown: {answer}"
    if step is None or step.max_visits is None:
        return "entered", ""
    visits = frame.visits.get(step.id, 0) - frame.anew.get(step.id, 0)
    return ("max_visits" if visits >= step.max_visits else "entered"), ""


def issue(run: Run) -> bool:
    """Issue what the states just entered ask for, in cursor order; True where there was something to look at."""
    if not run.fresh:
        return False
    fresh = dict.fromkeys(run.fresh)
    run.fresh = []
    for cursor in fresh if len(fresh) == 1 else sorted(fresh, key=lambda cursor: cursor.order):
        if not cursor.gone and (run.ending is None or cursor.closes):
            begin(run, cursor)
    return True


def begin(run: Run, cursor: Cursor) -> None:
    """What the state asks for: a person, a call, a time."""
    match cursor.row.kind:
        case StateKind.APPROVAL:
            ask_for_step(run, cursor)
        case StateKind.ASK:
            ask_person(run, cursor)
        case StateKind.CALL:
            call(run, cursor)
        case StateKind.UNDO:
            undo_next(run, cursor)
        case StateKind.WAIT:
            begin_wait(run, cursor)
        case StateKind.LOOP:
            if cursor.rounds and not cursor.children:
                next_round(run, cursor)

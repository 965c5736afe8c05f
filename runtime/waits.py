"""The step `wait`: for a time, until something holds, for an outside signal (S30)."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from guideway.statemachine.definition import StateKind
from guideway.statemachine.errors import HostError

from .calls import told
from .cursors import Cursor
from .facts import copy
from .issue import wait
from .leaving import wait_id
from .moves import finish
from .run import Run
from .scope import truth
from .undoing import can_go_on, undo_next
from .verdicts import Wait

MOST_MAIL = 1000
"""Signals of one name that are kept for later."""


def begin_wait(run: Run, cursor: Cursor) -> None:
    """Set the timer, look for a signal that came early, or watch the condition."""
    step = cursor.row.step
    if step is None or step.wait is None:
        return
    if step.wait.seconds is not None:
        wait(run, cursor, step.wait.seconds, "due") if step.wait.seconds > 0 else finish(run, cursor)
    elif step.wait.signal is not None:
        await_signal(run, cursor, step.wait.signal)
    elif not holds_now(run, cursor):
        command = wait_id(cursor)
        run.watching.append(cursor)
        run.commands[command] = Wait(command, None, cursor.step)


def await_signal(run: Run, cursor: Cursor, name: str) -> None:
    """Take the oldest signal of the name that nobody has consumed, or wait for one."""
    if run.mail.get(name):
        consume(run, cursor, name)
        return
    command = wait_id(cursor)
    run.commands[command] = Wait(command, None, cursor.step, name)


def holds_now(run: Run, cursor: Cursor) -> bool:
    """Complete the wait if its condition is true now; unknown is not true."""
    step = cursor.row.step
    if step is None or step.wait is None or step.wait.until is None:
        return False
    if truth(run, cursor.frame, step.wait.until) is not True:
        return False
    finish(run, cursor)
    return True


def watch(run: Run) -> bool:
    """Look at every condition that is waited for; True where one has come to hold."""
    met = False
    for cursor in sorted(run.watching, key=lambda cursor: cursor.order):
        if not cursor.gone and cursor in run.watching and run.ending is None:
            met = look_again(run, cursor) or met
    return met


def look_again(run: Run, cursor: Cursor) -> bool:
    """Look at what one cursor waits for; True where it has come."""
    if cursor.row.kind is not StateKind.UNDO:
        return holds_now(run, cursor)
    if not can_go_on(run, cursor):
        return False
    run.watching.remove(cursor)
    undo_next(run, cursor)
    return True


def signal(run: Run, name: str, data: Any) -> None:
    """A signal has come: the first cursor in order that waits for it takes it, else it is kept."""
    run.signals += 1
    run.signalled[name] = run.signals
    if name not in run.plan.definition.signals_waited_for:
        return
    run.mail.setdefault(name, []).append(data)
    waiting = (c for c in run.leaves() if (step := c.row.step) and step.wait and step.wait.signal == name)
    cursor = next((c for c in waiting if c.row.name == c.step), None)
    if cursor is not None:
        consume(run, cursor, name)


def consume(run: Run, cursor: Cursor, name: str) -> None:
    """The wait takes the oldest signal of its name; its payload is `signals.NAME` from now on."""
    kept = run.mail[name]
    data = kept.pop(0)
    if not kept:
        del run.mail[name]
    cursor.frame.write("signals", name, data)
    finish(run, cursor)


def check_signal(run: Run, name: object) -> None:
    """
    Refuse a signal that means nothing here, or that comes too often.

    Raises:
        HostError: it is misspelt, or no text, or too many of its name are kept already.
    """
    known = run.plan.definition.signals
    if not isinstance(name, str):
        raise HostError(f"a signal has a name, not {told(name)}")
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        raise HostError(f"`{run.plan.definition.id}` waits for no signal {told(name)}{hint}")
    if len(run.mail.get(name, ())) >= MOST_MAIL:
        raise HostError(f"{MOST_MAIL} signals `{name}` wait already; nobody takes them")


def payload(name: str, data: Any) -> Any:
    """
    What came with a signal, copied.

    Raises:
        HostError: it is no JSON.
    """
    try:
        return copy(data)
    except ValueError as error:
        raise HostError(f"the data of the signal `{name}` is no JSON: {error}") from None

"""Sub-playbooks: called and returned from (S33)."""

from __future__ import annotations

from typing import Any

from guideway.statemachine.definition import OutcomeClass
from guideway.statemachine.errors import HostError
from guideway.statemachine.expressions import Unknown as Missing

from .blocks import place
from .cursors import NO_CHILDREN, Block, Cursor
from .ending import class_of, verdict
from .facts import keep_fact
from .frames import Frame
from .leaving import branch_off, shut
from .moves import enter, fail, finish
from .questions import text, written
from .run import Run
from .scope import scope
from .start import check_inputs, openly, set_limits


def call_playbook(run: Run, cursor: Cursor) -> None:
    """Open a frame for the playbook that the step calls, and send a cursor into it."""
    step = cursor.row.step
    if step is None or step.playbook is None:
        return
    given = text(run, dict(step.playbook.inputs), scope(run, cursor.frame))
    if isinstance(given, Missing):
        fail(run, cursor, f"with: {given.why}")
        return
    plan = cursor.frame.plan.callee(step.playbook.playbook)
    try:
        inputs = check_inputs(plan.definition, given)
    except HostError as error:
        fail(run, cursor, f"with: {error}")
        return
    frame = Frame(plan, inputs, cursor.frame, f"{place(cursor)}/")
    frame.caller, frame.started = cursor, run.now
    turns = run.iterations + (run.turn is not None)  # a turn that is open began before it
    frame.since = (turns, run.tokens, run.claims, run.signals)
    send(run, cursor, frame)


def send(run: Run, cursor: Cursor, frame: Frame) -> None:
    """The frame is open; its cursor begins."""
    definition = frame.plan.definition
    branch_off(run)
    cursor.block = Block()
    child = frame.root = Cursor(frame.plan.rows[definition.initial], frame, cursor)
    cursor.children = {0: child}
    run.frames.append(frame)
    run.size += len(definition.steps)
    if run.opens(cursor):
        run.most += len(definition.steps)
    shown = openly(definition, frame.inputs)
    run.record("called", definition.id, cursor.step, child.state, shown, frame.path)
    set_limits(run, frame)
    enter(run, child, None)


def give_back(run: Run, child: Cursor) -> None:
    """The cursor of a sub-playbook has come to an end: its outputs, its `finally`, and then the caller goes on."""
    frame = child.frame
    end = child.row.state.end
    if frame.outputs is None:
        frame.outputs = outputs(run, frame)
    if frame.plan.definition.closing and frame.closed < len(frame.plan.definition.closing):
        if frame not in run.closers:
            frame.ending = frame.ending or (end.outcome if end else child.state)
            run.closers.append(frame)
        return
    come_back(run, child, verdict(run, frame, frame.ending or (end.outcome if end else child.state)))


def come_back(run: Run, child: Cursor, outcome: str) -> None:
    """An outcome of class success completes the calling step; any other is its failure."""
    frame, caller = child.frame, child.frame.caller
    frame.ending = outcome
    run.record("returned", frame.plan.definition.id, outcome, frame.path)
    shut(run, frame)
    child.gone = True
    if caller is None or caller.row.step is None:
        return
    caller.children = NO_CHILDREN
    keep_fact(caller.frame, caller.row.step.id, {**(frame.outputs or {}), "outcome": outcome})
    if class_of(outcome, child.row.state.end) != OutcomeClass.SUCCESS:
        fail(run, caller, f"`{frame.plan.definition.id}` ended {outcome}")
    else:
        finish(run, caller)


def outputs(run: Run, frame: Frame) -> dict[str, Any]:
    """What the caller may read; an output that is unknown is left out, and reading it is unknown then."""
    names = scope(run, frame)
    found = {name: written(rule(names, run.now)) for name, rule in frame.plan.definition.outputs.items()}
    return {name: value for name, value in found.items() if not isinstance(value, Missing)}

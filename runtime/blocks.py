"""Blocks: forks, loops over lists, rounds, sections (S28, S31, S32)."""

from __future__ import annotations

from typing import Any

from guideway.statemachine.definition import FAILED, Edge, StateKind
from guideway.statemachine.expressions import Unknown as Missing
from guideway.statemachine.steps import Step

from .cursors import NO_CHILDREN, Block, Cursor
from .facts import copy, keep_list
from .frames import Frame, item_frame
from .leaving import branch_off, clear, close_up, path_of
from .moves import enter, fail, finish
from .questions import text, written
from .rounds import end_round, gather
from .run import Run
from .scope import scope


def open_block(run: Run, cursor: Cursor) -> None:
    """Begin what the block holds, once it has been entered."""
    kind, step = cursor.row.kind, cursor.row.step
    if step is None:
        return
    cursor.block = Block()
    if kind is StateKind.FORK:
        fork(run, cursor, step)
    elif kind is StateKind.EACH:
        begin_items(run, cursor, step)
    else:
        spawn(run, cursor, 0)


def spawn(run: Run, cursor: Cursor, edge: int, frame: Frame | None = None) -> None:
    """Send a new cursor along one of the edges `forked`."""
    block = cursor.block
    if block is None:
        return
    branch_off(run)
    if cursor.children is NO_CHILDREN:
        cursor.children = {}
    child = Cursor(cursor.row, frame or cursor.frame, cursor, block.started)
    cursor.children[child.index] = child
    if frame is not None:
        frame.root = child
    block.started += 1
    step_in(run, child, cursor.row.state.edges["forked"][edge])


def step_in(run: Run, child: Cursor, edge: Edge) -> None:
    """The first move of a cursor that was sent off."""
    run.shift(child, edge)
    run.record("moved", edge.source, edge.event, edge.target, edge.source, None, path_of(child))
    enter(run, child, edge)


def fork(run: Run, cursor: Cursor, step: Step) -> None:
    """One cursor per branch, in the order of the page."""
    block, parallel = cursor.block, step.parallel
    if block is None or parallel is None:
        return
    block.left = len(parallel.branches) - len(parallel.optional)
    for index in range(len(parallel.branches)):
        spawn(run, cursor, index)


def begin_items(run: Run, cursor: Cursor, step: Step) -> None:
    """Read the list, once, and start as many items as may run at a time (S32)."""
    each, block = step.each, cursor.block
    if each is None or block is None:
        return
    names = scope(run, cursor.frame)
    found = (
        written(each.source(names, run.now)) if each.source is not None else text(run, list(each.items or ()), names)
    )
    if isinstance(found, Missing):
        fail(run, cursor, f"in: {found.why}")
    elif not isinstance(found, list):
        fail(run, cursor, "in: it is no list")
    elif len(found) > each.at_most:
        fail(run, cursor, f"in: {len(found)} items, and `at_most` is {each.at_most}")
    else:
        block.items = found
        more_items(run, cursor)


def more_items(run: Run, cursor: Cursor) -> None:
    """Start the next items, or be done when all are."""
    block, each = cursor.block, cursor.row.step.each if cursor.row.step else None
    if block is None or each is None or block.items is None:
        return
    while block.started < len(block.items) and len(cursor.children) < each.concurrency:
        path = f"{place(cursor)}[{block.started}]/"
        run.entered += run.opens(cursor, block.started)
        spawn(run, cursor, 0, item_frame(cursor.frame, path, each.name, block.items[block.started]))
    if not cursor.children:
        done(run, cursor, [block.results[index] for index in range(len(block.items))])


def place(cursor: Cursor) -> str:
    """The name of a block's visit in the paths of the frames inside."""
    visit = f"#{cursor.visit}" if cursor.visit > 1 else ""
    return f"{cursor.name}{visit}"


def arrive(run: Run, child: Cursor) -> None:
    """A list of a block has come to its end, or failed (S27, S31)."""
    cursor = child.parent
    if cursor is None or cursor.block is None or cursor.row.step is None:
        return
    fell = child.row.name == cursor.row.step.id + FAILED
    child.gone = True
    del cursor.children[child.index]
    if not cursor.children:
        cursor.children = NO_CHILDREN
    why = f"`{child.left}` failed"
    if cursor.row.kind is StateKind.FORK:
        branch_done(run, cursor, child, fell)
    elif fell:
        fail(run, cursor, why)
    elif cursor.row.kind is StateKind.EACH:
        item_done(run, cursor, child)
    elif cursor.row.kind is StateKind.LOOP:
        round_done(run, cursor)
    else:
        done(run, cursor)
    if run.single is None:
        close_up(run)


def branch_done(run: Run, cursor: Cursor, child: Cursor, fell: bool) -> None:
    """Join when enough branches have arrived; fail when too few still can."""
    block, parallel = cursor.block, cursor.row.step.parallel if cursor.row.step else None
    if block is None or parallel is None:
        return
    if parallel.branches[child.index] not in parallel.optional:
        block.left -= 1
        block.arrived += not fell
    if block.arrived >= parallel.needed:
        clear(run, cursor)
        done(run, cursor)
    elif block.arrived + block.left < parallel.needed:
        fail(run, cursor, f"the branch `{parallel.branches[child.index]}` failed")


def item_done(run: Run, cursor: Cursor, child: Cursor) -> None:
    """Keep the item's value: `collect`, else the last fact it wrote, else null."""
    block, each = cursor.block, cursor.row.step.each if cursor.row.step else None
    if block is None or each is None:
        return
    value = child.frame.latest
    if each.collect is not None:
        value = gather(run, cursor, each.collect, scope(run, child.frame))
        if isinstance(value, Missing):
            return
    block.results[child.index] = value
    more_items(run, cursor)


def round_done(run: Run, cursor: Cursor) -> None:
    """One round of `repeat` with `steps`: `until` true completes, else the next one after its wait (S28)."""
    step = cursor.row.step
    repeat = step.repeat if step else None
    if step is None or repeat is None:
        return
    cursor.issued += 1  # what the id of the wait is made of, as of a call
    if end_round(run, cursor, repeat, scope(run, cursor.frame)):
        done(run, cursor, cursor.collected)


def next_round(run: Run, cursor: Cursor) -> None:
    """Begin another round, in the same frame: visit counts are reckoned anew, and stay what ids are made of."""
    frame, step = cursor.frame, cursor.row.step
    for name, inner in frame.plan.definition.steps.items():
        if step is not None and name in frame.visits and lies_in(frame, inner, step.id):
            frame.write("anew", name, frame.visits[name])
    spawn(run, cursor, 0)


def lies_in(frame: Frame, step: Step, block: str) -> bool:
    """The step lies in the block, however deep."""
    steps = frame.plan.definition.steps
    while step.block and step.block != block:
        step = steps[step.block]
    return step.block == block


def done(run: Run, cursor: Cursor, result: list[Any] | None = None) -> None:
    """The block has done what it is for."""
    step = cursor.row.step
    if step is not None and result is not None:
        keep_list(cursor.frame, step.id, copy(result))
    finish(run, cursor, "joined")

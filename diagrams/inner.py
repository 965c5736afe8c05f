"""What the boxes say of blocks, of waiting, and of other playbooks."""

from __future__ import annotations

import json
from collections.abc import Iterator

from guideway.statemachine.blocks import Each, Parallel, SubPlaybook, Wait
from guideway.statemachine.steps import Repeat, Step

from .picture import Line, Role
from .texts import NOTE, duration, short

_ITEMS = 1000
"""How many items a `for_each` that says nothing takes."""


def held(step: Step) -> Iterator[Line]:
    """Say what a step is about that is no work, no call, and no question."""
    if step.wait:
        yield Line(Role.TOOL, _waited_for(step.wait))
    if step.playbook:
        yield from _called(step.playbook)
    if step.parallel:
        yield from _joined(step.parallel)
    if step.each:
        yield from _items(step.each)
    if step.repeat:
        yield Line(Role.LIMIT, rounds(step.repeat))
        yield from _collected(step.repeat)


def rounds(repeat: Repeat) -> str:
    """
    Say how often, and until when.

    >>> from guideway.statemachine.expressions import parse
    >>> rounds(Repeat(parse("size(facts.page) == 0"), 5, 60))
    'repeat ≤ 5 until size(facts.page) == 0, every 1m'
    """
    pause = f", every {duration(repeat.wait)}" if repeat.wait else ""
    return f"repeat ≤ {repeat.at_most} until {short(repeat.until.source)}{pause}"


def _waited_for(wait: Wait) -> str:
    if wait.seconds is not None:
        return duration(wait.seconds)
    return f"until {short(wait.until.source)}" if wait.until else f"signal {short(wait.signal or '')}"


def _called(called: SubPlaybook) -> Iterator[Line]:
    yield Line(Role.TOOL, f"▤ {short(called.playbook)}")
    if called.inputs:
        yield Line(Role.LIMIT, f"with {short(', '.join(called.inputs), NOTE)}")


def _joined(parallel: Parallel) -> Iterator[Line]:
    counted = len(parallel.branches) - len(parallel.optional)
    many = "all" if parallel.needed >= counted else "any" if parallel.needed == 1 else f"{parallel.needed} of {counted}"
    yield Line(Role.LIMIT, f"join: {many}")
    if parallel.optional:
        yield Line(Role.LIMIT, f"not needed: {short(', '.join(parallel.optional), NOTE)}")


def _items(each: Each) -> Iterator[Line]:
    text = each.source.source if each.source else json.dumps(list(each.items or ()), ensure_ascii=False)
    yield Line(Role.TOOL, f"{short(each.name)} in {short(text)}")
    limits = [f"{each.concurrency} at a time"] if each.concurrency > 1 else []
    limits += [f"≤ {each.at_most} items"] if each.at_most != _ITEMS else []
    if limits:
        yield Line(Role.LIMIT, " · ".join(limits))
    yield from _collected(each)


def _collected(block: Each | Repeat) -> Iterator[Line]:
    if block.collect:
        yield Line(Role.LIMIT, f"collect {short(block.collect.source)}")

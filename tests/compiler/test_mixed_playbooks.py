"""Properties of every machine that a valid playbook of blocks lowers to."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from guideway.compiler import check_definition, compile_playbook
from guideway.playbooks.loader import load_playbook
from guideway.statemachine.definition import BLOCKS, Definition, StateKind
from guideway.statemachine.diagnostic import Level
from guideway.statemachine.graph import reachable

from .mixed import CALLEE, playbook, playbooks


def compiled(drawn: dict[str, Any]) -> Definition:
    """Lower a drawn playbook; it is valid by construction."""
    found = compile_playbook(load_playbook(drawn), callees={"callee": load_playbook(CALLEE)})
    assert found.definition is not None, [str(finding) for finding in found.diagnostics]
    return found.definition


@settings(max_examples=150, deadline=None)
@given(playbooks(callee=True))
def test_a_valid_playbook_of_blocks_has_no_fault(drawn: dict[str, Any]) -> None:
    """It compiles, every step is reached, and no step is a dead end."""
    definition = compiled(drawn)

    assert [str(finding) for finding in check_definition(definition) if finding.level is Level.ERROR] == []


@settings(max_examples=150, deadline=None)
@given(playbooks(callee=True))
def test_every_edge_leads_from_its_state_to_a_state(drawn: dict[str, Any]) -> None:
    """Only the edges of a fork stand side by side; any other list of branches ends with its first unguarded one."""
    definition = compiled(drawn)

    assert {edge.target for edge in definition.edges()} <= definition.states.keys()
    for state in definition.states.values():
        for event, branches in state.edges.items():
            assert {(edge.source, edge.event) for edge in branches} == {(state.name, event)}
            assert event == "forked" or [edge for edge in branches[:-1] if edge.guard is None] == []


@settings(max_examples=150, deadline=None)
@given(playbooks(callee=True))
def test_no_edge_leads_into_a_block_but_by_its_fork(drawn: dict[str, Any]) -> None:
    """S35: from a state to one deeper inside there is `forked` and, from the join, `again`; nothing else."""
    definition = compiled(drawn)
    blocks = {step.id: step.block for step in definition.steps.values()}

    def around(block: str) -> list[str]:
        found = [block]
        while found[-1]:
            found.append(blocks[found[-1]])
        return found

    for edge in definition.edges():
        source, target = definition.states.get(edge.source), definition.states[edge.target]
        if source is None or target.kind is StateKind.END or edge.event in ("forked", "again", "joined"):
            continue
        outwards = target.block in around(source.block)
        arrives = target.kind is StateKind.JOIN and target.step is not None and target.step.id in around(source.block)
        fails = edge.event == "failed" and edge.target == f"{edge.source}.failed"
        assert outwards or arrives or fails, edge


@settings(max_examples=150, deadline=None)
@given(playbooks(callee=True))
def test_a_list_that_runs_beside_others_is_left_by_its_join_and_its_failure_only(drawn: dict[str, Any]) -> None:
    """S35: whatever stands in a branch, or in an item of several at a time, stays there; stops end the frame."""
    definition = compiled(drawn)
    steps = definition.steps

    def fence(block: str) -> str:
        while block and steps[block].parallel is None and not ((each := steps[block].each) and each.concurrency > 1):
            block = steps[block].block
        return block

    for edge in definition.edges():
        source, target = definition.states.get(edge.source), definition.states[edge.target]
        inside = "" if source is None or source.kind is StateKind.JOIN else fence(source.block)
        if not inside or edge.event == "forked":
            continue
        if target.kind is StateKind.END:
            assert target.name.startswith("stopped:")
        elif edge.target not in (f"{inside}.join", f"{inside}.failed"):
            assert target.step is not None
            assert inside in {fence(target.block), fence(target.step.block)}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_lowering_twice_gives_equal_machines(seed: int) -> None:
    """The machine is a function of the page."""
    first, second = (compiled(playbook(random.Random(seed), 3)) for _ in range(2))

    assert first == second
    assert first.digest == second.digest


@settings(max_examples=100, deadline=None)
@given(playbooks(callee=True))
def test_steps_are_in_the_order_of_the_page(drawn: dict[str, Any]) -> None:
    """Every step of the page is a step of the machine; one in a block stands behind it; a run begins with the first."""
    playbook, definition = load_playbook(drawn), compiled(drawn)
    names = [name for name in definition.steps if name != "(any order)"]

    assert names == [step.id for step, _ in playbook.walk()]
    order = list(definition.steps)
    assert all(order.index(step.block) < order.index(step.id) for step in definition.steps.values() if step.block)
    assert definition.states[definition.initial].step is definition.steps[order[0]]
    assert all(first != second for first, second in pairwise(order))


@settings(max_examples=100, deadline=None)
@given(playbooks())
def test_every_block_can_be_entered_and_joined(drawn: dict[str, Any]) -> None:
    """What is drawn can always end, so each join is reached."""
    definition = compiled(drawn)
    reached = reachable(definition)

    for state in definition.states.values():
        if state.kind in BLOCKS:
            assert {state.name, f"{state.name}.join"} <= reached

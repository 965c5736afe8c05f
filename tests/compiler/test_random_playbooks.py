"""Properties of every machine that a valid playbook lowers to."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from guideway.compiler import check, compile_playbook
from guideway.playbooks.loader import load_playbook
from guideway.statemachine.definition import Definition, StateKind
from guideway.statemachine.diagnostic import Level

from .strategies import playbook, playbooks


def compiled(seed: int) -> Definition:
    """Lower the playbook of a seed; it is valid by construction."""
    rng = random.Random(seed)
    found = compile_playbook(load_playbook(playbook(rng, rng.randint(0, 12))))
    assert found.definition is not None, [str(finding) for finding in found.diagnostics]
    return found.definition


@settings(max_examples=150, deadline=None)
@given(playbooks())
def test_a_valid_playbook_has_no_error(drawn: dict[str, object]) -> None:
    """The generator promises valid pages, and the checker raises nothing and refuses none of them."""
    found = check(load_playbook(dict(drawn)))

    assert [str(finding) for finding in found if finding.level is Level.ERROR] == []


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_every_edge_leads_from_its_state_to_a_state(seed: int) -> None:
    """Sources, targets, initial and termination targets exist; branches behind an unguarded one do not."""
    definition = compiled(seed)

    assert definition.initial in definition.states
    assert {edge.target for edge in definition.edges()} <= definition.states.keys()
    assert {branch.target for branch in definition.termination} <= definition.states.keys()
    for state in definition.states.values():
        for event, branches in state.edges.items():
            assert {(edge.source, edge.event) for edge in branches} == {(state.name, event)}
            assert [edge for edge in branches[:-1] if edge.guard is None] == []


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_no_end_is_left_and_every_end_is_entered(seed: int) -> None:
    """An accepting state has no edges, and none stands in the machine that nothing leads to."""
    definition = compiled(seed)
    ends = {state.name for state in definition.states.values() if state.kind is StateKind.END}

    assert all(not definition.states[name].edges and definition.states[name].end for name in ends)
    assert ends <= {edge.target for edge in definition.edges()} | {definition.initial}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_the_facts_that_guards_read_are_kept(seed: int) -> None:
    """S5: whatever a guard of the machine reads of a fact is covered by a path that is kept."""
    definition = compiled(seed)
    guards = [edge.guard for edge in definition.edges() if edge.guard is not None] + list(definition.terms.values())

    for guard in guards:
        for read in guard.reads:
            root, *path = read.path
            if root == "facts":
                kept = definition.facts[str(path[0])]
                assert any(tuple(path[1 : 1 + len(keep)]) == keep for keep in kept)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_lowering_twice_gives_equal_machines(seed: int) -> None:
    """The machine is a function of the page."""
    assert compiled(seed) == compiled(seed)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.data())
def test_a_broken_word_is_a_finding_and_never_a_crash(seed: int, data: st.DataObject) -> None:
    """A target, tool or guard replaced by nonsense gives diagnostics, whatever else stands on the page."""
    rng = random.Random(seed)
    drawn = playbook(rng, rng.randint(1, 8))
    step = data.draw(st.sampled_from(drawn["steps"]))
    key = data.draw(st.sampled_from(["on_failure", "when", "on_max_visits"]))
    word = data.draw(
        st.sampled_from(["no_such_step", "facts.", "((((", "args.x ==", "nosuch.root", "facts.nobody.x > 1"])
    )
    step[key] = word

    found = compile_playbook(load_playbook(drawn))
    assert found.definition is None
    assert [finding for finding in found.diagnostics if finding.level is Level.ERROR]

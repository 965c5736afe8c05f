"""Termination conditions and templates over what nobody knows (S36, S44, S56); each case was once a fault."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Approvals, NeedsApproval, PlaybookError, load

from .helpers import answer, audit, book, ok, propose, start, step

MOST = 2**53


def test_not_over_an_unknown_confidence_ends_nothing() -> None:
    """Nobody has named a confidence yet: whether it is low is unknown, and unknown is not true."""
    session = start(book(step("a", "x"), termination=[{"not": {"confidence_met": 0.9}, "outcome": "stopped"}]))
    assert session.outcome is None
    assert session.claim(confidence=0.95).outcome is None
    assert session.claim(confidence=0.5).outcome == "stopped"


def test_not_over_a_call_that_may_have_counted_ends_nothing() -> None:
    """A success whose `where` is unknown may be the one: its negation is unknown, also after a restore."""
    never = {"all": [{"tool_called": "y"}, {"not": {"tool_called": "x", "where": "args.z == 1"}}], "outcome": "stopped"}
    session = start(book(step("a", "x", "y", "w"), termination=[never]))
    ok(session, "x")
    audit(session)
    assert ok(session, "y").outcome is None
    other = start(book(step("a", "x", "y", "w"), termination=[never]))
    ok(other, "x", z=2)
    assert ok(other, "y").outcome == "stopped"


def test_a_template_past_the_exact_integers_fails_the_step() -> None:
    """2^53 + 1 cannot be written as a JSON number: it is unknown, and unknown fails the step."""
    machine = book(
        step("z", call={"tool": "k"}),
        step("a", call={"tool": "x", "args": {"n": "{{ facts.z.n + 1 }}"}}, on_failure="escalated"),
    )
    session = start(machine)
    assert answer(session, {"n": MOST}).outcome == "escalated"
    fine = start(machine)
    answer(fine, {"n": MOST - 1})
    assert fine.outcome is None


def test_what_collect_cannot_keep_fails_the_step() -> None:
    """The run stays loadable (a value too large, or no JSON number, is no value)."""
    for collect in ("result.n + 1", "result.l.map(x, result.l)"):
        session = start(
            book(
                step(
                    "a",
                    call={"tool": "x"},
                    repeat={"until": "result.done", "at_most": 3, "collect": collect},
                    on_failure="escalated",
                ),
            )
        )
        result: dict[str, Any] = {"done": False, "n": MOST, "l": list(range(1_000))}
        assert answer(session, result).outcome == "escalated"
        audit(session)


def test_an_integer_that_json_cannot_hold_is_found_in_the_file() -> None:
    """It would otherwise be another number for every second reader of the artifact."""
    with pytest.raises(PlaybookError, match="2\\^53"):
        load({"id": "p", "name": "P", "steps": [{"id": "a", "call": {"tool": "x", "args": {"n": MOST + 1}}}]})


def test_an_entry_can_waive_the_tools_approval() -> None:
    """`approval: none` with its reason stands for the author's word; without it the tool asks."""
    waived = {"tool": "pay", "approval": "none", "because": "a test account"}
    tools = {"pay": {"effect": "irreversible", "approval": {"ask": "Pay?", "approvers": ["lead"]}}}
    assert propose(start(book(step("a", waived), tools=tools)), "pay").allowed
    asked = start(book(step("a", "pay"), tools=tools))
    assert isinstance(propose(asked, "pay"), NeedsApproval)
    assert len(Approvals(asked).pending) == 1


def test_a_changed_copy_of_a_playbook_is_checked_anew() -> None:
    """What a reader has looked at is one thing, what `model_copy` made of it another."""
    from guideway import load_playbook

    playbook = load_playbook({"id": "p", "name": "P", "steps": [{"id": "a", "expected_tools": ["x"]}]})
    for update in ({"steps": [*playbook.steps, *playbook.steps]}, {"max_iterations": -5}, {"termination": "x"}):
        with pytest.raises(PlaybookError):
            load(playbook.model_copy(update=update))
    assert load(playbook.model_copy(update={"name": "Q"})).definition is not None

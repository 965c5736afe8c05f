"""Hosts, viewers and models that do what they should not; each case was once a fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from guideway import (
    Approvals,
    Deny,
    HostError,
    JournalError,
    PlaybookError,
    RunCall,
    Session,
    Succeeded,
    ToolCall,
    load,
)
from guideway.runtime.records import lines, verify

from .helpers import book, call, start, step


class Unreadable(Mapping[str, Any]):
    """A lazy row, or a map that another thread is changing."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("changed size during iteration")

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("changed size during iteration")

    def __len__(self) -> int:
        return 1


def test_a_result_that_cannot_be_read_wedges_nothing() -> None:
    """It is a result against its contract, and the next verb gets in."""
    session = start(book(step("a", "x"), step("b", "y")))
    session.propose([call("x", "1")])
    session.observe("1", Succeeded(Unreadable()))
    assert session.state == "a"
    assert session.snapshot.to_json()["calls"] == 1


def test_arguments_that_cannot_be_read_wedge_nothing() -> None:
    """They are no arguments, and the next verb gets in."""
    session = start(book(step("a", "x"), step("b", "y")))
    [verdict] = session.propose([ToolCall("x", Unreadable(), "1")])
    assert isinstance(verdict, Deny) and verdict.code == "bad_args"
    assert session.propose([call("x", "2")])[0].allowed


@pytest.mark.parametrize(
    "change",
    [
        ('"kind": "ended"', '"outcome": "harmless", "kind": "ended"'),
        ('"seq": 0', '"seq": 0.0'),
        ('"kind": "ended"', '"kind":  "ended"'),
        ('"ended"', '"\\u0065nded"'),
        ("\n", "\r\n"),
    ],
)
def test_a_trace_verifies_letter_for_letter(change: tuple[str, str]) -> None:
    """What hashes the same but reads otherwise elsewhere is refused as well."""
    session = start(book(step("a", "x")))
    session.fail()
    trace = "".join(lines(session.records))
    assert verify(trace)
    with pytest.raises(JournalError):
        verify(trace.replace(*change))


def test_records_are_handed_out_as_copies() -> None:
    """A viewer that edits what it was given changes neither the approved call nor a fact."""
    machine = book(
        step("p", call={"tool": "pay", "args": {"to": "{{ inputs.to }}"}}),
        inputs={"to": "array"},
        tools={"pay": {"effect": "irreversible", "approval": {"ask": "Pay?", "approvers": ["lead"]}}},
    )
    session = Session(machine, inputs={"to": ["ann"]})
    for record in session.records:
        if record[0] == "asked":
            record[6]["to"][0] = "mallory"
    people = Approvals(session)
    people.approve(people.pending[0].approval_id, by="lead")
    [command] = [c for c in session.commands if isinstance(c, RunCall)]
    assert command.args == {"to": ["ann"]}


def test_a_steps_approval_covers_the_call_that_was_shown_and_no_other() -> None:
    """A later round of an irreversible call, or one with other arguments, is asked about again (S29)."""
    again = {"until": "result.done", "at_most": 3}
    args = {"to": "{{ default(facts.p.next, 'ann') }}"}
    for effect, expected in (("irreversible", 2), ("write", 1)):
        machine = book(
            step("p", approval={"ask": "Go?", "approvers": ["lead"]}, call={"tool": "pay", "args": args}, repeat=again),
            tools={"pay": {"effect": effect}},
        )
        session = start(machine)
        people = Approvals(session)
        shown: list[Any] = []
        for result in ({"done": False, "next": "ann"}, {"done": False, "next": "bob"}, {"done": True}):
            for question in people.pending:
                shown.append(question.args)
                people.approve(question.approval_id, by="lead")
            [command] = [c for c in session.commands if isinstance(c, RunCall)]
            session.observe(command.call_id, Succeeded(result))
        assert session.outcome == "success"
        assert shown[-1] == {"to": "bob"} and len(shown) == expected + 1


def test_a_reference_that_leads_nowhere_is_found_before_it_can_refuse() -> None:
    """The schema of a tool is checked whole when the playbook is loaded."""
    with pytest.raises(PlaybookError, match="leads nowhere"):
        book(step("a", "x"), tools={"x": {"parameters": {"$ref": "#/missing"}}})


def test_what_cannot_be_checked_is_refused() -> None:
    """A schema that only goes round in a circle refuses every call, and the run goes on."""
    session = start(book(step("a", "x"), tools={"x": {"parameters": {"allOf": [{"$ref": "#"}]}}}))
    [verdict] = session.propose([call("x", "1")])
    assert isinstance(verdict, Deny) and verdict.code == "bad_args"
    assert not session.propose([call("x", "2")])[0].allowed


def test_equal_items_are_found_in_linear_time() -> None:
    """20,000 objects are compared by their text, not each with each."""
    machine = book(step("a", "x"), tools={"x": {"parameters": {"properties": {"list": {"uniqueItems": True}}}}})
    items: list[Any] = [{"n": n} for n in range(20_000)]
    session = start(machine)
    assert not session.propose([call("x", "1", list=[*items, {"n": 5.0}])])[0].allowed
    assert session.propose([call("x", "2", list=items)])[0].allowed


def test_names_of_arguments_are_matched_in_linear_time() -> None:
    """`additionalProperties` beside a pattern: RE2 decides, and what matches is let through."""
    schema = {"type": "object", "patternProperties": {"^(a+)+$": {"type": "integer"}}, "additionalProperties": False}
    session = start(book(step("a", "x"), tools={"x": {"parameters": schema}}))
    assert not session.propose([ToolCall("x", {"a" * 40 + "!": 1}, "1")])[0].allowed
    assert not session.propose([ToolCall("x", {"aaa": "one"}, "2")])[0].allowed
    assert session.propose([ToolCall("x", {"aaa": 1}, "3")])[0].allowed


@pytest.mark.parametrize("other", [{"name": "pay"}, {"name": "complete_step"}])
def test_one_name_means_one_tool(other: dict[str, Any]) -> None:
    """A harmless entry must not let a dangerous call through under its framework name."""
    with pytest.raises(PlaybookError, match="GW703"):
        load({
            "id": "p", "name": "P", "tools": {"look": {"effect": "read"} | other, "pay": {"effect": "irreversible"}},
            "steps": [{"id": "a", "description": "a", "expected_tools": ["look"]}],
        })  # fmt: skip


def test_a_machine_without_a_playbook_is_no_machine_for_a_session() -> None:
    """The host is told what to give instead."""
    from guideway import Machine

    with pytest.raises(HostError, match="playbook"):
        Session(Machine(states=["a"], initial="a"))

"""Sections, and what may leave a block or enter one: S27, S35."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import PlaybookError

from .building import (
    auto,
    each,
    fails,
    parallel,
    rounds,
    section,
)
from .helpers import (
    answer,
    at,
    audit,
    book,
    ok,
    running,
    start,
    step,
)

AFTER = step("z", "zz")


def test_a_section_is_its_steps_in_order_under_one_when() -> None:
    """The steps inside run one after another, then what follows the section."""
    session = start(book(section("s", step("a", "x"), step("b", "y")), AFTER))
    for tool, state in (("x", "b"), ("y", "z")):
        ok(session, tool)
        assert audit(session).states == (state,)
    passed = start(book(section("s", step("a", "x"), when="false"), AFTER))
    assert passed.states == ("z",)


def test_done_in_a_section_leaves_the_section() -> None:
    """`done` leaves this list, and what follows the section comes next."""
    session = start(book(section("s", step("a", "x", next_="done"), step("b", "y")), AFTER))
    ok(session, "x")
    assert session.states == ("z",)


def test_s35_an_outcome_word_in_a_section_ends_the_run() -> None:
    """A section is sequential: its steps may end the playbook."""
    session = start(book(section("s", step("a", "x", next_="escalated"), step("b", "y")), AFTER))
    assert ok(session, "x").outcome == "escalated"


def test_a_jump_may_lead_out_of_sequential_blocks() -> None:
    """From a section in a section to a step of the playbook's own list; the sections are left behind."""
    inner = section("inner", step("a", "x", next_="z"), step("b", "y"), timeout="10s")
    session = start(book(section("s", inner, step("c", "w")), step("d", "v"), AFTER), timed=True)
    ok(session, "x")
    assert session.states == ("z",)
    session.tick(at(20))
    assert session.outcome is None
    assert ok(audit(session), "zz").outcome == "success"


def test_a_jump_out_of_one_round_or_one_item_leaves_the_loop() -> None:
    """A loop that goes one at a time is sequential; its remaining items are not begun."""
    for loop in (
        each("s", [1, 2, 3], auto("a", next_="z")),
        rounds("s", "false", auto("a", next_="z")),
    ):
        session = start(book(loop, step("d", "v"), AFTER))
        answer(session)
        assert session.states == ("z",), loop
        assert running(audit(session)) == []


def test_a_jump_inside_a_section_to_an_earlier_step_of_the_same_list() -> None:
    """Within a list targets go both ways."""
    again = [{"when": "facts.y.more", "goto": "a"}, {"goto": "done"}]
    session = start(book(section("s", step("a", "x"), step("b", "y", next_=again)), AFTER))
    ok(session, "x")
    ok(session, "y", {"more": True})
    assert session.states == ("a",)


def test_s27_the_default_failure_of_a_step_in_a_section_is_the_sections() -> None:
    """A section whose step fails fails itself, with its own `on_failure`, else by its own name."""
    session = start(book(section("s", auto("a"), on_failure="z"), auto("n", next_="success"), AFTER))
    fails(session, "a")
    assert session.states == ("z",)
    bare = start(book(section("s", auto("a")), AFTER))
    fails(bare, "a")
    assert bare.outcome == "failed:s"


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        ([parallel("s", {"a": auto("a", next_="z"), "b": auto("b")}), AFTER], ("z", "a")),
        ([parallel("s", {"a": [auto("a1", next_="b1")], "b": [auto("b1"), auto("b2")]}), AFTER], ("b1", "a1")),
        ([parallel("s", {"a": auto("a", on_failure="escalated"), "b": auto("b")}), AFTER], ("escalated", "a")),
        ([parallel("s", {"a": auto("a", next_="success"), "b": auto("b")}), AFTER], ("success", "a")),
        ([parallel("s", {"a": [section("c", auto("d", next_="z"))], "b": auto("b")}), AFTER], ("z", "d")),
        ([each("s", [1], auto("a", next_="z"), concurrency=2), AFTER], ("z", "a")),
        ([section("s", auto("a")), step("z", "x", next_="a")], ("a", "z")),
        ([section("s", auto("a"), auto("c")), section("t", auto("b", next_="c"))], ("c", "b")),
    ],
    ids=["out", "sideways", "word", "success", "through a section", "item", "into a section", "into another"],
)
def test_s35_no_jump_crosses_a_branch_or_enters_a_block(steps: list[Any], names: tuple[str, str]) -> None:
    """Such a target is an error that names it, and says what may be written instead."""
    with pytest.raises(PlaybookError) as caught:
        book(*steps)
    [finding] = [d for d in caught.value.diagnostics if d.level.name == "ERROR"]
    assert names[0] in finding.message
    assert finding.help

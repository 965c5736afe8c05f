"""Steps in any order: S34, and fault D7 of the seed."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Allow, Approvals, Defer, HostError, PlaybookError, Succeeded

from .building import (
    auto,
    fails,
    kinds,
    legal_tools,
    section,
)
from .helpers import (
    asked,
    audit,
    book,
    call,
    denied,
    ok,
    propose,
    start,
    step,
)


def free(*steps: Any, **more: Any) -> Any:
    """A session of these steps in any order."""
    return start(book(*steps, strict_sequence=False, **more))


def test_s34_any_order_makes_every_steps_tool_legal_at_once() -> None:
    """Fault D7: `strict_sequence: false` has an effect; the last step may be the first."""
    session = free(step("a", "x"), step("b", "y"), step("c", "z"))
    assert legal_tools(session) == {"x", "y", "z"}
    for tool in ("z", "x"):
        assert ok(audit(session), tool) is not None
        ok(session, tool)
    assert session.states == ("b",)
    assert ok(session, "y").outcome == "success"


def test_s34_a_batch_in_any_order_is_decided_as_one_by_one() -> None:
    """All steps may be worked at in one reply."""
    session = free(step("a", "x"), step("b", "y"), step("c", "z"))
    verdicts = session.propose([call("z", "1"), call("y", "2"), call("x", "3")])
    assert all(isinstance(v, Allow | Defer) for v in verdicts)
    for call_id in "123":
        progress = session.observe(call_id, Succeeded())
    assert progress.outcome == "success"


def test_s34_the_run_is_over_when_all_required_steps_are() -> None:
    """Steps that are not required are not waited for, and what they have done counts for nothing."""
    session = free(step("a", "x"), step("b", "y", required=False), step("c", "z"))
    ok(session, "y")
    assert session.outcome is None
    ok(session, "x")
    assert ok(session, "z").outcome == "success"
    early = free(step("a", "x"), step("b", "y", required=False), step("c", "z"))
    ok(early, "z")
    assert ok(early, "x").outcome == "success"


def test_s34_where_none_is_required_all_are_waited_for() -> None:
    """A checklist of optional steps ends when each is done or skipped, not at once."""
    session = free(step("a", "x", required=False), step("b", "y", required=False))
    ok(session, "y")
    assert session.outcome is None
    assert isinstance(propose(session, "skip_step"), Allow)
    assert session.outcome == "success"


def test_s34_a_later_steps_tool_is_no_sequence_error() -> None:
    """What no step knows is still refused."""
    session = free(step("a", "x"), step("b", "y"))
    assert denied(session, "w").code == "unknown_tool"


def test_s34_one_failed_step_fails_the_run() -> None:
    """A required step that fails can not arrive any more."""
    session = free(auto("a"), step("b", "y"))
    fails(session, "a")
    assert session.outcome_class == "failed"


def test_s34_an_optional_step_that_fails_fails_nothing() -> None:
    """The required ones may still all arrive."""
    session = free(auto("a", required=False), step("b", "y"))
    fails(session, "a")
    assert session.outcome is None
    assert ok(session, "y").outcome == "success"


def test_s34_extra_tools_belong_to_no_cursor() -> None:
    """With `allow_extra_tools` what no step names is legal, but never a tool declared irreversible."""
    session = free(
        step("a", "x"),
        step("b", "y"),
        allow_extra_tools=True,
        tools={"x": {}, "y": {}, "free": {}, "wire": {"effect": "irreversible"}},
        max_refusals=9,
    )
    verdict = propose(session, "free")
    assert isinstance(verdict, Allow) and verdict.step == ""
    session.observe(verdict.call_id, Succeeded())
    assert kinds([propose(session, "wire")]) != ["Allow"]


def test_s34_a_target_between_steps_in_any_order_is_an_error() -> None:
    """There is no order to jump in."""
    with pytest.raises(PlaybookError, match="order"):
        book(step("a", "x", next_="c"), step("b", "y"), step("c", "z"), strict_sequence=False)


def test_s34_blocks_and_people_are_branches_too() -> None:
    """A question, a section and an agent's step lie side by side."""
    session = free({"id": "q", "ask": "Well?"}, section("s", step("in", "x")), step("b", "y"))
    ok(session, "y")
    Approvals(session).answer(asked(session), "fine", by="kim")
    assert ok(session, "x").outcome == "success"


def test_s50_any_order_is_another_machine() -> None:
    """The word changes the digest, and a snapshot of the one is refused by the other."""
    from guideway import Session

    ordered, free_order = book(step("a", "x")), book(step("a", "x"), strict_sequence=False)
    assert ordered.definition is not None and free_order.definition is not None
    assert ordered.definition.digest != free_order.definition.digest
    with pytest.raises(HostError):
        Session.restore(free_order, start(ordered).snapshot)

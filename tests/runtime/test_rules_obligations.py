"""What a policy still owes at the end: S38 and S42."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Allow, Deny, Session, Succeeded

from .building import auto, each, family, parallel, records, section, sub
from .helpers import answer, audit, book, denied, ok, propose, running, say, start, step

TOOLS = ["x", "y", "w"]


def free(*policies: dict[str, Any], **more: Any) -> Session:
    """A session in which an agent may call `x`, `y` and `w` as it likes, and ends by calling `done`."""
    return start(book(step("a", "done", optional_tools=TOOLS), policies=list(policies), max_refusals=99, **more))


def says(session: Session, *names: str) -> list[str]:
    """Each tool called, one by one: `ok` where it ran, else the code of the denial."""
    found = []
    for name in names:
        verdict = propose(session, name)
        found.append(verdict.code if isinstance(verdict, Deny) else "ok")
        if isinstance(verdict, Allow):
            session.observe(verdict.call_id, Succeeded())
    return found


TELL = {"id": "tell", "response": {"after": "x", "eventually": "y"}}


@pytest.mark.parametrize(
    ("policy", "calls", "kept"),
    [
        ({"response": {"after": "x", "eventually": "y"}}, "", True),
        ({"response": {"after": "x", "eventually": "y"}}, "x y", True),
        ({"response": {"after": "x", "eventually": "y"}}, "y x", False),
        ({"response": {"after": "x", "eventually": "y"}}, "x y x", False),
        ({"succession": {"first": "x", "then": "y"}}, "x", False),
        ({"succession": {"first": "x", "then": "y"}}, "x y", True),
        ({"at_least": {"event": "x", "times": 2}}, "x", False),
        ({"at_least": {"event": "x", "times": 2}}, "x x x", True),
        ({"exactly": {"event": "x", "times": 2}}, "x", False),
        ({"exactly": {"event": "x", "times": 2}}, "x x", True),
        ({"precedence": {"first": "x", "then": "y"}}, "", True),
        ({"chain_precedence": {"first": "x", "then": "y"}}, "x", True),
        ({"not_together": ["x", "y"]}, "x", True),
        ({"at_most": {"event": "x", "times": 1}}, "x", True),
    ],
    ids=str,
)
def test_s38_a_success_has_no_open_obligation(policy: dict[str, Any], calls: str, kept: bool) -> None:
    """What is still owed at an end of class success makes it none."""
    session = free(policy, max_nudges=1)
    says(session, *calls.split(), "done")
    for _ in range(3):
        if session.outcome is None:
            say(session)
    [kind] = policy
    assert session.outcome in (("success",) if kept else ("stopped:nudges", f"failed:policy:{kind}-1"))


def test_s42_chain_obligations_are_owed_too() -> None:
    """After `x` the next successful call must be `y`: the end itself is no call, and `y` is still owed."""
    policy = {"id": "next", "chain_response": {"after": "x", "eventually": "y"}}
    machine = book(auto("a", "x"), policies=[policy], optional_tools=["y"])
    session = start(machine)
    answer(session)
    assert session.outcome == "failed:policy:next"


def test_s42_an_open_obligation_is_nudged_before_the_end() -> None:
    """The agent is sent back: what is owed may still be done, and then the run ends well."""
    session = start(book(step("a", "x", optional_tools=["y"]), policies=[TELL]))
    ok(session, "x")
    assert session.outcome is None
    assert "y" in {legal.tool for legal in audit(session).legal()}
    assert ok(session, "y").outcome == "success"


BRANCHES = [{"when": "facts.x.n == 1", "goto": "success"}, {"goto": "escalated"}]


@pytest.mark.parametrize(
    "source",
    [
        {"steps": [section("s", step("a", "x"))]},
        {"steps": [parallel("s", {"a": {"description": "A.", "expected_tools": ["x"]}, "b": auto("b", "w")})]},
        {"steps": [step("a", "x"), step("b", "w", required=False)], "strict_sequence": False},
        {"steps": [step("a", "x", next_=BRANCHES)]},
        {"steps": [each("e", [1], step("a", "x"))]},
        {"steps": [step("a", "x", max_tool_calls=1)]},
    ],
    ids=["section", "parallel", "any order", "branch list", "item", "calls spent"],
)
def test_s42_nudged_first_wherever_the_last_step_lies(source: dict[str, Any]) -> None:
    """The agent's last step before a success stays open, in a block as at the top, until what is owed is done."""
    steps = source["steps"]
    more = {key: value for key, value in source.items() if key != "steps"}
    session = start(book(*steps, policies=[TELL], optional_tools=["y"], **more))
    for left in running(session):
        session.observe(left.call_id, Succeeded())
    ok(session, "x", {"n": 1})
    assert session.outcome is None
    assert "y" in {legal.tool for legal in audit(session).legal()}
    assert ok(session, "y").outcome == "success"


def test_s42_what_the_caller_owes_holds_a_callees_last_step() -> None:
    """Where the callee's end would be the caller's success, its agent is nudged for the caller's policy."""
    callee = sub("q", step("a", "w"))
    machine = family(
        step("z", "x"), {"id": "c", "playbook": "q"}, library=[callee], policies=[TELL], optional_tools=["y"]
    )
    session = start(machine)
    ok(session, "x")
    ok(session, "w")
    assert session.outcome is None
    assert ok(session, "y").outcome == "success"


def test_s42_where_the_run_goes_on_nobody_is_nudged() -> None:
    """An open obligation holds no step that does not lead to a success."""
    session = start(book(step("a", "x"), step("b", "y"), policies=[TELL]))
    ok(session, "x")
    assert session.state == "b"
    other = start(book(step("a", "x", next_=BRANCHES), policies=[TELL], optional_tools=["y"]))
    assert ok(other, "x", {"n": 2}).outcome == "escalated"


def test_s42_an_optional_last_step_is_not_skipped_into_a_failure() -> None:
    """While something is owed neither `skip_step` nor a text leaves the last step: the agent is nudged."""
    machine = book(step("a", "x"), step("b", "w", required=False), policies=[TELL], optional_tools=["y"], max_nudges=1)
    session = start(machine)
    ok(session, "x")
    assert "skip_step" not in {legal.tool for legal in session.legal()}
    assert isinstance(propose(session, "skip_step"), Deny)
    ok(session, "y")
    assert isinstance(propose(session, "skip_step"), Allow)
    assert session.outcome == "success"
    text = start(machine)
    ok(text, "x")
    say(text)
    assert text.outcome is None
    ok(text, "y")
    say(text)
    assert text.outcome == "success"


def test_s51_complete_step_is_not_offered_while_something_is_owed() -> None:
    """What would be refused is not listed as legal."""
    session = start(book(step("a", "x", claims={"n": "integer"}), policies=[TELL], optional_tools=["y"]))
    ok(session, "x")
    denial = denied(session, "complete_step", n=1)
    assert {legal.tool for legal in denial.legal} == {legal.tool for legal in session.legal()} == {"x", "y"}
    ok(session, "y")
    assert "complete_step" in {legal.tool for legal in session.legal()}


def test_s42_an_obligation_that_nobody_keeps_is_no_success() -> None:
    """Nudges come to an end, and the end is none of class success."""
    session = start(book(step("a", "x", optional_tools=["y"]), policies=[TELL], max_nudges=2))
    ok(session, "x")
    for _ in range(3):
        if session.outcome is None:
            say(session)
    assert session.outcome in ("stopped:nudges", "failed:policy:tell")


def test_s42_at_any_other_end_it_is_recorded() -> None:
    """An escalation keeps its word; the record says what was still owed."""
    policies = [TELL, {"at_most": {"event": "x", "times": 1}}]
    session = start(book(step("a", "x", next_="escalated"), policies=policies, optional_tools=["y"]))
    assert ok(session, "x").outcome == "escalated"
    assert records(session, "policy", "policy") == ["tell"]


def test_s42_with_nothing_owed_nothing_is_recorded() -> None:
    """Kept policies are silent."""
    session = start(book(step("a", "x", "y", next_="escalated", order="listed"), policies=[TELL]))
    ok(session, "x")
    assert ok(session, "y").outcome == "escalated"
    assert records(session, "policy") == []

"""The faults shown in the seed's released implementation: each must be impossible here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import guideway
from guideway import (
    Allow,
    Defer,
    Deny,
    Failed,
    PlaybookError,
    PlaybookLoadError,
    Session,
    Succeeded,
    check,
    load_playbook,
)

from .helpers import (
    allowed,
    answer,
    at,
    audit,
    book,
    call,
    command,
    denied,
    ends,
    error,
    ok,
    propose,
    say,
    start,
    step,
    trace,
)

INCIDENT = [step("look", "siem", "enrich"), step("contain", "isolate"), step("tell", "notify")]


def test_fault_d3_a_failed_tool_is_not_seen() -> None:
    """A tool that failed does not complete its step, however often it fails."""
    session = start(book(*INCIDENT))
    ok(session, "siem")
    for _ in range(3):
        assert error(session, "enrich").state == "look"
    assert denied(session, "isolate").code == "out_of_sequence"
    assert ok(session, "enrich").state == "contain"


def test_fault_d4_a_parallel_batch_cannot_overdraw() -> None:
    """Three calls of a tool where one is allowed: one runs, and none is charged to the next step."""
    session = start(book(step("a", "x", max_tool_calls=1), step("b", "x", "y", max_tool_calls=5)))
    verdicts = session.propose([call("x", "1"), call("x", "2", n=2), call("x", "3", n=3)])
    assert [type(v) for v in verdicts] == [Allow, Defer, Defer]
    later = session.observe("1", Succeeded()).verdicts
    # The first step is complete; the second names the tool itself, so the others are decided there, on its own budget.
    assert [type(v) for v in later] == [Allow, Allow]
    strict = start(book(step("a", "x", max_tool_calls=1), step("b", "y", max_tool_calls=5)))
    strict.propose([call("x", "1"), call("x", "2"), call("x", "3")])
    assert {v.code for v in strict.observe("1", Succeeded()).verdicts if isinstance(v, Deny)} == {"out_of_sequence"}
    assert dict(denied(strict, "x").budgets)["calls of this step"] == 5
    short = start(book(step("a", "x", "z", max_tool_calls=1), step("b", "y")))
    short.propose([call("x", "1"), call("z", "2")])
    progress = short.observe("1", Succeeded())
    assert progress.state == "b" and [type(v) for v in progress.verdicts] == [Deny]
    assert ok(short, "y").outcome == "incomplete:a"


def test_fault_d5_a_correct_batch_in_order_runs() -> None:
    """`[siem, enrich, isolate, notify]` in one reply ends the run in success, each call run once, in order."""
    session = start(book(*INCIDENT))
    names = ["siem", "enrich", "isolate", "notify"]
    verdicts: list[Any] = list(session.propose([call(name, name) for name in names]))
    order: list[str] = []
    while session.outcome is None:
        ready = [v.call_id for v in verdicts if isinstance(v, Allow)]
        assert ready
        verdicts = [v for call_id in ready for v in session.observe(call_id, Succeeded()).verdicts]
        order += ready
    assert (session.outcome, order) == ("success", names)


def test_fault_d5_a_batch_of_successes_equals_the_calls_one_by_one() -> None:
    """The record of moves is the same."""

    def moves(session: Session) -> list[tuple[str, str]]:
        return [(r["source"], r["target"]) for r in trace(session) if r["kind"] == "moved"]

    batch, single = start(book(*INCIDENT)), start(book(*INCIDENT))
    names = ["siem", "enrich", "isolate", "notify"]
    batch.propose([call(name, name) for name in names])
    for name in names:
        batch.observe(name, Succeeded())
        ok(single, name)
    assert moves(batch) == moves(single) and batch.outcome == single.outcome == "success"


def test_fault_d6_a_step_without_tools_lets_nothing_through_and_completes() -> None:
    """No tool is legal in a thinking step but what is legal everywhere; text or `complete_step` ends it."""
    session = start(book(step("think"), step("act", "x")))
    for tool in ("x", "anything", "rm"):
        assert isinstance(propose(session, tool), Deny)
    assert [c.tool for c in session.legal()] == ["complete_step"]
    say(session, "Thought about it.")
    assert session.state == "act"
    by_call = start(book(step("think"), step("act", "x")))
    assert isinstance(propose(by_call, "complete_step", result="ok", confidence=0.7), Allow)
    assert by_call.state == "act"


def test_fault_d8_extra_tools_are_those_no_step_names() -> None:
    """`allow_extra_tools` lets a foreign tool through, not a later step's; it counts for no step."""
    session = start(book(*INCIDENT, allow_extra_tools=True))
    assert denied(session, "isolate").code == "out_of_sequence"
    ok(session, "whatever")
    ok(session, "siem")
    assert session.state == "look"
    settled = [r for r in trace(session) if r["kind"] == "settled"]
    assert settled[0]["tool"] == "whatever"
    assert session.snapshot.to_json()["cursors"][0]["spent"] == 1
    pays = start(
        book(
            *INCIDENT,
            allow_extra_tools=True,
            tools={"siem": {}, "enrich": {}, "isolate": {}, "notify": {}, "pay": {"effect": "irreversible"}},
        )
    )
    assert isinstance(propose(pays, "pay"), Deny)


def test_fault_d9_validation_is_enforced() -> None:
    """A step whose validation is not true does not complete."""
    session = start(book(step("a", "x", validation={"hits": "facts.x.hits > 0"}), step("b", "y")))
    assert ok(session, "x", {"hits": 0}).state == "a"
    assert ok(session, "x", {}).state == "a"
    assert ok(session, "x", {"hits": 1}).state == "b"


def test_fault_d9_a_validation_that_is_no_expression_is_reported() -> None:
    """It is kept and not enforced, and `check` says so."""
    source = {"id": "p", "name": "P", "steps": [step("a", "x", validation={"note": "at least one hit"})]}
    assert [f.level for f in check(source)] == [guideway.Level.WARNING]
    assert ok(start(guideway.load(source)), "x").outcome == "success"


def test_fault_d9_timeout_seconds_is_enforced() -> None:
    """The seed's key is a deadline, and a negative one is an error."""
    session = start(book(step("a", "x", timeout_seconds=2.5)), timed=True)
    session.tick(at(2.4))
    assert session.outcome is None
    session.tick(at(2.5))
    assert session.outcome == "stopped:timeout:a"
    for wrong in (-1, 0, float("nan"), "soon"):
        with pytest.raises(PlaybookError):
            book(step("a", "x", timeout_seconds=wrong))


def test_fault_d9_max_iterations_is_enforced() -> None:
    """The playbook's own bound ends the run."""
    session = start(book(*INCIDENT, max_iterations=2))
    ok(session, "siem")
    assert ok(session, "siem").outcome == "stopped:max_iterations"
    assert ok(start(book(step("a", "x"), max_iterations=1)), "x").outcome == "success"


def test_fault_d14_a_misspelt_tool_is_found_or_ends_the_run() -> None:
    """With `tools` it is an error with the nearest name; without, the run ends by its refusals, not in silence."""
    with pytest.raises(PlaybookError) as caught:
        book(step("a", "qeury_siem"), tools={"query_siem": {}})
    [finding] = caught.value.diagnostics
    assert "qeury_siem" in finding.message and "query_siem" in f"{finding.message} {finding.help}"
    session = start(book(step("a", "qeury_siem")))
    for _ in range(5):
        assert session.outcome is None
        denial = denied(session, "query_siem")
        assert denial.code == "unknown_tool" and "qeury_siem" in denial.message
    assert session.outcome == "stopped:refusals"


def test_fault_d15_unknown_keys_are_errors() -> None:
    """A misspelt key at any level is refused with the key that was meant."""
    for source, meant in (
        ({"id": "p", "name": "P", "max_iteratons": 3, "steps": []}, "max_iterations"),
        ({"id": "p", "name": "P", "steps": [step("a", expected_tool=["x"])]}, "expected_tools"),
        ({"id": "p", "name": "P", "steps": [step("a", "x", max_tool_call=1)]}, "max_tool_calls"),
        ({"id": "p", "name": "P", "steps": [step("a", {"tool": "x", "were": "args.n == 1"})]}, "where"),
        ({"id": "p", "name": "P", "steps": [step("a", "x", approval={"ask": "?", "approver": ["lead"]})]}, "approvers"),
        ({"id": "p", "name": "P", "steps": [step("a", "x", tools=["y"])]}, "expected_tools"),
        ({"id": "p", "name": "P", "steps": [step("a", "x", on_error="failed")]}, "on_failure"),
    ):
        found = check(source)
        assert any(meant in f"{f.message} {f.help}" for f in found), (source, found)
        with pytest.raises(PlaybookLoadError):
            guideway.load(source)


@pytest.mark.parametrize("source", [None, 7, 1.5, [], ["a"], (), b"id: p", object(), True, {1, 2}], ids=repr)
def test_fault_d17_input_of_another_type_is_a_playbook_error(source: Any) -> None:
    """Never an AttributeError."""
    for read in (load_playbook, guideway.load):
        with pytest.raises(PlaybookError):
            read(source)


def test_fault_d17_long_and_odd_strings_are_playbook_errors(tmp_path: Path) -> None:
    """A path too long for the system, a missing file, a folder, an empty text: an error with the path, no OSError."""
    for source in (
        "x" * 100_000,
        "no/such/file.yaml",
        str(tmp_path),
        tmp_path,
        "",
        "\n",
        "\x00",
        "a\x00b.yaml",
        "{",
        "{}",
        "- a\n- b\n",
        "just text\n",
    ):
        with pytest.raises(PlaybookLoadError):
            load_playbook(source)


def test_fault_d17_no_calls_means_none() -> None:
    """`max_tool_calls: 0` allows no call at all."""
    session = start(book(step("a", optional_tools=["r"], max_tool_calls=0), step("b", "x")))
    assert denied(session, "r").code == "budget"
    assert "r" not in [c.tool for c in session.legal()]
    say(session)
    assert session.state == "b"
    with ends():
        wants = start(book(step("a", "x", max_tool_calls=0, on_exhausted="escalated")))
    assert wants.outcome == "escalated"
    failing = start(book(step("a", "x", max_tool_calls=0, on_failure="escalated"), step("b", "y")))
    assert failing.outcome == "escalated"


def test_fault_d17_a_negative_limit_is_an_error() -> None:
    """No limit below its least value is taken."""
    for more in (
        {"max_tool_calls": -3},
        {"min_tool_calls": -1},
        {"max_visits": 0},
        {"max_tool_calls": 1.5},
        {"max_tool_calls": True},
    ):
        with pytest.raises(PlaybookError):
            book(step("a", "x", **more))
    for top in ({"max_iterations": 0}, {"max_refusals": 0}, {"max_nudges": -1}):
        with pytest.raises(PlaybookError):
            book(step("a", "x"), **top)


def test_fault_d17_refusals_escalate() -> None:
    """Thirty refusals in a row do not happen: the fifth ends the run, by name."""
    session = start(book(*INCIDENT))
    seen = [denied(session, "isolate").code for _ in range(30)]
    assert seen == ["out_of_sequence"] * 5 + ["run_over"] * 25
    assert (session.outcome, session.outcome_class) == ("stopped:refusals", "stopped")
    audit(session)


def test_fault_d17_refusals_beside_failures_escalate_too() -> None:
    """A turn with a denial and a failure is a refusal; one with a success forgives."""
    session = start(book(step("a", "x", "y"), max_refusals=2))
    for number in range(2):
        session.propose([call("nope", f"n{number}"), call("x", f"x{number}")])
        session.observe(f"x{number}", Failed())
    assert session.outcome == "stopped:refusals"


def test_fault_d1_a_blocked_call_satisfies_no_stop_condition() -> None:
    """The incident does not end contained because the model tried to contain it."""
    session = start(
        book(
            *INCIDENT,
            outcomes={"contained": "success"},
            termination=[{"tool_called": "isolate", "outcome": "contained"}],
        )
    )
    assert isinstance(propose(session, "isolate"), Deny)
    assert session.outcome is None
    ok(session, "siem")
    ok(session, "enrich")
    assert session.observe(allowed(session, "isolate"), Failed()).outcome is None
    assert ok(session, "isolate").outcome == "contained"


def test_fault_e2_automatic_steps_run_what_they_say() -> None:
    """A step of the runtime's own is complete when its call has succeeded, not when an agent says so."""
    session = start(book(step("a", call={"tool": "x"}), step("b", "y")))
    assert not isinstance(propose(session, "complete_step"), Allow)
    say_so = start(book(step("a", call={"tool": "x"}), step("b", "y")))
    say(say_so, "x has run, everything is fine")
    assert say_so.state == "a" and command(say_so).tool == "x"
    answer(say_so)
    assert say_so.state == "b"

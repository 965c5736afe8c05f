"""What a run is, its clock, its facts: S1 to S8."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from guideway import Allow, Failed, HostError, Session, Succeeded, ToolCall

from .helpers import (
    T0,
    allowed,
    at,
    audit,
    book,
    call,
    command,
    denied,
    ok,
    propose,
    refused,
    start,
    step,
    trace,
    unchanged,
)

TWO = [step("look", "siem"), step("contain", "isolate")]


def test_s1_the_snapshot_is_json_and_holds_the_whole_run() -> None:
    """A run restored from its JSON in the middle of a batch goes on exactly as the one that was never stopped."""
    machine = book(
        step("a", "x", "y", next_=[{"when": "facts.x.n == facts.y.n", "goto": "b"}, {"goto": "failed"}]), step("b", "z")
    )
    session = start(machine)
    session.propose([call("x", "1"), call("y", "2"), call("z", "3")])
    session.observe("2", Succeeded({"n": 4}))
    twin = audit(session)
    for run in (session, twin):
        progress = run.observe("1", Succeeded({"n": 4}))
        assert [type(v) for v in progress.verdicts] == [Allow]
        assert run.observe("3", Succeeded()).outcome == "success"
    assert session.snapshot.to_json() == twin.snapshot.to_json()


def test_s1_a_snapshot_fits_only_its_own_playbook() -> None:
    """Restoring with another machine, or from something that is no snapshot, is the host's mistake."""
    saved = start(book(*TWO)).snapshot.to_json()
    with pytest.raises(HostError):
        Session.restore(book(step("other", "siem")), saved)
    damaged: list[Any] = [{}, {"version": 1}, [], None, {**saved, "cursors": [{}]}, {**saved, "bound": [1]}]
    for broken in damaged:
        with pytest.raises(HostError):
            Session.restore(book(*TWO), broken)


def test_s1_a_snapshot_with_counters_of_another_kind_is_damaged() -> None:
    """What cannot have been saved is refused when it is restored, not met later as a crash."""
    saved = start(book(*TWO)).snapshot.to_json()
    for key in ("iterations", "calls", "tokens", "nudges", "refusals", "numbered"):
        wrongs: list[Any] = [None, "x", [], {"a": 1}]
        for wrong in wrongs:
            with pytest.raises(HostError, match="snapshot"):
                Session.restore(book(*TWO), {**saved, key: wrong})


def test_s2_visits_and_facts_belong_to_the_frame() -> None:
    """Two runs of one machine share nothing."""
    machine = book(step("a", "x", next_=[{"when": "facts.x.n == 1", "goto": "success"}, {"goto": "failed"}]))
    one, two = start(machine), start(machine)
    ok(one, "x", {"n": 1})
    ok(two, "x", {"n": 2})
    assert (one.outcome, two.outcome) == ("success", "failed")


def test_s3_entering_a_state_resets_its_registers_and_adds_a_visit() -> None:
    """Spent calls are counted per visit; visits are counted per run."""
    machine = book(
        step("a", "x", max_tool_calls=2, max_visits=3, next_="b"),
        step("b", "y", next_=[{"when": "facts.y.again", "goto": "a"}, {"goto": "success"}]),
    )
    session = start(machine)
    for _ in range(2):
        session.observe(allowed(session, "x"), Failed())
        ok(session, "x")
        ok(session, "y", {"again": True})
    assert dict(denied(session, "z").budgets)["calls of this step"] == 2
    ok(session, "x")
    assert ok(session, "y", {"again": True}).outcome == "stopped:max_visits:a"


def test_s5_facts_are_copies() -> None:
    """A host that goes on using a result it has reported changes nothing in the run."""
    session = start(book(step("a", "x"), step("b", {"tool": "y", "where": "args.n == facts.x.n"})))
    result = {"n": 1}
    ok(session, "x", result)
    with unchanged(session):
        result["n"] = 2
    assert denied(session, "y", n=2).code == "where"
    ok(session, "y", n=1)


def test_s5_a_result_that_waits_is_a_copy_too() -> None:
    """An outcome that arrived early is what it was when it was reported, whatever the host does to it afterwards."""
    session = start(book(step("a", "x", "y"), step("b", {"tool": "z", "where": "args.n == facts.y.n"})))
    session.propose([call("x", "1"), call("y", "2")])
    result = {"n": 1}
    session.observe("2", Succeeded(result))
    result["n"] = 2
    session.observe("1", Succeeded())
    assert isinstance(propose(session, "z", n=1), Allow)


def test_s5_proposed_arguments_are_copies() -> None:
    """Arguments changed after they were admitted are not what was admitted."""
    args: dict[str, Any] = {"n": 1}
    session = start(book(step("a", {"tool": "x", "expect": "args.n == 1"})))
    [verdict] = session.propose([ToolCall("x", args, call_id="1")])
    args["n"] = 2
    assert session.observe(verdict.call_id, Succeeded()).outcome == "success"


def test_s5_a_commands_arguments_are_the_hosts_own_copy() -> None:
    """A tool that eats its arguments does not change the run: the retry has the same ones (S23)."""
    machine = book(step("a", call={"tool": "x", "args": {"n": [1]}}, retry=1), tools={"x": {"effect": "read"}})
    session = start(machine)
    first = command(session)
    first.args.pop("n")
    session.observe(first.call_id, Failed())
    assert command(session).args == {"n": [1]}
    assert [r["args"] for r in trace(session) if r["kind"] == "decided"] == [{"n": [1]}, {"n": [1]}]


def test_s6_the_four_outcomes_are_the_only_ones() -> None:
    """Anything else reported is the host's mistake, and changes nothing."""
    session = start(book(*TWO))
    call_id = allowed(session, "siem")
    for wrong in (None, True, "ok", {"result": 1}, Succeeded):
        with refused(session, "Succeeded"):
            session.observe(call_id, wrong)  # type: ignore[arg-type]
    assert session.observe(call_id, Succeeded()).state == "contain"


def test_s7_a_timed_machine_refuses_to_start_without_now() -> None:
    """A timer, or a read of the clock, needs a clock; nothing else does."""
    timed = [
        book(step("a", "x", timeout="5m")),
        book(
            step(
                "a",
                "x",
                next_=[{"when": 'now > timestamp("2026-01-01T00:00:00Z")', "goto": "success"}, {"goto": "failed"}],
            )
        ),
        book(step("a", "x", retry={"at_most": 1, "wait": "1s"}), tools={"x": {"effect": "read"}}),
        book(step("a", "x"), termination=[{"time_limit": "1h"}]),
    ]
    for machine in timed:
        with pytest.raises(HostError, match="now"):
            Session(machine)
        assert Session(machine, now=T0).outcome is None
    assert Session(book(*TWO)).outcome is None


def test_s7_a_time_without_a_zone_is_refused() -> None:
    """Nobody can say when a naive time is."""
    with pytest.raises(HostError, match="time zone"):
        Session(book(*TWO), now=datetime(2026, 1, 1))
    session = start(book(*TWO), timed=True)
    with refused(session, "time zone"):
        session.tick(datetime(2026, 1, 1))


def test_s7_the_clock_never_goes_back() -> None:
    """An earlier `now` is read as the latest one."""
    session = start(book(step("a", "x", timeout="10s")), timed=True)
    session.tick(at(9))
    session.tick(at(-10_000))
    assert session.now == at(9)
    session.tick(at(10))
    assert session.outcome == "stopped:timeout:a"


def test_s7_a_deadline_beats_an_event_that_arrives_at_it() -> None:
    """The outcome reported in the very instant of the deadline comes too late; a moment before it is in time."""
    machine = book(step("a", "x", timeout="10s"))
    late, in_time = start(machine, timed=True), start(machine, timed=True)
    assert late.observe(allowed(late, "x"), Succeeded(), now=at(10)).outcome == "stopped:timeout:a"
    assert in_time.observe(allowed(in_time, "x"), Succeeded(), now=at(9.999)).outcome == "success"


def test_s7_timers_fire_each_at_its_own_time() -> None:
    """After a long silence each deadline counts from the one before it, not from the moment of the tick."""
    machine = book(
        step("a", "x", timeout="10s", on_timeout="b"),
        step("b", "y", timeout="10s", on_timeout="c"),
        step("c", "z", timeout="1h"),
    )
    session = start(machine, timed=True)
    session.tick(at(30))
    assert session.state == "c"
    assert [r["at"] for r in trace(session) if r["kind"] == "due"] == ["2026-03-02T09:00:10Z", "2026-03-02T09:00:20Z"]
    session.tick(at(20 + 3599))
    assert session.outcome is None
    session.tick(at(20 + 3600))
    assert session.outcome == "stopped:timeout:c"


def test_s7_a_time_limit_ends_the_run_when_time_passes() -> None:
    """A run that waits for its model is ended by the clock alone."""
    session = start(book(*TWO, termination=[{"time_limit": "10m"}]), timed=True)
    session.tick(at(599))
    assert session.outcome is None
    session.tick(at(600))
    assert session.outcome == "stopped:time_limit"


def test_s7_a_time_limit_beats_a_proposal_that_comes_after_it() -> None:
    """A call proposed when the time is up does not run."""
    session = start(book(*TWO, termination=[{"time_limit": "10m"}]), timed=True)
    assert denied(session, "siem", now=at(600)).code == "run_over"
    assert session.outcome == "stopped:time_limit"


def test_s8_an_intent_is_recorded_before_the_call_may_run() -> None:
    """The record names an automatic call before the host can see the command."""
    session = start(book(step("a", call={"tool": "x"})))
    wanted = command(session)
    assert [r["call_id"] for r in trace(session) if r["kind"] == "decided"] == [wanted.call_id]


def test_s4_one_cursor_and_the_order_of_the_batch() -> None:
    """The first half of the format has one cursor, so what is "in order" is the order of the model's calls."""
    session = start(book(step("a", "x", "y"), step("b", "z")))
    calls = [call("y", "1"), call("x", "2"), call("z", "3")]
    assert [verdict.call_id for verdict in session.propose(calls)] == ["1", "2", "3"]
    assert session.snapshot.to_json()["cursors"][0]["state"] == "a"

"""The runtime's own calls, and what is kept of them: S28."""

from __future__ import annotations

from typing import Any

from guideway import Approvals, Cancelled, Failed, Succeeded

from .helpers import (
    allowed,
    answer,
    asked,
    asks,
    at,
    audit,
    book,
    command,
    ok,
    running,
    start,
    step,
    trace,
)

READ = {"x": {"effect": "read"}, "y": {"effect": "read"}}


def test_s28_an_automatic_call_is_no_turn() -> None:
    """It counts as a call of the run, not as an iteration."""
    branches = [{"when": "run.calls == 1 && run.iterations == 0", "goto": "success"}, {"goto": "failed"}]
    session = start(book(step("a", call={"tool": "x"}, next_=branches)))
    assert answer(session).outcome == "success"


def test_s28_an_automatic_call_passes_the_same_gate() -> None:
    """The tool's `where` refuses it, its schema too; either fails the step and the reason is recorded."""
    guarded = {
        "x": {"where": "args.n == 1", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    }
    for n, why in ((2, "where"), ("one", "bad_args")):
        machine = book(
            step("a", call={"tool": "x", "args": {"n": "{{ inputs.n }}"}}, on_failure="escalated"),
            tools=guarded,
            inputs={"n": {}},
        )
        session = start(machine, inputs={"n": n})
        assert (session.outcome, session.commands) == ("escalated", [])
        assert why in next(r["why"] for r in trace(session) if r["kind"] == "moved")


def test_s28_a_cancelled_automatic_call_fails_the_step() -> None:
    """Settled without running is a failure, whatever retries are left."""
    session = start(book(step("a", call={"tool": "x"}, retry=3, on_failure="escalated"), tools=READ))
    assert session.observe(command(session).call_id, Cancelled()).outcome == "escalated"


def test_s28_a_rejected_automatic_call_stops_or_takes_on_reject() -> None:
    """The default is `stopped:rejected`."""
    asking = {"x": {"approval": {"ask": "Run it?"}}}
    for more, end in (({}, "stopped:rejected"), ({"on_reject": "escalated"}, "escalated")):
        session = start(book(step("a", call={"tool": "x"}, **more), tools=asking))
        assert running(session) == [] and [a.ask for a in asks(session)] == ["Run it?"]
        assert Approvals(session).reject(asked(session), by="kim").progress.outcome == end


def test_s28_a_deferred_automatic_call_is_decided_after_each_applied_outcome() -> None:
    """An irreversible automatic call waits for the orphan of the step before."""
    machine = book(
        step("a", "x", timeout="10s", on_timeout="b"),
        step("b", call={"tool": "pay"}),
        tools={"x": {}, "pay": {"effect": "irreversible"}},
    )
    session = start(machine, timed=True)
    late = allowed(session, "x")
    session.tick(at(10))
    assert running(session) == []
    audit(session).observe(late, Succeeded())
    session.observe(late, Succeeded())
    assert command(session).tool == "pay"


def test_s28_repeat_until_true() -> None:
    """A round that is ok and not true is followed by the wait and another; `at_most` rounds fail the step."""
    repeat = {"until": "result.up", "at_most": 3, "wait": "10s"}
    session = start(book(step("a", call={"tool": "x"}, repeat=repeat, on_failure="escalated"), tools=READ), timed=True)
    answer(session, {"up": False})
    assert running(session) == []
    session.tick(at(10))
    assert answer(audit(session), {"up": True}).outcome == "success"
    answer(session, {})
    session.tick(at(20))
    assert answer(session, {"up": False}).outcome == "escalated"
    assert "repeat" in [r for r in trace(session) if r["kind"] == "moved"][-1]["why"]


def test_s28_an_error_in_a_repeat_is_no_round() -> None:
    """Errors follow `retry`; they neither use up rounds nor count as one."""
    machine = book(step("a", call={"tool": "x"}, repeat={"until": "result.up", "at_most": 2}, retry=3), tools=READ)
    session = start(machine)
    for outcome in (Failed(), Succeeded({"up": False}), Failed(), Failed()):
        assert session.observe(command(session).call_id, outcome).outcome is None
    assert session.observe(command(session).call_id, Succeeded({"up": True})).outcome == "success"
    fails = start(book(step("a", call={"tool": "x"}, repeat={"until": "result.up", "at_most": 9}), tools=READ))
    assert fails.observe(command(fails).call_id, Failed()).outcome == "failed:a"


def test_s28_a_round_that_breaks_its_contract_did_not_hold() -> None:
    """S25: in `repeat`, a result against the schema or `expect` is a round that did not hold."""
    machine = book(
        step("a", call={"tool": "x", "expect": "result.n > 0"}, repeat={"until": "result.up", "at_most": 2}),
        tools={"x": {"result": {"type": "object"}}},
    )
    session = start(machine)
    assert answer(session, 7).outcome is None
    assert answer(audit(session), {"up": True, "n": 0}).outcome == "failed:a"
    assert answer(session, {"up": True, "n": 1}).outcome == "success"


def test_s28_repeat_collects_its_rounds() -> None:
    """`collect` keeps one value of each round in the step's fact; a round that has none does no harm."""
    kept: dict[str, Any] = {"until": "result.up", "at_most": 9, "collect": "result.n"}
    branches = [{"when": "facts.a == [1, 2]", "goto": "success"}, {"goto": "escalated"}]
    session = start(book(step("a", call={"tool": "x"}, repeat=kept, next_=branches)))
    answer(session, {"up": False, "n": 1})
    audit(session)
    assert answer(session, {"up": True, "n": 2}).outcome == "success"
    missing = start(book(step("a", call={"tool": "x"}, repeat=kept, next_=branches, on_failure="stopped")))
    answer(missing, {"up": False})
    audit(missing)
    if missing.outcome is None:
        answer(missing, {"up": True, "n": 2})
    assert missing.outcome in ("stopped", "escalated")


def test_s28_facts_of_a_call_are_kept_under_the_step() -> None:
    """`facts.STEP` is the latest success of a `call` step, `facts.TOOL` that of an agent's."""
    machine = book(
        step("a", call={"tool": "x"}),
        step("b", "x", next_=[{"when": "facts.a.n == 1 && facts.x.n == 2", "goto": "success"}, {"goto": "failed"}]),
    )
    session = start(machine)
    answer(session, {"n": 1})
    assert ok(session, "x", {"n": 2}).outcome == "success"


def test_history_is_bounded_and_includes_the_latest() -> None:
    """`history.NAME` lists the results, the newest last, and does not grow without end."""
    machine = book(
        step(
            "a",
            "x",
            "y",
            next_=[{"when": "size(history.x) <= 1000 && history.x[0].n >= 1", "goto": "success"}, {"goto": "failed"}],
        ),
        max_iterations=10**6,
    )
    session = start(machine)
    for n in range(1, 300):
        ok(session, "x", {"n": n})
    assert len(str(session.snapshot.to_json()["frames"][0]["history"])) < 5_000
    assert ok(session, "y").outcome == "success"

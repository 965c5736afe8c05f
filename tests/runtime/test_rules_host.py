"""What a run is, its clock, its facts, its verbs: S1 to S8, S44, S50 to S52, S56, S57."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any

import pytest

import guideway
from guideway import Allow, Cancelled, Defer, Deny, Failed, HostError, Session, Succeeded, ToolCall, Unknown, Usage
from guideway.runtime.records import lines, verify
from guideway.statemachine.errors import JournalError

from .helpers import (
    T0,
    allowed,
    answer,
    asks,
    at,
    audit,
    book,
    call,
    command,
    denied,
    ends,
    ok,
    propose,
    refused,
    running,
    say,
    start,
    step,
    trace,
    unchanged,
    waits,
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
    for broken in ({}, {"version": 1}, [], None, {**saved, "cursor": {}}, {**saved, "bound": [1]}):
        with pytest.raises(HostError):
            Session.restore(book(*TWO), broken)  # type: ignore[arg-type]


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
        Session(book(*TWO), now=datetime(2026, 1, 1))  # noqa: DTZ001
    session = start(book(*TWO), timed=True)
    with refused(session, "time zone"):
        session.tick(datetime(2026, 1, 1))  # noqa: DTZ001


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


def test_s44_unknown_is_no_truth() -> None:
    """A missing fact, a value of the wrong type and an index out of range all fail the step that branches on them."""
    for guard in ("facts.x.gone == 1", "facts.x.text < 3", "facts.x.list[5] == 1", "facts.x.n"):
        machine = book(
            step("a", "x", next_=[{"when": guard, "goto": "success"}, {"goto": "success"}], on_failure="escalated")
        )
        session = start(machine)
        assert ok(session, "x", {"text": "t", "list": [], "n": 1}).outcome == "escalated"
        assert "guard_unknown" in next(r["why"] for r in trace(session) if r["kind"] == "moved")


def test_s44_and_or_are_kleene() -> None:
    """`false && unknown` is false and `true || unknown` is true, on either side."""
    for guard, end in (
        ("facts.x.gone == 1 && false", "failed"),
        ("false && facts.x.gone == 1", "failed"),
        ("facts.x.gone == 1 || true", "success"),
        ("true || facts.x.gone == 1", "success"),
        ("true && facts.x.gone == 1", "escalated"),
        ("has(facts.x.gone)", "failed"),
        ("default(facts.x.gone, 1) == 1", "success"),
    ):
        machine = book(
            step("a", "x", next_=[{"when": guard, "goto": "success"}, {"goto": "failed"}], on_failure="escalated")
        )
        session = start(machine)
        assert ok(session, "x", {}).outcome == end, guard


def test_s50_the_digest_forgets_places_and_key_order() -> None:
    """The same playbook from YAML with comments and from a dict has one digest; another meaning has another."""
    text = "# a comment\nname: P\nid: p\nsteps:\n\n  - description: Do a.\n    id: a\n    expected_tools: [x]\n"
    written = guideway.load(text).definition
    plain = book(step("a", "x")).definition
    assert written is not None and plain is not None
    assert written.digest == plain.digest
    assert len(plain.digest) == 64 and int(plain.digest, 16) >= 0
    others = [
        book(step("a", "y")), book(step("a", "x", max_tool_calls=3)), book(step("a", "x"), max_refusals=6),
        book(step("a", {"tool": "x", "where": "args.n == 1"})), book(step("a", "x"), tools={"x": {"effect": "read"}}),
    ]  # fmt: skip
    assert len({m.definition.digest for m in others if m.definition} | {plain.digest}) == 6


def test_s51_an_empty_proposal_is_a_turn() -> None:
    """`propose` without calls opens and ends a turn."""
    session = start(book(*TWO))
    assert session.propose([], text="hm", usage=Usage(tokens=7)) == []
    assert [(r["kind"], r["number"]) for r in trace(session)[1:]] == [("turn", 1), ("turn_ended", 1)]


def test_s51_commands_are_issued_and_unobserved() -> None:
    """A command is listed from its issue to its report, whatever the report says, and then no more."""
    for outcome in (Succeeded(), Failed(), Cancelled(), Unknown()):
        session = start(book(step("a", call={"tool": "x"})))
        first = command(session)
        assert command(session) == first
        session.observe(first.call_id, outcome)
        assert first not in session.commands, outcome


def test_s51_legal_waiting_and_outcome_say_how_things_stand() -> None:
    """`legal` lists calls with their constraints, `waiting` whom the run waits for, `outcome` nothing before the end."""
    machine = book(
        step("a", {"tool": "x", "where": "args.n == 1", "times": 2, "because": "one at a time"}, optional_tools=["r*"]),
        step("b", approval={"ask": "Go?", "approvers": ["lead"]}),
    )
    session = start(machine)
    first, second = session.legal()
    assert (first.tool, first.step, first.where, first.because, first.left, first.needed) == (
        "x", "a", ("args.n == 1",), "one at a time", 2, True,
    )  # fmt: skip
    assert (second.tool, second.needed) == ("r*", False)
    ok(session, "x", n=1)
    assert session.legal()[0].left == 1
    ok(session, "x", n=1)
    assert session.legal() == () and session.outcome is None
    assert "Go?" in session.waiting[0] and "lead" in session.waiting[0]
    assert [a.ask for a in asks(session)] == ["Go?"]


def test_s51_host_verbs_are_recorded_as_the_hosts() -> None:
    """complete, skip and fail move the run by the host's authority; a required step is not skipped."""
    machine = book(step("a", "x"), step("b", "y", required=False), step("c", "z", on_failure="escalated"))
    session = start(machine)
    with refused(session, "required"):
        session.skip()
    session.complete("seen on paper")
    session.skip()
    assert session.fail("no way").outcome == "escalated"
    assert [(r["verb"], r["step"]) for r in trace(session) if r["kind"] == "host"] == [
        ("complete", "a"), ("skip", "b"), ("fail", "c"),
    ]  # fmt: skip
    with refused(session, "over"):
        session.complete()


def test_s51_a_confidence_lies_between_nought_and_one() -> None:
    """A confidence out of range, or none, is the host's mistake."""
    session = start(book(*TWO, termination=[{"confidence_met": 0.9, "outcome": "stopped"}]))
    for wrong in (-0.1, 1.1, float("nan"), float("inf"), True, "0.5", None):
        with refused(session, "confidence"):
            session.claim(confidence=wrong)  # type: ignore[arg-type]
    assert session.claim(confidence=0.89).outcome is None
    assert session.claim(confidence=0.9).outcome == "stopped"


def test_s51_the_models_confidence_is_held_to_the_same_range() -> None:
    """A model that claims 95 where 1 is the most has not met a confidence of 0.9."""
    machine = book(step("a"), step("b", "x"), termination=[{"confidence_met": 0.9, "outcome": "stopped"}])
    session = start(machine)
    assert denied(session, "complete_step", confidence=95).code == "bad_args"
    assert session.outcome is None and session.state == "a"


def test_s52_a_second_proposal_before_the_turn_ended_is_refused() -> None:
    """No turn opens inside another, on the short way and on the long one."""
    for calls in ([call("siem", "1")], [call("siem", "1"), call("isolate", "2")]):
        session = start(book(*TWO))
        session.propose(calls)
        for wrong in ([call("siem", "9")], [call("isolate", "1")], [call("siem", "1", n=1)], []):
            with refused(session, "turn"):
                session.propose(wrong)


def test_s52_the_same_proposal_has_the_same_answer() -> None:
    """A host that lost the answer asks again, and nothing happens twice."""
    for machine in (book(*TWO), book(step("look", "siem", max_tool_calls=3), TWO[1])):
        session = start(machine)
        calls = [call("siem", "1", q="x", list=(1, 2)), call("isolate", "2")][: 1 + bool(machine)]
        first = session.propose(calls)
        with unchanged(session):
            assert session.propose(calls) == first
        twin = audit(session)
        assert twin.propose(calls) == first


def test_s52_a_tuple_among_the_arguments_is_still_the_same_call() -> None:
    """The short way compares what was proposed as the long one does."""
    session = start(book(*TWO))
    first = session.propose([call("siem", "1", list=(1, 2))])
    assert session.propose([call("siem", "1", list=(1, 2))]) == first


def test_s52_true_is_not_one() -> None:
    """A call whose argument is `true` is another call than one whose argument is 1."""
    for machine in (book(*TWO), book(step("look", "siem", max_tool_calls=3), TWO[1])):
        session = start(machine)
        session.propose([call("siem", "1", n=1)])
        with refused(session, "turn"):
            session.propose([call("siem", "1", n=True)])


def test_s52_a_call_under_the_frameworks_name_is_repeated_under_it() -> None:
    """A tool whose `name` differs is the same tool when it is proposed again."""
    session = start(book(step("look", "siem"), tools={"siem": {"name": "mcp__siem__query"}}))
    first = session.propose([call("mcp__siem__query", "1")])
    assert isinstance(first[0], Allow)
    assert session.propose([call("mcp__siem__query", "1")]) == first


def test_s52_a_repeated_report_changes_nothing() -> None:
    """The same outcome again is no event; another one is the host's mistake, whenever it comes."""
    for outcome, other in (
        (Succeeded({"n": 1}), Failed()), (Failed("x"), Succeeded()), (Cancelled(), Succeeded()), (Succeeded(1), Succeeded(2)),
    ):  # fmt: skip
        session = start(book(step("a", "x", "y", "z"), step("b", "w")))
        call_id = allowed(session, "x")
        session.observe(call_id, outcome)
        for _ in range(2):
            with unchanged(session):
                session.observe(call_id, outcome)
            with refused(session, call_id):
                session.observe(call_id, other)
            ok(session, "y")


def test_s52_a_report_of_an_unknown_or_unadmitted_call_is_refused() -> None:
    """Nobody reports what was not admitted: not an invented id, not a denied call, not a deferred one, not a pending one."""
    machine = book(step("a", "x", {"tool": "p", "approval": {"ask": "?"}}), step("b", "y"))
    session = start(machine)
    [no] = session.propose([call("nonsense", "n")])
    assert isinstance(no, Deny)
    for wrong in ("n", "zzz", "", "x"):
        with refused(session):
            session.observe(wrong, Succeeded())
    verdicts = session.propose([call("p", "1"), call("x", "2"), call("y", "3")])
    assert isinstance(verdicts[2], Defer)
    for wrong in ("1", "3"):
        with refused(session):
            session.observe(wrong, Succeeded())


def test_s56_a_number_with_integral_value_is_an_int_everywhere() -> None:
    """2.0 is 2 in arguments, results, inputs, schemas and expressions."""
    integer = {"type": "object", "properties": {"n": {"type": "integer"}}}
    machine = book(
        step("a", {"tool": "x", "where": "args.n == 2 && args.n == inputs.k"}, next_=[{"when": "facts.x.n == 3", "goto": "success"}, {"goto": "failed"}]),
        tools={"x": {"parameters": integer, "result": integer}}, inputs={"k": "integer"},
    )  # fmt: skip
    session = start(machine, inputs={"k": 2.0})
    assert ok(session, "x", {"n": 3.0}, n=2.0).outcome == "success"
    assert [r["args"] for r in trace(session) if r["kind"] == "decided"] == [{"n": 2}]


def test_s56_what_is_no_json_is_refused_where_it_comes_in() -> None:
    """NaN, infinities, lone surrogates and objects never get into arguments or inputs."""
    for wrong in (float("nan"), float("inf"), "\ud800", object(), {1: 2}, {"k": {"\udfff": 1}}, 10**40, {1, 2}, b"x"):
        session = start(book(*TWO))
        verdict = denied(session, "siem", q=wrong)
        assert verdict.code == "bad_args", wrong
        ok(session, "siem")
        audit(session)
        with pytest.raises(HostError, match="input"):
            start(book(*TWO, inputs={"q": {}}), inputs={"q": wrong})


def test_s56_a_result_that_is_no_json_is_a_breach_of_contract() -> None:
    """It happened, and it counts for nothing (S25); the run and its record stay whole."""
    deep: Any = None
    for _ in range(100_000):
        deep = [deep]
    for wrong in (float("nan"), "\ud800", object(), deep, {"a": {1: 2}}):
        session = start(book(*TWO))
        progress = session.observe(allowed(session, "siem"), Succeeded(wrong))
        assert progress.state == "look"
        audit(session)
        assert "result_schema" in json.dumps(trace(session))
        ok(session, "siem")
        assert session.state == "contain"


def test_s56_an_error_that_is_no_json_does_not_spoil_the_record() -> None:
    """Whatever a tool throws, the trace can be written and the run saved."""
    loop: dict[str, Any] = {}
    loop["self"] = loop
    for wrong in (
        {"type": "x", "x": float("nan")},
        {"x": object()},
        "\ud800",
        {"message": "\udc00"},
        loop,
        {1: 2},
        None,
        7,
    ):
        session = start(book(*TWO))
        session.observe(allowed(session, "siem"), Failed(wrong))  # type: ignore[arg-type]
        audit(session)
        ok(session, "siem")


def test_s56_a_models_broken_text_does_not_spoil_the_record() -> None:
    """Lone surrogates in text, names and ids come from models that are cut off; the run goes on and can be written."""
    session = start(book(*TWO))
    say(session, "half a smile \ud83d")
    audit(session)
    session.propose([ToolCall("\ud83d", call_id="1"), ToolCall("siem", call_id="\ud83d")])
    audit(session)


def test_s56_a_name_that_is_no_text_is_answered() -> None:
    """A call without a proper name or id is refused, one way or the other, and never a crash that changes the run."""
    for name, call_id in ((None, "1"), (7, "1"), (["siem"], "1"), ({}, "1"), ("siem", 7), ("siem", ["x"]), ("", "1")):
        session = start(book(*TWO))
        try:
            [verdict] = session.propose([ToolCall(name, {}, call_id)])  # type: ignore[arg-type]
        except HostError:
            pass
        else:
            assert isinstance(verdict, Deny), (name, call_id)
        ok(session, "siem")
        audit(session)


def test_s56_arguments_that_are_no_object_are_bad_arguments() -> None:
    """A model that sends a list, a text or nothing at all is told so."""
    deep: Any = None
    for _ in range(100_000):
        deep = {"a": deep}
    for wrong in ([1, 2], "x", None, 7, deep):
        session = start(book(*TWO))
        [verdict] = session.propose([ToolCall("siem", wrong, "1")])
        assert isinstance(verdict, Deny) and verdict.code == "bad_args", wrong if wrong is not deep else "deep"
        audit(session)


def test_s56_huge_arguments_are_no_matter() -> None:
    """A megabyte of text and ten thousand keys are admitted, saved and restored."""
    session = start(book(*TWO))
    ok(session, "siem", {"t": "ü" * 10**6}, q="x" * 10**6, **{f"k{i}": i for i in range(10_000)})
    audit(session)


def test_s57_the_trace_shows_every_tampering() -> None:
    """A line changed, dropped, moved or added in the middle breaks the chain, and the error names a line."""
    session = start(book(*TWO))
    ok(session, "siem", {"hits": 3})
    ok(session, "isolate")
    written = list(lines(session.records))
    assert [json.loads(line)["seq"] for line in written] == list(range(len(written)))
    for spoilt in (
        [*written[:3], written[3].replace("siem", "SIEM"), *written[4:]], written[:2] + written[3:],
        [written[1], written[0], *written[2:]], [*written[:2], "{}\n", *written[2:]], [*written[:2], "no json\n"],
    ):  # fmt: skip
        with pytest.raises(JournalError, match="line"):
            verify("".join(spoilt))
    first = json.loads(written[0])
    claimed = first.pop("hash")
    body = json.dumps(first, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert hashlib.sha256(body).hexdigest() == claimed


def test_sensitive_inputs_stay_out_of_record_and_messages() -> None:
    """FORMAT section 2: what is sensitive is redacted in the journal and in messages."""
    machine = book(
        step("a", {"tool": "x", "where": "args.t == inputs.token"}),
        inputs={"token": {"type": "string", "sensitive": True}, "plain": "string"},
    )
    session = start(machine, inputs={"token": "hunter2", "plain": "seen"})
    denial = denied(session, "x", t="other")
    assert "hunter2" not in denial.message
    assert "hunter2" not in json.dumps(trace(session)) and "seen" in json.dumps(trace(session))
    assert isinstance(propose(session, "x", t="hunter2"), Allow)
    assert Session.restore(machine, session.snapshot.to_json()).snapshot.to_json()["inputs"]["token"] == "hunter2"


def test_decide_has_no_side_effect() -> None:
    """`decide` answers as `propose` would, for every kind of verdict, and changes nothing."""
    machine = book(
        step("a", "x", {"tool": "p", "approval": {"ask": "?"}}, {"tool": "w", "where": "args.n == 1"}, required=False),
        step("b"), step("c", "y"),
    )  # fmt: skip
    session = start(machine)
    for wanted in (
        call("x", "1"),
        call("p", "2"),
        call("w", "3", n=2),
        call("y", "4"),
        call("skip_step", "5"),
        call("", "6"),
        ToolCall("x"),
    ):
        with unchanged(session):
            guess = session.decide(wanted)
        assert [guess] == audit(session).propose([wanted]) or isinstance(guess, Deny)
    ok(session, "x")
    with unchanged(session):
        assert isinstance(session.decide(call("skip_step", "7")), Allow)
    assert session.state == "a"


def test_a_long_sleep_is_no_trouble() -> None:
    """Waits that grow beyond the calendar do not crash the run."""
    machine = book(
        step("a", call={"tool": "x"}, retry={"at_most": 100, "wait": "1d", "backoff": 10}, on_failure="escalated"),
        tools={"x": {"effect": "read"}},
    )
    session = start(machine, timed=True)
    with ends():
        for _ in range(101):
            session.observe(command(session).call_id, Failed())
            audit(session)
            if session.outcome is None and not running(session):
                session.tick(waits(session)[0].due)
    assert session.outcome == "escalated"


def test_an_agents_wait_is_no_trouble_either() -> None:
    """The same for a tool the model may try again."""
    machine = book(step("a", "x", retry={"at_most": 100, "wait": "1d", "backoff": 10}), tools={"x": {"effect": "read"}})
    session = start(machine, timed=True)
    for failures in range(7):  # the last wait leads past the year 9999
        session.observe(allowed(session, "x", now=T0 + timedelta(days=10**failures)), Failed())
        audit(session)
    assert denied(session, "x").code == "retry_wait"


def test_an_unnamed_call_gets_an_id_nobody_has() -> None:
    """The numbers the session gives never meet those a provider gave."""
    session = start(book(*TWO))
    session.observe(session.propose([ToolCall("siem", call_id="call-1")])[0].call_id, Succeeded())
    [verdict] = session.propose([ToolCall("isolate")])
    assert isinstance(verdict, Allow) and verdict.call_id != "call-1"


def test_equal_ids_in_one_reply() -> None:
    """S14.1: the second call under one id is refused; the first is not touched."""
    session = start(book(step("a", "x", "y")))
    first, second = session.propose([call("x", "1"), call("y", "1")])
    assert isinstance(first, Allow) and isinstance(second, Deny) and second.code == "id_reused"
    session.observe("1", Succeeded())
    assert session.state == "a" and session.legal()[0].needed is False
    assert denied(session, "nonsense").code == "unknown_tool"
    [again] = session.propose([call("y", "1")])
    assert isinstance(again, Deny) and again.code == "id_reused"


def test_an_agents_id_cannot_stand_for_the_runtimes() -> None:
    """A model that guesses the id of an automatic call gains nothing."""
    session = start(book(step("a", "x"), step("b", call={"tool": "y"}), step("c", "z")))
    session.observe(session.propose([call("x", "b@1.1")])[0].call_id, Succeeded())
    wanted = command(session)
    assert wanted.call_id != "b@1.1"
    answer(session)
    assert session.state == "c"

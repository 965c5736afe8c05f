"""Completion and failure of steps: S18 to S28."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Allow, Approvals, Cancelled, Defer, Deny, Failed, PlaybookError, Succeeded, Unknown

from .helpers import (
    T0,
    allowed,
    answer,
    asked,
    asks,
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
    running,
    say,
    start,
    step,
    trace,
    waits,
)

READ = {"x": {"effect": "read"}, "y": {"effect": "read"}}


def test_s18_times_is_exact_and_nothing_means_at_least_one() -> None:
    """`times: 2` asks for two and allows no third; no `times` is met by one and allows more while the step is open."""
    session = start(book(step("a", {"tool": "x", "times": 2}, "y", "z")))
    ok(session, "x")
    ok(session, "x")
    denial = denied(session, "x")
    assert denial.code == "quota" and "x" not in [c.tool for c in denial.legal]
    ok(session, "y")
    ok(session, "y")
    assert ok(session, "z").outcome == "success"


def test_s18_an_irreversible_tool_is_asked_for_once() -> None:
    """Without `times` an irreversible tool has the quota one."""
    session = start(book(step("a", "pay", "y"), tools={"pay": {"effect": "irreversible"}, "y": {}}))
    ok(session, "pay")
    assert denied(session, "pay").code == "quota"
    assert session.legal()[0].tool == "y"


def test_s18_an_optional_entry_has_its_quota_too() -> None:
    """`times` on an optional tool, and the one of an irreversible optional tool, allow no more calls than they say."""
    machine = book(
        step("a", "y", optional_tools=[{"tool": "x", "times": 2}, "pay"]), tools={"pay": {"effect": "irreversible"}, "y": {}, "x": {}},
    )
    session = start(machine)
    ok(session, "x")
    ok(session, "x")
    assert denied(session, "x").code == "quota"
    ok(session, "pay")
    assert denied(session, "pay").code == "quota"


def test_s18_reservations_count_against_the_quota() -> None:
    """A second call of a once-only tool waits while the first is under way, and is refused when it has succeeded."""
    session = start(book(step("a", {"tool": "x", "times": 1}, "y")))
    first, second = session.propose([call("x", "1"), call("x", "2")])
    assert isinstance(first, Allow) and isinstance(second, Defer)
    [late] = session.observe("1", Succeeded()).verdicts
    assert isinstance(late, Deny) and late.code == "quota"


def test_s18_an_unknown_call_counts_against_the_quota() -> None:
    """While nobody knows whether the payment happened, no second one is admitted."""
    session = start(book(step("a", "pay", "y"), tools={"pay": {"effect": "irreversible"}, "y": {}}))
    session.propose([call("pay", "1"), call("pay", "2")])
    progress = session.observe("1", Unknown())
    assert not any(isinstance(v, Allow) for v in progress.verdicts)
    [late] = Approvals(session).happened(asked(session), by="kim").progress.verdicts
    assert isinstance(late, Deny) and late.code == "quota"


def test_s19_spent_counts_ok_error_unknown_and_releases_the_rest() -> None:
    """A cancelled call gives its reservation back; a failed one does not."""
    machine = book(step("a", "x", "y", max_tool_calls=2, on_exhausted="escalated"))
    session = start(machine)
    for _ in range(5):
        session.observe(allowed(session, "x"), Cancelled())
    assert dict(denied(session, "zz").budgets)["calls of this step"] == 2
    error(session, "x")
    assert dict(denied(session, "zz").budgets)["calls of this step"] == 1
    assert ok(session, "x").outcome == "escalated"


def test_s19_a_refused_call_spends_no_budget() -> None:
    """Denied and rejected calls cost the step nothing."""
    machine = book(step("a", {"tool": "x", "where": "args.n == 1", "approval": {"ask": "?"}}, max_tool_calls=1), max_refusals=9)
    session = start(machine)
    denied(session, "x", n=2)
    propose(session, "x", n=1)
    Approvals(session).reject(asked(session), by="kim")
    propose(session, "x", n=1.0) and audit(session)
    session.propose([call("x", "again", n=1, why="please")])
    Approvals(session).approve(asked(session), by="kim")
    assert session.observe("again", Succeeded()).outcome == "success"


def test_s20_a_step_with_entries_completes_by_itself() -> None:
    """All met, successes ≥ min, validation true, nothing outstanding: then `next`, and not before."""
    machine = book(step("a", "x", "y", min_tool_calls=3, validation=["facts.x.n > 1"]))
    session = start(machine)
    ok(session, "x", {"n": 0})
    ok(session, "y")
    assert session.outcome is None
    ok(session, "y")
    assert session.outcome is None
    assert ok(session, "x", {"n": 2}).outcome == "success"


def test_s20_a_step_waits_for_its_outstanding_calls() -> None:
    """The step completes when the last call of the visit is applied, though its entries were met before."""
    session = start(book(step("a", "x", optional_tools=["r"]), step("b", "y")))
    session.propose([call("r", "1"), call("x", "2")])
    session.observe("2", Succeeded())
    assert session.state == "a"
    session.observe("1", Failed())
    assert session.state == "b"


def test_s20_a_step_without_entries_never_completes_by_itself() -> None:
    """Optional tools do not end a step; `complete_step` or a text-only turn does."""
    session = start(book(step("a", optional_tools=["r"]), step("b", "y")))
    for _ in range(3):
        ok(session, "r")
    assert session.state == "a"
    assert isinstance(propose(session, "complete_step"), Allow)
    assert session.state == "b"


def test_s21_untrue_validation_keeps_the_step_open_while_a_call_is_admissible() -> None:
    """Without `on_failure` the model may try again; when nothing more is admissible the step fails."""
    machine = book(step("a", {"tool": "x", "times": 1}, validation=["facts.x.n == 1"]))
    stuck = start(machine)
    assert ok(stuck, "x", {"n": 0}).outcome == "failed:a"
    open_ = start(book(step("a", "x", validation=["facts.x.n == 1"])))
    assert ok(open_, "x", {"n": 0}).outcome is None
    assert ok(open_, "x", {"n": 1}).outcome == "success"
    spent = start(book(step("a", "x", validation=["facts.x.n == 1"], max_tool_calls=2)))
    ok(spent, "x", {"n": 0})
    assert ok(spent, "x", {"n": 0}).outcome == "failed:a"


def test_s21_untrue_validation_takes_on_failure() -> None:
    """With `on_failure` it is taken as soon as all entries are met, also where the validation is unknown."""
    for result in ({"n": 0}, {}, {"n": "text"}):
        session = start(book(step("a", "x", "y", validation=["facts.x.n == 1"], on_failure="escalated")))
        ok(session, "x", result)
        assert session.outcome is None
        assert ok(session, "y").outcome == "escalated"


def test_s22_exhausted_takes_the_first_way_that_is_written() -> None:
    """`on_exhausted`, then `on_failure`, then on to the next step if a call succeeded, then `failed:exhausted:STEP`."""
    spent = {"max_tool_calls": 2}
    first = start(book(step("a", "x", "y", **spent, on_exhausted="stopped", on_failure="escalated")))
    ok(first, "x")
    assert ok(first, "x").outcome == "stopped"
    second = start(book(step("a", "x", "y", **spent, on_failure="escalated")))
    ok(second, "x")
    assert ok(second, "x").outcome == "escalated"
    third = start(book(step("a", "x", "y", **spent), step("b", "z")))
    ok(third, "x")
    ok(third, "x")
    assert third.state == "b"
    progress = ok(third, "z")
    assert progress.outcome == "incomplete:a" and third.outcome_class == "incomplete"
    fourth = start(book(step("a", "x", "y", **spent), step("b", "z")))
    error(fourth, "x")
    assert error(fourth, "x").outcome == "failed:exhausted:a"


def test_s22_too_few_successes_exhaust_too() -> None:
    """All entries met, fewer successes than `min_tool_calls` and no call left: exhausted."""
    session = start(book(step("a", "x", min_tool_calls=2, max_tool_calls=2, on_exhausted="escalated")))
    error(session, "x")
    assert ok(session, "x").outcome == "escalated"


def test_s22_without_entries_spending_all_completes() -> None:
    """A step with optional tools only is complete when its calls are spent and enough succeeded, as in the seed."""
    session = start(book(step("a", optional_tools=["r"], max_tool_calls=2), step("b", "y")))
    ok(session, "r")
    ok(session, "r")
    assert session.state == "b"
    assert ok(session, "y").outcome == "success"


def test_s22_the_mark_goes_when_the_step_is_entered_again() -> None:
    """A step that was left incomplete and later completed is no incomplete step (S3, S38)."""
    machine = book(
        step("a", "x", "y", max_tool_calls=2), step("b", "z", next_=[{"when": "facts.z.back", "goto": "a"}, {"goto": "success"}])
    )
    session = start(machine)
    ok(session, "x")
    ok(session, "x")
    ok(session, "z", {"back": True})
    ok(session, "x")
    ok(session, "y")
    assert ok(session, "z", {"back": False}).outcome == "success"


def test_s22_an_incomplete_optional_step_spoils_nothing() -> None:
    """Success asks for required steps only."""
    session = start(book(step("a", "x", "y", max_tool_calls=1, required=False), step("b", "z")))
    ok(session, "x")
    assert ok(session, "z").outcome == "success"


def test_s23_a_failed_agents_call_leaves_the_cursor() -> None:
    """Without `on_failure` the model sees the error and may try again; with it, the failure leads there."""
    stays = start(book(step("a", "x")))
    for _ in range(4):
        assert error(stays, "x").state == "a"
    assert ok(stays, "x").outcome == "success"
    assert error(start(book(step("a", "x", on_failure="escalated"))), "x").outcome == "escalated"


def test_s23_an_optional_tools_failure_is_no_failure_of_the_step() -> None:
    """`on_failure` is for expected tools."""
    session = start(book(step("a", "x", optional_tools=["r"], on_failure="escalated"), optional_tools=["h"]))
    error(session, "r")
    error(session, "h")
    assert session.outcome is None
    assert ok(session, "x").outcome == "success"


def test_s23_an_agents_retry_waits_and_then_gives_up() -> None:
    """The tool is illegal until the wait is over, each wait longer by `backoff`; beyond `at_most` comes `on_failure`."""
    machine = book(step("a", "x", "y", retry={"at_most": 2, "wait": "10s", "backoff": 3}, on_failure="escalated"), tools=READ)
    session = start(machine, timed=True)
    error(session, "x")
    denial = denied(session, "x", now=at(9))
    assert denial.code == "retry_wait"
    ok(session, "y")
    session.observe(allowed(session, "x", now=at(10)), Failed())
    assert denied(session, "x", now=at(39)).code == "retry_wait"
    assert session.observe(allowed(audit(session) and session, "x", now=at(40)), Failed()).outcome == "escalated"


def test_s23_retry_when_chooses_the_errors() -> None:
    """An error for which `retry.when` is not true is final, unknown included."""
    retry = {"at_most": 5, "when": 'error.type == "Throttled"'}
    for what, end in (({"type": "Throttled"}, None), ({"type": "Gone"}, "escalated"), ("text", "escalated"), ({"message": "m"}, "escalated")):
        session = start(book(step("a", "x", retry=retry, on_failure="escalated"), tools=READ))
        assert error(session, "x", what).outcome == end
    odd = start(book(step("a", "x", retry={"at_most": 5, "when": "error.code == 1"}, on_failure="escalated"), tools=READ))
    assert error(odd, "x").outcome == "escalated"


def test_s23_an_automatic_call_is_issued_again_with_the_same_arguments() -> None:
    """The runtime repeats the same call after the wait, and fails the step beyond `at_most`."""
    machine = book(
        step("a", "y"), step("b", call={"tool": "x", "args": {"n": "{{ facts.y.n }}"}}, retry={"at_most": 1, "wait": "10s"}), tools=READ
    )
    session = start(machine, timed=True)
    ok(session, "y", {"n": 4})
    first = command(session)
    session.observe(first.call_id, Failed())
    assert running(session) == [] and [w.due for w in waits(session)] == [at(10)]
    session.tick(at(9))
    assert running(session) == []
    audit(session).tick(at(10))
    session.tick(at(10))
    second = command(session)
    assert second.args == first.args == {"n": 4} and second.call_id != first.call_id and waits(session) == []
    assert session.observe(second.call_id, Failed()).outcome == "failed:b"


def test_s23_only_reads_and_idempotent_tools_are_retried() -> None:
    """A step's own `retry` on another tool is an error of the playbook."""
    with pytest.raises(PlaybookError, match="retry"):
        book(step("a", "x", retry=2), tools={"x": {"effect": "write"}})
    with pytest.raises(PlaybookError, match="retry"):
        book(step("a", call={"tool": "x"}, retry=2), tools={"x": {"effect": "irreversible"}})
    book(step("a", "x", retry=2), tools={"x": {"idempotent": True}})
    late = start(book(step("a", call={"tool": "x"}), tools={"x": {}}, defaults={"retry": 2}))
    assert late.observe(command(late).call_id, Failed()).outcome == "failed:a"


def test_s24_unknown_of_a_read_is_an_error() -> None:
    """A read that nobody can account for is retried like a failed one."""
    session = start(book(step("a", call={"tool": "x"}, retry=1, on_failure="escalated"), tools=READ))
    session.observe(command(session).call_id, Unknown())
    assert session.observe(command(session).call_id, Unknown()).outcome == "escalated"
    agent = start(book(step("a", "x"), tools=READ))
    agent.observe(allowed(agent, "x"), Unknown())
    assert ok(agent, "x").outcome == "success"


def test_s24_unknown_of_a_write_asks_a_person_by_default() -> None:
    """Happened: the result counts.  Did not happen: an agent may call again, an automatic call is issued again."""
    machine = book(step("a", {"tool": "x", "times": 1}, next_=[{"when": "facts.x.n == 1", "goto": "success"}, {"goto": "failed"}]))
    session = start(machine)
    session.observe(allowed(session, "x"), Unknown())
    [question] = Approvals(session).pending
    assert (question.of, question.tool, question.step) == ("reconcile", "x", "a")
    audit(session)
    assert not Approvals(session).approve(question.approval_id, by="kim").accepted
    assert Approvals(session).happened(question.approval_id, {"n": 1}, by="kim").progress.outcome == "success"
    again = start(machine)
    again.observe(allowed(again, "x"), Unknown())
    Approvals(again).did_not_happen(asked(again), by="kim")
    assert again.outcome is None
    assert ok(again, "x", {"n": 1}).outcome == "success"


def test_s24_an_automatic_call_that_did_not_happen_is_issued_again() -> None:
    """With the same arguments, under a new id, once; while the person looks nothing is issued."""
    session = start(book(step("a", call={"tool": "x", "args": {"n": 1}}, approval={"ask": "Go?"})))
    Approvals(session).approve(asked(session), by="kim")
    first = command(session)
    session.observe(first.call_id, Unknown())
    assert running(session) == []
    Approvals(session).did_not_happen(asked(session), by="kim")
    audit(session)
    second = command(session)
    assert second.args == first.args and second.call_id != first.call_id
    assert answer(session).outcome == "success"


def test_s24_on_unknown_leads_there_and_the_run_is_no_success() -> None:
    """`on_unknown` of the step or of the tool is taken; an unaccounted write is no success in the end (S38)."""
    for more, tools in (({"on_unknown": "b"}, {"x": {}, "y": {}}), ({}, {"x": {"on_unknown": "b"}, "y": {}})):
        session = start(book(step("a", "x", next_="success", **more), step("b", "y"), tools=tools))
        session.observe(allowed(session, "x"), Unknown())
        assert session.state == "b"
        progress = ok(session, "y")
        assert (progress.outcome, session.outcome_class) == ("failed:unknown:x", "failed")


def test_s25_a_result_against_its_schema_happened_but_counts_for_nothing() -> None:
    """Spent, no success, the fact keeps the latest success; with `on_failure` it fails the step, with no retry."""
    schema = {"x": {"effect": "read", "result": {"type": "object", "required": ["n"]}}}
    session = start(book(step("a", "x", "y", next_=[{"when": "facts.x.n == 1", "goto": "success"}, {"goto": "failed"}]), tools={**schema, "y": {}}))
    ok(session, "x", {"n": 1})
    ok(session, "x", {"m": 2})
    assert "result_schema" in str(trace(session))
    assert ok(session, "y").outcome == "success"
    strict = start(book(step("a", "x", retry=3, on_failure="escalated"), tools=schema))
    assert ok(strict, "x", {}).outcome == "escalated"
    automatic = start(book(step("a", call={"tool": "x"}, retry=3), tools=schema))
    assert answer(automatic, 7).outcome == "failed:a"


def test_s25_expect_decides_whether_a_success_counts() -> None:
    """`expect` false or unknown: the call ran, the entry is not met, and `tool_called` is not satisfied."""
    machine = book(
        step("a", {"tool": "x", "expect": 'result.state == "done"'}, max_tool_calls=9), termination=[{"tool_called": "x", "outcome": "stopped"}],
    )
    session = start(machine)
    for result in ({"state": "busy"}, {}, None, [], {"state": 1}):
        assert ok(session, "x", result).outcome is None
    assert dict(denied(session, "zz").budgets)["calls of this step"] == 4
    assert ok(session, "x", {"state": "done"}).outcome == "success"


def test_s26_timeout_leads_to_on_timeout_and_orphans_its_calls() -> None:
    """The orphan writes its fact and holds neither wave nor turn."""
    machine = book(
        step("a", "x", "w", timeout="10s", on_timeout="b"),
        step("b", "y", next_=[{"when": "facts.x.n == 1", "goto": "success"}, {"goto": "failed"}]),
    )
    session = start(machine, timed=True)
    session.propose([call("x", "1"), call("w", "2")])
    session.tick(at(10))
    assert session.state == "b"
    assert [r["kind"] for r in trace(session)][-1] == "turn_ended"
    session.propose([call("y", "3")])
    audit(session)
    session.observe("1", Succeeded({"n": 1}))
    assert session.observe("3", Succeeded()).outcome is None or session.outcome == "success"
    session.observe("2", Cancelled()) if session.outcome is None else None
    assert session.outcome == "success"


def test_s26_the_default_is_to_stop() -> None:
    """`timeout` without `on_timeout` ends the run, once the call under way has been observed."""
    session = start(book(step("a", "x", timeout="10s")), timed=True)
    call_id = allowed(session, "x")
    session.tick(at(10))
    assert session.outcome is None
    assert [type(c).__name__ for c in session.commands] == ["Cancel"]
    assert session.observe(call_id, Succeeded()).outcome == "stopped:timeout:a"


def test_s26_a_deadline_counts_from_the_entry_of_the_visit() -> None:
    """Each visit has its own deadline; a finished visit leaves none behind."""
    machine = book(
        step("a", "x", timeout="10s", next_="b"), step("b", "y", next_=[{"when": "facts.y.again", "goto": "a"}, {"goto": "success"}])
    )
    session = start(machine, timed=True)
    session.observe(allowed(session, "x", now=at(9)), Succeeded())
    session.tick(at(500))
    assert session.state == "b"
    session.observe(allowed(session, "y", now=at(600)), Succeeded({"again": True}))
    session.tick(at(609))
    assert session.outcome is None
    session.tick(at(610))
    assert session.outcome == "stopped:timeout:a"


def test_s26_a_retrys_wait_ends_with_the_visit() -> None:
    """A call that waits for its next try is not issued any more when the deadline has passed."""
    machine = book(step("a", call={"tool": "x"}, retry={"at_most": 5, "wait": "1h"}, timeout="10s", on_timeout="b"), step("b", "y"), tools=READ)
    session = start(machine, timed=True)
    session.observe(command(session).call_id, Failed())
    session.tick(at(10))
    assert (session.state, session.commands) == ("b", [])
    session.tick(at(7200))
    assert session.commands == []


def test_s27_a_failed_step_ends_the_run_as_failed() -> None:
    """The default failure at the root names the step, and its class is `failed`."""
    session = start(book(step("a", call={"tool": "x"})))
    assert session.observe(command(session).call_id, Failed("boom")).outcome == "failed:a"
    assert session.outcome_class == "failed"


def test_s28_an_automatic_call_is_no_turn() -> None:
    """It counts as a call of the run, not as an iteration."""
    branches = [{"when": "run.calls == 1 && run.iterations == 0", "goto": "success"}, {"goto": "failed"}]
    session = start(book(step("a", call={"tool": "x"}, next_=branches)))
    assert answer(session).outcome == "success"


def test_s28_an_automatic_call_passes_the_same_gate() -> None:
    """The tool's `where` refuses it, its schema too; either fails the step and the reason is recorded."""
    guarded = {"x": {"where": "args.n == 1", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}}
    for n, why in ((2, "where"), ("one", "bad_args")):
        machine = book(step("a", call={"tool": "x", "args": {"n": "{{ inputs.n }}"}}, on_failure="escalated"), tools=guarded, inputs={"n": {}})
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
    machine = book(step("a", "x", timeout="10s", on_timeout="b"), step("b", call={"tool": "pay"}), tools={"x": {}, "pay": {"effect": "irreversible"}})
    session = start(machine, timed=True)
    late = allowed(session, "x")
    session.tick(at(10))
    assert running(session) == []
    audit(session).observe(late, Succeeded())
    session.observe(late, Succeeded())
    assert command(session).tool == "pay"


def test_s28_repeat_until_true() -> None:
    """A round that is ok and not true is followed by the wait and another; `at_most` rounds fail the step."""
    machine = book(
        step("a", call={"tool": "x", "args": {"round": "{{ size(history.a) }}"}}, repeat={"until": "result.up", "at_most": 3, "wait": "10s"}, on_failure="escalated"),
        tools=READ,
    )  # fmt: skip
    session = start(book(step("a", call={"tool": "x"}, repeat={"until": "result.up", "at_most": 3, "wait": "10s"}, on_failure="escalated"), tools=READ), timed=True)
    assert machine is not None
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
    with ends():
        answer(missing, {"up": False})
        audit(missing)
        answer(missing, {"up": True, "n": 2})
    assert missing.outcome in ("stopped", "escalated")


def test_s28_facts_of_a_call_are_kept_under_the_step() -> None:
    """`facts.STEP` is the latest success of a `call` step, `facts.TOOL` that of an agent's."""
    machine = book(step("a", call={"tool": "x"}), step("b", "x", next_=[{"when": "facts.a.n == 1 && facts.x.n == 2", "goto": "success"}, {"goto": "failed"}]))
    session = start(machine)
    answer(session, {"n": 1})
    assert ok(session, "x", {"n": 2}).outcome == "success"


def test_history_is_bounded_and_includes_the_latest() -> None:
    """`history.NAME` lists the results, the newest last, and does not grow without end."""
    machine = book(
        step("a", "x", "y", next_=[{"when": "size(history.x) <= 1000 && history.x[0].n >= 1", "goto": "success"}, {"goto": "failed"}]), max_iterations=10**6
    )
    session = start(machine)
    for n in range(1, 300):
        ok(session, "x", {"n": n})
    assert len(str(session.snapshot.to_json()["history"])) < 5_000
    assert ok(session, "y").outcome == "success"


def test_min_max_and_text(_: None = None) -> None:
    """A step with optional tools, text alone and too few calls is nudged, not completed."""
    session = start(book(step("a", optional_tools=["r"], min_tool_calls=1), max_nudges=1))
    say(session)
    assert session.state == "a"
    ok(session, "r")
    say(session)
    assert session.outcome == "success"
    assert T0.tzinfo is not None

"""What an agent claims, what it must have looked at, and talking with the user: S16, S17, S20, S22."""

from __future__ import annotations

from typing import Any

import pytest

import guideway
from guideway import Allow, Approvals, Deny, PlaybookError, Succeeded, ToolCall

from .building import arrive, auto, each, family, kinds, parallel, records, show, shown, sub
from .helpers import asked, audit, book, call, denied, error, ok, propose, say, start, step, trace

AFTER = step("z", "zz")
CLAIMS = {"user": "string", "score": {"type": "integer", "minimum": 0}}


def thinking(**more: Any) -> dict[str, Any]:
    """A step in which the agent weighs what it knows and says what it found."""
    return step("assess", claims=CLAIMS, **more)


def complete(session: Any, **args: Any) -> Any:
    """`complete_step` with these arguments."""
    return propose(session, "complete_step", **args)


# --- claims ---------------------------------------------------------------------------------------------------------


def test_s17_complete_step_carries_the_claims() -> None:
    """They are read as `claims.STEP.NAME` by what follows."""
    session = start(book(thinking(), show(user="claims.assess.user", score="claims.assess.score")))
    assert isinstance(complete(session, user="eve", score=7), Allow)
    assert shown(audit(session)) == {"user": "eve", "score": 7}


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"user": "eve"},
        {"score": 7},
        {"user": 1, "score": 7},
        {"user": "eve", "score": "7"},
        {"user": "eve", "score": -1},
        {"user": None, "score": 7},
    ],
    ids=["none", "one missing", "the other", "a number", "a word", "below", "null"],
)
def test_s17_claims_that_do_not_fit_are_refused(args: dict[str, Any]) -> None:
    """A claim missing or of another type: denied, and the step stays open."""
    session = start(book(thinking(), AFTER))
    verdict = complete(session, **args)
    assert isinstance(verdict, Deny) and verdict.code in ("bad_args", "control")
    assert session.state == "assess"
    assert any(name in verdict.message for name in ("user", "score"))


def test_s16_text_alone_does_not_complete_a_step_with_claims() -> None:
    """It completes only by `complete_step` carrying them: text is a nudge."""
    session = start(book(thinking(), AFTER, max_nudges=0))
    say(session, "The user is eve.")
    assert session.outcome == "stopped:nudges"


def test_s20_entries_met_do_not_complete_a_step_with_claims() -> None:
    """The tools have succeeded and the step waits for the claims."""
    session = start(book(step("assess", "x", claims={"user": "string"}), AFTER))
    ok(session, "x")
    assert session.state == "assess"
    assert "complete_step" in {legal.tool for legal in session.legal()}
    assert isinstance(complete(session, user="eve"), Allow)
    assert session.state == "z"


def test_s17_claims_never_stand_in_for_a_tool() -> None:
    """With an entry unmet `complete_step` is refused, whatever it carries, and not offered."""
    session = start(book(step("assess", "x", claims={"user": "string"}), AFTER))
    assert "complete_step" not in {legal.tool for legal in session.legal()}
    denial = complete(session, user="eve")
    assert isinstance(denial, Deny) and "x" in denial.message


def test_s17_min_tool_calls_holds_a_step_with_claims() -> None:
    """Successes below the minimum: not yet."""
    machine = book(step("assess", optional_tools=["r"], min_tool_calls=2, claims={"n": "integer"}), AFTER)
    session = start(machine)
    ok(session, "r")
    assert isinstance(complete(session, n=1), Deny)
    ok(session, "r")
    assert isinstance(complete(session, n=1), Allow)


def test_s17_validation_is_true_with_these_claims() -> None:
    """The claims carried are those that the validation reads; what it refuses leaves none behind."""
    machine = book(
        step("a", "x"),
        step("assess", claims={"n": "integer"}, validation=["claims.assess.n == facts.x.n"]),
        show(n="claims.assess.n"),
    )
    session = start(machine)
    ok(session, "x", {"n": 3})
    refusal = complete(session, n=4)
    assert isinstance(refusal, Deny) and "claims.assess.n == facts.x.n" in refusal.message
    assert session.state == "assess"
    assert isinstance(complete(audit(session), n=3), Allow)
    complete(session, n=3)
    assert shown(session) == {"n": 3}


def test_claims_confidence_and_text_are_read() -> None:
    """`complete_step(result, confidence, …)` may carry how sure the agent is; a condition reads it too."""
    session = start(book(thinking(), show(c="claims.confidence", u="claims.assess.user")))
    assert isinstance(complete(session, user="eve", score=1, confidence=0.8, result="done"), Allow)
    assert shown(session) == {"c": 0.8, "u": "eve"}


def test_claims_confidence_may_end_the_run() -> None:
    """`confidence_met` is true of what `complete_step` claimed."""
    termination = [{"confidence_met": 0.9, "outcome": "escalated"}]
    for confidence, outcome in ((0.95, "escalated"), (0.5, None)):
        session = start(book(thinking(), AFTER, termination=termination))
        complete(session, user="e", score=1, confidence=confidence)
        assert session.outcome == outcome


@pytest.mark.parametrize("confidence", [1.5, -0.1, "sure", float("nan")])
def test_s17_a_confidence_that_is_none_is_refused(confidence: Any) -> None:
    """A number between 0 and 1, or nothing."""
    session = start(book(thinking(), AFTER))
    verdict = complete(session, user="eve", score=7, confidence=confidence)
    assert isinstance(verdict, Deny)
    assert session.state == "assess"


def test_claims_begin_anew_with_a_visit() -> None:
    """A step entered again must be completed with claims again; the latest are read."""
    again = [{"when": "claims.assess.score < 2", "goto": "assess"}, {"goto": "show"}]
    session = start(book(thinking(next_=again), show(s="claims.assess.score")))
    complete(session, user="e", score=1)
    assert session.state == "assess"
    complete(session, user="e", score=2)
    assert shown(session) == {"s": 2}


def test_claims_are_written_down() -> None:
    """The record shows what was claimed, as the arguments of the control call."""
    session = start(book(thinking(), AFTER))
    complete(session, user="eve", score=7)
    [args] = [r["args"] for r in trace(session) if r["kind"] == "decided" and r["tool"] == "complete_step"]
    assert args == {"user": "eve", "score": 7}


def test_claims_of_several_steps_in_one_batch() -> None:
    """`[work, complete_step]` in one reply: deferred, it still carries its claims; it spends nothing."""
    session = start(book(step("assess", "x", max_tool_calls=1, claims={"n": "integer"}), AFTER))
    verdicts = session.propose([call("x", "1"), ToolCall("complete_step", {"n": 4}, call_id="2")])
    assert kinds(verdicts) == ["Allow", "Defer"]
    assert kinds(session.observe("1", Succeeded()).verdicts) == ["Allow"]
    assert session.state == "z"


def test_s17_claims_in_branches_take_the_step() -> None:
    """Where two branches wait for claims `step` says whose they are."""
    branches = {
        "a": {"description": "A", "claims": {"n": "integer"}},
        "b": {"description": "B", "claims": {"n": "integer"}},
    }
    session = start(book(parallel("s", branches), show(a="claims.a.n", b="claims.b.n"), max_refusals=9))
    assert isinstance(complete(session, n=1), Deny)
    assert isinstance(complete(session, n=1, step="b"), Allow)
    assert isinstance(complete(session, n=2, step="a"), Allow)
    assert shown(session) == {"a": 2, "b": 1}


def test_claims_in_items_and_frames() -> None:
    """Each item has its own, and a sub-playbook's are handed up by its outputs alone."""
    body = step("w", claims={"n": "integer"})
    session = start(book(each("e", [1, 2], body, collect="claims.w.n"), show(v="facts.e")))
    for n in (5, 6):
        assert isinstance(complete(session, n=n), Allow)
    assert shown(session) == {"v": [5, 6]}
    callee = sub("q", step("w", claims={"n": "integer"}), outputs={"n": "claims.w.n"})
    called = start(family({"id": "c", "playbook": "q"}, show(n="facts.c.n"), library=[callee]))
    complete(called, n=3)
    assert shown(called) == {"n": 3}


def test_claims_are_no_evidence_for_an_irreversible_tool() -> None:
    """A branch to an irreversible tool may not rest on claims alone; with a fact beside the claim it may."""
    pay = step("pay", "wire")
    for guard, good in (("claims.assess.score > 5", False), ("claims.assess.score > 5 && facts.x.n == 1", True)):
        branches = [{"when": guard, "goto": "pay"}, {"goto": "success"}]
        steps = [step("a", "x"), thinking(next_=branches), pay]
        source = {"id": "p", "name": "P", "steps": steps, "tools": {"wire": {"effect": "irreversible"}, "x": {}}}
        errors = [finding for finding in guideway.check(source) if finding.level is guideway.Level.ERROR]
        assert good == (errors == []), (guard, errors)
        assert all("claim" in finding.message for finding in errors)


def test_claims_never_say_who_may_approve() -> None:
    """Neither approvers nor those excepted are read from what an agent says."""
    for key in ("approvers", "except"):
        approval = {"ask": "?", key: ["{{ claims.assess.user }}"]}
        with pytest.raises(PlaybookError, match="claims"):
            book(thinking(), auto("pay", "x", approval=approval))


def test_s22_a_step_with_claims_and_its_calls_spent_is_not_completed_by_itself() -> None:
    """All calls spent, no entries: without claims it is completed, with claims it waits for them or is exhausted."""
    plain = start(book(step("a", optional_tools=["r"], max_tool_calls=1), AFTER))
    ok(plain, "r")
    assert plain.state == "z"
    claiming = start(book(step("a", optional_tools=["r"], max_tool_calls=1, claims={"n": "integer"}), AFTER))
    ok(claiming, "r")
    assert claiming.state == "a"
    assert isinstance(complete(claiming, n=1), Allow)


def test_s51_the_host_completes_a_step_with_claims() -> None:
    """On its own authority and recorded as the host's; what reads the claims then is unknown."""
    branch = [{"when": "claims.assess.score > 5", "goto": "z"}, {"goto": "success"}]
    session = start(book(thinking(next_=branch, on_failure="escalated"), AFTER))
    assert session.complete("seen by hand").outcome == "escalated"


# --- probes ---------------------------------------------------------------------------------------------------------

PROBES = [
    {"name": "host", "match": r'^query \{.*"host":\s*"web-\d+"'},
    {"name": "window", "match": r'"hours":\s*(24|48)\b', "description": "A whole day at least."},
]


def probing(**more: Any) -> Any:
    """A session in whose step two things must have been looked at."""
    machine = book(
        step("look", optional_tools=["query", "other"], required_probes=PROBES, **more), AFTER, max_refusals=9
    )
    return start(machine)


def test_probes_hold_a_step_open() -> None:
    """Each must match some successful call of the visit: `TOOL {args}` as JSON; one call may serve several."""
    session = probing()
    assert isinstance(complete(session), Deny)
    ok(session, "query", host="web-7")
    denial = complete(session)
    assert (
        isinstance(denial, Deny) and "window" in denial.message and "host" not in denial.message.split("window")[0][-9:]
    )
    ok(session, "query", hours=24, host="db-1")
    assert isinstance(complete(audit(session)), Allow)
    both = probing()
    ok(both, "query", host="web-1", hours=48)
    assert isinstance(complete(both), Allow)


def test_probes_need_a_success_of_the_right_tool() -> None:
    """A call that failed, was refused, or is of another tool has looked at nothing."""
    session = probing()
    error(session, "query", host="web-1", hours=24)
    ok(session, "other", host="web-1", hours=24)
    assert "complete_step" not in {legal.tool for legal in session.legal()}
    denial = complete(session)
    assert isinstance(denial, Deny) and "host" in denial.message


def test_probes_are_of_the_visit() -> None:
    """A second visit must look again."""
    again = [{"when": "facts.back.yes", "goto": "look"}, {"goto": "success"}]
    machine = book(
        step("look", optional_tools=["query"], required_probes=PROBES[:1]),
        step("b", "back", next_=again),
        max_refusals=9,
    )
    session = start(machine)
    ok(session, "query", host="web-1")
    complete(session)
    ok(session, "back", {"yes": True})
    assert session.state == "look"
    assert isinstance(complete(session), Deny)
    ok(session, "query", host="web-1")
    assert isinstance(complete(session), Allow)


def test_probes_hold_entries_and_text_as_well() -> None:
    """Entries met do not complete the step while a probe is open, and a text completes nothing."""
    session = start(book(step("look", "query", required_probes=PROBES[:1]), AFTER, max_nudges=9))
    ok(session, "query", host="db-1")
    assert session.state == "look"
    ok(session, "query", host="web-1")
    assert session.state == "z"
    text = probing()
    say(text)
    assert text.state == "look"


def test_probes_survive_a_snapshot() -> None:
    """What was looked at before a restart has been looked at."""
    session = probing()
    ok(session, "query", host="web-1")
    again = audit(session)
    ok(again, "query", hours=24)
    assert isinstance(complete(again), Allow)


# --- conversation ---------------------------------------------------------------------------------------------------


def test_s16_in_a_conversation_text_ends_neither_step_nor_run() -> None:
    """A thinking step is not completed, an optional one not skipped, nobody is nudged; turns still count."""
    machine = book(step("a"), step("b", "x", required=False), AFTER, conversation=True, max_nudges=0, max_iterations=50)
    session = start(machine)
    for _ in range(5):
        say(session, "Could you tell me the number?")
    assert session.state == "a" and session.outcome is None
    assert isinstance(complete(session), Allow)
    say(session)
    assert session.state == "b"
    assert isinstance(propose(session, "skip_step"), Allow)
    say(audit(session))
    assert session.state == "z" and session.outcome is None


def test_s16_a_conversation_has_its_limits() -> None:
    """Replies are turns: `max_iterations` and a text condition end the run."""
    session = start(book(step("a", "x"), conversation=True, max_iterations=2))
    say(session)
    assert session.outcome is None
    say(session)
    assert session.outcome == "stopped:max_iterations"
    words = start(book(step("a", "x"), conversation=True, termination=[{"text_mention": "BYE", "outcome": "stopped"}]))
    say(words, "BYE")
    assert words.outcome == "stopped"


def test_s16_a_conversation_still_counts_refusals() -> None:
    """A text between two refused turns forgives nothing."""
    session = start(book(step("a", "x"), conversation=True, max_refusals=2))
    denied(session, "nope")
    say(session)
    denied(session, "nope")
    assert session.outcome == "stopped:refusals"


def test_a_step_with_an_approval_and_claims_is_an_agents() -> None:
    """The approval comes first; then the agent claims."""
    session = start(book(thinking(approval={"ask": "May it look?"}), AFTER))
    assert isinstance(complete(session, user="e", score=1), Deny)
    Approvals(session).approve(asked(session), by="kim")
    assert isinstance(complete(session, user="e", score=1), Allow)
    assert session.state == "z"


def test_claims_and_probes_in_a_callee_hold_its_frame() -> None:
    """A sub-playbook's step is held open as the root's would be, and the records name its frame."""
    callee = sub("q", step("w", optional_tools=["query"], required_probes=PROBES[:1], claims={"n": "integer"}))
    session = start(family(auto("s"), {"id": "c", "playbook": "q"}, AFTER, library=[callee], max_refusals=9))
    arrive(session, "s")
    assert isinstance(complete(session, n=1), Deny)
    ok(session, "query", host="web-1")
    assert isinstance(complete(session, n=1), Allow)
    assert session.state == "z"
    assert records(session, "returned", "outcome") == ["success"]

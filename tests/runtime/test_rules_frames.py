"""Playbooks that call others: S2, S9, S27, S33, S35, S38, S50, and row 5 of the list of public reports."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Allow, Approvals, Failed, HostError, PlaybookError, Session, Succeeded, Unknown

from .building import (
    arrive,
    asked_at,
    auto,
    drain,
    each,
    family,
    kinds,
    legal_tools,
    open_tools,
    parallel,
    records,
    section,
    show,
    shown,
    sub,
)
from .helpers import (
    T0,
    answer,
    asked,
    asks,
    at,
    audit,
    call,
    command,
    denied,
    error,
    ok,
    propose,
    refused,
    running,
    say,
    start,
    step,
    waits,
)

CALL = {"id": "c", "playbook": "q"}
AFTER = step("z", "zz")


def calling(callee: dict[str, Any], *after: Any, timed: bool = False, **more: Any) -> Session:
    """A session of a playbook whose step `c` calls `callee`, with the steps `after` behind it."""
    top = {key: more.pop(key) for key in list(more) if key in TOP}
    return start(family(CALL | more, *(after or (AFTER,)), library=[callee], **top), timed=timed)


TOP = frozenset({"termination", "policies", "tools", "max_iterations", "max_refusals", "optional_tools", "max_nudges"})


def test_s33_a_sub_playbook_is_called_and_returned_from() -> None:
    """Its steps run, then what follows the step that called it."""
    session = calling(sub("q", auto("a"), step("b", "y")))
    assert session.states == ("c/a",)
    arrive(session, "a")
    assert audit(session).states == ("c/b",)
    ok(session, "y")
    assert session.states == ("z",)
    assert records(session, "called", "playbook", "step") == [("q", "c")]
    assert records(session, "returned", "playbook", "outcome") == [("q", "success")]


def test_s33_an_empty_sub_playbook_returns_at_once() -> None:
    """A playbook without steps is a success at once, wherever it is called."""
    assert calling(sub("q")).states == ("z",)


def test_s33_with_fills_its_inputs() -> None:
    """A template that fills a value keeps its type; what is not given has its default."""
    inputs: dict[str, Any] = {
        "ip": "string",
        "n": "integer",
        "deep": "object",
        "rate": {"type": "number", "default": 0.5},
    }
    args = {name: f"{{{{ inputs.{name} }}}}" for name in inputs}
    with_ = {"ip": "{{ facts.x.ip }}/32", "n": "{{ facts.x.n }}", "deep": {"list": ["{{ facts.x.n }}", 2]}}
    machine = family(step("s", "x"), CALL | {"with": with_}, library=[sub("q", auto("a", args=args), inputs=inputs)])
    session = start(machine)
    ok(session, "x", {"ip": "10.0.0.1", "n": 7})
    assert command(session).args == {"ip": "10.0.0.1/32", "n": 7, "deep": {"list": [7, 2]}, "rate": 0.5}


@pytest.mark.parametrize("given", [{}, {"n": "seven"}, {"n": None}])
def test_s33_an_input_that_is_unknown_or_of_another_type_fails_the_step(given: dict[str, Any]) -> None:
    """Nothing of the sub-playbook begins."""
    callee = sub("q", auto("a"), inputs={"n": "integer"})
    machine = family(
        step("s", "x"), CALL | {"with": {"n": "{{ facts.x.n }}"}, "on_failure": "escalated"}, library=[callee]
    )
    session = start(machine)
    ok(session, "x", given)
    assert session.outcome == "escalated"
    assert records(session, "decided", "tool") == ["x"]


def test_s33_outputs_and_outcome_are_the_callers_facts() -> None:
    """`facts.STEP` holds the outputs, read when it ends, and `outcome` the word it ended with."""
    callee = sub(
        "q", auto("a", next_="ours"), outputs={"score": "facts.a.n * 2", "ip": "inputs.ip"},
        outcomes={"ours": "success"}, inputs={"ip": "string"},
    )  # fmt: skip
    machine = family(
        CALL | {"with": {"ip": "h"}}, show(s="facts.c.score", ip="facts.c.ip", o="facts.c.outcome"), library=[callee]
    )
    session = start(machine)
    arrive(session, "a", {"n": 21})
    assert shown(session) == {"s": 42, "ip": "h", "o": "ours"}


def test_s33_an_end_that_is_no_success_fails_the_step_and_says_which() -> None:
    """Its word is there for the branches of `on_failure`."""
    callee = sub("q", auto("a", next_="odd"), outcomes={"odd": "escalated"})
    branches = [{"when": 'facts.c.outcome == "odd"', "goto": "escalated"}, {"goto": "failed"}]
    session = calling(callee, on_failure=branches)
    arrive(session, "a")
    assert session.outcome == "escalated"
    bare = calling(callee)
    arrive(bare, "a")
    assert (bare.outcome, bare.outcome_class) == ("failed:c", "failed")


@pytest.mark.parametrize("word", ["stopped", "failed", "escalated"])
def test_s35_an_outcome_target_ends_the_callee_not_the_run(word: str) -> None:
    """The enclosing playbook frame is what ends; the caller goes its own way."""
    session = calling(sub("q", auto("a", next_=word)), auto("n", next_="success"), AFTER, on_failure="z")
    arrive(session, "a")
    assert session.states == ("z",)


def test_s27_a_failure_in_the_frame_ends_it_as_failed() -> None:
    """The callee ends `failed:STEP` with its own step's name, the caller's step fails."""
    session = calling(sub("q", auto("a")), on_failure="z")
    session.observe(command(session).call_id, Failed())
    assert records(session, "returned", "outcome") == ["failed:a"]
    assert session.states == ("z",)


def test_s33_a_rejected_approval_in_the_callee_ends_the_callee() -> None:
    """`stopped:rejected` is the end of its frame, not of the run."""
    session = calling(sub("q", auto("a", approval={"ask": "?"})), on_failure="z")
    Approvals(session).reject(asked(session), by="kim")
    assert records(session, "returned", "outcome") == ["stopped:rejected"]
    assert session.states == ("z",)


def test_s2_frames_do_not_see_each_others_facts() -> None:
    """Caller and callee have steps and tools of the same names; each reads its own."""
    callee = sub("q", auto("a", "t", {"seen": "{{ has(facts.a.n) }}"}), outputs={"n": "facts.a.n"})
    session = start(family(auto("a", "t"), CALL, show(mine="facts.a.n", its="facts.c.n"), library=[callee]))
    arrive(session, "t", {"n": 1})
    assert command(session).args == {"seen": False}
    arrive(session, "t", {"n": 2})
    assert shown(session) == {"mine": 1, "its": 2}


def test_s2_a_frame_called_again_begins_anew() -> None:
    """Facts and visits of the first call are gone; ids of its calls are new."""
    again = [{"when": "facts.x.more", "goto": "c"}, {"goto": "success"}]
    callee = sub("q", auto("a", args={"seen": "{{ has(facts.a.n) }}"}, max_visits=1))
    session = start(family(CALL, step("z", "x", next_=again), library=[callee]))
    ids = set()
    for more in (True, False):
        assert command(audit(session)).args == {"seen": False}
        ids.add(arrive(session, "a", {"n": 1}))
        ok(session, "x", {"more": more})
    assert session.outcome == "success" and len(ids) == 2


def test_s33_the_callees_own_tools_hold_in_its_frame() -> None:
    """Its `where`, schema and approval decide; those of the caller do not reach inside."""
    callee = sub(
        "q", step("b", "pay"), tools={"pay": {"where": "args.n <= inputs.most", "approval": {"ask": "Q?"}}},
        inputs={"most": {"type": "integer", "default": 5}},
    )  # fmt: skip
    session = calling(callee, step("z", "pay"), tools={"pay": {"where": "args.n > 100"}}, max_refusals=9)
    assert denied(session, "pay", n=6).code == "where"
    assert kinds([propose(session, "pay", n=5)]) == ["NeedsApproval"]
    [question] = Approvals(audit(session)).pending
    assert question.ask == "Q?"
    Approvals(session).approve(question.approval_id, by="kim")
    session.observe(records(session, "decided", "call_id")[-1], Succeeded())
    assert session.states == ("z",)
    assert denied(session, "pay", n=5).code == "where"
    assert ok(session, "pay", n=101).outcome == "success"


def test_s33_the_callees_conditions_see_its_frame() -> None:
    """`tool_called` in the callee is not met by what the caller has called, and ends the callee alone."""
    callee = sub("q", step("b", "x", "w"), termination=[{"tool_called": "x", "outcome": "success"}])
    session = start(family(step("s", "x"), CALL, AFTER, library=[callee]))
    ok(session, "x")
    assert session.states == ("c/b",)
    ok(session, "x")
    assert session.states == ("z",)


def test_s33_the_callers_conditions_see_all() -> None:
    """A call inside the callee ends the caller's run."""
    callee = sub("q", step("b", "x", "w"))
    session = calling(callee, termination=[{"tool_called": "x", "outcome": "escalated"}])
    assert ok(session, "x").outcome == "escalated"


def test_s33_the_callees_limit_of_turns_counts_its_own_turns() -> None:
    """Three turns before the call do not count; the limit stops the callee, and the caller's step fails."""
    callee = sub("q", step("b", "x", "w"), max_iterations=2)
    session = start(
        family(
            step("s", "s1", "s2", "s3"), CALL | {"on_failure": "z"}, auto("n", next_="success"), AFTER, library=[callee]
        )
    )
    for tool in ("s1", "s2", "s3"):
        ok(session, tool)
    error(session, "x")
    assert audit(session).states == ("c/b",)
    error(session, "x")
    assert records(session, "returned", "outcome") == ["stopped:max_iterations"]
    assert session.states == ("z",)


def test_s33_the_callers_limit_of_turns_counts_all() -> None:
    """Turns spent in the callee are the caller's too."""
    session = calling(sub("q", step("b", "x", "w")), max_iterations=2)
    ok(session, "x")
    assert ok(session, "w").outcome == "stopped:max_iterations"


def test_s33_the_callers_policies_see_the_callees_calls() -> None:
    """What the caller forbids is refused inside too, and what it counts is counted there."""
    callee = sub("q", step("b", "x", "y"))
    session = calling(
        callee, step("z", "x"), policies=[{"id": "once", "at_most": {"event": "x", "times": 1}}], max_refusals=9
    )
    ok(session, "x")
    assert denied(session, "x").code == "policy"
    ok(session, "y")
    denial = denied(session, "x")
    assert denial.code == "policy" and "once" in denial.message


def test_s33_the_callees_policies_see_its_frame_alone() -> None:
    """What the caller has called before is no event of the callee's, nor what it calls afterwards."""
    callee = sub("q", step("b", "x"), policies=[{"at_most": {"event": "x", "times": 1}}])
    session = start(family(step("s", "x"), CALL, step("z", "x"), library=[callee]))
    for _ in range(3):
        last = ok(session, "x")
    assert last.outcome == "success"


def test_s38_an_open_obligation_of_the_callee_is_no_success() -> None:
    """It is nudged as the root would be, and then its step fails in the caller."""
    policy = {"id": "tell", "response": {"after": "x", "eventually": "notify"}}
    callee = sub("q", auto("a", "x"), policies=[policy], optional_tools=["notify"])
    session = calling(callee, on_failure="z")
    arrive(session, "x")
    for _ in range(5):
        if session.states == ("z",):
            break
        say(session)
    assert session.states == ("z",)
    assert records(session, "returned", "outcome") == ["failed:policy:tell"]


def test_s38_an_incomplete_step_of_the_callee_is_no_success() -> None:
    """A callee that advanced past a required step without its tool ends incomplete: the caller's step fails."""
    callee = sub("q", step("b", "x", "y", max_tool_calls=1))
    session = calling(callee, on_failure="z")
    ok(session, "x")
    assert records(session, "returned", "outcome")[0].startswith("incomplete")
    assert session.states == ("z",)


def test_s26_leaving_the_step_ends_the_frame() -> None:
    """At the caller's deadline the callee's questions are void, its timers gone, its calls orphans."""
    inside = parallel("s", {"a": auto("a"), "b": {"ask": "Well?"}, "w": {"wait": "1h"}})
    session = calling(sub("q", inside), timed=True, timeout="10s", on_timeout="z")
    late = running(session)[0].call_id
    question = asked_at(session, "b")
    session.tick(at(10))
    assert session.states == ("z",) and asks(session) == [] and waits(session) == []
    assert not Approvals(session).answer(question, "x", by="kim").accepted
    session.observe(late, Succeeded())
    assert session.states == ("z",)
    assert ok(audit(session), "zz").outcome == "success"


def test_s7_a_callee_that_keeps_time_needs_a_clock() -> None:
    """The caller has no timer of its own; without `now` the session does not start."""
    machine = family(CALL, library=[sub("q", {"id": "w", "wait": "10s"})])
    with pytest.raises(HostError, match="now"):
        Session(machine)
    session = Session(machine, now=T0)
    assert session.tick(at(10)).outcome == "success"


def test_s26_timers_inside_the_callee_run() -> None:
    """Its steps have deadlines as everywhere; the default stop is an end of the callee."""
    session = calling(sub("q", step("b", "x", timeout="10s")), timed=True, on_failure="z")
    session.tick(at(10))
    assert records(session, "returned", "outcome") == ["stopped:timeout:b"]
    assert session.states == ("z",)


def test_s33_no_cycle_of_calls() -> None:
    """Two playbooks that call each other, or one that calls itself, cannot be loaded."""
    with pytest.raises(PlaybookError):
        family(CALL, library=[sub("q", {"id": "d", "playbook": "r"}), sub("r", {"id": "e", "playbook": "q"})])
    with pytest.raises(PlaybookError):
        family({"id": "c", "playbook": "p"}, library=[])


def test_s33_a_callee_may_call_others() -> None:
    """Three deep, the paths say where a cursor stands, and outputs are handed up."""
    inner = sub("r", auto("deep"), outputs={"n": "facts.deep.n"})
    middle = sub("q", {"id": "d", "playbook": "r"}, outputs={"n": "facts.d.n + 1"})
    session = start(family(CALL, show(n="facts.c.n"), library=[middle, inner]))
    assert session.states == ("c/d/deep",)
    arrive(audit(session), "deep", {"n": 1})
    arrive(session, "deep", {"n": 1})
    assert shown(session) == {"n": 2}


def test_s33_one_playbook_may_be_called_side_by_side() -> None:
    """Two branches and the items of a loop each have a frame of their own."""
    callee = sub("q", auto("a", args={"n": "{{ inputs.n }}"}), inputs={"n": "integer"}, outputs={"n": "facts.a.r"})
    loop = each(
        "e", [1, 2], {"id": "c1", "playbook": "q", "with": {"n": "{{ i }}"}}, concurrency=2, collect="facts.c1.n"
    )
    branches = {"l": [loop], "m": {"playbook": "q", "with": {"n": 3}}}
    session = start(family(parallel("s", branches), show(e="facts.e", m="facts.m.n"), library=[callee]))
    assert session.states == ("e[0]/c1/a", "e[1]/c1/a", "m/a")
    assert [c.args["n"] for c in running(session)] == [1, 2, 3]
    for left in reversed(running(session)):
        session.observe(left.call_id, Succeeded({"r": left.args["n"] * 10}))
    assert shown(audit(session)) == {"e": [10, 20], "m": 30}


def test_s9_frames_that_need_nobody_are_no_livelock() -> None:
    """Steps of every frame count: callees of routers alone, called by the dozen, end well."""
    router = [{"id": f"r{n}", "switch": [{"goto": f"r{n + 1}" if n < 3 else "success"}]} for n in range(4)]
    callee = sub("q", *router)
    for count in (1, 2, 3, 9):
        steps = [{"id": f"c{n}", "playbook": "q"} for n in range(count)]
        assert start(family(*steps, library=[callee])).outcome == "success"
    loop = each("e", list(range(30)), CALL)
    assert start(family(loop, library=[callee])).outcome == "success"


def test_s9_a_call_and_a_return_in_one_macro_step() -> None:
    """A caller of two steps whose callee has two returns and goes on at once."""
    callee = sub("q", auto("a"), {"id": "b", "switch": [{"when": "facts.a.ours", "goto": "ours"}, {"goto": "odd"}]},
                 outcomes={"ours": "success", "odd": "success"})  # fmt: skip
    judge = {"id": "j", "switch": [{"when": 'facts.c.outcome == "ours"', "goto": "success"}, {"goto": "escalated"}]}
    session = calling(callee, judge)
    assert answer(session, {"ours": True}).outcome == "success"


def test_s16_nudges_and_refusals_of_the_callee_are_its_own_limits() -> None:
    """The callee's `max_nudges` and `max_refusals` end its frame, and the caller goes on by `on_failure`."""
    for limit, act, word in (
        ({"max_nudges": 0}, lambda s: say(s), "stopped:nudges"),
        ({"max_refusals": 1}, lambda s: denied(s, "nope"), "stopped:refusals"),
    ):
        session = calling(sub("q", step("b", "x"), **limit), on_failure="z")
        act(session)
        assert records(session, "returned", "outcome") == [word]
        assert session.states == ("z",)


def test_s14_a_batch_may_reach_over_the_return() -> None:
    """The callee's last call and the caller's next in one reply: the second waits for the first."""
    session = calling(sub("q", step("b", "x")))
    assert kinds(session.propose([call("x", "1"), call("zz", "2")])) == ["Allow", "Defer"]
    [verdict] = session.observe("1", Succeeded()).verdicts
    assert isinstance(verdict, Allow)
    assert session.observe("2", Succeeded()).outcome == "success"


def test_s33_legal_calls_are_those_of_the_frame() -> None:
    """What the caller's later steps need is not legal inside, and the denial says what is."""
    session = calling(sub("q", step("b", "x")))
    assert legal_tools(session) == {"x"}
    denial = denied(session, "zz")
    assert {legal.tool for legal in denial.legal} == {"x"}


def test_s50_the_digest_covers_the_callees() -> None:
    """Another callee is another machine: the snapshot of the one is refused by the other."""
    one, other = (family(CALL, library=[sub("q", auto("a", tool))]) for tool in ("x", "y"))
    assert one.definition is not None and other.definition is not None
    assert one.definition.digest != other.definition.digest
    saved = start(one).snapshot.to_json()
    with pytest.raises(HostError):
        Session.restore(other, saved)


def test_torture_05_a_crash_inside_a_sub_playbook_runs_nothing_twice() -> None:
    """A call that was under way when the process died is the same call afterwards; a finished step is not run again."""
    callee = sub("q", auto("a", "pay"), auto("b", "receipt"))
    session = calling(callee, section("s", AFTER))
    first = arrive(session, "pay")
    saved = session.snapshot.to_json()
    again = Session.restore(session.machine, saved)
    assert [(c.call_id, c.tool) for c in running(again)] == [(command(session).call_id, "receipt")]
    with refused(again):
        again.observe(first, Failed())
    again.observe(first, Succeeded())
    assert open_tools(again) == ["receipt"]
    under_way = command(again).call_id
    again.observe(under_way, Succeeded())
    assert again.states == ("z",)
    again.observe(under_way, Succeeded())
    assert again.states == ("z",) and open_tools(again) == []


def test_torture_05_a_call_nobody_can_account_for_is_looked_into() -> None:
    """S54 from a snapshot: reported as unknown, a write in the callee is asked about, not made again."""
    session = calling(sub("q", auto("a", "pay")))
    again = Session.restore(session.machine, session.snapshot)
    again.observe(command(again).call_id, Unknown())
    assert running(again) == []
    third = Session.restore(again.machine, again.snapshot.to_json())
    Approvals(third).happened(asked(third), {"n": 1}, by="kim")
    assert third.states == ("z",) and running(third) == []


def test_s54_what_waits_for_a_person_in_a_callee_still_waits() -> None:
    """The question comes back with the snapshot, and its answer reaches the frame."""
    session = calling(sub("q", {"id": "b", "ask": {"question": "Well?", "choices": ["yes", "no"]}}))
    again = Session.restore(session.machine, session.snapshot.to_json())
    assert asked(again) == asked(session)
    assert Approvals(again).answer(asked(again), "yes", by="kim").accepted
    assert again.states == ("z",)


def test_s51_the_host_moves_a_step_of_the_callee() -> None:
    """`complete`, `skip` and `fail` reach the frame; failing the caller's step leaves it."""
    session = calling(sub("q", step("b", "x"), step("d", "y", required=False)), on_failure="escalated")
    session.complete("seen")
    assert session.states == ("c/d",)
    session.skip("not today", step="c/d")
    assert session.states == ("z",)
    left = calling(sub("q", step("b", "x")), on_failure="escalated")
    assert left.fail("enough", step="c").outcome == "escalated"


def test_s40_the_run_ends_while_a_callee_is_under_way() -> None:
    """The caller's limit ends the run; the frame is left, its questions are void, its call is cancelled."""
    inside = parallel("s", {"d": step("d", "x", "w"), "a": auto("a"), "b": {"ask": "Well?"}})
    session = calling(sub("q", inside), max_iterations=1)
    ok(session, "x")
    assert session.outcome is None and asks(session) == []
    drain(session)
    assert session.outcome == "stopped:max_iterations"
    assert audit(session).commands == []

"""Several cursors and their order: S3, S4, S7, S9, S13 to S17."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Allow, Approvals, Cancelled, Defer, Deny, Failed, NeedsApproval, Succeeded

from .building import arrive, auto, each, kinds, legal_tools, open_tools, parallel, records, show, shown
from .helpers import (
    allowed,
    asked,
    asks,
    at,
    audit,
    book,
    call,
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

TWO = {"a": step("a", "x", "w"), "b": step("b", "y", "z")}


def branch(*tools: Any, **more: Any) -> dict[str, Any]:
    """A branch that is one agent's step: the name of the branch is its id."""
    return {key: value for key, value in step("", *tools, **more).items() if key != "id"} | {"description": "Work."}


def test_s3_each_cursor_has_registers_of_its_own() -> None:
    """What is spent in one branch is not spent in another."""
    branches = {"a": branch("x", max_tool_calls=2, on_exhausted="failed"), "b": branch("y", "z", "w", max_tool_calls=3)}
    session = start(book(parallel("s", branches)))
    for tool in ("y", "z"):
        ok(session, tool)
    error(session, "x")
    assert session.states == ("a", "b")
    ok(audit(session), "w")
    ok(session, "w")
    assert list(session.states) == ["a"]
    assert error(session, "x").outcome == "failed:s"


def test_s3_entering_a_state_adds_a_visit_and_begins_anew() -> None:
    """A second visit of a step inside a branch has a budget of its own."""
    again = [{"when": "size(history.x) < 2", "goto": "one"}, {"goto": "done"}]
    session = start(book(parallel("s", {"a": [step("one", "x", max_tool_calls=1, next_=again)], "b": branch("y")})))
    ok(session, "x")
    assert session.states == ("one", "b")
    ok(session, "x")
    assert list(session.states) == ["b"]


def test_s4_commands_come_in_branch_order_then_index_order() -> None:
    """Whatever a branch holds, its calls are listed before those of the branches below it."""
    machine = book(
        parallel(
            "s",
            {
                "low": [each("e", [1, 2, 3], auto("item"), concurrency=2)],
                "mid": auto("mid"),
                "top": [parallel("inner", {"p": auto("p"), "q": auto("q")})],
            },
        )
    )
    session = start(machine)
    assert open_tools(session) == ["item", "item", "mid", "p", "q"]
    assert session.states == ("e[0]/item", "e[1]/item", "mid", "p", "q")
    audit(session)
    arrive(session, "mid")
    session.observe(running(session)[1].call_id, Succeeded())
    assert list(session.states) == ["e[0]/item", "e[2]/item", "p", "q"]


def test_s7_timers_of_several_cursors_fire_by_due_then_cursor() -> None:
    """The earlier one fires first wherever it stands on the page; of two at once the upper branch's does."""
    machine = book(
        parallel("s", {"late": {"wait": "20s"}, "one": {"wait": "10s"}, "two": {"wait": "10s"}, "a": branch("x")})
    )
    session = start(machine, timed=True)
    session.tick(at(30))
    assert records(session, "due", "step") == ["one", "two", "late"]
    assert session.states == ("a",)


def test_s7_a_timer_of_one_branch_fires_before_an_event_of_another() -> None:
    """An outcome that comes at the deadline of another branch finds that branch already timed out."""
    machine = book(
        parallel(
            "s", {"a": branch("x", timeout="10s", on_timeout="failed"), "b": auto("b", "y")}, on_failure="escalated"
        )
    )
    session = start(machine, timed=True)
    [running_call] = running(session)
    assert session.observe(running_call.call_id, Succeeded(), now=at(10)).outcome == "escalated"


def test_s7_a_clock_that_goes_back_is_read_as_the_latest() -> None:
    """An event told late in one branch does not undo the time that another branch has seen."""
    machine = book(parallel("s", {"a": {"wait": "10s"}, "b": auto("b", "y"), "c": {"wait": "30s"}}))
    session = start(machine, timed=True)
    session.tick(at(20))
    arrive(session, "y", now=at(5))
    assert session.now == at(20)
    assert [w.due for w in waits(session)] == [at(30)]


def test_s9_a_call_whose_visit_is_over_moves_nothing() -> None:
    """What a removed branch had under way is written down and moves no cursor."""
    machine = book(parallel("s", {"a": auto("a", "x"), "b": auto("b", "y")}, join="any"), step("z", "zz"))
    session = start(machine)
    late = running(session)[1].call_id
    arrive(session, "x")
    moved = records(session, "moved")
    session.observe(late, Succeeded())
    assert records(session, "moved") == moved
    assert session.states == ("z",)


def test_s9_automatic_moves_run_in_cursor_order() -> None:
    """Routers of several branches are passed one after another, the upper branch first."""
    goto = {"switch": [{"goto": "done"}]}
    session = start(book(parallel("s", {"a": goto, "b": goto, "c": goto}), step("z", "x")))
    assert records(session, "moved", "source") == ["s", "s", "s", "a", "b", "c", "s", "s.join"]
    assert session.state == "z"


@pytest.mark.parametrize("items", [0, 1, 2, 40])
def test_s9_many_items_are_no_livelock(items: int) -> None:
    """The bound grows with the items entered: a long list of steps that need nobody ends well."""
    listed = list(range(items))
    inner = each("inner", listed, {"id": "r", "switch": [{"goto": "done"}]})
    assert start(book({**each("outer", listed, inner), "for_each": {"as": "o", "in": listed}})).outcome == "success"


def test_s9_a_default_stop_in_a_branch_ends_the_run() -> None:
    """A rejected step approval without `on_reject` is an end of the playbook wherever the step lies."""
    machine = book(parallel("s", {"a": [step("one", approval={"ask": "?"})], "b": branch("x")}), step("z", "zz"))
    session = start(machine)
    Approvals(session).reject(asked(session), by="kim")
    assert session.outcome == "stopped:rejected"


def test_s9_commands_of_newly_entered_states_come_in_cursor_order() -> None:
    """A wait, a question and a call that are issued at once stand in the order of their branches."""
    machine = book(parallel("s", {"w": {"wait": "5s"}, "q": {"ask": "Well?"}, "c": auto("c", "x")}))
    session = start(machine, timed=True)
    assert [type(c).__name__ for c in session.commands] == ["Wait", "Ask", "RunCall"]


def test_s12_one_turn_serves_all_cursors_and_none_may_be_open() -> None:
    """Calls for two branches are one turn; a second one before it has ended is the host's mistake."""
    session = start(book(parallel("s", TWO)))
    assert kinds(session.propose([call("x", "1"), call("y", "2")])) == ["Allow", "Allow"]
    with refused(session):
        session.propose([call("z", "3")])
    session.observe("2", Succeeded())
    session.observe("1", Succeeded())
    assert kinds(session.propose([call("w", "4")])) == ["Allow"]


def test_s13_a_wave_waits_for_a_call_outside_its_batch_that_caused_a_defer() -> None:
    """A branch's irreversible automatic call holds the agent's back, and its outcome lets it go on."""
    tools: dict[str, Any] = {"wire": {"effect": "irreversible"}, "x": {}}
    session = start(book(parallel("s", {"a": auto("a", "wire"), "b": branch("x")}), tools=tools))
    assert isinstance(session.propose([call("x", "1")])[0], Defer)
    audit(session)
    [verdict] = session.observe(running(session)[0].call_id, Succeeded()).verdicts
    assert (verdict.call_id, type(verdict)) == ("1", Allow)


def test_s13_a_failure_outside_the_batch_does_not_fail_it() -> None:
    """Only a call *of the turn* that did not succeed denies the deferred ones; another branch's failure does not."""
    tools: dict[str, Any] = {"wire": {"effect": "irreversible"}, "x": {}}
    session = start(book(parallel("s", {"a": auto("a", "wire", on_failure="done"), "b": branch("x")}), tools=tools))
    session.propose([call("x", "1")])
    [verdict] = session.observe(running(session)[0].call_id, Failed()).verdicts
    assert isinstance(verdict, Allow)


def test_s14_3_an_irreversible_call_runs_alone_across_branches() -> None:
    """Neither beside a call of another branch, nor another beside it."""
    tools: dict[str, Any] = {"wire": {"effect": "irreversible"}, "y": {}, "z": {}, "w": {}}
    branches = {"a": branch("wire", "w"), "b": branch("y", "z")}
    session = start(book(parallel("s", branches), tools=tools))
    assert kinds(session.propose([call("y", "1"), call("wire", "2")])) == ["Allow", "Defer"]
    other = start(book(parallel("s", branches), tools=tools))
    assert kinds(other.propose([call("wire", "1"), call("y", "2")])) == ["Allow", "Defer"]
    assert kinds(other.observe("1", Succeeded()).verdicts) == ["Allow"]


def test_s14_4_an_undecided_cursor_defers_what_only_later_ones_need() -> None:
    """After `x` the first branch may be anywhere: whether `y` is the second branch's is not yet known."""
    session = start(book(parallel("s", {"a": branch("x"), "b": branch("y")})))
    assert kinds(session.propose([call("x", "1"), call("y", "2")])) == ["Allow", "Defer"]
    [verdict] = session.observe("1", Succeeded()).verdicts
    assert isinstance(verdict, Allow) and verdict.step == "b"


def test_s14_4_a_cursor_before_the_undecided_one_may_need_the_call() -> None:
    """The upper branch needs `x`, so what becomes of the lower one does not matter."""
    session = start(book(parallel("s", {"a": branch("x"), "b": branch("y")})))
    assert kinds(session.propose([call("y", "1"), call("x", "2")])) == ["Allow", "Allow"]


def test_s14_4_the_upper_branch_may_have_come_to_need_it() -> None:
    """The deferred call goes where it would have gone one by one: to the upper branch's next step."""
    machine = book(
        parallel("s", {"a": [step("one", "x"), step("two", "y")], "b": branch({"tool": "y", "as": "other"})})
    )
    session = start(machine)
    session.propose([call("x", "1"), call("y", "2")])
    [verdict] = session.observe("1", Succeeded()).verdicts
    assert isinstance(verdict, Allow) and verdict.step == "two"
    by_one = start(machine)
    ok(by_one, "x")
    [verdict] = by_one.propose([call("y", "2")])
    assert isinstance(verdict, Allow) and verdict.step == "two"


def test_s14_4_a_spent_budget_makes_a_cursor_undecided() -> None:
    """With its last call outstanding a cursor may be exhausted or not: a call behind it waits."""
    session = start(
        book(parallel("s", {"a": branch("x", "w", max_tool_calls=1, on_exhausted="done"), "b": branch("y")}))
    )
    assert kinds(session.propose([call("x", "1"), call("y", "2")])) == ["Allow", "Defer"]


def test_s14_4_a_guard_that_reads_an_outstanding_fact_defers() -> None:
    """Whether `y` is meant depends on what `x`, still under way in the other branch, will say."""
    entry = {"tool": "y", "where": "args.n == facts.x.n"}
    session = start(book(parallel("s", {"a": branch("x", "w"), "b": branch(entry)}), max_refusals=9))
    assert kinds(session.propose([call("x", "1"), call("y", "2", n=1), call("y", "3", n=2)])) == [
        "Allow",
        "Defer",
        "Defer",
    ]
    verdicts = session.observe("1", Succeeded({"n": 1})).verdicts
    assert kinds(verdicts)[0] == "Allow"


@pytest.mark.parametrize(
    ("upper", "lower", "met", "expected"),
    [
        ("optional_tools", "expected_tools", 0, "b"),
        ("expected_tools", "expected_tools", 0, "a"),
        ("expected_tools", "optional_tools", 1, "a"),
        ("optional_tools", "expected_tools", 1, "b"),
        ("optional_tools", "optional_tools", 0, "a"),
        ("expected_tools", "expected_tools", 1, "b"),
    ],
    ids=[
        "needed before optional",
        "cursor order",
        "repeat",
        "repeat before optional",
        "optional",
        "needed before repeat",
    ],
)
def test_s14_5_the_best_candidate(upper: str, lower: str, met: int, expected: str) -> None:
    """Needed, then repeat, then optional; of two alike the upper branch."""

    def open_for_x(key: str, name: str) -> dict[str, Any]:
        made: dict[str, Any] = {"description": "Work.", "expected_tools": [f"stay_{name}"]}
        return made | {key: [{"tool": "x", "as": f"x_{name}"}, *made.get(key, ())]}

    session = start(book(parallel("s", {"a": open_for_x(upper, "a"), "b": open_for_x(lower, "b")})))
    for _ in range(met):
        ok(session, "x")
    verdict = propose(session, "x")
    assert isinstance(verdict, Allow) and verdict.step == expected


def test_s14_5_an_extra_tool_belongs_to_no_cursor() -> None:
    """A call that only `allow_extra_tools` lets through is credited to no branch and spends nothing of one."""
    machine = book(parallel("s", {"a": branch("x", max_tool_calls=1), "b": branch("y")}), allow_extra_tools=True)
    session = start(machine)
    for _ in range(3):
        verdict = propose(session, "other")
        assert isinstance(verdict, Allow) and verdict.step == ""
        session.observe(verdict.call_id, Succeeded())
    assert ok(session, "x").outcome is None
    assert session.states == ("b",)


def test_s14_6_nobodys_call_is_denied_with_the_way() -> None:
    """A tool of a later step is out of sequence while both branches work, and the denial names a way there."""
    session = start(book(parallel("s", {"a": branch("x"), "b": branch("y")}), step("z", "last")))
    denial = denied(session, "last")
    assert denial.code == "out_of_sequence"
    assert denial.path is not None and set(denial.path) == {"x", "y", "last"} and denial.path[-1] == "last"
    assert {legal.tool for legal in denial.legal} == {"x", "y"}


def test_s14_8_budgets_of_the_cursor_count_reservations() -> None:
    """A third call waits while two places are reserved, and what was cancelled gives its place back."""
    entry = {"tool": "r", "times": 3}
    session = start(book(step("a", entry, max_tool_calls=2, on_exhausted="failed"), max_refusals=9))
    assert kinds(session.propose([call("r", "1"), call("r", "2"), call("r", "3")])) == ["Allow", "Allow", "Defer"]
    session.observe("1", Cancelled())
    assert kinds(session.observe("2", Cancelled()).verdicts) == ["after_failed"]
    assert kinds(session.propose([call("r", "4"), call("r", "5")])) == ["Allow", "Allow"]


def test_s14_9_approvals_of_two_branches_wait_side_by_side() -> None:
    """Each question is bound to its own call in its own branch, answered in any order."""
    gated = {"tool": "pay", "approval": {"ask": "Pay {{ args.n }}?"}}
    branches = {"a": branch(gated), "b": branch(gated | {"as": "other"}, "y")}
    session = start(book(parallel("s", branches)))
    first, second = session.propose([call("pay", "1", n=1), call("pay", "2", n=2)])
    assert isinstance(first, NeedsApproval) and first.step == "a"
    if isinstance(second, Defer):  # the upper branch is undecided while its call waits for a person
        Approvals(session).approve(asked(session), by="kim")
        [second] = session.observe("1", Succeeded()).verdicts
    assert isinstance(second, NeedsApproval) and second.step == "b"
    audit(session)


def test_s15_automatic_calls_are_applied_on_arrival() -> None:
    """A branch's own call moves it at once, though a turn of the agent's is open."""
    machine = book(parallel("s", {"a": branch("x", "w"), "b": [auto("b1", "y"), auto("b2", "z")]}))
    session = start(machine)
    allowed(session, "x")
    arrive(session, "y")
    assert open_tools(session) == ["z"]


def test_s15_only_the_timers_of_the_visit_with_an_arrived_outcome_are_held() -> None:
    """The deadline of the branch whose outcome waits in line is held, that of the other branch is not."""
    machine = book(
        parallel(
            "s",
            {
                "a": branch("x", "w", timeout="10s", on_timeout="done"),
                "b": branch("y", timeout="10s", on_timeout="failed"),
            },
        )
    )
    session = start(machine, timed=True)
    assert kinds(session.propose([call("x", "1"), call("y", "2")])) == ["Allow", "Allow"]
    session.observe("2", Succeeded(), now=at(9))
    session.tick(at(11))
    assert ("timeout", "a") in [(event, name) for event, name in records(session, "moved", "event", "step")]
    session.tick(at(12))
    assert session.outcome != "failed:s"
    session.observe("1", Succeeded(), now=at(13))
    assert session.outcome == "success"


def test_s16_text_acts_on_every_cursor_that_stood_in_an_agents_step() -> None:
    """Both thinking branches are completed by one text, and neither of their followers is."""
    machine = book(parallel("s", {"a": [step("a1"), step("a2")], "b": [step("b1"), step("b2")]}))
    session = start(machine)
    say(session)
    assert session.states == ("a2", "b2")
    say(session)
    assert session.outcome == "success"


def test_s16_text_completes_one_branch_and_skips_another_untouched() -> None:
    """A thinking branch is completed, an optional one skipped, a required one stays; nobody is nudged."""
    branches = {"a": branch(), "b": branch("y", required=False), "c": branch("z")}
    session = start(book(parallel("s", branches), max_nudges=0))
    say(session)
    assert session.states == ("c",)
    say(session)
    assert session.outcome == "stopped:nudges"


def test_s16_text_that_acts_on_none_of_several_cursors_is_one_nudge() -> None:
    """Two open branches are nudged once, not twice."""
    session = start(book(parallel("s", TWO), max_nudges=1))
    say(session)
    assert session.outcome is None
    say(session)
    assert session.outcome == "stopped:nudges"


def test_s17_complete_step_takes_the_step_where_several_qualify() -> None:
    """Without a name two open thinking branches are an ambiguity; with one, that branch is completed."""
    machine = book(parallel("s", {"a": branch(), "b": branch()}), step("z", "x"), max_refusals=9)
    session = start(machine)
    assert isinstance(propose(session, "complete_step"), Deny)
    verdict = propose(session, "complete_step", step="b")
    assert isinstance(verdict, Allow) and verdict.step == "b"
    assert session.states == ("a",)
    assert isinstance(propose(audit(session), "complete_step"), Allow)


def test_s17_control_needs_no_step_where_one_qualifies() -> None:
    """Only one branch may be completed, and only one skipped: no name is needed."""
    branches = {"a": branch("x"), "b": branch(), "c": branch("y", required=False)}
    session = start(book(parallel("s", branches)))
    completed = propose(session, "complete_step")
    assert isinstance(completed, Allow) and completed.step == "b"
    skipped = propose(session, "skip_step")
    assert isinstance(skipped, Allow) and skipped.step == "c"
    assert legal_tools(session) == {"x"}


def test_s17_a_named_step_that_does_not_qualify_is_refused() -> None:
    """`step` cannot complete a branch with entries, nor a step that is not open."""
    session = start(book(parallel("s", {"a": branch("x"), "b": branch()}), step("z"), max_refusals=9))
    for name in ("a", "z", "s", "nope"):
        assert denied(session, "complete_step", step=name).code in ("control", "bad_args"), name
    assert session.states == ("a", "b")


def test_s17_control_beside_another_branchs_call_is_not_lost() -> None:
    """`complete_step` while the runtime calls for another branch takes effect at the latest when that has come."""
    session = start(book(parallel("s", {"a": branch(), "b": auto("b", "y")}), step("z", "x")))
    assert isinstance(propose(session, "complete_step"), Allow | Defer)
    arrive(session, "y")
    assert session.states == ("z",)


def test_s51_host_verbs_name_the_step_where_several_are_open() -> None:
    """Without a name the host's verb is ambiguous; with one it moves that cursor alone."""
    session = start(book(parallel("s", {"a": branch("x"), "b": branch("y")}, on_failure="escalated")))
    for verb in (session.complete, session.fail):
        with refused(session):
            verb("why")
        with refused(session):
            verb("why", step="nope")
    session.complete("seen", step="b")
    assert session.states == ("a",)
    assert session.fail("broken", step="a").outcome == "escalated"
    assert records(session, "host", "verb", "step") == [("complete", "b"), ("fail", "a")]


def test_s51_waiting_names_everyone_who_is_waited_for() -> None:
    """A person, a time and a call in three branches are three lines."""
    machine = book(
        parallel(
            "s", {"q": {"ask": {"question": "Well?", "assignees": ["kim"]}}, "w": {"wait": "5s"}, "c": auto("c", "x")}
        )
    )
    session = start(machine, timed=True)
    assert len(session.waiting) == 3
    assert any("kim" in line for line in session.waiting) and any("x" in line for line in session.waiting)
    assert [ask.ask for ask in asks(session)] == ["Well?"]


def test_s2_branches_share_the_facts_of_their_frame() -> None:
    """What one branch has learned the other reads, and so does what follows."""
    branches = {"a": auto("a", "x"), "b": [step("b1", "y"), auto("b2", "z", {"n": "{{ facts.a.n }}"})]}
    session = start(book(parallel("s", branches), show(n="facts.a.n")))
    arrive(session, "x", {"n": 4})
    ok(session, "y")
    assert running(session)[0].args == {"n": 4}
    arrive(session, "z")
    assert shown(session) == {"n": 4}

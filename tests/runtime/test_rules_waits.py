"""Time, conditions and outside signals: S6, S7, S30's `wait`, S36, S37; predicates of the host; row 11."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Approvals, Failed, HostError, Session, Succeeded

from .building import arrive, auto, drain, each, family, legal_tools, open_tools, parallel, records, show, shown, sub
from .helpers import (
    T0,
    allowed,
    answer,
    asked,
    at,
    audit,
    book,
    command,
    denied,
    error,
    ok,
    refused,
    say,
    start,
    step,
    waits,
)

AFTER = step("z", "zz")


def wait(form: Any, id: str = "w", **more: Any) -> dict[str, Any]:
    """A step that waits."""
    return {"id": id, "wait": form} | {key.removesuffix("_"): value for key, value in more.items()}


# --- time -----------------------------------------------------------------------------------------------------------


def test_a_wait_lasts_its_time() -> None:
    """The host is told when to come back; a moment earlier nothing happens, then the step is completed."""
    session = start(book(wait("10m"), AFTER), timed=True)
    assert [(w.due, w.step, w.signal) for w in waits(session)] == [(at(600), "w", None)]
    session.tick(at(599))
    assert session.states == ("w",)
    session.tick(at(600))
    assert session.states == ("z",) and waits(session) == []


def test_s7_a_wait_refuses_to_start_without_a_clock() -> None:
    """`HostError` says that `now` is missing."""
    with pytest.raises(HostError, match="now"):
        Session(book(wait("10m")))


def test_a_wait_begins_when_the_step_is_entered() -> None:
    """Not when the run began."""
    session = start(book(step("a", "x"), wait("10s"), AFTER), timed=True)
    session.observe(session.propose([call_x()], now=at(50))[0].call_id, Succeeded(), now=at(50))
    assert [w.due for w in waits(session)] == [at(60)]


def call_x() -> Any:
    """A call of `x`."""
    from guideway import ToolCall

    return ToolCall("x", {}, call_id="x1")


def test_s7_any_event_fires_what_is_due() -> None:
    """An outcome of another branch that comes later than the wait finds it over."""
    session = start(book(parallel("s", {"w": {"wait": "10s"}, "a": auto("a")}), AFTER), timed=True)
    session.observe(command(session).call_id, Succeeded(), now=at(11))
    assert session.states == ("z",)
    assert records(session, "due", "step") == ["w"]


def test_torture_11_a_delay_survives_being_saved_twice() -> None:
    """Saved, restored, saved and restored again without a start in between: the deadline is still the same."""
    machine = book(wait("10m"), AFTER)
    session = start(machine, timed=True)
    once = Session.restore(machine, session.snapshot.to_json())
    twice = Session.restore(machine, once.snapshot.to_json())
    assert [w.due for w in waits(twice)] == [at(600)]
    twice.tick(at(599))
    assert twice.states == ("w",)
    twice.tick(at(600))
    assert twice.states == ("z",)


def test_torture_11_a_deadline_that_passed_meanwhile_fires_at_once() -> None:
    """A run restored long after its time is over goes on at the first word of the clock."""
    machine = book(parallel("s", {"w": {"wait": "10m"}, "a": step("a", "x", timeout="5m", on_timeout="done")}), AFTER)
    again = Session.restore(machine, Session.restore(machine, start(machine, timed=True).snapshot.to_json()).snapshot)
    again.tick(at(86400))
    assert again.states == ("z",)
    assert records(again, "due", "step") == ["a", "w"]


@pytest.mark.parametrize("twist", ["deadline", "wait", "reminder"])
def test_torture_20_a_playbook_that_gained_a_deadline_refuses_the_run(twist: str) -> None:
    """A run sits in a step, the playbook gains a timer there: the digest says so, clearly, and nothing is lost."""
    plain = {"deadline": step("a", "x"), "wait": wait("5m"), "reminder": {"id": "a", "ask": "Well?"}}
    timed = {
        "deadline": step("a", "x", timeout="10m"),
        "wait": wait("10m"),
        "reminder": {"id": "a", "ask": {"question": "Well?", "remind": "10m"}},
    }
    old, new = book(plain[twist], AFTER), book(timed[twist], AFTER)
    session = Session(old, now=T0)
    saved = session.snapshot.to_json()
    with pytest.raises(HostError) as caught:
        Session.restore(new, saved)
    assert "playbook" in str(caught.value) or "digest" in str(caught.value)
    assert Session.restore(old, saved).states == session.states


# --- a condition ----------------------------------------------------------------------------------------------------


def test_s30_until_is_evaluated_at_entry() -> None:
    """What holds already is not waited for."""
    session = start(book(auto("a"), wait({"until": "facts.a.n == 1"}), AFTER))
    answer(session, {"n": 1})
    assert session.states == ("z",)


def test_s30_until_is_evaluated_after_every_macro_step() -> None:
    """What another branch learns ends the wait in the same breath."""
    branches = {"w": {"wait": {"until": "facts.b1.n == 2"}}, "b": [auto("b1"), auto("b2")]}
    session = start(book(parallel("s", branches), AFTER))
    assert [(w.due, w.signal) for w in waits(session)] == [(None, None)]
    arrive(audit(session), "b1", {"n": 2})
    arrive(session, "b1", {"n": 2})
    assert session.states == ("b2",) and waits(session) == []


def test_s30_until_is_evaluated_after_an_error_a_denial_and_a_text() -> None:
    """Each of these is a macro-step too."""
    branches = {"w": {"wait": {"until": "run.iterations >= 3"}}, "b": step("b", "x", "y")}
    session = start(book(parallel("s", branches), AFTER, max_refusals=9))
    error(session, "x")
    denied(session, "nope")
    assert session.states == ("w", "b")
    say(session)
    assert list(session.states) == ["b"]


def test_s30_until_is_evaluated_at_a_tick() -> None:
    """`now` in the condition makes it a matter of time alone."""
    moment = 'timestamp("2026-03-02T09:10:00Z")'
    session = start(book(wait({"until": f"now >= {moment}"}), AFTER), timed=True)
    session.tick(at(599))
    assert session.states == ("w",)
    session.tick(at(600))
    assert session.states == ("z",)


def test_s44_an_unknown_condition_is_waited_for() -> None:
    """A fact that is not there is no truth, and no failure either: the wait goes on."""
    again = [{"when": "has(facts.b1.n)", "goto": "done"}, {"goto": "b1"}]
    branches = {"w": {"wait": {"until": "facts.b1.n == 2"}}, "b": [auto("b1", next_=again)]}
    session = start(book(parallel("s", branches), AFTER))
    arrive(session, "b1", {})
    assert session.states == ("w", "b1")
    arrive(session, "b1", {"n": 2})
    assert list(session.states) == ["z"]


def test_s26_a_condition_may_come_too_late() -> None:
    """A deadline of the step ends the waiting by `on_timeout`; a signal or condition after it does nothing."""
    for form in ({"until": "has(facts.a.n)"}, {"signal": "go"}):
        session = start(book(wait(form, timeout="10s", on_timeout="escalated"), auto("a")), timed=True)
        session.tick(at(9))
        assert session.outcome is None
        assert session.tick(at(10)).outcome == "escalated"


# --- a signal -------------------------------------------------------------------------------------------------------


def test_a_signal_ends_the_wait_and_brings_its_data() -> None:
    """The payload is `signals.NAME`."""
    session = start(book(wait({"signal": "paid"}), show(n="signals.paid.n")))
    assert [(w.due, w.signal) for w in waits(session)] == [(None, "paid")]
    session.signal("paid", {"n": 7})
    assert shown(session) == {"n": 7}
    assert records(session, "signalled", "signal", "data") == [("paid", {"n": 7})]


def test_a_signal_that_comes_early_is_kept() -> None:
    """It is consumed when the step is entered, also from a snapshot."""
    session = start(book(step("a", "x"), wait({"signal": "paid"}), show(n="signals.paid")))
    session.signal("paid", 3)
    again = audit(session)
    for run in (session, again):
        assert run.states == ("a",)
        ok(run, "x")
        assert shown(run) == {"n": 3}


def test_s30_a_signal_is_consumed_once_oldest_first() -> None:
    """Two waits take two signals, in the order they came; a third waits for a third."""
    steps = [wait({"signal": "s"}, "w1"), auto("a", args={"n": "{{ signals.s }}"}), wait({"signal": "s"}, "w2")]
    session = start(book(*steps, auto("b", args={"n": "{{ signals.s }}"}), wait({"signal": "s"}, "w3"), AFTER))
    session.signal("s", "first")
    session.signal("s", "second")
    assert command(session).args == {"n": "first"}
    arrive(session, "a")
    assert command(audit(session)).args == {"n": "second"}
    arrive(session, "b")
    assert session.states == ("w3",)
    session.signal("s", "third")
    assert session.states == ("z",)


def test_s30_two_branches_that_wait_take_one_signal_each() -> None:
    """One signal is for one wait: the upper branch's; the second for the lower one's."""
    session = start(book(parallel("s", {"a": {"wait": {"signal": "go"}}, "b": {"wait": {"signal": "go"}}}), AFTER))
    session.signal("go")
    assert session.states == ("b",)
    session.signal("go")
    assert session.states == ("z",)


def test_a_signal_wakes_only_those_who_wait_for_it() -> None:
    """Names are told apart."""
    session = start(book(parallel("s", {"a": {"wait": {"signal": "go"}}, "b": {"wait": {"signal": "stop"}}}), AFTER))
    session.signal("stop")
    assert session.states == ("a",)


def test_s51_a_signal_nobody_can_take_is_the_hosts_mistake() -> None:
    """A name that no step waits for and nothing ends by is refused; so is data that is no JSON."""
    session = start(book(wait({"signal": "go"}), AFTER))
    with refused(session, "og"):
        session.signal("og")
    for data in (float("nan"), {1: 2}, object(), "\ud800", {"a": {1, 2}}):
        with refused(session):
            session.signal("go", data)
    session.signal("go", {"a": [1, None, True]})
    assert session.states == ("z",)


def test_a_signal_after_the_end_changes_nothing() -> None:
    """The run is over."""
    session = start(book(wait({"signal": "go"})))
    session.signal("go")
    assert session.outcome == "success"
    before = len(session.records)
    try:
        session.signal("go")
    except HostError:
        assert len(session.records) == before
    assert session.outcome == "success"


def test_signals_reach_frames_and_items() -> None:
    """A wait inside a sub-playbook and inside an item takes it as well."""
    callee = sub("q", wait({"signal": "go"}), outputs={"n": "signals.go"})
    session = start(family({"id": "c", "playbook": "q"}, show(n="facts.c.n"), library=[callee]))
    session.signal("go", 4)
    assert shown(session) == {"n": 4}
    items = start(
        book(each("e", [1, 2], wait({"signal": "go"}), concurrency=2, collect="signals.go"), show(v="facts.e"))
    )
    items.signal("go", "a")
    items.signal("go", "b")
    assert shown(items) == {"v": ["a", "b"]}


def test_s17_no_agent_ends_a_wait() -> None:
    """While the run waits nothing is legal; the host may fail it, and skip it where it is optional."""
    session = start(book(wait({"signal": "go"}, required=False), AFTER, max_refusals=9))
    assert legal_tools(session) == set() and session.legal() == ()
    assert denied(session, "skip_step").code
    session.skip("enough")
    assert session.states == ("z",) and waits(session) == []
    failed = start(book(wait({"signal": "go"}), AFTER))
    assert failed.fail("enough").outcome == "failed:w"


def test_s51_waiting_says_what_is_waited_for() -> None:
    """A signal by its name, a condition as its author wrote it."""
    session = start(book(parallel("s", {"a": {"wait": {"signal": "paid"}}, "b": {"wait": {"until": "has(facts.x.n)"}}})
                         , optional_tools=["x"]))  # fmt: skip
    lines = session.waiting
    assert any("paid" in line for line in lines) and len(lines) == 2


# --- conditions that end the run ------------------------------------------------------------------------------------


def test_s36_a_signal_may_end_the_run() -> None:
    """`termination: {signal}` ends it at once, with the author's word."""
    session = start(book(step("a", "x"), termination=[{"signal": "recalled", "outcome": "stopped"}]))
    assert session.signal("recalled").outcome == "stopped"


def test_s37_a_signal_without_a_word_is_a_goal() -> None:
    """Unsaid it is success when no required step is open, else incomplete."""
    session = start(book(step("a", "x"), termination=[{"signal": "recalled"}]))
    assert session.signal("recalled").outcome == "incomplete:signal:recalled"
    assert session.outcome_class == "incomplete"
    done = start(book(step("a", "x", required=False), termination=[{"signal": "recalled"}]))
    assert done.signal("recalled").outcome == "success"


def test_s36_a_signal_ends_the_run_whatever_branch_is_busy() -> None:
    """The outcome is fixed at once and published when the call under way is observed."""
    session = start(
        book(parallel("s", {"a": auto("a"), "b": {"ask": "?"}}), termination=[{"signal": "x", "outcome": "stopped"}])
    )
    session.signal("x")
    assert session.outcome is None
    drain(session)
    assert session.outcome == "stopped"


def test_s33_a_signal_condition_of_the_callee_ends_the_callee() -> None:
    """Its frame ends; the caller goes on."""
    callee = sub("q", step("b", "x"), termination=[{"signal": "enough", "outcome": "success"}])
    session = start(family({"id": "c", "playbook": "q"}, AFTER, library=[callee]))
    session.signal("enough")
    assert session.states == ("z",)


# --- predicates of the host -----------------------------------------------------------------------------------------


def predicated(**more: Any) -> Any:
    """A router that asks the host a yes-or-no question."""
    branches = [{"when": 'predicate("is_vip")', "goto": "escalated"}, {"goto": "success"}]
    return book(
        step("a", "x", next_=branches, on_failure="failed"),
        predicates={"is_vip": {"description": "The customer is one we know by name."}},
        inputs={"who": {"type": "string", "default": "eve"}},
        **more,
    )


@pytest.mark.parametrize(("says", "end"), [(True, "escalated"), (False, "success")])
def test_s30_a_predicate_is_the_hosts_word(says: bool, end: str) -> None:
    """Its yes or no decides the branch."""
    session = start(predicated(), predicates={"is_vip": lambda names: says})
    assert ok(session, "x").outcome == end


def test_s30_a_predicate_sees_the_names_of_its_place() -> None:
    """The host's function is given what the place may read."""
    seen: list[Any] = []

    def is_vip(names: Any) -> bool:
        seen.append(names["inputs"]["who"])
        return bool(names["facts"]["x"]["n"] == 3)

    session = start(predicated(), predicates={"is_vip": is_vip})
    assert ok(session, "x", {"n": 3}).outcome in ("escalated", "failed")
    assert seen and set(seen) == {"eve"}


def test_s30_a_missing_predicate_is_refused_at_start_and_at_restore() -> None:
    """The message names it; a callee's counts as well."""
    machine = predicated()
    with pytest.raises(HostError, match="is_vip"):
        Session(machine)
    saved = start(machine, predicates={"is_vip": lambda names: True}).snapshot
    with pytest.raises(HostError, match="is_vip"):
        Session.restore(machine, saved)
    callee = sub("q", step("a", "x", when='predicate("p")'), predicates={"p": {"description": "P."}})
    with pytest.raises(HostError, match="p"):
        Session(family({"id": "c", "playbook": "q"}, library=[callee]))


def test_s30_a_predicate_that_raises_is_unknown() -> None:
    """Unknown is a failure of the branch list, never a pass; neither is an answer that is no yes or no."""

    def raises(names: Any) -> bool:
        raise KeyError("no such customer")

    wrong: Any = lambda names: "yes"  # noqa: E731
    for function in (raises, wrong):
        session = start(predicated(), predicates={"is_vip": function})
        assert ok(session, "x").outcome == "failed", function


def test_s44_a_raising_predicate_in_a_where_admits_nothing() -> None:
    """Unknown in a `where` is a refusal, and in a condition no end."""

    def raises(names: Any) -> bool:
        raise RuntimeError("the directory is down")

    words = {"predicates": {"sure": {"description": "S."}}, "max_refusals": 9}
    machine = book(step("a", {"tool": "x", "where": 'predicate("sure")'}), termination=[{"custom": "sure"}], **words)
    session = start(machine, predicates={"sure": raises})
    assert denied(session, "x").code == "where"
    assert session.outcome is None


def test_s36_custom_ends_the_run_when_the_host_says_so() -> None:
    """A `custom` condition is asked after every event; unsaid it is a goal."""
    answers = {"now": False}
    machine = book(
        step("a", "x", "y"), termination=[{"custom": "enough", "outcome": "handed"}],
        predicates={"enough": {"description": "E."}}, outcomes={"handed": "escalated"},
    )  # fmt: skip
    session = start(machine, predicates={"enough": lambda names: answers["now"]})
    error(session, "x")
    assert session.outcome is None
    under_way = allowed(session, "x")
    answers["now"] = True
    assert session.observe(under_way, Failed()).outcome == "handed"


def test_s30_wait_until_may_ask_the_host() -> None:
    """A predicate in a wait is asked again at every tick."""
    ready = {"now": False}
    machine = book(wait({"until": 'predicate("ready")'}), AFTER, predicates={"ready": {"description": "R."}})
    session = Session(machine, now=T0, predicates={"ready": lambda names: ready["now"]})
    session.tick(at(1))
    assert session.states == ("w",)
    ready["now"] = True
    session.tick(at(2))
    assert session.states == ("z",)


def test_s40_an_end_drops_waits_and_kept_signals() -> None:
    """After the end nothing is waited for."""
    branches = {"a": {"wait": "1h"}, "b": {"wait": {"signal": "x"}}, "c": auto("c")}
    session = start(book(parallel("s", branches), max_iterations=1), timed=True)
    session.observe(command(session).call_id, Failed())
    assert session.outcome == "failed:s"
    assert session.commands == [] and session.waiting == ()
    assert open_tools(session) == []


def test_s29_a_wait_after_an_approval_begins_with_the_yes() -> None:
    """The approval comes first; the time counts from when it was granted."""
    session = start(book({"id": "w", "approval": {"ask": "Go?"}, "wait": "10s"}, AFTER), timed=True)
    assert waits(session) == []
    Approvals(session).approve(asked(session), by="kim", now=at(100))
    assert [w.due for w in waits(session)] == [at(110)]

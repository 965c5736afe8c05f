"""What runs at every end: S40's `finally`."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Approvals, Cancelled, Failed, Session, Succeeded, Unknown

from .building import (
    arrive,
    auto,
    drain,
    family,
    open_tools,
    parallel,
    records,
    section,
    show,
    shown,
    sub,
)
from .helpers import (
    answer,
    asked,
    asks,
    at,
    audit,
    book,
    command,
    denied,
    ok,
    running,
    say,
    start,
    step,
    waits,
)

TOOLS: dict[str, Any] = {
    "lock": {"undo": "unlock"},
    "unlock": {"idempotent": True},
    "move": {"undo": {"tool": "back", "args": {"to": "{{ result.before }}", "what": "{{ args.what }}"}}},
    "back": {},
    "mail": {"effect": "irreversible"},
    "ask": {},
    "zz": {},
    "x": {},
}
UNDO = {"id": "u", "undo": "all"}
AFTER = auto("z", "zz")


def made(session: Session) -> list[tuple[str, Any]]:
    """What the runtime asks for now, tool and arguments."""
    return [(c.tool, c.args) for c in running(session)]


CLOSE = {"finally": [auto("f1"), auto("f2")]}


def closes(session: Session) -> Session:
    """Both closing calls come, one after the other; gives the ended session."""
    assert session.outcome is None
    for tool in ("f1", "f2"):
        assert open_tools(audit(session)) == [tool]
        arrive(session, tool)
    assert session.commands == []
    return session


def test_s40_finally_runs_at_a_success() -> None:
    """In order, one at a time, and only then is the outcome published."""
    session = start(book(auto("a"), **CLOSE))
    answer(session)
    assert closes(session).outcome == "success"
    assert records(session, "closed", "step", "event") == [("f1", "completed"), ("f2", "completed")]


def ends_at() -> list[tuple[str, Any, Any, str]]:
    """Ways a run may end: its name, the playbook's step and more, what happens, and the outcome."""
    words = {"termination": [{"text_mention": "ESC", "outcome": "stopped"}]}
    signal = {"termination": [{"signal": "s", "outcome": "stopped"}]}
    return [
        ("word", (step("a", "x", next_="escalated"), {}), lambda s: ok(s, "x"), "escalated"),
        ("failure", (auto("a"), {}), lambda s: s.observe(command(s).call_id, Failed()), "failed:a"),
        ("rejection", (step("a", "x", approval={"ask": "?"}), {}), no, "stopped:rejected"),
        ("turns", (step("a", "x", "y"), {"max_iterations": 1}), lambda s: ok(s, "x"), "stopped:max_iterations"),
        ("nudges", (step("a", "x"), {"max_nudges": 0}), say, "stopped:nudges"),
        ("refusals", (step("a", "x"), {"max_refusals": 1}), lambda s: denied(s, "y"), "stopped:refusals"),
        ("text", (step("a", "x"), words), lambda s: say(s, "ESC"), "stopped"),
        ("timeout", (step("a", "x", timeout="5s"), {}), lambda s: s.tick(at(5)), "stopped:timeout:a"),
        ("host", (step("a", "x"), {}), lambda s: s.fail("enough"), "failed:a"),
        ("signal", (step("a", "x"), signal), lambda s: s.signal("s"), "stopped"),
    ]


def no(session: Session) -> None:
    """A person says no."""
    Approvals(session).reject(asked(session), by="kim")


@pytest.mark.parametrize(("name", "source", "act", "outcome"), ends_at(), ids=[row[0] for row in ends_at()])
def test_s40_finally_runs_at_every_end(name: str, source: Any, act: Any, outcome: str) -> None:
    """Whatever ended the run, its closing calls are made, and the outcome is that of the end."""
    first, more = source
    session = start(book(first, **more, **CLOSE), timed=name == "timeout")
    act(session)
    assert closes(session).outcome == outcome


def test_s40_failures_of_finally_change_nothing() -> None:
    """An error, a cancellation: recorded, and the next closing call is made all the same."""
    for outcome in (Failed("broken"), Cancelled()):
        session = start(book(auto("a"), **CLOSE))
        answer(session)
        session.observe(command(session).call_id, outcome)
        assert open_tools(session) == ["f2"], outcome
        assert answer(session).outcome == "success", outcome
        assert records(session, "closed", "step", "event") == [("f1", "failed"), ("f2", "completed")]


def test_s40_an_unknown_closing_call_changes_no_outcome() -> None:
    """Whoever looks into it, and whatever is found: the run is the success it was."""
    session = start(book(auto("a"), **CLOSE))
    answer(session)
    session.observe(command(session).call_id, Unknown())
    for question in list(Approvals(session).pending):
        Approvals(session).did_not_happen(question.approval_id, by="kim")
    drain(session)
    assert session.outcome == "success"


def test_s40_a_closing_template_that_is_unknown_fails_that_call_alone() -> None:
    """A fact was never written, because the run ended before."""
    closing = [auto("f1", args={"n": "{{ facts.b.n }}"}), auto("f2", args={"n": "{{ facts.a.n }}"})]
    session = start(book(auto("a", next_="success"), auto("b"), **{"finally": closing}))
    answer(session, {"n": 1})
    assert made(session) == [("f2", {"n": 1})]
    assert answer(session).outcome == "success"
    assert records(session, "closed", "step", "event")[0] == ("f1", "failed")


def test_s40_finally_waits_until_all_else_is_settled() -> None:
    """A call under way is asked to stop and observed first; its result may still be read."""
    machine = book(
        parallel("s", {"a": step("a", "x", next_="failed"), "b": auto("b")}),
        **{"finally": [auto("f", args={"n": "{{ default(facts.b.n, 0) }}"})]},
    )
    session = start(machine)
    late = command(session).call_id
    ok(session, "x")
    assert open_tools(session) == []
    session.observe(late, Succeeded({"n": 7}))
    assert made(session) == [("f", {"n": 7})]
    assert answer(session).outcome == "failed:s"


def test_s40_nothing_else_is_admitted_while_finally_runs() -> None:
    """Agent's calls are refused, questions void, timers dropped, signals and time move nothing."""
    branches = {"a": {"wait": "1h"}, "b": {"ask": "?"}, "c": step("c", "x", timeout="2h")}
    session = start(
        book(parallel("s", branches), termination=[{"tool_called": "x", "outcome": "stopped"}], **CLOSE), timed=True
    )
    question = asked(session)
    ok(session, "x")
    assert open_tools(session) == ["f1"]
    assert asks(session) == [] and waits(session) == []
    assert denied(session, "x").code == "run_over"
    assert not Approvals(session).answer(question, "x", by="kim").accepted
    session.tick(at(9999))
    assert closes(session).outcome == "stopped"


def test_s40_finally_goes_through_the_gate() -> None:
    """A closing call that its tool's `where` refuses is recorded and not made."""
    tools = {"a": {}, "f1": {"where": "args.n == 1"}, "f2": {}}
    session = start(book(auto("a"), tools=tools, **CLOSE))
    answer(session)
    assert open_tools(session) == ["f2"]
    assert answer(session).outcome == "success"
    assert records(session, "closed", "step", "event")[0] == ("f1", "failed")


def test_s40_finally_retries_what_may_be_retried() -> None:
    """A read or idempotent closing call with a `retry` is made again; then it is a failure that changes nothing."""
    tools = {"a": {}, "f": {"idempotent": True}}
    session = start(book(auto("a"), tools=tools, **{"finally": [auto("f", retry=1)]}))
    answer(session)
    session.observe(command(session).call_id, Failed())
    assert open_tools(session) == ["f"]
    assert session.observe(command(session).call_id, Failed()).outcome == "success"


def test_s40_an_empty_run_closes_too() -> None:
    """No step at all: success at once, but first what must always be done."""
    session = start(book(**CLOSE))
    assert closes(session).outcome == "success"


def test_s40_finally_of_a_callee_runs_when_its_frame_ends() -> None:
    """By success and by failure, before the caller goes on; its failures change nothing either."""
    callee = sub("q", auto("b"), **{"finally": [auto("g1"), auto("g2")]})
    for outcome, tool in ((Succeeded(), "zz"), (Failed(), "n")):
        caller = family(
            {"id": "c", "playbook": "q", "on_failure": "n"}, AFTER | {"next": "success"}, auto("n"), library=[callee]
        )
        session = start(caller)
        session.observe(command(session).call_id, outcome)
        assert open_tools(audit(session)) == ["g1"]
        session.observe(command(session).call_id, Failed())
        arrive(session, "g2")
        assert open_tools(session) == [tool]


def test_s40_finally_of_a_callee_runs_when_its_step_is_left() -> None:
    """A deadline of the caller's step, or the end of the run, ends the frame: it closes all the same."""
    callee = sub("q", step("b", "x", "w"), **{"finally": [auto("g", args={"n": "{{ facts.x.n }}"})]})
    calling = {"id": "c", "playbook": "q", "timeout": "10s", "on_timeout": "escalated"}
    session = start(family(calling, AFTER, library=[callee]), timed=True)
    ok(session, "x", {"n": 3})
    session.tick(at(10))
    assert made(session) == [("g", {"n": 3})]
    drain(session)
    assert session.outcome == "escalated"
    ended = start(family({"id": "c", "playbook": "q"}, AFTER, library=[callee], max_iterations=1, **CLOSE))
    ok(ended, "x", {"n": 4})
    seen = []
    while running(ended):
        seen.append(command(ended).tool)
        answer(ended)
    assert seen == ["g", "f1", "f2"]
    assert ended.outcome == "stopped:max_iterations"


def test_s40_the_ending_survives_a_restart() -> None:
    """Saved between two closing calls, the rest is made once; a closing call under way is the same one."""
    session = start(book(auto("a"), **CLOSE))
    answer(session)
    arrive(session, "f1")
    again = Session.restore(session.machine, session.snapshot.to_json())
    assert open_tools(again) == ["f2"] and command(again).call_id == command(session).call_id
    assert again.outcome is None
    assert answer(again).outcome == "success"
    assert audit(again).outcome == "success"


def test_s40_the_end_is_reached_once() -> None:
    """Host verbs while it closes change nothing of the outcome."""
    from guideway import HostError

    session = start(book(section("s", step("a", "x")), **CLOSE))
    ok(session, "x")
    for verb in (session.complete, session.skip, session.fail):
        try:
            verb("late")
        except HostError:
            continue
    assert closes(session).outcome == "success"


def test_undo_as_part_of_the_way_out() -> None:
    """A section that fails half way is taken back, then the closing calls are made."""
    steps = [
        section("s", auto("a", "lock"), auto("b", "ask"), on_failure="u"),
        auto("good", "zz", next_="success"),
        UNDO,
    ]
    session = start(book(*steps, show(n="run.calls"), tools=TOOLS | {"show": {}, "f1": {}, "f2": {}}, **CLOSE))
    answer(session)
    session.observe(command(session).call_id, Failed())
    assert open_tools(session) == ["unlock"]
    answer(session)
    assert shown(session)["n"] >= 3
    answer(session)
    assert closes(session).outcome == "success"

"""What is taken back, and what runs at every end: S30's `undo`, S40's `finally`."""

from __future__ import annotations

from typing import Any

import pytest

from guideway import Approvals, Cancelled, Failed, Session, Succeeded, Unknown

from .building import (
    arrive,
    auto,
    drain,
    each,
    family,
    open_tools,
    parallel,
    records,
    rounds,
    section,
    show,
    shown,
    sub,
)
from .helpers import (
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
    error,
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


def undoing(*steps: Any, undo: Any = UNDO, timed: bool = False, **more: Any) -> Session:
    """A session of these steps, then the undo, then `z`."""
    return start(book(*steps, undo, AFTER, **({"tools": TOOLS} | more)), timed=timed)


def made(session: Session) -> list[tuple[str, Any]]:
    """What the runtime asks for now, tool and arguments."""
    return [(c.tool, c.args) for c in running(session)]


# --- undo -----------------------------------------------------------------------------------------------------------


def test_s30_undo_goes_newest_first_one_at_a_time() -> None:
    """Three calls are taken back in reverse order, each when the one before has succeeded."""
    session = undoing(auto("a", "lock", {"n": 1}), auto("b", "move", {"what": "db"}), auto("c", "lock", {"n": 3}))
    for result in (None, {"before": "eu"}, None):
        answer(session, result)
    for wanted in (("unlock", {"n": 3}), ("back", {"to": "eu", "what": "db"}), ("unlock", {"n": 1})):
        assert made(audit(session)) == [wanted]
        answer(session)
    assert open_tools(session) == ["zz"]


def test_s30_undo_without_arguments_uses_those_of_the_call() -> None:
    """`undo: T` is a call with the very same arguments."""
    session = undoing(step("a", "lock"))
    ok(session, "lock", deep={"list": [1, {"k": None}]}, n=2.0)
    assert made(session) == [("unlock", {"deep": {"list": [1, {"k": None}]}, "n": 2})]


def test_s30_undo_takes_back_successes_only() -> None:
    """A call that failed or was cancelled, or was refused, is not undone; nor one without a declared undo."""
    session = undoing(step("a", "lock", "ask"), max_refusals=9)
    error(session, "lock", n=1)
    session.observe(allowed(session, "lock", n=2), Cancelled())
    ok(session, "lock", n=3)
    ok(session, "ask")
    assert made(session) == [("unlock", {"n": 3})]
    answer(session)
    assert open_tools(session) == ["zz"]


def test_s30_with_nothing_to_take_back_the_step_is_completed() -> None:
    """No call, and on it goes."""
    session = undoing(step("a", "ask"))
    ok(session, "ask")
    assert open_tools(session) == ["zz"]


def test_s30_undo_of_named_tools_only() -> None:
    """`undo: [T]` leaves the others as they are."""
    session = undoing(
        auto("a", "lock", {"n": 1}), auto("b", "move", {"what": "db"}), undo={"id": "u", "undo": ["lock"]}
    )
    answer(session)
    answer(session, {"before": "eu"})
    assert made(session) == [("unlock", {"n": 1})]
    answer(session)
    assert open_tools(session) == ["zz"]


def test_s30_each_success_is_undone_once() -> None:
    """A second undo takes back what was done since, not the same call twice."""
    again = [{"when": "facts.ask.more", "goto": "a"}, {"goto": "success"}]
    session = start(book(auto("a", "lock"), UNDO, step("b", "ask", next_=again), tools=TOOLS))
    for more in (True, False):
        assert open_tools(session) == ["lock"]
        answer(session)
        assert open_tools(session) == ["unlock"]
        answer(session)
        ok(session, "ask", {"more": more})
    assert session.outcome == "success"
    twice = undoing(auto("a", "lock"), UNDO | {"id": "u1"})
    for tool in ("lock", "unlock"):
        arrive(twice, tool)
    assert open_tools(twice) == ["zz"]


def test_s30_what_was_undone_before_a_failure_stays_undone() -> None:
    """A failed undo fails the step; tried again it goes on with what is left."""
    undo = UNDO | {"on_failure": "again"}
    session = start(
        book(auto("a", "lock", {"n": 1}), auto("b", "lock", {"n": 2}), auto("c", "lock", {"n": 3}), undo,
             AFTER | {"next": "success"}, {"id": "again", "undo": "all"}, tools=TOOLS)
    )  # fmt: skip
    for _ in range(3):
        answer(session)
    answer(session)
    assert made(session) == [("unlock", {"n": 2})]
    session.observe(command(session).call_id, Failed())
    assert made(session) == [("unlock", {"n": 2})]
    answer(session)
    assert made(session) == [("unlock", {"n": 1})]
    assert answer(session).outcome == "success"


def test_s30_a_failed_undo_fails_the_step() -> None:
    """Its `on_failure`, else the run fails by the step's name; nothing more is undone."""
    session = undoing(auto("a", "lock"), auto("b", "lock"))
    for _ in range(2):
        answer(session)
    assert session.observe(command(session).call_id, Failed()).outcome == "failed:u"
    assert running(session) == []
    told = undoing(auto("a", "lock"), undo=UNDO | {"on_failure": "escalated"})
    answer(told)
    assert told.observe(command(told).call_id, Failed()).outcome == "escalated"


def test_s44_an_undo_whose_arguments_are_unknown_fails_the_step() -> None:
    """A result without the field that the undo reads: nothing is called with a hole."""
    session = undoing(auto("a", "move", {"what": "db"}), undo=UNDO | {"on_failure": "escalated"})
    answer(session, {})
    assert session.outcome == "escalated"
    assert records(session, "decided", "tool") == ["move"]


def test_s30_undo_goes_through_the_gate() -> None:
    """`where`, policies and approvals of the undoing tool hold; a refusal fails the step, a no takes `on_reject`."""
    refused = TOOLS | {"unlock": {"where": "args.n > 5"}}
    session = undoing(auto("a", "lock", {"n": 1}), undo=UNDO | {"on_failure": "escalated"}, tools=refused)
    answer(session)
    assert session.outcome == "escalated"
    gated = TOOLS | {"unlock": {"approval": {"ask": "Unlock {{ args.n }}?"}}}
    asked_session = undoing(auto("a", "lock", {"n": 1}), tools=gated)
    answer(asked_session)
    assert [a.ask for a in asks(audit(asked_session))] == ["Unlock 1?"]
    Approvals(asked_session).approve(asked(asked_session), by="kim")
    assert made(asked_session) == [("unlock", {"n": 1})]
    no = undoing(auto("a", "lock", {"n": 1}), undo=UNDO | {"on_reject": "escalated"}, tools=gated)
    answer(no)
    Approvals(no).reject(asked(no), by="kim")
    assert no.outcome == "escalated"


def test_s30_a_rejected_undo_stops_the_run_unless_told() -> None:
    """As with any call of the runtime's own (S28)."""
    gated = TOOLS | {"unlock": {"approval": {"ask": "?"}}}
    session = undoing(auto("a", "lock"), tools=gated)
    answer(session)
    Approvals(session).reject(asked(session), by="kim")
    assert session.outcome == "stopped:rejected"


def test_s24_an_unknown_undo_is_looked_into() -> None:
    """A write nobody can account for is asked about; a person's word goes on, or has it made again."""
    session = undoing(auto("a", "move", {"what": "db"}))
    answer(session, {"before": "eu"})
    session.observe(command(session).call_id, Unknown())
    assert running(session) == []
    Approvals(audit(session)).happened(asked(session), by="kim")
    Approvals(session).happened(asked(session), by="kim")
    assert open_tools(session) == ["zz"]


def test_s30_undo_is_of_this_frame() -> None:
    """What a sub-playbook did is its own affair, and what the caller did is not the callee's."""
    callee = sub("q", auto("b", "lock", {"n": 2}), UNDO, tools=TOOLS)
    session = start(
        family(
            auto("a", "lock", {"n": 1}),
            {"id": "c", "playbook": "q"},
            UNDO | {"id": "u2"},
            AFTER,
            tools=TOOLS,
            library=[callee],
        )
    )
    answer(session)
    answer(session)
    assert made(session) == [("unlock", {"n": 2})]
    answer(session)
    assert made(session) == [("unlock", {"n": 1})]
    answer(session)
    assert open_tools(session) == ["zz"]


def test_s30_undo_after_branches_follows_the_order_of_success() -> None:
    """Newest first by when they succeeded, not by the page."""
    branches = {
        "a": auto("a", "lock", {"n": "a"}),
        "b": auto("b", "lock", {"n": "b"}),
        "c": auto("c", "lock", {"n": "c"}),
    }
    session = undoing(parallel("s", branches))
    for name in "bca":
        [only] = [c for c in running(session) if c.args == {"n": name}]
        session.observe(only.call_id, Succeeded())
    for name in "acb":
        assert made(session) == [("unlock", {"n": name})]
        answer(session)


def test_s30_undo_inside_a_round_takes_back_what_stands() -> None:
    """Rounds run in the same frame: each round's undo takes back that round's call, no earlier one twice."""
    body = [auto("a", "lock", {"n": "{{ run.calls }}"}), UNDO]
    session = start(book(rounds("r", "facts.u2.n == 2", *body, auto("u2", "ask")), tools=TOOLS))
    for n in (1, 2):
        assert open_tools(session) == ["lock"]
        answer(session)
        assert open_tools(session) == ["unlock"]
        answer(session)
        answer(session, {"n": n})
    assert session.outcome == "success"


def test_s25_a_success_that_did_not_count_happened_and_is_undone() -> None:
    """`expect` was not true: it is no success for its step."""
    session = undoing(auto("a", "lock", {"n": 1}), auto("b", "lock", {"n": 2}, expect="result.ok", on_failure="u"))
    answer(session)
    answer(session, {"ok": False})
    tools = []
    while running(session) and command(session).tool == "unlock":
        tools.append(command(session).args["n"])
        answer(session)
    assert tools in ([1], [2, 1])
    assert open_tools(session) == ["zz"]


def test_s30_the_undo_survives_a_restart() -> None:
    """Half way through, saved and restored: what is undone is not undone again."""
    session = undoing(auto("a", "lock", {"n": 1}), auto("b", "lock", {"n": 2}))
    for _ in range(3):
        answer(session)
    again = Session.restore(session.machine, session.snapshot.to_json())
    assert made(again) == [("unlock", {"n": 1})]
    answer(again)
    assert open_tools(again) == ["zz"]


def test_s26_an_undo_has_a_deadline() -> None:
    """What is under way becomes an orphan, and `on_timeout` is taken."""
    session = undoing(auto("a", "lock"), undo=UNDO | {"timeout": "10s", "on_timeout": "escalated"}, timed=True)
    answer(session)
    late = command(session).call_id
    session.tick(at(10))
    assert session.outcome is None
    assert session.observe(late, Succeeded()).outcome == "escalated"


# --- finally --------------------------------------------------------------------------------------------------------

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
    """An error, an unknown, a cancellation: recorded, and the next closing call is made all the same."""
    for outcome in (Failed("broken"), Unknown(), Cancelled()):
        session = start(book(auto("a"), **CLOSE))
        answer(session)
        session.observe(command(session).call_id, outcome)
        if asks(session):
            continue
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


def test_undo_in_items_takes_back_what_the_item_did() -> None:
    """An item's frame holds its own calls; those of other items stand."""
    items = each("e", [1, 2], auto("w", "lock", {"n": "{{ i }}"}), UNDO | {"when": "i == 2"})
    session = start(book(items, AFTER, tools=TOOLS))
    answer(session)
    answer(session)
    assert made(session) == [("unlock", {"n": 2})]
    answer(session)
    assert open_tools(session) == ["zz"]


def test_undo_of_an_orphan_that_arrived_late() -> None:
    """A removed branch's call that succeeded after the join did happen, and is taken back."""
    branches = {"a": auto("a", "lock", {"n": 1}), "b": auto("b", "ask")}
    session = start(book(parallel("s", branches, join="any"), step("w", "x"), UNDO, AFTER, tools=TOOLS))
    late = running(session)[0].call_id
    arrive(session, "ask")
    session.observe(late, Succeeded())
    session.propose([call("x", "1")])
    session.observe("1", Succeeded())
    assert made(session) == [("unlock", {"n": 1})]

"""What is taken back: S30's `undo`."""

from __future__ import annotations

from typing import Any

from guideway import Approvals, Cancelled, Failed, Session, Succeeded, Unknown

from .building import (
    arrive,
    auto,
    each,
    family,
    open_tools,
    parallel,
    records,
    rounds,
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
    error,
    ok,
    running,
    start,
    step,
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

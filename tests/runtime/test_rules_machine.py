"""The session and its machine: callbacks, atomic verbs (S3, S8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from transitions.core import Condition

from guideway import (
    Approvals,
    HostError,
    Machine,
    Session,
    Succeeded,
)

from .helpers import (
    T0,
    allowed,
    answer,
    asked,
    at,
    audit,
    book,
    call,
    ok,
    refused,
    say,
    start,
    step,
    unchanged,
)

HOOKS: dict[str, Callable[[Machine], None]] = {
    "prepare_event": lambda machine: setattr(machine, "prepare_event", boom),
    "before_state_change": lambda machine: setattr(machine, "before_state_change", boom),
    "on_exit": lambda machine: machine.get_state("a").on_exit.append(boom),
    "on_enter": lambda machine: machine.get_state("b").on_enter.append(boom),
    "after_state_change": lambda machine: setattr(machine, "after_state_change", boom),
    "finalize_event": lambda machine: setattr(machine, "finalize_event", boom),
}


def walkable() -> Machine:
    """Three steps, one of them the runtime's, one that text completes."""
    return book(step("a", "x"), step("b", call={"tool": "y"}), step("c"), step("d", "z", approval={"ask": "?"}))


def walk(session: Session) -> None:
    """The whole way through `walkable`."""
    ok(session, "x")
    answer(session)
    say(session)
    Approvals(session).approve(asked(session), by="kim")
    ok(session, "z")
    assert session.outcome == "success"


def test_s3_callbacks_of_the_machine_see_every_move() -> None:
    """`on_enter`, `on_exit` and `after_state_change`, registered in each way transitions has, fire in order."""
    machine = walkable()
    seen: list[str] = []
    machine.get_state("b").on_enter.append(lambda event: seen.append(f"enter {event.state.name}"))
    machine.on_exit_b(lambda event: seen.append("exit b"))
    machine.on_enter_success(lambda event: seen.append("end"))
    machine.after_state_change = lambda event: seen.append(f"moved by {event.event.name}")
    walk(start(machine))
    assert seen == [
        "enter b",
        "moved by completed",
        "exit b",
        "moved by completed",
        "moved by completed",
        "moved by approved",
        "end",
        "moved by completed",
    ]


def test_s3_a_materialized_machine_gives_the_same_run() -> None:
    """The same walk with and without callbacks leaves the same record and snapshot."""
    plain, watched = walkable(), walkable()
    watched.after_state_change = lambda event: None
    one, two = start(plain), start(watched)
    for session in (one, two):
        session.observe(session.propose([call("x", "1")])[0].call_id, Succeeded())
        answer(session)
        say(session)
    assert one.snapshot.to_json() == two.snapshot.to_json()
    assert one.records == two.records


class BoomError(Exception):
    """What the callbacks of these tests raise."""


def boom(event: Any) -> None:
    """A callback that fails."""
    raise BoomError


def mend(machine: Machine) -> None:
    """Take every callback away again."""
    for name in ("prepare_event", "before_state_change", "after_state_change", "finalize_event"):
        setattr(machine, name, [])
    machine.get_state("a").on_exit.clear()
    machine.get_state("b").on_enter.clear()


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("more", [{}, {"max_tool_calls": 9}], ids=["short way", "long way"])
def test_s8_a_raising_callback_leaves_the_session_unchanged(hook: str, more: dict[str, Any]) -> None:
    """Applying is atomic: the report whose move raised has not happened, and works when it is made again."""
    machine = book(step("a", "x", **more), step("b", "y"))
    session = start(machine)
    call_id = allowed(session, "x")
    HOOKS[hook](machine)
    if hook == "finalize_event":  # transitions itself swallows what a finalizer raises
        session.observe(call_id, Succeeded())
        mend(machine)
    else:
        with unchanged(session), pytest.raises(BoomError):
            session.observe(call_id, Succeeded())
        mend(machine)
        assert session.observe(call_id, Succeeded()).state == "b"
    audit(session)
    assert ok(session, "y").outcome == "success"


def test_s8_a_raise_in_the_middle_of_a_chain_takes_all_of_it_back() -> None:
    """The first move worked, the second raised: neither happened."""
    machine = book(step("a", "x"), step("r", switch=[{"goto": "b"}]), step("b", "y"))
    session = start(machine)
    call_id = allowed(session, "x")
    machine.get_state("b").on_enter.append(boom)
    with unchanged(session), pytest.raises(BoomError):
        session.observe(call_id, Succeeded())
    mend(machine)
    assert session.observe(call_id, Succeeded()).state == "b"


def test_s8_every_verb_is_atomic() -> None:
    """Text, ticks, claims, host verbs, approvals and control calls that raise leave nothing behind."""
    machine = book(
        step("a", required=False, timeout="10s", on_timeout="b", on_failure="b"),
        step("b", "y"),
        termination=[{"confidence_met": 0.9, "outcome": "stopped"}],
    )
    verbs: list[Callable[[Session], Any]] = [
        lambda s: s.propose([], text="done"),
        lambda s: s.propose([call("complete_step", "1")]),
        lambda s: s.propose([call("skip_step", "1"), call("y", "2")]),
        lambda s: s.tick(at(10)),
        lambda s: s.claim(confidence=1),
        lambda s: s.complete(),
        lambda s: s.skip(),
        lambda s: s.fail(),
    ]
    for verb in verbs:
        session = start(machine, timed=True)
        machine.before_state_change = boom
        with unchanged(session), pytest.raises(BoomError):
            verb(session)
        machine.before_state_change = []
        verb(session)
        assert session.state != "a"
    gated = book(step("a", approval={"ask": "?"}), step("b", "y"))
    session = start(gated)
    approval = asked(session)
    gated.before_state_change = boom
    with unchanged(session), pytest.raises(BoomError):
        Approvals(session).approve(approval, by="kim")
    gated.before_state_change = []
    assert Approvals(session).approve(approval, by="kim").accepted


def test_s8_a_condition_added_to_the_machine_refuses_nothing_in_silence() -> None:
    """A foreign condition that forbids the move is the host's mistake; the run has not moved."""
    machine = book(step("a", "x"), step("b", "y"))
    session = start(machine)
    call_id = allowed(session, "x")
    machine.events["completed"].transitions["a"][0].conditions.append(Condition(lambda event: False))
    with refused(session):
        session.observe(call_id, Succeeded())
    assert session.outcome is None


def test_s8_a_callback_cannot_move_its_session() -> None:
    """It may look; a verb inside a verb is the host's mistake."""
    machine = book(step("a", "x"), step("b", "y"))
    session = start(machine)
    seen: list[Any] = []

    def meddle(event: Any) -> None:
        seen.append(session.state)
        for verb in (lambda: session.propose([call("y", "9")]), session.complete, lambda: session.tick(T0)):
            with pytest.raises(HostError, match=r"callback|turn is open"):
                verb()

    machine.get_state("b").on_enter.append(meddle)
    ok(session, "x")
    assert len(seen) == 1 and session.state == "b"
    assert ok(session, "y").outcome == "success"

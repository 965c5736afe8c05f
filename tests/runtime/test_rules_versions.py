"""Snapshots that the previous version wrote: row 31 of the list of public reports, and S1, S50, S54, S56."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from guideway import Allow, Approvals, Deny, Failed, HostError, Machine, Session, Succeeded
from guideway.statemachine.artifact import load

from .helpers import answer, asked, asks, audit, book, call, command, ok, running, step, waits

FOLDER = Path(__file__).parent / "version1"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
THEN = datetime(2026, 1, 1, tzinfo=UTC)


def after(seconds: float) -> datetime:
    """So many seconds after those runs began."""
    return THEN + timedelta(seconds=seconds)


def saved(name: str) -> tuple[Machine, dict[str, Any]]:
    """The machine and the snapshot of one file."""
    data = json.loads((FOLDER / f"{name}.json").read_text())
    return Machine.of(load(data["machine"])), data["snapshot"]


def restored(name: str) -> Session:
    """The run of one file."""
    return Session.restore(*saved(name))


def test_the_files_are_those_meant() -> None:
    """Nothing is tested where nothing lies."""
    assert NAMES == ["batch", "call-approval", "call-under-way", "step-approval", "waiting-round"]


@pytest.mark.parametrize("name", NAMES)
def test_s50_a_machine_of_the_previous_version_keeps_its_digest(name: str) -> None:
    """What this version added changes no digest of what was there before."""
    machine, snapshot = saved(name)
    assert machine.definition is not None
    assert machine.definition.digest == snapshot["digest"]


@pytest.mark.parametrize("name", NAMES)
def test_torture_31_a_snapshot_of_the_previous_version_is_read_and_written_anew(name: str) -> None:
    """It comes back, and what is saved then comes back the same."""
    session = restored(name)
    assert session.outcome is None
    assert audit(session).state == session.state


@pytest.mark.parametrize("name", NAMES)
def test_torture_31_reading_an_old_snapshot_does_not_change_it(name: str) -> None:
    """The caller's own data is left as it was."""
    machine, snapshot = saved(name)
    before = copy.deepcopy(snapshot)
    Session.restore(machine, snapshot)
    assert snapshot == before


def test_torture_31_a_call_under_way_is_observed() -> None:
    """The call that was admitted then is reported now, and the run goes on to its end."""
    session = restored("call-under-way")
    session.observe("c1", Succeeded({"hits": 1}))
    assert session.state == "contain"
    assert ok(session, "isolate_host").outcome == "success"
    nothing = restored("call-under-way")
    assert nothing.observe("c1", Succeeded({"hits": 0})).outcome == "success"


def test_torture_31_a_batch_goes_on_in_its_order() -> None:
    """One running, one arrived, one deferred: both count, and the deferred call waits for the runtime's own."""
    session = restored("batch")
    assert session.state == "both"
    assert session.observe("c1", Succeeded(), now=after(1)).verdicts == ()
    assert session.state == "poll_it"
    progress = session.observe(command(session).call_id, Succeeded({"ready": True}))
    [late] = progress.verdicts
    assert isinstance(late, Deny) and (late.call_id, late.code) == ("c3", "run_over")
    assert progress.outcome == "success"


def test_torture_31_a_batch_of_which_one_fails() -> None:
    """The deferred call is denied because a call before it did not succeed."""
    session = restored("batch")
    [late] = session.observe("c1", Failed()).verdicts
    assert isinstance(late, Deny) and (late.call_id, late.code) == ("c3", "after_failed")
    ok(session, "a")
    assert session.state == "poll_it"
    assert answer(session, {"ready": True}).outcome == "success"


@pytest.mark.parametrize(("verb", "state"), [("approve", "lock_it"), ("reject", "stopped:rejected")])
def test_torture_31_a_step_approval_is_decided(verb: str, state: str) -> None:
    """The question that was asked then is answered now, by those it was for."""
    session = restored("step-approval")
    [question] = asks(session)
    assert question.approvers == ("lead",)
    assert not getattr(Approvals(session), verb)(asked(session), by="intern", now=after(60)).accepted
    assert getattr(Approvals(session), verb)(asked(session), by="lead", now=after(60)).accepted
    assert session.state == state


def test_torture_31_its_deadline_still_stands() -> None:
    """The hour is counted from when it was asked."""
    session = restored("step-approval")
    session.tick(after(3599))
    assert session.outcome is None
    assert session.tick(after(3600)).outcome == "stopped:timeout:agree"


def test_torture_31_a_call_approval_is_bound_to_its_call() -> None:
    """The exact call that was asked about is admitted by the yes, once."""
    session = restored("call-approval")
    [question] = Approvals(session).pending
    assert (question.tool, question.args, question.call_id) == ("lock", {"user": "eve"}, "c1")
    decided = Approvals(session).approve(question.approval_id, by="lead", now=after(90))
    assert [(type(v), v.call_id) for v in decided.progress.verdicts] == [(Allow, "c1")]
    assert session.observe("c1", Succeeded()).outcome == "success"


def test_torture_31_a_poll_waits_out_its_minute() -> None:
    """The wait for the next round ends when it would have, and not before."""
    session = restored("waiting-round")
    assert [wait.due for wait in waits(session)] == [after(65)]
    session.tick(after(64))
    assert running(session) == []
    session.tick(after(65))
    assert command(session).tool == "poll"
    assert command(session).args == {"n": 1}
    assert session.observe(command(session).call_id, Succeeded({"ready": True}), now=after(66)).outcome == "success"


@pytest.mark.parametrize("name", NAMES)
def test_s50_an_old_snapshot_of_another_playbook_is_refused(name: str) -> None:
    """The previous version's snapshot is no way around the digest."""
    _, snapshot = saved(name)
    with pytest.raises(HostError):
        Session.restore(book(step("both", "a", "b")), snapshot)


@pytest.mark.parametrize("version", [0, 3, 99, "1", None, 1.5, True])
def test_a_snapshot_of_no_known_version_is_refused(version: Any) -> None:
    """What was not written by a version known here is not guessed at."""
    machine, snapshot = saved("call-under-way")
    with pytest.raises(HostError):
        Session.restore(machine, snapshot | {"version": version})


@pytest.mark.parametrize("name", NAMES)
def test_a_torn_old_snapshot_is_refused(name: str) -> None:
    """Each of its parts is needed; without one it is no snapshot, and the error is the host's kind."""
    machine, snapshot = saved(name)
    for key in snapshot:
        torn = {k: v for k, v in snapshot.items() if k != key}
        with pytest.raises(HostError):
            Session.restore(machine, torn)


def test_a_restored_old_run_takes_a_new_turn() -> None:
    """It is a run like any other: its ids go on and nothing is used twice."""
    session = restored("call-under-way")
    [verdict] = session.observe("c1", Succeeded({"hits": 2})).verdicts or [None]
    assert verdict is None
    [again] = session.propose([call("isolate_host", "c1")])
    assert isinstance(again, Deny)
    [fresh] = session.propose([call("isolate_host", "c2")])
    assert isinstance(fresh, Allow)

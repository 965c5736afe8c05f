"""A run goes on with another version of its playbook only where that was declared, and only where nothing is lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import guideway as gw
from guideway.runtime.journal import MemoryJournal, Migration, migrate, replay, resume, start, verify

T0 = datetime(2026, 1, 31, 9, tzinfo=UTC)
LOOK = {"id": "look", "description": "L", "expected_tools": ["siem"]}
ACT: dict[str, Any] = {
    "id": "act", "description": "A", "expected_tools": [{"tool": "isolate", "where": "facts.siem.n > 0"}],
}  # fmt: skip
ONCE = {"at_most": {"event": "siem", "times": 1}}


def version(*steps: dict[str, Any], **more: Any) -> gw.Machine:
    """A version of the playbook."""
    return gw.load({"id": "p", "name": "P", "tools": {"siem": {"effect": "read"}, "isolate": {}, "page": {}},
                    "steps": list(steps), **more})  # fmt: skip


def standing_in_act(old: gw.Machine) -> MemoryJournal:
    """A run that has looked, and is about to act."""
    journal = MemoryJournal()
    session = start(journal, old, run_id="r", now=T0)
    session.propose([gw.ToolCall("siem", {}, "c1")], now=T0)
    session.observe("c1", gw.Succeeded({"n": 3}), now=T0)
    return journal


def test_torture_20_a_deadline_that_the_new_version_adds_is_set_on_landing() -> None:
    """
    The run sits in the step that gets a deadline: it counts from the move, is saved with the run, and fires.
    """
    old = version(LOOK, ACT)
    new = version(LOOK, {**ACT, "timeout": "1h", "on_timeout": "escalated"})
    journal = standing_in_act(old)
    moved = migrate(journal, "r", Migration(old, new), now=T0 + timedelta(hours=5))
    later = resume(journal, "r", new, now=T0 + timedelta(hours=5, minutes=59))

    assert moved.next_due == later.next_due == T0 + timedelta(hours=6)
    assert resume(journal, "r", new, now=T0 + timedelta(hours=6)).outcome == "escalated"


def test_a_moved_run_keeps_what_it_knows_and_has_counted() -> None:
    """
    Facts, visits, calls; a step that was renamed is found by its new name.
    """
    old, new = version(LOOK, ACT), version(LOOK, {**ACT, "id": "contain"}, {"id": "tell", "call": {"tool": "page"}})
    journal = standing_in_act(old)
    session = migrate(journal, "r", Migration(old, new, {"act": "contain"}))
    [verdict] = session.propose([gw.ToolCall("isolate", {}, "c2")])
    session.observe("c2", gw.Succeeded())

    assert verdict.allowed, "its `where` reads a fact of before"
    assert session.snapshot.data["calls"] == 2
    assert session.commands[0].tool == "page"  # type: ignore[union-attr]
    assert verify(journal, "r").entries == 7
    again = resume(journal, "r", new)
    assert gw.Approvals(again).pending[0].tool == "page"


def test_a_run_resumes_and_replays_with_the_version_it_runs_on() -> None:
    """
    The old one is refused from now on; each version replays its own events.
    """
    old, new = version(LOOK, ACT), version(LOOK, {**ACT, "timeout": "1h"})
    journal = standing_in_act(old)
    session = migrate(journal, "r", Migration(old, new), now=T0)
    session.propose([gw.ToolCall("isolate", {}, "c2")])
    first, second = replay(journal, "r", old), replay(journal, "r", new)

    assert (first.events, first.trusted) == (2, 1)
    assert (second.events, second.trusted) == (1, 2)
    with pytest.raises(gw.HostError, match="another version"):
        resume(journal, "r", old)


def test_a_question_that_the_new_version_asks_is_asked() -> None:
    """
    The run enters the step anew: no approval is jumped over.
    """
    old = version(LOOK, ACT)
    new = version(LOOK, {**ACT, "approval": {"ask": "Go?", "approvers": ["lead"]}})
    session = migrate(standing_in_act(old), "r", Migration(old, new), now=T0)

    assert [question.ask for question in gw.Approvals(session).pending] == ["Go?"]
    assert not session.decide(gw.ToolCall("isolate", {}, "c2")).allowed


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (version(LOOK), "it has no step `act`"),
        (version(LOOK, {"id": "s", "steps": [ACT]}), "lies inside of `s`"),
        (version(LOOK, ACT, policies=[ONCE]), "does not know what the run has done"),
        (version(LOOK, ACT, inputs={"host": "string"}), "needs the input `host`"),
    ],
)
def test_a_version_that_does_not_fit_is_refused_and_the_run_stays(new: gw.Machine, why: str) -> None:
    """
    Nothing is guessed; the run goes on with the old version.
    """
    old = version(LOOK, ACT)
    journal = standing_in_act(old)
    before = list(journal.read("r"))

    with pytest.raises(gw.HostError, match=why):
        migrate(journal, "r", Migration(old, new), now=T0)
    assert list(journal.read("r")) == before
    assert resume(journal, "r", old).state == "act"


def test_a_run_that_does_not_stand_still_is_refused() -> None:
    """
    A call under way, a question, calls made in this visit, an end.
    """
    twice = {**ACT, "expected_tools": [{"tool": "isolate", "times": 2}]}
    old, new = version(LOOK, twice), version(LOOK, {**twice, "description": "B"})
    journal = standing_in_act(old)
    session = resume(journal, "r", old)
    session.propose([gw.ToolCall("isolate", {}, "c2")])
    with pytest.raises(gw.HostError, match="calls are under way"):
        migrate(journal, "r", Migration(old, new))
    session.observe("c2", gw.Succeeded())
    with pytest.raises(gw.HostError, match="calls were made in this visit"):
        migrate(journal, "r", Migration(old, new))
    session.stop("enough")
    with pytest.raises(gw.HostError, match="it has ended"):
        migrate(journal, "r", Migration(old, new))

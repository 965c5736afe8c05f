"""Real public reports about engines that keep runs, and the right value here.  The number is the row of the list."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import guideway as gw
from guideway.runtime.journal import MemoryJournal, replay, resume, seal, start, unseal

T0, KEY = datetime(2026, 1, 31, 9, tzinfo=UTC), b"k" * 32
CALLEE: dict[str, Any] = {
    "id": "inner", "name": "Inner", "tools": {"page": {}, "look": {"effect": "read"}},
    "steps": [{"id": "tell", "call": {"tool": "page"}}, {"id": "see", "call": {"tool": "look"}}],
}  # fmt: skip


def running(session: gw.Session) -> list[tuple[str, str]]:
    """Calls of the runtime's own that are to be made."""
    return [(c.tool, c.call_id) for c in session.commands if isinstance(c, gw.RunCall)]


def test_torture_05_a_crash_in_a_sub_playbook_between_success_and_log_has_no_second_effect() -> None:
    """
    The tool has succeeded, the program stops before that is written: a person says so, and the run goes on behind it.

    What was written before stays done: nothing in the sub-playbook is made again.
    """
    machine = gw.load({"id": "outer", "name": "Outer", "steps": [{"id": "sub", "playbook": "inner"}]}, library=[CALLEE])
    journal = MemoryJournal()
    first = start(journal, machine, run_id="r")
    assert running(first) == [("page", "sub/tell@1.1")]

    later = resume(journal, "r", machine)
    assert running(later) == []
    [question] = gw.Approvals(later).pending
    assert gw.Approvals(later).happened(question.approval_id, {"ok": True}, by="ops").accepted
    assert running(later) == [("look", "sub/see@1.1")]
    last = resume(journal, "r", machine)

    assert running(last) == [("look", "sub/see@1.2")], "a read is made again, under an id of its own"
    assert last.observe("sub/see@1.2", gw.Succeeded({})).outcome == "success"
    assert replay(journal, "r", machine).outcome == "success"


@pytest.mark.parametrize("result", [{"hits": "many"}, [1], "text", None, {"hits": 10**400}, {"hits": {1: 2}}])
def test_torture_07_a_result_against_its_schema_leaves_the_run_loadable(result: Any) -> None:
    """
    It does not count, is kept as what it was, and the run resumes and replays.
    """
    machine = gw.load({"id": "t", "name": "T", "tools": {"count": {"effect": "read", "result": {
        "type": "object", "properties": {"hits": {"type": "integer"}}, "required": ["hits"]}}},
        "steps": [{"id": "a", "description": "A", "expected_tools": ["count"]}]})  # fmt: skip
    journal = MemoryJournal()
    session = start(journal, machine, run_id="r", key=KEY)
    session.propose([gw.ToolCall("count", {}, "c1")])
    session.observe("c1", gw.Succeeded(result))

    later = resume(journal, "r", machine, key=KEY)
    assert later.outcome is None and later.state == "a"
    later.propose([gw.ToolCall("count", {}, "c2")])
    assert later.observe("c2", gw.Succeeded({"hits": 3})).outcome == "success"
    assert replay(journal, "r", machine, key=KEY).outcome == "success"


def test_torture_11_a_deadline_survives_being_loaded_twice_and_fires_at_once() -> None:
    """
    Loaded and loaded again with nothing done between: the deadline is the one that was set; elapsed, it fires on load.
    """
    machine = gw.load({"id": "t", "name": "T", "outcomes": {"late": "escalated"}, "steps": [
        {"id": "agree", "approval": {"ask": "Go on?", "approvers": ["lead"]}, "timeout": "1h", "on_timeout": "late"}]}
    )  # fmt: skip
    journal = MemoryJournal()
    due = start(journal, machine, run_id="r", now=T0).next_due

    for minutes in (10, 20, 30):
        assert resume(journal, "r", machine, now=T0 + timedelta(minutes=minutes)).next_due == due
    late = resume(journal, "r", machine, now=T0 + timedelta(hours=2))

    assert due == T0 + timedelta(hours=1)
    assert late.outcome == "late"
    assert resume(journal, "r", machine, now=T0 + timedelta(hours=3)).outcome == "late"
    assert replay(journal, "r", machine).outcome == "late"


def test_torture_14_a_sealed_snapshot_that_was_edited_is_refused() -> None:
    """
    For hosts without a journal: whatever place of it is changed, and with any other key.
    """
    machine = gw.load({"id": "t", "name": "T", "steps": [
        {"id": "agree", "approval": {"ask": "Go on?", "approvers": ["lead"]}}]})  # fmt: skip
    sealed = json.loads(json.dumps(seal(gw.Session(machine, run_id="r").snapshot, KEY)))
    assert gw.Session.restore(machine, unseal(sealed, KEY)).waiting
    text, rng = json.dumps(sealed), random.Random(14)

    for _ in range(300):
        at = rng.randrange(len(text))
        edited = text[:at] + rng.choice("0123456789abc{}[]\",: ") + text[at + 1 :]
        try:
            data = json.loads(edited)
        except ValueError:
            continue
        if data != sealed:
            with pytest.raises(gw.JournalError):
                unseal(data, KEY)
    none: list[Any] = [{}, [], None, {"schema": 1, "seal": "", "snapshot": {}}, {**sealed, "snapshot": float("nan")}]
    for nothing in none:
        with pytest.raises(gw.JournalError):
            unseal(nothing, KEY)
    with pytest.raises(gw.JournalError, match="key is another"):
        unseal(sealed, b"x" * 32)

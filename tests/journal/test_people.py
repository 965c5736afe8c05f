"""People who decide from another process: signed, carried out once, refused where they have no say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import guideway as gw
from guideway.runtime.journal import (
    Control,
    JsonLinesJournal,
    MemoryJournal,
    SqliteJournal,
    deliver,
    make_key,
    read_key,
    resume,
    start,
)
from guideway.runtime.journal.messages import written
from guideway.runtime.journal.store import Journal

KEY = b"k" * 64
T0 = datetime(2026, 1, 31, 9, tzinfo=UTC)


def machine(**approval: Any) -> gw.Machine:
    """One irreversible call that a person allows."""
    rule = {"ask": "Isolate {{ args.host }}?", "approvers": ["lead", "boss"], **approval}
    return gw.load({
        "id": "p", "name": "P", "tools": {"isolate": {"effect": "irreversible", "approval": rule}},
        "steps": [{"id": "contain", "description": "C", "expected_tools": ["isolate"], "on_reject": "escalated"}],
    })  # fmt: skip


def asking(journal: Journal, **approval: Any) -> gw.Session:
    """A run that waits for a person."""
    session = start(journal, machine(**approval), run_id="r", now=T0, key=KEY)
    session.propose([gw.ToolCall("isolate", {"host": "ws-7"}, "c1")], now=T0)
    return session


def opened(kind: str, folder: Path) -> Journal:
    """A journal of a kind."""
    if kind == "memory":
        return MemoryJournal()
    return SqliteJournal(folder / "a.db") if kind == "sqlite" else JsonLinesJournal(folder / "a")


@pytest.fixture(params=["memory", "sqlite", "jsonl"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    """Every kind of journal."""
    made = opened(request.param, tmp_path)
    yield made
    made.close()


def test_an_approval_from_elsewhere_lets_the_call_run_once(journal: Journal) -> None:
    """
    The message is carried out when it is delivered, and not again at the next delivery or after a resume.
    """
    session = asking(journal)
    desk = Control(journal, KEY)
    desk.approve("r", "call c1", by="lead", note="go")
    [delivered] = deliver(session, KEY, now=T0)
    again = deliver(session, KEY, now=T0)
    later = resume(journal, "r", machine(), now=T0, key=KEY)

    assert delivered.accepted
    assert delivered.progress is not None
    assert delivered.progress.verdicts[0].allowed
    assert again == deliver(later, KEY) == []
    assert desk.pending("r")[0].of == "reconcile", "the resumed run does not know whether it ran"


def test_several_persons_one_of_them_out_of_the_question(journal: Journal) -> None:
    """
    `count: 2` needs two; the same person, and one who is excepted, do not count; the journal shows who has.
    """
    session = asking(journal, count=2, **{"except": ["boss"]})
    desk = Control(journal, KEY)
    desk.approve("r", "call c1", by="ann", groups=["lead"])
    deliver(session, KEY)
    with pytest.raises(gw.HostError, match="allowed it already"):
        desk.approve("r", "call c1", by="ann", groups=["lead"])
    with pytest.raises(gw.HostError, match="boss may not decide this"):
        desk.approve("r", "call c1", by="boss")
    desk.approve("r", "call c1", by="bob", groups=["lead"])
    [last] = deliver(session, KEY)

    assert last.progress is not None
    assert last.progress.verdicts[0].allowed


@pytest.mark.parametrize(
    ("verb", "asked", "by", "why"),
    [
        ("approve", "call c9", "lead", "nobody is asked 'call c9'"),
        ("approve", "call c1", "intern", "intern may not decide this; lead, boss may"),
        ("answer", "call c1", "lead", "another decision"),
        ("reject", "call c1", "", "names the person"),
    ],
)
def test_what_cannot_count_is_refused_at_the_desk(verb: str, asked: str, by: str, why: str) -> None:
    """
    The person hears it at once, and nothing is posted.
    """
    journal = MemoryJournal()
    asking(journal)

    with pytest.raises(gw.HostError, match=why):
        getattr(Control(journal, KEY), verb)("r", asked, by=by)
    assert journal.posted("r") == []


def test_torture_1_whoever_has_not_the_key_decides_nothing(journal: Journal) -> None:
    """
    An agent with a shell can write to the inbox; what it writes is refused, recorded, and moves nothing.
    """
    session = asking(journal)
    for forged in (
        written("r", "approve", {"approval_id": "call c1", "by": "lead"}, None),
        written("r", "approve", {"approval_id": "call c1", "by": "lead"}, b"another key" * 9),
        written("other", "approve", {"approval_id": "call c1", "by": "lead"}, KEY),
        "no message", "[]", '{"run": "r", "id": 1, "verb": "approve", "data": {}}',
        written("r", "withdraw", {"approval_id": "call c1"}, KEY), written("r", "complete", {}, KEY),
        written("r", "approve", {"approval_id": "call c1", "by": "lead", "now": "x"}, KEY),
        written("r", "approve", {"approval_id": "call c1"}, KEY),
    ):  # fmt: skip
        journal.post("r", forged)
    delivered = deliver(session)  # the key of the run holds, whoever calls
    notes = [record for record in session.records if record[0] == "noted"]

    assert len(delivered) == len(notes) == 10
    assert not any(one.accepted for one in delivered)
    assert [question.approval_id for question in gw.Approvals(session).pending] == ["call c1"]


def test_a_signed_message_counts_once(journal: Journal) -> None:
    """
    A copy of a true message, put into the inbox again, is refused.
    """
    signalled = gw.load({"id": "s", "name": "S", "steps": [
        {"id": "a", "wait": {"signal": "go"}}, {"id": "b", "wait": {"signal": "go"}}]})  # fmt: skip
    session = start(journal, signalled, run_id="r", key=KEY)
    Control(journal, KEY).signal("r", "go", {"n": 1})
    journal.post("r", journal.posted("r")[0].text)
    first, second = deliver(session, KEY)

    assert (first.accepted, second.accepted, session.state) == (True, False, "b")
    later = resume(journal, "r", signalled, key=KEY)
    journal.post("r", journal.posted("r")[0].text)
    assert [one.accepted for one in deliver(later, KEY)] == [False]


def test_an_approval_and_its_deadline_give_one_result() -> None:
    """
    Delivered at the deadline it comes too late; delivered before, it counts: whichever is first, and only that.
    """
    for second, accepted in ((59, True), (60, False)):
        journal = MemoryJournal()
        session = asking(journal, timeout="60s")
        Control(journal, KEY).approve("r", "call c1", by="lead")
        [delivered] = deliver(session, KEY, now=T0 + timedelta(seconds=second))

        assert delivered.accepted is accepted
        assert (session.outcome == "escalated") is not accepted


def test_edited_arguments_go_through_the_gate_again(journal: Journal) -> None:
    """
    The call runs with what the person allowed.
    """
    session = asking(journal)
    Control(journal, KEY).approve("r", "call c1", by="lead", args={"host": "ws-8"})
    deliver(session, KEY)

    assert session.call("c1").args == {"host": "ws-8"}


@pytest.mark.parametrize("kind", ["sqlite", "jsonl"])
def test_a_decision_before_anybody_drives_the_run_is_there_when_it_is_resumed(kind: str, tmp_path: Path) -> None:
    """
    The process may be gone: the message waits, and the next one carries it out.
    """
    journal = opened(kind, tmp_path)
    asking(journal)
    Control(journal, KEY).reject("r", "call c1", by="boss", note="not on a Friday")
    journal.close()
    later = resume(opened(kind, tmp_path), "r", machine(), now=T0, key=KEY)
    [delivered] = deliver(later, KEY)

    assert delivered.accepted
    assert later.outcome == "escalated"


def test_a_key_is_private_and_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    A new key can be read by its owner alone; a short one, and one that is there already, are refused.
    """
    path = tmp_path / "key"
    made = make_key(path)
    monkeypatch.setenv("GUIDEWAY_KEY", "short")

    assert (read_key(path), path.stat().st_mode & 0o777) == (made, 0o600)
    with pytest.raises(gw.HostError, match="GUIDEWAY_KEY holds 5 characters"):
        read_key()
    with pytest.raises(gw.HostError, match="cannot be made"):
        make_key(path)
    monkeypatch.delenv("GUIDEWAY_KEY")
    assert read_key() is None


def test_torture_14_a_forged_approval_in_the_journal_is_found(tmp_path: Path) -> None:
    """
    An entry that says `approved`, put in by somebody who can write the file and even compute hashes, but has no key.
    """
    journal = JsonLinesJournal(tmp_path)
    asking(journal)
    journal.close()
    path = tmp_path / "r.jsonl"
    lines = path.read_text().splitlines()
    entry = json.loads(lines[-1])
    from guideway.runtime.journal.entries import Chain, line

    forger = Chain("r", None, entry["seq"] + 1, entry["hash"])
    data = {"approval_id": "call c1", "by": "lead", "groups": [], "note": ""}
    forged = forger.seal("event", {"verb": "approve", "now": None, "data": data, "records": []})
    path.write_text("\n".join([*lines, line(forged)]) + "\n")

    with pytest.raises(gw.JournalError, match="entry 2 of run r is not the one"):
        resume(JsonLinesJournal(tmp_path), "r", machine(), now=T0, key=KEY)

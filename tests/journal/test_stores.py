"""What a store promises: whole lines, in order, one writer, on the disk; and long runs stay usable."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import guideway as gw
from guideway.runtime.journal import (
    JsonLinesJournal,
    MemoryJournal,
    SqliteJournal,
    Stored,
    replay,
    resume,
    start,
    verify,
)

LOOP = {
    "id": "p", "name": "P", "max_iterations": 10_000_000, "tools": {"look": {"effect": "read"}, "page": {}},
    "steps": [{"id": "a", "description": "A", "expected_tools": ["page"], "optional_tools": ["look"]}],
}  # fmt: skip
T0 = datetime(2026, 1, 31, 9, tzinfo=UTC)


def looked(session: gw.Session, times: int, name: str = "c") -> None:
    """So many calls."""
    for number in range(times):
        session.propose([gw.ToolCall("look", {"n": number}, f"{name}{number}")])
        session.observe(f"{name}{number}", gw.Succeeded({"hits": number}))


def test_a_torn_last_line_is_left_out_and_cut_off(tmp_path: Path) -> None:
    """
    What a crash tore in the middle of a write never happened: reading leaves it out, the next writer cuts it off.
    """
    journal = JsonLinesJournal(tmp_path)
    looked(start(journal, gw.load(LOOP), run_id="r"), 2)
    journal.close()
    path = tmp_path / "r.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for cut in (1, len(lines[-1]) // 2, len(lines[-1]) - 1):
        path.write_bytes(whole[: len(whole) - len(lines[-1]) + cut])
        later = JsonLinesJournal(tmp_path)
        assert verify(later, "r").entries == len(lines) - 1
        session = resume(later, "r", gw.load(LOOP))
        looked(session, 1, "again")
        later.close()
        assert later.torn == ["r"]
        assert verify(JsonLinesJournal(tmp_path), "r").entries > len(lines)


@pytest.mark.parametrize("kind", [SqliteJournal, JsonLinesJournal])
def test_a_second_writer_is_refused(kind: Any, tmp_path: Path) -> None:
    """
    Two processes that go on with one run: the second hears it at its first write, and admits nothing.
    """
    first = kind(tmp_path / "j")
    session = start(first, gw.load(LOOP), run_id="r")
    second = kind(tmp_path / "j")
    if kind is JsonLinesJournal:
        with pytest.raises(gw.JournalError, match="another process writes to run r"):
            resume(second, "r", gw.load(LOOP))
    else:
        other = resume(second, "r", gw.load(LOOP))
        with pytest.raises(gw.JournalError, match="another process writes to it"):
            session.propose([gw.ToolCall("look", {}, "c1")])
        assert session.outcome == "failed:engine"
        looked(other, 1)


class Full:
    """A journal whose disk is full after some writes."""

    def __init__(self, room: int) -> None:
        self._journal, self._room = MemoryJournal(), room

    def append(self, run: str, lines: Sequence[Stored]) -> None:
        """Write while there is room."""
        self._room -= 1
        if self._room < 0:
            raise gw.JournalError("the disk is full")
        self._journal.append(run, lines)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)


def test_a_full_disk_lets_no_call_run() -> None:
    """
    What cannot be written is not admitted, whatever the verb; the run goes on from what is there once there is room.
    """
    journal: Any = Full(2)
    session = start(journal, gw.load(LOOP), run_id="r")
    session.propose([gw.ToolCall("look", {}, "c1")])
    with pytest.raises(gw.JournalError, match="full"):
        session.observe("c1", gw.Succeeded())
    with pytest.raises(gw.JournalError, match="full"):
        session.propose([gw.ToolCall("look", {}, "c2")])
    later = resume(journal._journal, "r", gw.load(LOOP))

    assert session.outcome == "failed:engine"
    assert later.outcome is None
    assert later.state == "a"


def test_a_real_full_disk(tmp_path: Path) -> None:
    """
    The same with the system saying so: a file that may not grow.
    """
    script = (
        "import resource, sys, guideway as gw\n"
        "from tests.journal.test_stores import LOOP, looked\n"
        "from guideway.runtime.journal import JsonLinesJournal, start\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "session = start(JsonLinesJournal(sys.argv[1]), gw.load(LOOP), run_id='r')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\n"
        "try:\n    looked(session, 100)\n"
        "except gw.JournalError as fault:\n    print(fault, session.outcome)\n"
    )
    root = Path(__file__).resolve().parents[2]
    ran = subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=root, capture_output=True, text=True)

    assert "takes no more" in ran.stdout, ran.stderr
    assert "failed:engine" in ran.stdout
    assert resume(JsonLinesJournal(tmp_path), "r", gw.load(LOOP)).outcome is None


def test_commits_are_shared_by_threads(tmp_path: Path) -> None:
    """
    Eight threads, a run each: fewer commits than appends, and every run whole.
    """
    journal, machine, threads = SqliteJournal(tmp_path / "j.db"), gw.load(LOOP), 8

    def work(name: str) -> None:
        looked(start(journal, machine, run_id=name), 50)

    workers = [threading.Thread(target=work, args=(f"r{n}",)) for n in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert [verify(journal, f"r{n}").entries > 100 for n in range(threads)] == [True] * threads
    assert journal.commits < threads * 101


def test_a_commit_is_on_the_disk(tmp_path: Path) -> None:
    """
    The database is in WAL mode, and a commit waits for the disk.
    """
    journal = SqliteJournal(tmp_path / "j.db")

    assert journal._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert journal._db.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be read as one" * 30, b""])
def test_a_file_that_is_no_journal_is_refused_or_made_one(content: bytes, tmp_path: Path) -> None:
    """
    An empty file becomes one; any other is left as it is.
    """
    path = tmp_path / "j.db"
    path.write_bytes(content)
    if content:
        with pytest.raises(gw.JournalError, match="cannot be opened"):
            SqliteJournal(path)
        assert path.read_bytes() == content
    else:
        assert SqliteJournal(path).runs() == []


def test_a_line_changed_inside_the_database_is_found(tmp_path: Path) -> None:
    """
    Whoever opens the file with other tools and edits a row is found out.
    """
    journal = SqliteJournal(tmp_path / "j.db")
    looked(start(journal, gw.load(LOOP), run_id="r"), 3)
    journal.close()
    with sqlite3.connect(tmp_path / "j.db") as db:
        db.execute("UPDATE entries SET text = replace(text, '\"hits\":1', '\"hits\":9') WHERE seq = 4")

    with pytest.raises(gw.JournalError, match="entry 4 of run r is not the one"):
        verify(SqliteJournal(tmp_path / "j.db"), "r")


def test_a_cut_end_is_found_by_the_head_that_was_kept() -> None:
    """
    A shorter chain holds together; who has noted its head sees that the end is gone.
    """
    journal = MemoryJournal()
    looked(start(journal, gw.load(LOOP), run_id="r"), 3)
    head = verify(journal, "r").head
    looked(resume(journal, "r", gw.load(LOOP)), 1, "more")
    assert verify(journal, "r", head=head).entries > 7
    del journal._lines["r"][6:]

    with pytest.raises(gw.JournalError, match="its end was cut off"):
        verify(journal, "r", head=head)


@pytest.mark.parametrize("name", ["a/b", "..", "r 1", "é☃", "x" * 80, "a.jsonl", "CON"])
def test_any_run_id_has_a_file_of_its_own(name: str, tmp_path: Path) -> None:
    """
    Nothing in the name of a run leads out of the folder.
    """
    journal = JsonLinesJournal(tmp_path / "j")
    start(journal, gw.load(LOOP), run_id=name)

    assert journal.runs() == [name]
    assert {path.parent for path in tmp_path.rglob("*.jsonl")} == {tmp_path / "j"}


def long_run(events: int, journal: Any) -> gw.Session:
    """A run of many events, which keeps the memory it needs small."""
    session = start(journal, gw.load(LOOP), run_id="long", now=T0)
    looked(session, events // 2)
    return session


def test_torture_29_a_long_run_stays_usable(tmp_path: Path) -> None:
    """
    Ten thousand events: linear room on the disk, a bounded memory of records; resumed and replayed to the same.
    """
    journal = SqliteJournal(tmp_path / "j.db")
    session = long_run(10_000, journal)
    sizes = {kind: sum(len(s.text) for s in journal.read("long") if s.kind == kind) for kind in ("event", "snapshot")}
    later = resume(journal, "long", gw.load(LOOP), now=T0 + timedelta(days=1))

    assert sizes["snapshot"] < 1.1 * sizes["event"], "what is written grows as what happens"
    assert len(session._run.shown) <= 20_000
    assert later.state == "a"
    assert later.snapshot.data["calls"] == 5_000
    assert replay(journal, "long", gw.load(LOOP)).events == 10_001


@pytest.mark.slow
def test_torture_29_many_events(tmp_path: Path) -> None:
    """
    The same with more (a million, where `GUIDEWAY_LONG_RUN` says so), without waiting for the disk at each commit.
    """
    journal = SqliteJournal(tmp_path / "j.db")
    journal._db.execute("PRAGMA synchronous=OFF")
    count = int(os.environ.get("GUIDEWAY_LONG_RUN", "40000"))
    session = long_run(count, journal)
    later = resume(journal, "long", gw.load(LOOP), now=T0)

    assert json.dumps(later.snapshot.data["frames"]) == json.dumps(session.snapshot.data["frames"])
    assert replay(journal, "long", gw.load(LOOP)).events == count + 1


def test_json_lines_wait_for_the_disk_at_each_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    What is acknowledged is on the disk: no append returns before `fsync` of the file it wrote to.
    """
    synced: list[int] = []
    real = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    journal = JsonLinesJournal(tmp_path)
    session = start(journal, gw.load(LOOP), run_id="r")
    before = len(synced)
    looked(session, 5)

    assert synced[before:].count((tmp_path / "r.jsonl").stat().st_ino) == 10

"""What may go wrong with files and processes while a journal is open."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

import guideway
from guideway import JournalError, ToolCall
from guideway.runtime.journal import (
    Journal,
    JsonLinesJournal,
    MemoryJournal,
    SqliteJournal,
    Stored,
    replay,
    resume,
    start,
)

BOOK = {"id": "t", "name": "T", "tools": {"look": {"effect": "read"}, "tell": {}}, "steps": [
    {"id": "a", "description": "A", "expected_tools": ["look", "tell"]}]}  # fmt: skip
MACHINE = guideway.load(BOOK)
LOOK = [ToolCall("look", {}, "c1")]
KINDS = ("sqlite", "jsonl")


def opened(kind: str, folder: Path) -> Journal:
    """A journal on the disk."""
    return SqliteJournal(folder / "runs.db") if kind == "sqlite" else JsonLinesJournal(folder / "runs")


@pytest.mark.parametrize("kind", KINDS)
def test_a_forked_process_may_not_write_with_its_parents_journal(kind: str, tmp_path: Path) -> None:
    """Two processes with one file position, or one connection, would write over one another; the parent goes on."""
    session = start(opened(kind, tmp_path), MACHINE, run_id="r")
    sys.stdout.flush()
    child = os.fork()
    if not child:
        try:
            session.propose(LOOK)
        except JournalError:
            os._exit(7)
        finally:
            os._exit(1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert session.propose(LOOK)[0].allowed
    assert replay(opened(kind, tmp_path), "r", MACHINE).events == 1


@pytest.mark.parametrize("what", ["gone", "replaced", "longer", "shorter"])
def test_a_file_that_something_else_has_touched_takes_no_more(what: str, tmp_path: Path) -> None:
    """Nothing is admitted that would be kept in a file that nobody can find, or that another writes to."""
    session = start(opened("jsonl", tmp_path), MACHINE, run_id="r")
    file = tmp_path / "runs" / "r.jsonl"
    content = file.read_bytes()
    if what == "gone":
        file.unlink()
    elif what == "replaced":
        file.rename(tmp_path / "old")
        file.write_bytes(content)
    elif what == "longer":
        file.write_bytes(content + b"{}\n")
    else:
        file.write_bytes(content[:10])

    with pytest.raises(JournalError, match=r"gone|not as it was left"):
        session.propose(LOOK)
    with pytest.raises((JournalError, guideway.HostError)):
        session.propose([ToolCall("look", {}, "c2")])


def test_a_message_after_one_that_was_torn_is_whole(tmp_path: Path) -> None:
    """Whoever posts after somebody was cut off begins a line of their own."""
    journal = opened("jsonl", tmp_path)
    journal.post("r", "first")
    with (tmp_path / "runs" / "r.inbox.jsonl").open("ab") as file:
        file.write(b"half of a mess")
    assert [message.text for message in journal.posted("r")] == ["first"]

    journal.post("r", "third")

    assert [message.text for message in journal.posted("r")] == ["first", "half of a mess", "third"]
    assert [message.text for message in journal.posted("r", 2)] == ["third"]


@pytest.mark.parametrize("kind", KINDS)
def test_two_that_resume_at_once_do_not_both_go_on(kind: str, tmp_path: Path) -> None:
    """Whoever writes first drives the run; the other is refused before any call of its own is admitted."""
    first = opened(kind, tmp_path)
    start(first, MACHINE, run_id="r").propose(LOOK)
    first.close()
    one, other = opened(kind, tmp_path), opened(kind, tmp_path)
    session = resume(one, "r", MACHINE)

    with pytest.raises(JournalError):
        late = resume(other, "r", MACHINE)
        session.note("I drive it")
        late.propose([ToolCall("look", {}, "c2")])
    assert session.outcome is None


class Flaky(MemoryJournal):
    """Keeps what it is given, and then says that it could not, once."""

    fails = False

    def append(self, run: str, lines: Sequence[Stored]) -> None:
        """Append, and perhaps raise."""
        super().append(run, lines)
        if self.fails:
            self.fails = False
            raise JournalError("the disk did not answer")


@pytest.mark.parametrize("watched", [False, True])
def test_after_a_write_of_which_nobody_knows_nothing_more_is_kept(watched: bool) -> None:
    """A store that works again must not be given what follows on something else than it holds; resume goes on."""
    machine = guideway.load(BOOK)
    if watched:
        machine.get_state("a").add_callback("enter", lambda event: None)
    journal = Flaky()
    session = start(journal, machine, run_id="r")
    journal.fails = True
    with pytest.raises(JournalError, match="did not answer"):
        session.propose(LOOK)

    if watched:  # else it is over
        with pytest.raises(JournalError, match="resume run r"):
            session.propose([ToolCall("look", {}, "c2")])
    assert watched or session.outcome == "failed:engine"
    assert replay(journal, "r", machine).events == 1
    assert resume(journal, "r", machine).outcome is None


def test_no_run_is_taken_for_the_inbox_of_another(tmp_path: Path) -> None:
    """A run may have any name, one with a point in it as well; they are listed by the time at which they began."""
    timed = guideway.load({**BOOK, "max_iterations": 9, "termination": [{"time_limit": "1h"}]})
    journal = opened("jsonl", tmp_path)
    for name, hour in (("x.inbox", 9), ("x", 8), ("y.jsonl", 7), ("..", 10)):
        start(journal, timed, run_id=name, now=datetime(2026, 1, 31, hour, tzinfo=UTC))
    journal.post("x", "for x")

    assert journal.runs() == ["y.jsonl", "x", "x.inbox", ".."]
    assert [message.text for message in journal.posted("x")] == ["for x"]
    assert replay(journal, "x.inbox", timed).run == "x.inbox"

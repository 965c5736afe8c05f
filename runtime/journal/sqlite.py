"""
Runs in an SQLite database.

WAL with `synchronous=FULL`: a commit returns when the disk has it (https://sqlite.org/pragma.html#pragma_synchronous).
Commits are grouped: while one is being made, the appends that come wait, and the next commit takes all of them, so that
many sessions in many threads share one wait for the disk.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from guideway.statemachine.errors import JournalError

from .store import Message, Stored, check_next

TABLES = """
CREATE TABLE IF NOT EXISTS entries (run TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (run, seq)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (number INTEGER PRIMARY KEY, run TEXT UNIQUE NOT NULL);
CREATE INDEX IF NOT EXISTS snapshots ON entries (run, seq) WHERE kind = 'snapshot';
CREATE INDEX IF NOT EXISTS moves ON entries (run, seq) WHERE kind = 'migrated';
CREATE TABLE IF NOT EXISTS inbox (number INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS inbox_runs ON inbox (run, number);
"""
PATIENCE = 10.0
"""Seconds that one process waits while another commits."""
PAGE = 500
"""Lines read at a time."""


def private(path: Path) -> None:
    """Make the file, where there is none, for its owner alone: it holds what tools were given and what they said."""
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


class Waiting:
    """Lines that wait for the next commit, and what became of them."""

    __slots__ = ("done", "error", "lines", "run")

    def __init__(self, run: str, lines: Sequence[Stored]) -> None:
        self.run, self.lines = run, lines
        self.done = False
        self.error: BaseException | None = None


class SqliteJournal:
    """
    A journal in one file; several processes may read and write it, several threads share one object.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = SqliteJournal(Path(folder) / "runs.db")
    ...     journal.append("r", [Stored(0, "start", "{}")])
    ...     print(journal.last("r"), journal.runs())
    ...     journal.close()
    Stored(seq=0, kind='start', text='{}') ['r']

    Raises:
        JournalError: the file cannot be opened, or is no such database.
    """

    def __init__(self, path: str | Path) -> None:
        self._path, self._process = Path(path), os.getpid()
        self._turn = threading.Condition()
        self._waiting: list[Waiting] = []
        self._committing = False
        self._reading = threading.Lock()
        self.commits = 0
        """commits made by this object: fewer than appends, where several threads append"""
        try:
            private(self._path)
            self._db = self._opened()
            self._reader = self._opened()
        except sqlite3.Error as fault:
            raise JournalError(f"the journal {self._path} cannot be opened: {fault}") from None

    def _opened(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.executescript(TABLES)
        return db

    def append(self, run: str, lines: Sequence[Stored]) -> None:
        """Keep the lines: they wait for the commit under way, and are part of the next one."""
        self._check_process()
        mine = Waiting(run, lines)
        with self._turn:
            self._waiting.append(mine)
            while self._committing and not mine.done:
                self._turn.wait()
            if mine.done:
                return self._settle(mine)
            batch, self._waiting, self._committing = self._waiting, [], True
        try:
            self._commit(batch)
        finally:
            with self._turn:
                self._committing = False
                for one in batch:
                    one.done = True
                self._turn.notify_all()
        return self._settle(mine)

    def _check_process(self) -> None:
        """A connection must not be carried over a fork (https://sqlite.org/howtocorrupt.html, section 2.6)."""
        if os.getpid() != self._process:
            raise JournalError(f"the journal {self._path} was opened before this process was forked; open it anew")

    def _settle(self, mine: Waiting) -> None:
        if isinstance(mine.error, JournalError):
            raise mine.error
        if mine.error is not None:
            raise JournalError(f"the journal {self._path} takes no more: {mine.error}") from mine.error

    def _commit(self, batch: list[Waiting]) -> None:
        """One transaction for all; a run that another process writes to fails alone."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for one in batch:
                try:
                    self._insert(one.run, one.lines)
                except JournalError as fault:
                    one.error = fault
            self._db.execute("COMMIT")
            self.commits += 1
        except BaseException as fault:
            for one in batch:
                one.error = one.error or fault
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def _insert(self, run: str, lines: Sequence[Stored]) -> None:
        check_next(run, self._stands(run), lines)
        if lines and lines[0].seq == 0:
            self._db.execute("INSERT OR IGNORE INTO runs (run) VALUES (?)", (run,))
        self._db.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", [(run, *stored) for stored in lines])

    def _stands(self, run: str) -> int:
        [count] = self._db.execute("SELECT COALESCE(MAX(seq) + 1, 0) FROM entries WHERE run = ?", (run,)).fetchone()
        return int(count)

    def read(self, run: str, first: int = 0) -> Iterator[Stored]:
        """The lines, some hundred at a time."""
        while rows := self._all("SELECT seq, kind, text FROM entries WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?",
                                run, first, PAGE):  # fmt: skip
            yield from (Stored(*row) for row in rows)
            first = rows[-1][0] + 1

    def last(self, run: str, kind: str | None = None) -> Stored | None:
        """The last line; those that are looked for often by an index."""
        ask = "SELECT seq, kind, text FROM entries WHERE run = ?"
        if kind is None:
            rows = self._all(f"{ask} ORDER BY seq DESC LIMIT 1", run)
        else:  # the kind is written out where an index has only that one
            known = kind in ("snapshot", "migrated")
            ask += f" AND kind = '{kind}'" if known else " AND kind = ?"
            rows = self._all(f"{ask} ORDER BY seq DESC LIMIT 1", *([run] if known else [run, kind]))
        return Stored(*rows[0]) if rows else None

    def runs(self) -> list[str]:
        """The runs, in the order in which they began."""
        return [run for (run,) in self._all("SELECT run FROM runs ORDER BY number")]

    def post(self, run: str, text: str) -> None:
        """Leave a message."""
        self._check_process()
        try:
            with self._reading:
                self._reader.execute("INSERT INTO inbox (run, text) VALUES (?, ?)", (run, text))
        except sqlite3.Error as fault:
            raise JournalError(f"the journal {self._path} takes no message: {fault}") from None

    def posted(self, run: str, after: int = 0) -> list[Message]:
        """The messages."""
        ask = "SELECT number, text FROM inbox WHERE run = ? AND number > ? ORDER BY number"
        return [Message(*row) for row in self._all(ask, run, after)]

    def _all(self, ask: str, *values: object) -> list[Any]:
        self._check_process()
        try:
            with self._reading:
                return self._reader.execute(ask, values).fetchall()
        except sqlite3.Error as fault:
            raise JournalError(f"the journal {self._path} cannot be read: {fault}") from None

    def close(self) -> None:
        """Close the file."""
        self._db.close()
        self._reader.close()

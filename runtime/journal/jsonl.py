"""
Runs as JSON lines: a folder with one file for each run, which people and other tools can read.

A line is one entry, or a list of those that were kept together.  It counts once its end is there; what a crash has torn
is left out when reading, and cut off by whoever writes next.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote

from guideway.statemachine.errors import JournalError

from .entries import parse
from .locks import hold
from .sqlite import private
from .store import Message, Stored, check_next

ENDING = ".jsonl"
INBOX = ".inbox.jsonl"
DECODER = json.JSONDecoder()


class JsonLinesJournal:
    """
    A journal in a folder.  A run is written by one process at a time; others may read it and leave messages.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = JsonLinesJournal(folder)
    ...     journal.post("r", '{"verb": "approve"}')
    ...     print(journal.posted("r"), journal.runs())
    [Message(number=1, text='{"verb": "approve"}')] []

    Raises:
        JournalError: the folder cannot be made.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._open: dict[str, Writing] = {}
        self.torn: list[str] = []
        """runs of which a torn line was cut off"""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise JournalError(f"the journal {self._folder} cannot be made: {fault.strerror}") from None

    def append(self, run: str, lines: Sequence[Stored]) -> None:
        """Keep the lines, as one line of the file, and wait until the disk has it."""
        writing = self._open.get(run)
        if writing is None:
            writing = self._open[run] = Writing(self._path(run), run)
            if writing.torn:
                self.torn.append(run)
        writing.append(lines)

    def _path(self, run: str, ending: str = ENDING) -> Path:
        return self._folder / (quote(run, safe="").replace(".", "%2E") + ending)  # no run has the name of an inbox

    def read(self, run: str, first: int = 0) -> Iterator[Stored]:
        """The entries of all whole lines."""
        for raw in whole_lines(self._path(run)):
            yield from (stored for stored in unpacked(raw, run) if stored.seq >= first)

    def last(self, run: str, kind: str | None = None) -> Stored | None:
        """The last entry, found from the end of the file."""
        for raw in backwards(self._path(run), None if kind is None else f'"kind":"{kind}"'):
            fitting = [stored for stored in unpacked(raw, run) if kind in (None, stored.kind)]
            if fitting:
                return fitting[-1]
        return None

    def runs(self) -> list[str]:
        """The runs by the time at which they began; those that keep no time first, by name."""
        files = [path for path in self._folder.glob(f"*{ENDING}") if not path.name.endswith(INBOX)]
        began = [(next(self.read(name(path)), None), name(path)) for path in files]
        return [run for _, run in sorted((began_at(first), run) for first, run in began if first is not None)]

    def post(self, run: str, text: str) -> None:
        """Add a line to the inbox of the run."""
        path = self._path(run, INBOX)
        try:
            new = not path.exists()
            private(path)
            with path.open("a+b") as file:
                hold(file, wait=True)
                durably(file, text if ends_whole(file) else f"\n{text}")
            if new:
                durable_name(path)
        except OSError as fault:
            raise JournalError(f"{path} takes no message: {fault.strerror}") from None

    def posted(self, run: str, after: int = 0) -> list[Message]:
        """The lines of the inbox."""
        lines = [raw.decode("utf-8", "replace") for raw in whole_lines(self._path(run, INBOX))]
        return [Message(number, text) for number, text in enumerate(lines, 1) if number > after]

    def close(self) -> None:
        """Close the files, and let others write."""
        for writing in self._open.values():
            writing.close()
        self._open.clear()


class Writing:
    """The file of one run, open and locked by this process."""

    def __init__(self, path: Path, run: str) -> None:
        self._path = path
        try:
            new = not path.exists()
            private(path)
            self._file: BinaryIO = path.open("a+b")
            if new:
                durable_name(path)
        except OSError as fault:
            raise JournalError(f"{path} cannot be opened: {fault.strerror}") from None
        try:
            hold(self._file)
        except OSError:
            self._file.close()
            raise JournalError(f"another process writes to run {run} ({path})") from None
        self.torn = self._cut()
        self._run, self._stands = run, sum(len(unpacked(raw, run)) for raw in whole_lines(path))
        self._size, self._process, self._broken = os.fstat(self._file.fileno()).st_size, os.getpid(), False

    def _cut(self) -> bool:
        """Cut off a line without an end."""
        self._file.seek(0)
        end = whole_size(self._path)
        torn = end < os.fstat(self._file.fileno()).st_size
        if torn:
            self._file.truncate(end)
            os.fsync(self._file.fileno())
        return torn

    def append(self, lines: Sequence[Stored]) -> None:
        """Write and wait; nothing more after a write that failed, as nobody knows then what the file holds."""
        check_next(self._run, self._stands, lines)
        if self._broken:
            raise JournalError(f"{self._path} took no more before; resume the run from what it holds")
        self._check_file()
        texts = [stored.text for stored in lines]
        try:
            durably(self._file, texts[0] if len(texts) == 1 else f"[{','.join(texts)}]")
        except OSError as fault:
            self._broken = True
            raise JournalError(f"{self._path} takes no more: {fault.strerror or fault}") from None
        self._stands += len(lines)
        self._size = os.fstat(self._file.fileno()).st_size

    def _check_file(self) -> None:
        """The lock is of a file and of a process: another file of that name, or a forked process, has none."""
        mine = os.fstat(self._file.fileno())
        try:
            there = self._path.stat()
        except OSError:
            raise JournalError(f"{self._path} is gone; nothing more of run {self._run} can be kept") from None
        if (there.st_ino, there.st_dev) != (mine.st_ino, mine.st_dev) or mine.st_size != self._size:
            raise JournalError(f"{self._path} is not as it was left: something else writes to it, or replaced it")
        if os.getpid() != self._process:
            raise JournalError("this process was forked from the one that writes; open the journal anew in it")

    def close(self) -> None:
        """Let go."""
        self._file.close()  # which lets go of the lock as well


def durably(file: BinaryIO, text: str) -> None:
    """Write a line, and wait until the disk has it."""
    file.write(text.encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())


def ends_whole(file: BinaryIO) -> bool:
    """Nobody was cut off while writing its last line."""
    if not (end := file.seek(0, os.SEEK_END)):
        return True
    file.seek(end - 1)
    return file.read(1) == b"\n"


def began_at(first: Stored) -> str:
    """When a run began, as its first entry says."""
    return str(parse(first.text).body.get("now") or "")


def durable_name(path: Path) -> None:
    """Wait until the disk knows of a new file: its folder must be there, too."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def name(path: Path) -> str:
    """The run of a file."""
    return unquote(path.name.removesuffix(ENDING))


def whole_lines(path: Path) -> Iterator[bytes]:
    """The lines that have an end."""
    try:
        with path.open("rb") as file:
            for raw in file:
                if raw.endswith(b"\n"):
                    yield raw[:-1]
    except FileNotFoundError:
        return
    except OSError as fault:
        raise JournalError(f"{path} cannot be read: {fault.strerror}") from None


def whole_size(path: Path) -> int:
    """Bytes up to the end of the last whole line."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if not size:
            return 0
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.rfind(b"\n") + 1


def backwards(path: Path, holding: str | None) -> Iterator[bytes]:
    """Whole lines from the last to the first; only those that hold a text, where one is given."""
    if not path.is_file() or not (end := whole_size(path)):
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        while end > 0:
            at = end - 1 if holding is None else content.rfind(holding.encode(), 0, end)
            if at < 0:
                return
            start = content.rfind(b"\n", 0, at) + 1
            yield content[start : content.find(b"\n", at)]
            end = start


def unpacked(raw: bytes, run: str) -> list[Stored]:
    """
    The entries of one line.

    Raises:
        JournalError: it holds none, or is not written as it was.
    """
    try:
        text = raw.decode()
        texts = split(text) if text.startswith("[") else [text]
    except ValueError:
        raise JournalError(f"a line of run {run} cannot be read") from None
    entries = [parse(part, f"a line of run {run}") for part in texts]
    return [Stored(entry.seq, entry.kind, entry.text) for entry in entries]


def split(text: str) -> list[str]:
    """
    The entries of a list, each as it is written.

    >>> split('[{"a":1e-7},{"b":[2]}]')
    ['{"a":1e-7}', '{"b":[2]}']

    Raises:
        ValueError: it is no list, or not written without spaces.
    """
    parts, at = [], 1
    while True:
        _, end = DECODER.raw_decode(text, at)
        parts.append(text[at:end])
        if text[end:] == "]":
            return parts
        if text[end : end + 1] != ",":
            raise ValueError(f"no list of entries: {text[end : end + 1]!r}")
        at = end + 1

"""The journal that a command names, and the key it is written with."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from guideway.statemachine.errors import HostError, JournalError

from .status import MisuseError

if TYPE_CHECKING:
    from guideway.runtime.journal import Journal

VARIABLE = "GUIDEWAY_KEY"
DATABASES = (".db", ".sqlite", ".sqlite3")
"""Endings of a database; any other name is that of a folder of JSON lines."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A journal that is open: `key` is what its runs are signed with, None where none was found."""

    journal: Journal
    path: str
    key: bytes | None


@contextmanager
def opened(path: str, key: str | None, *, make: bool = False, secret: str | None = None) -> Iterator[Opened]:
    """
    Open a journal for one command; with `make` it may be new.  `secret` is the key that the environment held.

    Raises:
        MisuseError: naming `--journal` or `--key`.
    """
    target = there(path, make=make)
    found = key_of(target, key, make=make, secret=os.environ.get(VARIABLE, "") if secret is None else secret)
    journal = journal_at(target)
    try:
        yield Opened(journal, path, found)
    finally:
        with suppress(Exception):
            journal.close()


def there(path: str, *, make: bool) -> Path:
    """Where the journal is, or may be made."""
    target = Path(path)
    database = target.suffix.lower() in DATABASES
    try:
        if target.is_dir() if database else target.is_file():
            kind = "a folder" if database else "a file"
            raise MisuseError(f"--journal: {path} is {kind}; name a .db file, or a folder for JSON lines")
        if not target.exists() and not make:
            raise MisuseError(f"--journal: {path} does not exist")
        if make:
            (target.parent if database else target).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as fault:
        raise MisuseError(f"--journal: {path} cannot be used: {getattr(fault, 'strerror', None) or fault}") from None
    return target


def journal_at(target: Path) -> Journal:
    """The journal of that name."""
    from guideway.runtime.journal import JsonLinesJournal, SqliteJournal

    try:
        if target.suffix.lower() in DATABASES:
            return SqliteJournal(target)
        return JsonLinesJournal(target)
    except JournalError as fault:
        raise MisuseError(f"--journal: {fault}") from None


def own_key(target: Path) -> Path:
    """
    The file of the key that belongs to a journal.

    >>> own_key(Path("kept/runs.db")).name, own_key(Path("kept/runs/")).name
    ('runs.db.key', 'runs.key')
    """
    named = target if target.name else target.resolve()
    return named.with_name(named.name + ".key")


def key_of(target: Path, given: str | None, *, make: bool, secret: str) -> bytes | None:
    """The key in the file that was given, else in the environment, else beside the journal (made there, if need be)."""
    from guideway.runtime.journal.keys import checked, read_key

    try:
        if given is not None:
            return read_key(given)
        if secret:
            return checked(secret, VARIABLE)
        own = own_key(target)
        if not own.exists():
            if not make:
                return None
            draw(own)
        return read_key(own)
    except HostError as fault:
        raise MisuseError(f"--key: {fault}") from None


def draw(own: Path) -> None:
    """Make the key in one stroke, so that of two processes that begin at once both have the same."""
    from guideway.runtime.journal import make_key

    fresh = own.with_name(f"{own.name}.{secrets.token_hex(6)}")
    make_key(fresh)
    try:
        with suppress(FileExistsError):
            os.link(fresh, own)
    except OSError as fault:
        raise HostError(f"the key {own} cannot be made: {fault.strerror}") from None
    finally:
        fresh.unlink()


def keep_from_tools() -> str:
    """Take the key out of the environment, where the tools and what they start would find it."""
    return os.environ.pop(VARIABLE, "")


def opens(found: Opened, run: str) -> bool:
    """The key at hand opens the first entry, so that the fault is another."""
    from guideway.runtime.journal.entries import verified

    try:
        return next(verified((stored.text for stored in found.journal.read(run)), run, found.key)) is not None
    except JournalError:
        return False


def known_run(found: Opened, run: str, *, by_key: bool = True) -> str:
    """
    The run, if the journal holds it.

    Raises:
        MisuseError: naming `RUN`, and those there are.
        JournalError: it is not written with the key at hand.
    """
    if found.journal.last(run) is None:
        latest = found.journal.runs()[-5:]
        held = f"the latest are {', '.join(latest)}" if latest else "it holds none"
        raise MisuseError(f"RUN: {found.path} holds no run {run}; {held}")
    if by_key and not opens(found, run):
        raise JournalError(unopened(found, run))
    return run


def unopened(found: Opened, run: str) -> str:
    """What is wrong where not even the first entry is as it was written."""
    if found.key is None:
        return f"run {run} was written with a key, and none was found (--key, GUIDEWAY_KEY), or it was changed"
    return f"run {run} was written with another key, or it was changed"

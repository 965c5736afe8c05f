"""What a model or a tool may say, however odd, is kept and replayed; it never ends in a traceback."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

import guideway
from guideway import Failed, Succeeded, ToolCall, Usage
from guideway.runtime.journal import MemoryJournal, recorder, replay, resume, start

MACHINE = guideway.load(
    {"id": "t", "name": "T", "tools": {"look": {"effect": "read"}, "tell": {}},
     "steps": [{"id": "a", "description": "A", "expected_tools": ["look", "tell"]}]}
)  # fmt: skip


def deep(levels: int) -> Any:
    """Lists inside one another."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


class Faulty(dict[str, Any]):
    """A map that cannot be read."""

    def items(self) -> NoReturn:
        """Raises."""
        raise RuntimeError("no")

    def __iter__(self) -> Iterator[str]:
        """Raises."""
        raise RuntimeError("no")


ODD: list[Any] = [
    *(deep(levels) for levels in (150, 190, 194, 195, 196, 197, 198, 199, 201, 500)),
    10**20, 10**400, 2**53 - 1, 1 - 2**53, 1e300, 1e-7, -0.0, float(2**60), math.nan, math.inf,
    "\ud83d", "\u2028\x00", "•••", '","kind":"snapshot"', {"hash": "0" * 64, "kind": "snapshot"},
    {"\uffff": 1, "\U0001f600": 2}, {1: "no text"}, b"bytes",
]  # fmt: skip


@pytest.mark.parametrize("value", ODD, ids=lambda value: ascii(value)[:20])
def test_odd_values_are_kept_and_replayed(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    As arguments, result, error and note: what a session takes, its journal holds, in events and snapshots.
    """
    monkeypatch.setattr(recorder, "FEWEST", 1)
    journal = MemoryJournal()
    session = start(journal, MACHINE, run_id="odd")
    outcomes: list[Succeeded | Failed] = [Succeeded(value), Failed({"type": "X", "message": "m", "more": value})]
    for number, outcome in enumerate(outcomes):
        [verdict] = session.propose([ToolCall("look", {"a": value}, f"odd {number}")], usage=Usage(3))
        if not verdict.allowed:
            session.propose([ToolCall("look", {}, f"c{number}")])
        session.observe(f"odd {number}" if verdict.allowed else f"c{number}", outcome)
    session.propose([ToolCall("look", Faulty(a=1), "c9")], text=value if isinstance(value, str) else "")

    assert session.outcome is None
    assert replay(journal, "odd", MACHINE).events == (5 if verdict.allowed else 7)
    assert resume(journal, "odd", MACHINE).outcome is None


def test_whoever_reads_the_file_can_check_the_chain() -> None:
    """
    The hash of an entry is the SHA-256 of its line without it: no library of ours is needed to check one.
    """
    journal, previous = MemoryJournal(), "0" * 64
    session = start(journal, MACHINE, run_id="plain")
    session.propose([ToolCall("look", {"big": 1e22, "small": 1e-7, "ä": "€"}, "c1")])

    for stored in journal.read("plain"):
        text, _, end = stored.text.rpartition(',"hash":"')
        entry = json.loads(stored.text)
        assert hashlib.sha256(f"{text}}}".encode()).hexdigest() == entry["hash"] == end.removesuffix('"}')
        assert entry["previous"] == previous
        previous = entry["hash"]

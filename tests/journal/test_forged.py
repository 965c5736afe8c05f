"""Whoever can write the file, and knows how, writes a chain anew: without a key only a replay can tell."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import guideway
from guideway import GuidewayError, JournalError, Succeeded, ToolCall
from guideway.runtime.journal import (
    MemoryJournal,
    Stored,
    deliver,
    recorder,
    replay,
    resume,
    standing,
    start,
    verify,
)
from guideway.runtime.journal.entries import Chain, Entry, parse
from guideway.runtime.journal.messages import DATA, VERBS, written
from tests.properties.hosting import PREDICATES
from tests.properties.walking import T0

from .test_random_runs import found, walked

PAY = guideway.load(
    {"id": "t", "name": "T", "tools": {"pay": {"effect": "irreversible"}, "look": {"effect": "read"}}, "steps": [
        {"id": "look", "description": "Look", "expected_tools": ["look"]},
        {"id": "pay", "description": "Pay", "expected_tools": [
            {"tool": "pay", "approval": {"ask": "Pay {{ args.sum }}?", "approvers": ["lead"]}}]}]}
)  # fmt: skip


def anew(run: str, entries: list[Entry], at: int, body: dict[str, Any]) -> MemoryJournal:
    """The journal with another body at one place, and a chain that fits."""
    chain, forged = Chain(run), MemoryJournal()
    for number, entry in enumerate(entries):
        sealed = chain.seal(entry.kind, body if number == at else entry.body)
        forged.append(run, [Stored(sealed.seq, sealed.kind, sealed.text)])
    return forged


def entries(journal: MemoryJournal, run: str) -> list[Entry]:
    """All that was kept."""
    return [parse(stored.text) for stored in journal.read(run)]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all that is in a value."""
    if path:
        yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        yield from places(item, (*path, key))


def changed(rng: random.Random, body: Any) -> dict[str, Any]:
    """The body, with something in it dropped or made something else."""
    made = at = json.loads(json.dumps(body))
    *way, last = rng.choice(list(places(made)))
    for key in way:
        at = at[key]
    if rng.random() < 0.2:
        del at[last]
    else:
        at[last] = rng.choice([None, "x", 7, [], {"a": 1}, True])
    return dict(made)


def refused_or_done(read: Any) -> bool:
    """Whether it was done; the only other thing that may come of it is a refusal."""
    try:
        read()
    except GuidewayError:
        return False
    return True


@pytest.mark.parametrize("kind", ["event", "snapshot", "start"])
def test_what_was_forged_is_refused_in_words_and_a_replay_finds_it(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    A chain written anew around a change: no reader ends in an error of Python's, and few changes replay unseen.
    """
    monkeypatch.setattr(recorder, "FEWEST", 8)
    rng, replayed = random.Random(kind), []
    for run, machine in found(14):
        journal = MemoryJournal()
        walked(machine, run, journal)
        kept = entries(journal, run)
        fitting = [number for number, entry in enumerate(kept) if entry.kind == kind]
        for at in [rng.choice(fitting) for _ in range(12 if fitting else 0)]:
            forged = anew(run, kept, at, changed(rng, kept[at].body))
            for read in (
                lambda f=forged, r=run: verify(f, r), lambda f=forged, r=run: standing(f, r),
                lambda f=forged, r=run, m=machine: resume(f, r, m, predicates=PREDICATES, now=T0),
            ):  # fmt: skip
                refused_or_done(read)
            again = anew(run, kept, at, changed(rng, kept[at].body))
            replayed.append(refused_or_done(lambda j=again, r=run, m=machine: replay(j, r, m, predicates=PREDICATES)))

    assert len(replayed) > 50
    assert sum(replayed) < len(replayed) / 5, "what is left says nothing of what happened"


def test_torture_14_a_snapshot_that_says_approved_does_not_replay() -> None:
    """
    The snapshot inside a journal is written anew with the question taken out, and the chain after it.
    """
    journal = MemoryJournal()
    session = start(journal, PAY, run_id="r")
    session.propose([ToolCall("look", {}, "c1")])
    session.observe("c1", Succeeded({}))
    session._recorder._events = session._recorder._bytes = 10**9  # type: ignore[union-attr]
    session.propose([ToolCall("pay", {"sum": 9000}, "c2")])
    kept = entries(journal, "r")
    [at] = [number for number, entry in enumerate(kept) if entry.kind == "snapshot"]
    body = json.loads(json.dumps(kept[at].body))
    body["state"]["pending"], body["state"]["bound"][0]["status"] = [], "running"
    body["state"]["commands"] = []
    forged = anew("r", kept, at, body)

    with pytest.raises(JournalError, match="a snapshot of another run"):
        replay(forged, "r", PAY)
    with pytest.raises(JournalError, match="written with another key"):
        resume(forged, "r", PAY, key=b"k" * 32)


def test_a_start_with_other_words_does_not_replay(tmp_path: Path) -> None:
    """The first records are held against the machine as well."""
    journal = MemoryJournal()
    start(journal, PAY, run_id="r", started_by="ann")
    kept = entries(journal, "r")
    body = json.loads(json.dumps(kept[0].body))
    body["records"][0]["by"] = "bob"

    with pytest.raises(JournalError, match="entry 0 of run r went another way"):
        replay(anew("r", kept, 0, body), "r", PAY)


def test_odd_messages_are_refused_in_words() -> None:
    """
    Without a key anybody may post anything: each is carried out or refused and recorded, and the run stands.
    """
    rng, journal = random.Random(3), MemoryJournal()
    session = start(journal, PAY, run_id="r")
    session.propose([ToolCall("look", {}, "c1")])
    session.observe("c1", Succeeded({}))
    session.propose([ToolCall("pay", {"sum": 9000}, "c2")])
    odd: list[Any] = [None, "", "x", "call c2", 7, [], ["lead"], {}, {"a": 1}, True, [[[]]], 1e300, "\u2028"]
    for _ in range(400):
        verb = rng.choice(VERBS)
        data = {name: rng.choice(odd) for name in DATA[verb] if rng.random() < 0.8}
        journal.post("r", written("r", verb, data, None))

    delivered = deliver(session)

    assert len(delivered) == 400
    assert session.outcome is None
    assert not any(one.accepted for one in delivered)
    assert replay(journal, "r", PAY).events == 403
    assert resume(journal, "r", PAY).waiting

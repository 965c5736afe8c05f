"""A journal of any run, cut anywhere, holds the run as it was; replayed, it goes the same way."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from guideway import HostError, JournalError, Machine, Session
from guideway.runtime.journal import (
    Journal,
    JsonLinesJournal,
    MemoryJournal,
    SqliteJournal,
    Stored,
    replay,
    start,
    verify,
)
from guideway.runtime.journal.resuming import rebuild
from tests.properties.hosting import PREDICATES, driver, play, verbs
from tests.properties.mixing import compiled
from tests.properties.walking import T0

QUICK, SEEDS, LENGTH = 25, 250, 60


def saved(session: Session) -> str:
    """The snapshot, in which equal runs are equal."""
    return json.dumps(session.snapshot.to_json(), sort_keys=True)


def cut(journal: Journal, run: str, length: int) -> MemoryJournal:
    """What a crash leaves: the first entries."""
    left = MemoryJournal()
    for stored in list(journal.read(run))[:length]:
        left.append(run, [stored])
    return left


def walked(machine: Machine, seed: str, journal: Journal) -> list[tuple[int, str]]:
    """A random walk; after each verb, how many entries there are and what the run is."""
    session = start(journal, machine, run_id=seed, now=T0, predicates=PREDICATES)
    moments = [(1, saved(session))]
    host = driver(seed, waste=0.08, batch=4)
    for verb in verbs(session, host, LENGTH):
        play(session, verb)
        last = journal.last(seed)
        assert last is not None
        moments.append((last.seq + 1, saved(session)))
    return moments


def found(seeds: int) -> Iterator[tuple[str, Machine]]:
    """Valid random playbooks."""
    for seed in range(seeds):
        if (machine := compiled(seed)) is not None:
            yield f"run {seed}", machine


def cut_anywhere(seeds: int) -> None:
    """Every cut holds the run as it stood when that entry was written; all of it replays."""
    for run, machine in found(seeds):
        journal = MemoryJournal()
        moments = walked(machine, run, journal)
        known = dict(moments)
        for length, state in random.Random(run).sample(sorted(known.items()), min(6, len(known))):
            again = rebuild(cut(journal, run, length), run, machine, predicates=PREDICATES).session
            assert without_clock(saved(again)) == without_clock(state), (run, length)
        replayed = replay(journal, run, machine, predicates=dict.fromkeys(PREDICATES, never))
        assert replayed.outcome == json.loads(moments[-1][1])["outcome"]
        assert verify(journal, run).entries == moments[-1][0]


def without_clock(state: str) -> dict[str, object]:
    """A verb that moved nothing is not kept, so only the time may lag behind."""
    return {name: value for name, value in json.loads(state).items() if name != "now"}


def never(names: object) -> bool:
    """A replay asks no predicate."""
    raise AssertionError("a replay asked the host")


def test_a_few_random_runs_can_be_cut_anywhere() -> None:
    """The quick part of the next test."""
    cut_anywhere(QUICK)


@pytest.mark.slow
def test_random_runs_can_be_cut_anywhere() -> None:
    """
    What is on the disk after any verb is the run as it stood then: calls, questions, timers, facts, counters.
    """
    cut_anywhere(SEEDS)


@pytest.mark.parametrize("kind", ["sqlite", "jsonl"])
def test_both_stores_keep_the_same_lines(kind: str, tmp_path: Path) -> None:
    """
    A store knows nothing of what it keeps: opened anew, it gives back what went in, and the run can be resumed from it.
    """
    for run, machine in found(8):
        journal = opened(kind, tmp_path)
        moments = walked(machine, run, journal)
        kept = list(journal.read(run))
        journal.close()
        later = opened(kind, tmp_path)

        assert list(later.read(run)) == kept
        assert run in later.runs()
        assert later.last(run) == kept[-1]
        assert later.last(run, "snapshot") == next((s for s in reversed(kept) if s.kind == "snapshot"), None)
        again = rebuild(later, run, machine, predicates=PREDICATES).session
        assert without_clock(saved(again)) == without_clock(moments[-1][1])
        later.close()


def opened(kind: str, folder: Path) -> Journal:
    """A store on the disk."""
    return SqliteJournal(folder / "runs.db") if kind == "sqlite" else JsonLinesJournal(folder / "runs")


def test_any_changed_entry_is_found() -> None:
    """
    A character changed anywhere, an entry dropped, doubled or moved: refused, naming the entry.
    """
    rng = random.Random(7)
    for run, machine in found(6):
        journal = MemoryJournal()
        walked(machine, run, journal)
        kept = list(journal.read(run))
        for _ in range(40):
            with pytest.raises((JournalError, HostError)):
                verify(forged(rng, run, kept), run, head=json.loads(kept[-1].text)["hash"])


def forged(rng: random.Random, run: str, kept: list[Stored]) -> MemoryJournal:
    """The journal after somebody was at it."""
    lines, at = list(kept), rng.randrange(len(kept))
    way = rng.choice(("change", "drop", "double", "swap"))
    if way == "change":
        text = lines[at].text
        place = rng.randrange(len(text))
        other = rng.choice([c for c in 'a1{}",x ' if c != text[place]])
        lines[at] = lines[at]._replace(text=text[:place] + other + text[place + 1 :])
    elif way == "drop":
        del lines[at]
    elif way == "double":
        lines.insert(at, lines[at])
    else:
        other_at = rng.choice([i for i in range(len(kept)) if i != at])
        lines[at], lines[other_at] = lines[other_at], lines[at]
    left = MemoryJournal()
    left._lines[run] = lines
    return left

"""The fast path, the general path, a restored session and a second run of the same verbs: one and the same run."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guideway import JournalError, Session, Succeeded, ToolCall, load
from guideway.runtime import quick
from guideway.runtime.records import lines, verify

from .counting import seen, tally
from .drawing import FLAVOURS, machine_of
from .walking import Host, begin, play, records, restored, saved, verbs, walk

SEEDS = 600


def sessions(flavour: str, seeds: int) -> Iterator[tuple[int, Session]]:
    """A fresh session of each playbook."""
    for seed in range(seeds):
        machine = machine_of(flavour, seed)
        if machine is not None:
            yield seed, begin(machine)


@pytest.mark.slow
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_the_fast_path_and_the_general_path_agree(flavour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same verbs have the same answers, records and snapshots, whether or not the fast path takes part."""
    count = seen(f"fast path and general path, {flavour}")
    slow: list[Any] = []
    fast = quick.propose

    def gated(run: Any, *rest: Any) -> Any:
        if run in slow:
            return None
        answer = fast(run, *rest)
        count["fast admissions"] += answer is not None
        return answer

    monkeypatch.setattr(quick, "propose", gated)
    for seed, one in sessions(flavour, SEEDS * 2 if flavour == "plain" else SEEDS // 2):
        rng = random.Random(seed)
        other = begin(one.machine)
        slow[:] = [other._run]
        host = Host(rng, waste=0.05, batch=rng.choice((1, 1, 2)))
        for number, verb in enumerate(verbs(one, host, rng.choice((10, 30, 60)))):
            assert play(one, verb) == play(other, verb), (flavour, seed, number, verb)
            slow[:] = [other._run]
            if rng.random() < 0.05:
                assert saved(one) == saved(other), (flavour, seed, number, verb)
            if rng.random() < 0.05:
                assert records(one) == records(other), (flavour, seed, number, verb)
        assert records(one) == records(other), (flavour, seed)
        assert saved(one) == saved(other), (flavour, seed)
        tally(count, one.records)
    assert count["fast admissions"] > (2_500 if flavour == "plain" else 0)


@pytest.mark.slow
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_session_saved_and_restored_at_every_event_goes_on_the_same(flavour: str) -> None:
    """A run that is written to JSON text after every verb answers as one that never was, and so does one saved once."""
    count = seen(f"saved and restored, {flavour}")
    for seed, one in sessions(flavour, SEEDS):
        rng = random.Random(seed)
        always, once = begin(one.machine), begin(one.machine)
        told: list[Any] = []
        moment = rng.randrange(12)
        host = Host(rng, waste=0.08)
        for number, verb in enumerate(verbs(one, host, 24)):
            before = one.since(0), always.since(0)
            answer = play(one, verb)
            assert words(play(always, verb)) == words(answer), (flavour, seed, number, verb)
            assert words(play(once, verb)) == words(answer), (flavour, seed, number, verb)
            assert one.since(len(before[0])) == always.since(len(before[1])), (flavour, seed, number, verb)
            assert one.legal() == always.legal()
            assert (one.commands, one.waiting) == (always.commands, always.waiting), (flavour, seed, number, verb)
            told += always.records
            always = restored(always)
            once = restored(once) if number == moment else once
        assert records(one)[1:] == [record for record in told if record[0] != "started"][: len(records(one)) - 1]
        assert saved(one) == saved(always) == saved(once), (flavour, seed)
        tally(count, one.records)
    assert min(count[what] for what in ("ends", "verdict defer", "asked call")) > 0 or flavour == "plain"


def words(answer: Any) -> Any:
    """An answer without the offers of a denial: a restored session repeats a denial's words only."""
    if isinstance(answer, list):
        return [words(one) for one in answer]
    return (answer.code, answer.message) if hasattr(answer, "code") else answer


@pytest.mark.slow
def test_the_same_verbs_write_the_same_trace_and_nobody_can_change_it() -> None:
    """The lines of a run are the same bytes when it is run again, and no character of them can be put another way."""
    count = seen("determinism and tampering")
    for seed, one in sessions("varied", SEEDS):
        rng = random.Random(seed)
        host = Host(rng, waste=0.05)
        script = [verb for verb, _ in walk(one, host, 25)]
        other = begin(one.machine)
        for verb in script:
            play(other, verb)
        text = "".join(lines(one.records))
        assert text == "".join(lines(other.records)), seed
        found = verify(text)
        assert len(found) == len(one.records)
        for _ in range(12):
            place = rng.randrange(len(text) - 1)
            other_character = chr(rng.randrange(32, 127))
            if text[place] in " \n" or other_character == text[place]:
                continue
            count["characters changed"] += 1
            with pytest.raises(JournalError):
                verify(text[:place] + other_character + text[place + 1 :])
        tally(count, one.records)
    assert count["characters changed"] > 5_000


ONE_STEP = load({"id": "t", "name": "T", "steps": [{"id": "a", "description": "A", "expected_tools": ["x"]}]})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e300, 1e300) | st.text(),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3),
    max_leaves=8,
)
BREAKS = st.text(st.sampled_from("ab\u2028\u2029\x85\x0b\x1c\r\n\"\\é\ud83d\U0001f600"))


@settings(max_examples=200, deadline=None)
@given(st.text() | BREAKS, st.dictionaries(st.text() | BREAKS, JSON, max_size=3), JSON | BREAKS)
def test_a_trace_reads_back_whatever_was_said(text: str, args: dict[str, Any], result: Any) -> None:
    """Any text, arguments and result: what some call a line break is a letter in a JSON text, and is no end of one."""
    session = Session(ONE_STEP)
    [verdict] = session.propose([ToolCall("x", args, "c")], text=text)
    if verdict.allowed:
        session.observe("c", Succeeded(result))
    found = verify("".join(lines(session.records)))
    written = found[1].get("text", "")
    assert written == text if text.isascii() or "\ud83d" not in text else "\ufffd" in written
    assert Session.restore(session.machine, json.loads(saved(session))).outcome == session.outcome

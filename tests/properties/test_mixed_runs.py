"""What must hold of every run of the whole format, whatever agent, tools, people and time do."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from guideway import Approvals, HostError, Machine, Session, Succeeded, ToolCall, load
from guideway.runtime.records import lines, verify

from .checking import Tape, covered, never_wedged, note, nothing_left
from .counting import seen
from .hosting import PERSONS, Kind, begin, driver, play, restored, saved, verbs
from .mixing import compiled
from .test_hostile import GARBAGE

SEEDS = 800
QUICK = 60
LENGTH = 60


def machines(seeds: int) -> Iterator[tuple[int, Machine]]:
    """Every valid playbook of so many seeds."""
    found = [(seed, machine) for seed in range(seeds) if (machine := compiled(seed)) is not None]
    assert len(found) > 0.8 * seeds, "most of what is drawn is valid"
    yield from found


def words(answer: Any) -> Any:
    """An answer without the offers of a denial: a restored session repeats a denial's words only."""
    if isinstance(answer, list):
        return [words(one) for one in answer]
    return (answer.code, answer.message) if hasattr(answer, "code") else answer


def audited(session: Session, where: Any) -> None:
    """The records of a run keep the rules."""
    assert session.machine.definition is not None
    try:
        Tape(session.machine.definition).read(session.records)
    except AssertionError as error:
        raise AssertionError(f"{where}: {error}") from error


def random_runs(count: Counter[str], seeds: int) -> None:
    """Runs with a host that does what comes to its mind; the rules are held against every moment and every record."""
    for seed, machine in machines(seeds):
        for number in range(2):
            session, host = begin(machine), driver(f"{seed} {number}", waste=0.06, batch=5)
            for step, verb in enumerate(verbs(session, host, LENGTH)):
                play(session, verb)
                try:
                    never_wedged(session)
                except AssertionError as error:
                    raise AssertionError(f"seed {seed}, walk {number}, verb {step} {verb}: {error}") from error
            audited(session, (seed, number))
            note(count, session)


def test_a_few_random_runs_keep_the_rules() -> None:
    """The quick part of the next test."""
    count = seen("mixed runs, quick")
    random_runs(count, QUICK)
    covered(count, 1, ("called", "event forked", "event joined", "asked ask", "class success"))


@pytest.mark.slow
def test_random_runs_keep_the_rules_and_always_wait_for_somebody() -> None:
    """
    No exception but `HostError`; an unfinished run waits for somebody; after an end nothing is left.

    No call is admitted twice, none beside an irreversible one, after an end none but those of `finally`; every move is
    along an edge; a question is asked and answered once; a sub-playbook returns once.
    """
    count = seen("mixed runs")
    random_runs(count, SEEDS)
    covered(count, 5)


@pytest.mark.slow
def test_a_run_that_everybody_wants_to_end_ends() -> None:
    """With successes, consents, time and signals a run comes to its end; what it then waits for, the host can end."""
    count = seen("mixed runs, kind")
    for seed, machine in machines(SEEDS):
        session, host = begin(machine), Kind(random.Random(seed))
        for _ in range(200):
            if session.outcome is not None:
                break
            answer = play(session, host.verb(session))
            assert not isinstance(answer, tuple) or answer[0] != "HostError", (seed, answer)
            never_wedged(session)
        else:
            count["given up"] += 1
            give_up(session, host)
        nothing_left(session) if session.outcome is not None else never_wedged(session)
        audited(session, seed)
        note(count, session)
    assert count["class success"] > 5 * count["given up"]
    assert count["class None"] * 50 < count["runs"]


def give_up(session: Session, host: Kind) -> None:
    """Fail what is open, as often as the playbook has an answer to it."""
    for _ in range(60):
        if session.outcome is not None:
            return
        steps = [f"{cursor.frame.path}{cursor.step}" for cursor in session._run.leaves()]
        play(session, ("fail", steps[0]))
        for _ in range(10):
            play(session, host.verb(session))


@pytest.mark.slow
def test_a_session_saved_and_restored_at_every_event_goes_on_the_same() -> None:
    """A run that is written to JSON text after every verb answers as one that never was."""
    count = seen("mixed runs, saved and restored")
    saved_runs(count, SEEDS // 2)
    covered(count, 1)


def test_a_few_sessions_saved_and_restored_at_every_event_go_on_the_same() -> None:
    """The quick part of the test above."""
    count = seen("mixed runs, saved and restored, quick")
    saved_runs(count, QUICK // 2)
    covered(count, 1, ("called", "event forked", "asked ask"))


def saved_runs(count: Counter[str], seeds: int) -> None:
    """Every verb is played on a session that was never saved, and on one that was just now."""
    for seed, machine in machines(seeds):
        one, other = begin(machine), begin(machine)
        for number, verb in enumerate(verbs(one, driver(f"{seed} saved", waste=0.06, batch=5), LENGTH)):
            other = restored(other)
            before = len(one.records), len(other.records)
            where = (seed, number, verb)
            assert words(play(one, verb)) == words(play(other, verb)), where
            assert one.since(before[0]) == other.since(before[1]), where
            assert one.legal() == other.legal(), where
            assert (one.commands, one.waiting, one.states) == (other.commands, other.waiting, other.states), where
            assert Approvals(one).pending == Approvals(other).pending, where
            assert saved(one) == saved(other), where
        note(count, one)


class Rude:
    """Draws verbs of the whole format whose values are anything at all."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def do(self, session: Session) -> Any:
        """One verb."""
        rng, people = self.rng, Approvals(session)
        thing = rng.choice(GARBAGE)
        asked = rng.choice([*(question.approval_id for question in people.pending), thing])
        by = rng.choice([*PERSONS, thing])
        match rng.randrange(9):
            case 0:
                return session.signal(rng.choice(("go", "halt", thing)), rng.choice(GARBAGE))
            case 1:
                return people.answer(
                    asked, rng.choice(("yes", "", thing)), by=by, fields=rng.choice(({}, {"n": thing}, thing))
                )
            case 2:
                return people.approve(asked, by=by, groups=rng.choice(((), ("lead",), thing)))
            case 3:
                return people.reject(asked, by=by, note=thing)
            case 4:
                return people.withdraw(asked, note=thing)
            case 5:
                return people.happened(asked, thing, by=by)
            case 6:
                return getattr(session, rng.choice(("complete", "skip", "fail")))(thing, step=rng.choice((None, thing)))
            case 7:
                return session.tick(thing)
            case _:
                return session.complete(step=thing, now=rng.choice(GARBAGE))


@pytest.mark.slow
def test_garbage_is_a_host_error_or_an_answer_and_never_anything_else() -> None:
    """No value raises anything but `HostError`; what was refused has left no record; the trace still reads back."""
    count = seen("mixed runs, garbage")
    for seed, machine in machines(SEEDS // 2):
        rng = random.Random(seed)
        session, host, rude = begin(machine), driver(seed), Rude(rng)
        for verb in verbs(session, host, 40):
            play(session, verb)
            before = len(session.records)
            try:
                rude.do(session)
                count["taken"] += 1
            except HostError:
                count["refused"] += 1
                assert len(session.records) == before, seed
            except Exception as error:
                raise AssertionError(f"seed {seed}: {type(error).__name__} {error}") from error
            never_wedged(session)
        verify("".join(lines(session.records)))
        assert saved(restored(session)) == saved(session), seed
    assert min(count["taken"], count["refused"]) > 100


def test_two_undo_steps_side_by_side_take_a_success_back_once() -> None:
    """S30: what another step is taking back right now is not taken back a second time."""
    page = {
        "id": "p", "name": "P", "tools": {"t3": {"undo": "back3"}, "back3": {}},
        "steps": [
            {"id": "a", "call": {"tool": "t3"}},
            {"id": "s", "parallel": {"b1": {"undo": "all"}, "b2": {"undo": "all"}}},
        ],
    }  # fmt: skip
    session = Session(load(page))
    while session.commands:
        session.observe(session.commands[0].call_id, Succeeded(1))
    assert session.outcome == "success"
    settled = [record[3] for record in session.records if record[0] == "settled"]
    assert settled == ["t3", "back3"]


def test_between_two_rounds_a_restored_run_answers_as_one_that_was_not() -> None:
    """S9: a `repeat` that waits for its next round is the only cursor there is, saved or not."""
    repeat = {"until": "false", "at_most": 3, "wait": "20s"}
    steps = [{"id": "r", "repeat": repeat, "steps": [{"id": "c", "call": {"tool": "t"}}]}]
    session = begin(load({"id": "p", "name": "P", "steps": steps, "optional_tools": ["note"]}, flow=False))
    session.observe("c@1.1", Succeeded(1))
    other = restored(session)
    call = ("propose", (ToolCall("note", {}, "n1"),), "", 0, None)
    assert play(other, call) == play(session, call)
    assert saved(other) == saved(session)

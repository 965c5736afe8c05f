"""Agents and hosts that mean no good: garbage in, and eight threads at once."""

from __future__ import annotations

import json
import random
import sys
import threading
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from guideway import (
    Allow,
    Approvals,
    Cancelled,
    Failed,
    GuidewayError,
    HostError,
    Machine,
    Session,
    Succeeded,
    ToolCall,
    Unknown,
    load,
)  # fmt: skip
from guideway.runtime.records import lines, verify

from .auditing import Audit
from .counting import seen, tally
from .drawing import machine_of
from .walking import NAMES, T0, Host, automatic, begin, play, running, turn_is_open, verbs

SEEDS = 800


def deep(size: int) -> Any:
    """Lists in lists."""
    value: Any = 1
    for _ in range(size):
        value = [value]
    return value


class Odd:
    """No JSON, whatever one does."""

    def __str__(self) -> str:
        return "odd \ud800"


def cyclic() -> list[Any]:
    """A list that holds itself."""
    found: list[Any] = []
    found.append(found)
    return found


GARBAGE: tuple[Any, ...] = (
    None, True, 0, -1, 2**70, 1.5, float("nan"), float("inf"), "", "\ud800", "a\x00b", "x" * 5000, "☃\u2028",
    [], {}, (),
    [1, [2]], {"n": 1}, {1: 2}, {"n": float("nan")}, {"__class__": 1}, {"n": {"n": "\udfff"}}, Odd(), Odd, b"bytes",
    {1, 2}, deep(3000), cyclic(), T0, lambda: 1, {"n": 10**400}, {"type": 3, "message": []}, object(),
)  # fmt: skip


class Vandal:
    """Draws verbs whose values are anything at all."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def thing(self) -> Any:
        """Anything."""
        return self.rng.choice(GARBAGE)

    def call(self, session: Session) -> Any:
        """Something like a call."""
        rng = self.rng
        known = [*session._run.settled, *session._run.outstanding]
        name = rng.choice((*NAMES, self.thing()))
        args = rng.choice(({"n": 1}, {"n": self.thing()}, self.thing(), {"confidence": self.thing()}))
        call_id = rng.choice((f"v{rng.randrange(10**6)}", "", self.thing(), *known[-2:]))
        return rng.choice((ToolCall(name, args, call_id), ToolCall(name, args, call_id), self.thing()))

    def outcome(self) -> Any:
        """Something like an outcome."""
        kinds = (Succeeded(self.thing()), Failed(self.thing()), Unknown(), Cancelled(), self.thing(), Succeeded)
        return self.rng.choice(kinds)

    def moment(self) -> Any:
        """Something like a time."""
        east = timezone(timedelta(hours=14))
        ends = datetime(1, 1, 1, tzinfo=east), datetime(1, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
        common = (None, None, None, T0, datetime(2026, 3, 2))
        return self.rng.choice(ends if self.rng.random() < 0.05 else (*common, self.thing()))

    def do(self, session: Session) -> Any:
        """One verb."""
        rng = self.rng
        ids = [*running(session), *automatic(session), *list(session._run.settled)[-2:], self.thing()]
        asked = [q.approval_id for q in Approvals(session).pending] + [self.thing()]
        match rng.randrange(9):
            case 0 | 1:
                calls = [self.call(session) for _ in range(rng.randint(0, 3))]
                return session.propose(calls, text=rng.choice(("", "x", "\ud800", "☃\u2028")), now=self.moment())
            case 2:
                return session.propose(rng.choice(([], [self.thing()], ())), text="hm", usage=None)
            case 3 | 4:
                return session.observe(rng.choice(ids), self.outcome(), self.moment())
            case 5:
                return session.tick(rng.choice((T0 + timedelta(seconds=rng.randrange(60)), self.thing())))
            case 6:
                return session.claim(confidence=self.thing())
            case 7:
                verb = rng.choice(("approve", "reject", "did_not_happen", "happened"))
                return getattr(Approvals(session), verb)(rng.choice(asked), by=rng.choice(("lead", "", "\ud800")))
            case _:
                return session.decide(self.call(session))


@pytest.mark.slow
def test_garbage_is_a_host_error_or_a_verdict_and_never_anything_else() -> None:
    """No value raises anything but `HostError`, none is left half done, and the trace still reads back."""
    count = seen("garbage")
    for seed in range(SEEDS):
        machine = machine_of("varied", seed)
        if machine is None:
            continue
        rng = random.Random(seed)
        session = begin(machine)
        host, vandal = Host(rng), Vandal(rng)
        for verb in verbs(session, host, 30):
            if rng.random() < 0.3:
                play(session, verb)
                continue
            before = len(session.records)
            try:
                vandal.do(session)
                count["taken"] += 1
            except HostError:
                count["refused"] += 1
                assert len(session.records) == before, seed
            except Exception as error:
                raise AssertionError(f"varied {seed}: {type(error).__name__} {error}") from error
        verify("".join(lines(session.records)))
        json.dumps(session.snapshot.to_json()).encode()
        Session.restore(machine, session.snapshot.to_json())
        assert machine.definition is not None
        Audit(machine.definition).read(session.records)
        tally(count, session.records)
    assert min(count["taken"], count["refused"]) > 1_000


@pytest.mark.slow
def test_no_state_is_a_trap_for_a_host_that_goes_on() -> None:
    """Wherever a run has got to, a host that settles, answers and lets time pass ends it within its turns."""
    count = seen("no trap")
    for seed in range(SEEDS):
        for flavour in ("varied", "plain"):
            machine = machine_of(flavour, seed)
            if machine is None or machine.definition is None or machine.definition.max_iterations > 100:
                continue
            session = begin(machine)
            host = Host(random.Random(seed), waste=0.15)
            for verb in verbs(session, host, 15):
                play(session, verb)
            turns = 0
            while session.outcome is None and turns <= machine.definition.max_iterations:
                turns += go_on(session, host)
            assert session.outcome is not None, (flavour, seed, session.state, session.waiting)
            count[f"ended as {session.outcome_class}"] += 1
            tally(count, session.records)
    assert count["runs"] > 500


def go_on(session: Session, host: Host) -> int:
    """Settle what is open, let the next timer fire, and take a turn."""
    for _ in range(200):
        calls = [*running(session), *automatic(session)]
        if not turn_is_open(session) and not running(session):
            break
        if calls:
            session.observe(calls[0], Succeeded({"n": 1, "ok": True}))
            continue
        question = Approvals(session).pending[0]
        if question.of == "reconcile":
            play(session, ("happened", question.approval_id, {}, "lead"))
        else:
            play(session, ("approve", question.approval_id, "lead"))
    for call_id in automatic(session):
        session.observe(call_id, Succeeded({"n": 1, "ok": True}))
    for question in Approvals(session).pending[:1]:
        play(session, ("approve", question.approval_id, "lead"))
    if session._run.timers and host.rng.random() < 0.3:
        session.tick(min(timer.due for timer in session._run.timers))
    if session.outcome is None and not turn_is_open(session):
        session.propose(host.calls(session, 1) if host.rng.random() < 0.5 else ())
        return 1
    return 0


# --- threads ---------------------------------------------------------------------------------------------------------

THREADS = 8
ROUNDS = 60


def once_only(fast: bool) -> Machine:
    """Every step has one tool that may run once; with `fast` the steps only count."""
    steps: list[dict[str, Any]] = [
        {"id": f"s{i}", "description": "Once", "expected_tools": [{"tool": f"x{i}", "times": 1}]} for i in range(ROUNDS)
    ]
    if not fast:
        for step in steps[::3]:
            step["max_tool_calls"] = 3
    limits = {"max_iterations": 100_000, "max_refusals": 100_000}
    return load({"id": "threads", "name": "Threads", "steps": steps} | limits)


class Crowd:
    """Threads that all work on one session, and what they saw."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.allowed: list[tuple[str, str]] = []
        self.faults: list[BaseException] = []
        self.looks: Counter[str] = Counter()

    def work(self, number: int) -> None:
        """Propose what is next, observe what was allowed, and look at everything meanwhile."""
        rng, session, tries = random.Random(number), self.session, 0
        try:
            while session.outcome is None:
                tries += 1
                tool = session.state.replace("s", "x", 1)
                try:
                    [verdict] = session.propose([ToolCall(tool, {}, f"{number}.{tries}")])
                except HostError:
                    self.looks["turn open"] += 1
                else:
                    if isinstance(verdict, Allow):
                        self.allowed.append((tool, verdict.call_id))
                        self.look(rng)
                        session.observe(verdict.call_id, Succeeded({"by": number}))
                if rng.random() < 0.2:
                    self.look(rng)
        except BaseException as fault:
            self.faults.append(fault)

    def look(self, rng: random.Random) -> None:
        """Read something."""
        name = rng.choice(("legal", "snapshot", "records", "decide", "waiting", "none", "none"))
        self.looks[name] += 1
        match name:
            case "legal":
                self.session.legal()
            case "snapshot":
                self.session.snapshot.to_json()
            case "records":
                assert self.session.records
            case "decide":
                with suppress(HostError):
                    self.session.decide(ToolCall("nobody"))
            case "waiting":
                assert isinstance(self.session.waiting, tuple)


@pytest.mark.slow
@pytest.mark.parametrize("fast", [True, False])
def test_eight_threads_run_nothing_twice_and_lose_nothing(fast: bool) -> None:
    """Whatever eight threads do to one session at once, each tool runs once, each record is there, all come back."""
    count = seen(f"threads, {'fast' if fast else 'mixed'} steps")
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            session = Session(once_only(fast))
            crowd = Crowd(session)
            threads = [threading.Thread(target=crowd.work, args=(n,), daemon=True) for n in range(THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            assert not any(thread.is_alive() for thread in threads), f"stuck in {session.state}"
            assert crowd.faults == []
            assert Counter(tool for tool, _ in crowd.allowed) == {f"x{i}": 1 for i in range(ROUNDS)}
            found = verify("".join(lines(session.records)))
            assert [r["tool"] for r in found if r["kind"] == "settled"] == [f"x{i}" for i in range(ROUNDS)]
            assert {r["call_id"] for r in found if r.get("verdict") == "allow"} == {c for _, c in crowd.allowed}
            assert session.outcome == "success"
            assert session.machine.definition is not None
            Audit(session.machine.definition).read(session.records)
            count.update(crowd.looks)
            tally(count, session.records)
    finally:
        sys.setswitchinterval(interval)
    assert count["turn open"] + count["verdict deny"] > 100


def test_only_guideway_errors_are_raised_on_purpose() -> None:
    """`HostError` is one of the package's own, so that a host can tell its mistake from a fault."""
    assert issubclass(HostError, GuidewayError)

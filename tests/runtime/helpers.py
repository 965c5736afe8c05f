"""Small builders for the tests of the session, and an audit that holds whatever a test does."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import FrameType
from typing import Any

import guideway
from guideway import Allow, Approvals, Deny, Failed, HostError, Machine, Session, Succeeded, ToolCall
from guideway.runtime.records import lines, verify
from guideway.runtime.verdicts import Ask, Progress, RunCall, Verdict, Wait

T0 = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""A Monday morning, when every timed test begins."""


def at(seconds: float) -> datetime:
    """So many seconds after the start."""
    return T0 + timedelta(seconds=seconds)


def step(id: str, *tools: Any, **more: Any) -> dict[str, Any]:
    """One step: its id, its expected tools, and whatever else is given (`next_` and the like lose their underscore)."""
    written: dict[str, Any] = {"id": id, "description": f"Do {id}."}
    if tools:
        written["expected_tools"] = list(tools)
    return written | {key.removesuffix("_"): value for key, value in more.items()}


def book(*steps: Mapping[str, Any], **more: Any) -> Machine:
    """A compiled playbook of these steps."""
    return guideway.load({"id": "p", "name": "P", "steps": list(steps)} | more, flow=False)


def start(machine: Machine, timed: bool = False, **more: Any) -> Session:
    """A session at `T0` where it keeps time."""
    return Session(machine, now=T0, **more) if timed else Session(machine, **more)


def call(name: str, call_id: str, **args: Any) -> ToolCall:
    """A call with an id."""
    return ToolCall(name, args, call_id=call_id)


_numbers = iter(range(10**9))


def propose(session: Session, name: str, now: datetime | None = None, **args: Any) -> Verdict:
    """Propose one call under a fresh id, as a turn of its own."""
    [verdict] = session.propose([ToolCall(name, args, call_id=f"n{next(_numbers)}")], now=now)
    return verdict


def allowed(session: Session, name: str, now: datetime | None = None, **args: Any) -> str:
    """Propose one call that must be admitted; gives its id."""
    verdict = propose(session, name, now, **args)
    assert isinstance(verdict, Allow), verdict
    return verdict.call_id


def denied(session: Session, name: str, now: datetime | None = None, **args: Any) -> Deny:
    """Propose one call that must be refused."""
    verdict = propose(session, name, now, **args)
    assert isinstance(verdict, Deny), verdict
    return verdict


def ok(session: Session, name: str, result: Any = None, **args: Any) -> Progress:
    """One call, admitted and successful."""
    return session.observe(allowed(session, name, **args), Succeeded(result))


def error(session: Session, name: str, what: Any = "broken", **args: Any) -> Progress:
    """One call, admitted and failed."""
    return session.observe(allowed(session, name, **args), Failed(what))


def say(session: Session, text: str = "I am done.", now: datetime | None = None) -> None:
    """A text-only turn."""
    session.propose([], text=text, now=now)


def running(session: Session) -> list[RunCall]:
    """The calls the runtime asks the host to make."""
    return [command for command in session.commands if isinstance(command, RunCall)]


def command(session: Session) -> RunCall:
    """The one call the runtime asks for."""
    [only] = running(session)
    return only


def waits(session: Session) -> list[Wait]:
    """The times the host must wait for."""
    return [command for command in session.commands if isinstance(command, Wait)]


def asks(session: Session) -> list[Ask]:
    """The questions the host must show to people."""
    return [command for command in session.commands if isinstance(command, Ask)]


def answer(session: Session, result: Any = None) -> Progress:
    """The runtime's one call succeeds."""
    return session.observe(command(session).call_id, Succeeded(result))


def asked(session: Session) -> str:
    """The id of the one open question."""
    [question] = Approvals(session).pending
    return question.approval_id


def trace(session: Session) -> list[dict[str, Any]]:
    """The record of the run as JSON; its hash chain must verify."""
    return verify("".join(lines(session.records)))


def audit(session: Session) -> Session:
    """
    What must hold at every moment: the record leaves the process, the snapshot comes back the same.

    Gives the restored session.
    """
    trace(session)
    before = session.snapshot.to_json()
    again = Session.restore(session.machine, json.loads(json.dumps(before)))
    assert again.snapshot.to_json() == before
    assert again.outcome == session.outcome
    assert again.state == session.state
    assert again.commands == session.commands
    assert again.legal() == session.legal()
    return again


@contextmanager
def unchanged(session: Session) -> Iterator[None]:
    """Whatever happens inside leaves record and snapshot as they were."""
    before = session.snapshot.to_json(), session.records, list(session.commands)
    yield
    assert (session.snapshot.to_json(), session.records, list(session.commands)) == before


@contextmanager
def refused(session: Session, *words: str) -> Iterator[None]:
    """The host's mistake: `HostError` whose message holds the words, and nothing has changed."""
    with unchanged(session):
        try:
            yield
        except HostError as error:
            assert all(word in str(error) for word in words), str(error)
        else:
            raise AssertionError("no HostError was raised")


class HangError(AssertionError):
    """The engine did not come to an end."""


@contextmanager
def ends() -> Iterator[None]:
    """Whatever happens inside comes to an end; without this a livelock would hang the suite."""

    def ring(signum: int, frame: FrameType | None) -> None:
        raise HangError("the engine goes round in a circle")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(5)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)

"""The process that drives a run takes what people in other processes have said (S29, S30)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from guideway.runtime.approvals import Approvals
from guideway.runtime.session import Session
from guideway.runtime.verdicts import Progress
from guideway.statemachine.errors import HostError

from .messages import opened
from .recorder import Recorder
from .store import Message


@dataclass(frozen=True, slots=True)
class Delivered:
    """One message that was taken: whether it counted, else why not, and what it moved."""

    verb: str
    by: str
    accepted: bool
    reason: str = ""
    progress: Progress | None = None


def deliver(session: Session, key: bytes | None = None, *, now: datetime | None = None) -> list[Delivered]:
    """
    Carry out the messages that have come for the run since the last time, in order, each once.

    What is forged, or does not count, is refused, and the refusal recorded.  The entry of what was carried out names
    its message, so that a crash between the two neither loses nor doubles it.  `key` is that of the run, unless another
    is given: a run that is kept with a key takes no unsigned message.

    Raises:
        HostError: the session is not kept in a journal.
    """
    recorder = session._recorder
    if not isinstance(recorder, Recorder):
        raise HostError("this session is kept in no journal, so nobody can leave messages for it")
    signed = recorder.key if key is None else key
    return [one(session, recorder, message, signed, now) for message in recorder.new_messages()]


def one(session: Session, recorder: Recorder, message: Message, key: bytes | None, now: datetime | None) -> Delivered:
    """Carry out one message."""
    found = opened(message.text, recorder.run, key)
    if isinstance(found, str):
        return refused(session, recorder, message, "", "", found, now)
    if found["id"] in recorder.ids:
        return refused(session, recorder, message, found["verb"], "", "it was carried out before", now)
    try:
        with recorder.carrying_out(message.number, found["id"]):
            return done(session, found["verb"], found["data"], now)
    except HostError as error:
        return refused(session, recorder, message, found["verb"], str(found["data"].get("by", "")), str(error), now)


def done(session: Session, verb: str, data: dict[str, Any], now: datetime | None) -> Delivered:
    """What it says, through the verb of that name."""
    if verb == "signal":
        return Delivered(verb, "", True, progress=session.signal(data.get("name", ""), data.get("data"), now))
    try:
        decided = getattr(Approvals(session), verb)(**data, now=now)
    except TypeError as error:
        raise HostError(f"the message is incomplete: {error}") from None
    return Delivered(verb, str(data.get("by", "")), decided.accepted, decided.reason, decided.progress)


def refused(
    session: Session, recorder: Recorder, message: Message, verb: str, by: str, why: str, now: datetime | None
) -> Delivered:  # fmt: skip
    """Record that a message did not count."""
    with recorder.carrying_out(message.number, None):
        session.note("message_refused", {"number": message.number, "verb": verb, "by": by, "why": why}, now)
    return Delivered(verb, by, False, why)

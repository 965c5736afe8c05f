"""What a run hears from outside: the user of a conversation, signals, the host's predicates, the time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from guideway.runtime.clocks import Clock, LeapingClock, StillClock, WallClock
from guideway.runtime.signals import GivenSignals, Signal
from guideway.runtime.toolbox import load_functions
from guideway.runtime.users import ScriptedUser, User
from guideway.statemachine.canonical import read
from guideway.statemachine.definition import Definition
from guideway.statemachine.errors import HostError

from .loading import file_of
from .status import MisuseError
from .streams import is_terminal

Predicates = dict[str, Callable[[Mapping[str, Any]], bool]]


@dataclass(frozen=True, slots=True)
class Others:
    """The options that say who and what is outside, as they were given."""

    user: str = "ask"
    signal: Sequence[str] = ()
    predicates: str | None = None
    at: str | None = None


def clock_of(at: str | None, *, leaps: bool) -> Clock:
    """
    The clock of a run: one that begins `at` a time and moves with the waits alone, else the real one.

    Raises:
        MisuseError: naming `--at`.

    >>> clock_of("2026-03-03T09:00:00+00:00", leaps=False).now().hour
    9
    """
    if at is None:
        return LeapingClock() if leaps else WallClock()
    try:
        start = datetime.fromisoformat(at)
    except ValueError:
        raise MisuseError(f"--at: {at} is no time; write it as 2026-03-03T09:00:00Z") from None
    if start.tzinfo is None or not 1970 <= start.year <= 9000:
        raise MisuseError(f"--at: {at} must name its time zone, as 2026-03-03T09:00:00Z does, and lie in 1970 or later")
    return StillClock(start.astimezone(UTC))


def user_of(given: str) -> User | None:
    """
    Who answers the agent in a conversation; None: whoever sits at the terminal.

    Raises:
        MisuseError: naming `--user`.
    """
    kind, _, file = given.partition(":")
    if given == "ask":
        return None if is_terminal(sys.stdin) and is_terminal(sys.stdout) else User()
    if kind != "scripted" or not file:
        raise MisuseError(f"--user: {given} is neither ask nor scripted:FILE")
    file_of(file, "--user")
    try:
        return ScriptedUser.load(file)
    except HostError as fault:
        raise MisuseError(f"--user: {fault}") from None


def signals_of(definition: Definition, given: Sequence[str]) -> GivenSignals:
    """
    The signals given with `--signal NAME[=JSON]`.

    Raises:
        MisuseError: nobody waits for one of that name, or what comes with it is no JSON.
    """
    return GivenSignals([signal_of(definition, text) for text in given], definition)


def signal_of(definition: Definition, text: str) -> Signal:
    """One signal."""
    name, equals, data = text.partition("=")
    known = sorted(definition.signals)
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(f'`{n}`' for n in known) or 'none'}"
        raise MisuseError(f"--signal: `{definition.id}` waits for no signal `{name}`; {hint}")
    try:
        return Signal(name, read(data) if equals else None)
    except ValueError as fault:
        raise MisuseError(
            f"--signal: what comes with `{name}` must be JSON, and {data or 'nothing'} is not ({fault})"
        ) from None


def predicates_of(definition: Definition, given: str | None) -> Predicates:
    """
    The predicates of the host, none missing that the playbook or one it calls asks.

    Raises:
        MisuseError: naming `--predicates`.
    """
    try:
        found: Predicates = dict(load_functions(given, "PREDICATES")) if given is not None else {}
    except HostError as fault:
        raise MisuseError(f"--predicates: {fault}") from None
    for part in definition.playbooks:
        for name in part.predicates:
            if name not in found:
                raise MisuseError(f"--predicates: no predicate `{name}` was given, and `{part.id}` asks it")
    return found

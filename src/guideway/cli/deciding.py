"""People decide from a process of their own: what the commands for it share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from guideway.runtime.wording import printable
from guideway.statemachine.canonical import read
from guideway.statemachine.errors import HostError, JournalError

from .journals import Opened, known_run, opened, opens, unopened
from .status import CLEAN, MisuseError
from .streams import write

if TYPE_CHECKING:
    from guideway.runtime.journal import Control
    from guideway.runtime.journal.standing import Asked


@contextmanager
def desk(journal: str, key: str | None, run: str) -> Iterator[tuple[Control, Opened]]:
    """
    Where one decides on a run.

    Raises:
        MisuseError: what is said cannot count.
    """
    from guideway.runtime.journal import Control

    with opened(journal, key) as found:
        known_run(found, run, by_key=False)
        try:
            yield Control(found.journal, found.key), found
        except HostError as fault:
            raise MisuseError(str(fault)) from None


def decide(
    journal: str, key: str | None, run: str, asked: str | None, by: str | None, verb: str,
    say: Callable[[Control, str, str], None], attempt: dict[str, Any],
) -> int:  # fmt: skip
    """
    Post one decision, or list what is asked.

    `attempt` is what is said, for the record, by whoever has not got the key.
    """
    with desk(journal, key, run) as (control, found):
        questions = with_key(found, control, run, verb, {"approval_id": asked or "", "by": by or "", **attempt})
        if asked is None:
            return listed(questions, control.standing(run).running)
        if not by:
            raise MisuseError("--by: a decision names the person who makes it")
        about = named(asked, questions)
        say(control, about, by)
        write(f"{printable(verb)} of {printable(about)!r} by {printable(by)} is on its way to run {printable(run)}\n")
        write(f"the process that drives the run carries it out; if none does:  guideway resume {printable(run)} …\n")
    return CLEAN


def with_key(found: Opened, control: Control, run: str, verb: str, attempt: dict[str, Any]) -> list[Asked]:
    """
    What is asked in a run; whoever has not got its key is refused, and the run hears of the attempt.

    Raises:
        MisuseError: the key is missing, or another.
    """
    try:
        return control.pending(run)
    except JournalError:
        if opens(found, run):
            raise
        from guideway.runtime.journal.messages import written

        found.journal.post(run, written(run, verb, attempt, None))
        raise MisuseError(f"--key: {unopened(found, run)}; the run hears of this attempt") from None


def listed(questions: list[Asked], running: Mapping[str, str]) -> int:
    """Show what is asked now; of calls under way nobody asks before the run is resumed."""
    for question in questions:
        write("\n".join(shown(question)) + "\n")
    if not questions:
        write("nothing is asked\n")
        if running:
            calls = ", ".join(f"{printable(tool)} ({printable(call_id)})" for call_id, tool in running.items())
            write(f"under way: {calls}; if no process drives the run, resume it, and what nobody knows is asked then\n")
    return CLEAN


def shown(question: Asked) -> Iterator[str]:
    """One question, as a person reads it before deciding."""
    yield f"{printable(question.approval_id)}: {printable(question.ask, 2000)}"
    if question.tool is not None:
        yield f"  {printable(question.tool)}"
        for name, value in dict(question.args or {}).items():
            yield f"    {printable(name)} = {printable(json.dumps(value, ensure_ascii=False), 10_000)}"
    whom = ", ".join(map(printable, question.approvers)) or "anybody"
    said = f"; said yes: {', '.join(map(printable, question.said))}" if question.said else ""
    yield f"  may {'answer' if question.of == 'ask' else 'decide'}: {whom}{said}"


def named(asked: str, questions: list[Asked]) -> str:
    """
    The question that is meant: by its id, or by its step where that asks once.

    >>> from guideway.runtime.journal.standing import Asked
    >>> named("contain", [Asked("call c1", "call", "contain", "Isolate it?")])
    'call c1'
    """
    if any(question.approval_id == asked for question in questions):
        return asked
    there = [question.approval_id for question in questions if question.step == asked]
    return there[0] if len(there) == 1 else asked


def json_of(text: str, argument: str) -> Any:
    """
    A value.

    Raises:
        MisuseError: it is no JSON.
    """
    try:
        return read(text)
    except ValueError as fault:
        raise MisuseError(f"{argument}: {text or 'nothing'} is no JSON ({fault})") from None


def object_of(text: str, argument: str) -> dict[str, Any]:
    """
    A JSON object.

    Raises:
        MisuseError: it is none.
    """
    value = json_of(text, argument)
    if not isinstance(value, dict):
        raise MisuseError(f"{argument}: {text} is no JSON object")
    return value

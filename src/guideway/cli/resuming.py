"""Going on with a run out of its journal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guideway.runtime.agents import Agent
from guideway.runtime.records import Record
from guideway.runtime.redact import Redactor
from guideway.runtime.scripted import ScriptedAgent
from guideway.statemachine.definition import Definition
from guideway.statemachine.errors import HostError
from guideway.statemachine.machine import Machine

from .journals import Opened, keep_from_tools, known_run, opened
from .means import Means, Request
from .past import entries_of, records_of
from .runs import Going, carried, check
from .status import MisuseError


def carry_on(definition: Definition, request: Request) -> int:
    """
    Resume the run that is named, and drive it on.

    Raises:
        MisuseError: naming the option.
        JournalError: the journal is not what was written.
    """
    from guideway.runtime.journal import resume

    check(request)
    secret, keeping = keep_from_tools(), request.keeping
    run = keeping.run_id or ""
    with opened(keeping.journal or "", keeping.key, secret=secret) as found:
        began, past = past_of(found, known_run(found, run))
        check_guards(past, run)
        means = Means.of(definition, request, kept_inputs(began))
        given = {name: value for name, value in means.values.items() if name not in kept_inputs(began)}
        try:
            session = resume(
                found.journal, run, Machine.of(definition), inputs=given, now=means.clock.now(),
                predicates=means.predicates, key=found.key,
            )  # fmt: skip
        except HostError as fault:
            raise MisuseError(whose(str(fault), Redactor(definition, means.values))) from None
        go_on_after(means.agent, past)
        return carried(Going(definition, request, means, session, run, found, past))


def past_of(found: Opened, run: str) -> tuple[dict[str, Any], Sequence[Record]]:
    """What the run was started with, and all that happened in it."""
    began, past = dict[str, Any](), list[Record]()
    for entry in entries_of(found, run):
        began = began or dict(entry.body)
        past += records_of(entry)
    return began, past


def check_guards(past: Sequence[Record], run: str) -> None:
    """
    A run that a program began with hooks, conditions or limits of its own is not gone on with without them.

    Raises:
        MisuseError: it is such a run.
    """
    from guideway.runtime.agent.keeping import NOTE, guarded

    held = guarded(record[3] for record in past if record[0] == "noted" and record[2] == NOTE)
    if held:
        raise MisuseError(
            f"RUN: {run} was begun by a program with {', '.join(held)}, which would not hold here; "
            f"go on with it there: Agent(…, journal=…).recover({run!r})"
        )


def kept_inputs(began: dict[str, Any]) -> dict[str, Any]:
    """The inputs that the journal holds whole."""
    from guideway.runtime.journal.resuming import given_again

    return given_again(began, {})


def whose(fault: str, redactor: Redactor) -> str:
    """Which argument is at fault."""
    said = redactor.hide(fault)
    return f"{'PLAYBOOK' if 'version of' in fault else '--input'}: {said.replace(', inputs=…', ' with --input')}"


def go_on_after(agent: Agent | None, past: Sequence[Record]) -> None:
    """A script is not played from its beginning again."""
    if isinstance(agent, ScriptedAgent):
        agent.skip(sum(record[0] == "turn" for record in past))

"""`guideway replay`."""

from __future__ import annotations

from typing import Annotated

import typer

from guideway.runtime.redact import Redactor
from guideway.statemachine.definition import Definition
from guideway.statemachine.errors import HostError
from guideway.statemachine.machine import Machine

from . import options
from .inputs import inputs_of
from .journals import known_run, opened
from .loading import definition_of, folder_of, skills_of
from .outside import Predicates
from .resuming import kept_inputs, past_of, whose
from .status import CLEAN, MisuseError
from .streams import write


def command(
    run: options.Run,
    playbook: options.Playbook,
    journal: options.Journal,
    key: options.Key = None,
    input: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="A sensitive input, again; may be repeated.")
    ] = None,
    inputs: Annotated[str | None, typer.Option(metavar="FILE", help="Sensitive inputs, as one JSON object.")] = None,
    skills: options.Skills = None,
    root: options.Root = None,
) -> int:
    """Carry a run out once more from its journal, and hold what it decides against what it decided.

    Nothing is run, nobody is asked, and nothing is written. Exit status: 0 it went the same way, 1 it did not (the
    first difference is named), 2 misuse.

    Example: guideway replay run-1 triage.yaml --journal runs.db
    """
    from guideway.runtime.journal import replay

    definition = definition_of(playbook, skills_of(skills), root=folder_of(root))
    with opened(journal, key) as found:
        began, _ = past_of(found, known_run(found, run))
        kept = kept_inputs(began)
        values = inputs_of(definition, input or [], inputs, kept)
        given = {name: value for name, value in values.items() if name not in kept}
        try:
            result = replay(
                found.journal, run, Machine.of(definition), inputs=given, predicates=unasked(definition), key=found.key
            )
        except HostError as fault:
            raise MisuseError(whose(str(fault), Redactor(definition, values))) from None
    trusted = f", {result.trusted} of another version taken on trust" if result.trusted else ""
    made = f"{counted(result.events, 'event')} made the same {counted(result.records, 'record')}{trusted}"
    write(f"{result.run}: {made}; {result.outcome or 'not ended'}\n")
    return CLEAN


def unasked(definition: Definition) -> Predicates:
    """What predicates answered is in the journal; none of these is called."""
    return {name: lambda names: False for part in definition.playbooks for name in part.predicates}


def counted(number: int, what: str) -> str:
    """
    A number of things.

    >>> counted(1, "event"), counted(2, "event")
    ('1 event', '2 events')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"

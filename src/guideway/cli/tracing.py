"""`guideway trace`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated

import typer

from guideway.runtime.narrate import Line
from guideway.runtime.narrator import Narrator
from guideway.runtime.records import Record, lines
from guideway.runtime.redact import Redactor
from guideway.statemachine.definition import Definition, Input, State, StateKind
from guideway.statemachine.steps import Step

from . import options
from .journals import known_run, opened
from .live import text_of
from .loading import definition_of, folder_of, skills_of
from .past import entries_of, past_of, records_of, refusals
from .status import CLEAN, MisuseError
from .streams import write


def command(
    run: options.Run,
    journal: options.Journal,
    playbook: Annotated[
        str | None, typer.Argument(metavar="[PLAYBOOK]", help="Its playbook, for descriptions and reasons.")
    ] = None,
    key: options.Key = None,
    as_json: Annotated[bool, typer.Option("--json", help="The records as JSON lines, as of run --trace.")] = False,
    skills: options.Skills = None,
    root: options.Root = None,
) -> int:
    """Tell a run from its journal, line by line, as run told it.

    With the playbook steps come with their descriptions and branches with their reasons. What is sensitive is in no
    journal. Exit status: 0 told, 1 the journal is not what was written, 2 misuse.

    Example: guideway trace run-1 triage.yaml --journal runs.db
    """
    with opened(journal, key) as found:
        records = past_of(found, known_run(found, run))
        if as_json:
            for line in lines(records):
                write(line)
            return CLEAN
        definition = stand_in(records)
        if playbook is not None:
            definition = fitting(definition_of(playbook, skills_of(skills), root=folder_of(root)), records, run)
        narrator = Narrator(definition, Redactor(definition, {}), tell)
        for entry in entries_of(found, run):
            narrator.happened(records_of(entry))
            for refusal in refusals(entry):
                tell(refusal)
    return CLEAN


def tell(line: Line) -> None:
    """Write a line."""
    write(text_of(line) + "\n")


def fitting(definition: Definition, records: Sequence[Record], run: str) -> Definition:
    """The playbook, if it is that of the run."""
    digest = next((record[3] for record in records if record[0] == "started"), "")
    if definition.digest != digest:
        raise MisuseError(
            f"PLAYBOOK: run {run} was started with another version (digest {digest[:12]}, and this one is "
            f"{definition.digest[:12]}); leave it out, or give that one"
        )
    return definition


BETWEEN = (".entry", ".join", ".failed", ".approval")
"""Endings of states that belong to a step and are not it."""


def stand_in(records: Sequence[Record]) -> Definition:
    """What the records alone tell of a playbook: the names of its states."""
    began = next(record for record in records if record[0] == "started")
    states = {name: state_of(name, name in ends(records)) for name in names(records)}
    inputs = {name: Input(name) for name in given(records)}
    inner = Definition(began[2], began[2], began[6], states, {}, inputs=inputs)
    callees = {record[2]: inner for record in records if record[0] == "called"}
    return replace(inner, callees=callees)


def given(records: Iterable[Record]) -> Iterator[str]:
    """The names of all inputs."""
    for kind, _, *values in records:
        if kind in ("started", "called"):
            yield from (values[5] if kind == "started" else values[3]) or {}


def names(records: Iterable[Record]) -> set[str]:
    """All states that are named."""
    found: set[str] = set()
    for kind, _, *values in records:
        if kind == "started":
            found.add(values[4])
        elif kind == "moved":
            found |= {values[0], values[2]}
        elif kind == "called":
            found.add(values[2])
    return found


def ends(records: Iterable[Record]) -> set[str]:
    """States in which the run, or a playbook it called, has ended."""
    found: set[str] = set()
    for kind, _, *values in records:
        if kind in ("ending", "ended"):
            found.add(values[0])
        elif kind == "returned":
            found.add(values[1])
    return found


def state_of(name: str, is_end: bool) -> State:
    """A state with a step of its own name; those between steps say nothing."""
    step = next((name.removesuffix(ending) for ending in BETWEEN if name.endswith(ending)), "")
    if is_end:
        return State(name, StateKind.END)
    return State(name, StateKind.ROUTER if step else StateKind.STEP, step=Step(step or name))

"""`guideway compile`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from guideway.statemachine.span import escaped

from . import options
from .loading import ARTIFACT, STDIN, definition_of, folder_of, skills_of, write_file
from .status import CLEAN, MisuseError
from .streams import write


def command(
    playbook: Annotated[str, typer.Argument(metavar="PLAYBOOK", help="A playbook, or - for standard input.")],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where the machine goes.")
    ] = None,
    skills: options.Skills = None,
    root: options.Root = None,
) -> int:
    """Compile a playbook, with those it calls, into a machine that runs without a compiler; print its digest.

    Without -o the machine goes beside the playbook, as NAME.machine.json.
    Exit status: 0 written, 2 misuse or a playbook with errors.

    Example: guideway compile triage.yaml -o triage.machine.json
    """
    from guideway.statemachine.artifact import dump

    target = output or beside(playbook)
    if not target.endswith(ARTIFACT):
        raise MisuseError(f"--output: {target} must end in {ARTIFACT}")
    definition = definition_of(playbook, skills_of(skills), root=folder_of(root))
    write_file(target, "--output", dump(definition))
    write(f"{definition.digest}  {escaped(target)}\n")
    return CLEAN


def beside(playbook: str) -> str:
    """
    The artifact of a playbook.

    >>> beside("a/triage.yaml")
    'a/triage.machine.json'
    """
    if playbook == STDIN:
        raise MisuseError("--output: a playbook from standard input has no name; say where the machine goes")
    if playbook.endswith(ARTIFACT):
        raise MisuseError(f"PLAYBOOK: {playbook} is compiled already")
    path = Path(playbook)
    return str(path.with_name(path.stem + ARTIFACT))

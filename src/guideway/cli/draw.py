"""`guideway draw`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .loading import definition_of, skills_of, text_of, write_file
from .status import CLEAN, MisuseError
from .streams import is_terminal, reported, write

if TYPE_CHECKING:
    from guideway.diagrams.walk import Walk
    from guideway.statemachine.definition import Definition


class Format(StrEnum):
    """How a picture is written."""

    DOT = "dot"
    MERMAID = "mermaid"
    SVG = "svg"
    PNG = "png"
    PDF = "pdf"


TEXTS = (Format.DOT, Format.MERMAID, Format.SVG)
SUFFIXES = {".dot": Format.DOT, ".gv": Format.DOT, ".mmd": Format.MERMAID, ".mermaid": Format.MERMAID,
            ".svg": Format.SVG, ".png": Format.PNG, ".pdf": Format.PDF}  # fmt: skip


def command(
    playbook: options.Playbook,
    output: options.Output = None,
    format: Annotated[Format | None, typer.Option(help="By default that of the suffix, or dot.")] = None,
    trace: Annotated[
        str | None, typer.Option(metavar="FILE", help="The trace of a run, to mark where it has been.")
    ] = None,
    skills: options.Skills = None,
) -> int:
    """Draw the machine of a playbook; without -o to standard output, as DOT.

    Exit status: 0 drawn, 2 misuse or a playbook with errors.

    Example: guideway draw triage.yaml -o triage.svg
    """
    form = format or by_suffix(output, "--output")
    definition = definition_of(playbook, skills_of(skills), strictly=False)
    picture = drawn(definition, walk_of(trace, definition), form)
    if output is not None:
        write_file(output, "--output", picture)
    elif form in TEXTS:
        write(picture.decode())
    elif is_terminal(sys.stdout) or not hasattr(sys.stdout, "buffer"):
        raise MisuseError(f"--output: a picture as {form} is no text; name a file")
    else:
        with reported():
            sys.stdout.buffer.write(picture)
    return CLEAN


def by_suffix(path: str | None, argument: str) -> Format:
    """
    The format that the name of a file asks for.

    Raises:
        MisuseError: it asks for none.

    >>> by_suffix("a/triage.svg", "--output").value, by_suffix(None, "--output").value
    ('svg', 'dot')
    """
    if path is None:
        return Format.DOT
    form = SUFFIXES.get(Path(path).suffix.lower())
    if form is None:
        raise MisuseError(f"{argument}: {path} must end in one of {', '.join(SUFFIXES)}, or --format say what it is")
    return form


def drawn(definition: Definition, walk: Walk | None, form: Format) -> bytes:
    """
    Draw a machine, and a walk over it.

    Raises:
        RenderError: it cannot be drawn.
    """
    from guideway.diagrams.build import picture
    from guideway.diagrams.render import render

    return render(picture(definition, walk), "mmd" if form is Format.MERMAID else form.value)


def walk_of(trace: str | None, definition: Definition) -> Walk | None:
    """
    Read where a run has been.

    Raises:
        MisuseError: the file is no trace, was altered, or is of another playbook.
    """
    if trace is None:
        return None
    from guideway.diagrams.walk import Walk
    from guideway.runtime.records import verify
    from guideway.statemachine.errors import JournalError

    from .loading import file_of

    file_of(trace, "--trace")
    try:
        records = verify(text_of(trace, "--trace"))
    except JournalError as fault:
        raise MisuseError(f"--trace: {trace}: {fault}") from None
    if not records or records[0].get("digest") != definition.digest:
        whose = f"of `{records[0].get('playbook')}`, as it was then" if records else "empty"
        raise MisuseError(f"--trace: {trace} is {whose}, and not of this machine")
    return Walk.from_records(records)

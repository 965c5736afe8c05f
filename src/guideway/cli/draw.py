"""`guideway draw`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .loading import definition_of, file_of, folder_of, skills_of, text_of, write_file
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
    frame: Annotated[
        str | None, typer.Option(metavar="PATH", help="Of the trace, the called playbook to draw, as in enrich/.")
    ] = None,
    skills: options.Skills = None,
    root: options.Root = None,
) -> int:
    """Draw the machine of a playbook; without -o to standard output, as DOT.

    A playbook that another calls has a picture of its own; with --trace and --frame it is drawn as that call went.
    Exit status: 0 drawn, 2 misuse or a playbook with errors.

    Example: guideway draw triage.yaml -o triage.svg
    """
    form = format or by_suffix(output, "--output")
    definition = definition_of(playbook, skills_of(skills), strictly=False, root=folder_of(root))
    records = records_of(trace, definition)
    picture = drawn(part_of(definition, records, frame), walk_of(records, frame), form)
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


def records_of(trace: str | None, definition: Definition) -> list[dict[str, Any]] | None:
    """
    Read the trace of a run.

    Raises:
        MisuseError: the file is no trace, was altered, or is of another playbook.
    """
    if trace is None:
        return None
    from guideway.runtime.records import verify
    from guideway.statemachine.errors import JournalError

    file_of(trace, "--trace")
    try:
        records = verify(text_of(trace, "--trace"))
    except JournalError as fault:
        raise MisuseError(f"--trace: {trace}: {fault}") from None
    if not records or records[0].get("digest") != definition.digest:
        whose = f"of `{records[0].get('playbook')}`, as it was then" if records else "empty"
        raise MisuseError(f"--trace: {trace} is {whose}, and not of this machine")
    return records


def walk_of(records: Sequence[Mapping[str, Any]] | None, frame: str | None) -> Walk | None:
    """Where the run, or one call of a playbook in it, has been."""
    if records is None:
        return None
    from guideway.diagrams.walk import Walk

    return Walk.from_records(records, frame=frame or "")


def part_of(definition: Definition, records: Sequence[Mapping[str, Any]] | None, frame: str | None) -> Definition:
    """
    The playbook that walked a frame.

    Raises:
        MisuseError: there is no such frame, or no trace to look for it.
    """
    if frame is None:
        return definition
    if records is None:
        raise MisuseError("--frame: give the --trace of a run, too; a called playbook is drawn by its own file")
    called = {record["frame"]: record["playbook"] for record in records if record["kind"] == "called"}
    if frame not in called:
        known = f"known: {', '.join(called)}" if called else "none was called"
        raise MisuseError(f"--frame: the run called no playbook at {frame}; {known}")
    return definition.callees[called[frame]]

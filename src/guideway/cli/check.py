"""`guideway check`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, TextIO

import typer

from guideway.statemachine.diagnostic import Diagnostic, Level
from guideway.statemachine.span import escaped

from . import options
from .excerpts import Excerpts, human
from .loading import Texts, findings, folder_of, playbook_files, root_of, skills_of
from .status import CLEAN, FOUND
from .streams import coloured, is_terminal, paint, write


class Format(StrEnum):
    """How findings are written."""

    HUMAN = "human"
    CONCISE = "concise"
    JSON = "json"


def command(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATHS...", help="Playbooks, folders of playbooks, or - for standard input.")
    ],
    format: Annotated[Format, typer.Option(help="How findings are written.")] = Format.HUMAN,
    strict: Annotated[bool, typer.Option("--strict", help="A warning counts as an error.")] = False,
    skills: options.Skills = None,
    root: options.Root = None,
    max_bytes: Annotated[int, typer.Option(min=1, metavar="N", help="Largest source, in bytes.")] = 32_000_000,
    max_values: Annotated[
        int, typer.Option(min=1, metavar="N", help="Most keys and values in one source.")
    ] = 2_000_000,
    max_depth: Annotated[int, typer.Option(min=1, metavar="N", help="Deepest nesting of lists and maps.")] = 60,
) -> int:
    """Say everything that is known to be wrong with playbooks.

    A playbook that another calls is found under its `imports`, beside it, or among PATHS.
    Exit status: 0 clean, 1 an error (with --strict a warning too), 2 misuse.

    Example: guideway check playbooks/ --strict
    """
    from guideway.compiler.library import Library
    from guideway.playbooks.limits import Limits

    texts: Texts = {}
    known, limits = skills_of(skills), Limits(max_bytes, max_values, max_depth)
    roots = roots_of(paths, folder_of(root))
    files = list(roots)
    libraries = {root: Library(files=files, root=root, limits=limits) for root in roots.values()}
    found = [
        finding for file in watched(files) for finding in findings(file, known, texts, limits, libraries[roots[file]])
    ]
    found = list(dict.fromkeys(found))  # a playbook that others call speaks once
    report(found, len(files), format, texts, sys.stdout)
    return FOUND if any(finding.level in fatal(strict) for finding in found) else CLEAN


def roots_of(paths: Sequence[str], root: str | None = None) -> dict[str, str | None]:
    """
    Every playbook under the paths, with the folder out of which none that it calls is read.

    It is `root`, where one is given, else the folder that was named; for a file that was named itself, the one it lies
    in (None).
    """
    roots: dict[str, str | None] = {}
    for path in paths:
        for file in playbook_files([path]):
            roots.setdefault(file, root or (root_of(file) if file == path else path))
    return roots


MANY = 20
"""Files from which on a terminal shows how far the work is."""


def watched(files: Sequence[str]) -> Iterable[str]:
    """The files, under a progress bar where there are many and somebody looks."""
    if len(files) < MANY or not is_terminal(sys.stderr):
        return files
    from rich.console import Console
    from rich.progress import track

    return track(files, "checking", console=Console(stderr=True), transient=True)


def fatal(strict: bool) -> frozenset[Level]:
    """The levels that make the command fail."""
    return frozenset({Level.ERROR, Level.WARNING} if strict else {Level.ERROR})


def report(found: Sequence[Diagnostic], files: int, format: Format, texts: Texts, out: TextIO) -> None:
    """Write the findings and how many there were."""
    count = Counter(finding.level for finding in found)
    if format is Format.JSON:
        levels = {level.value: count[level] for level in Level}
        whole = {"files": files, **levels, "findings": [finding.to_json() for finding in found]}
        write(json.dumps(whole, indent=2) + "\n", out)
        return
    if format is Format.CONCISE:
        for finding in found:
            write(escaped(finding) + "\n", out)
        return
    colour, excerpts = coloured(out), Excerpts(texts)
    for finding in found:
        write(human(finding, excerpts, colour) + "\n\n", out)
    write(paint(summary(count, files), "bold red" if count[Level.ERROR] else "bold", colour) + "\n", out)


def summary(count: Counter[Level], files: int) -> str:
    """
    The last line.

    >>> summary(Counter({Level.ERROR: 1, Level.WARNING: 2}), 3), summary(Counter(), 1)
    ('1 error, 2 warnings in 3 files', 'nothing found in 1 file')
    """
    nouns = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFORMATION: "note"}
    parts = [plural(count[level], noun) for level, noun in nouns.items() if count[level]]
    return f"{', '.join(parts) or 'nothing found'} in {plural(files, 'file')}"


def plural(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number:,} {noun}{'s' * (number != 1)}"

"""Where the rooms meet: from a playbook, in any form, to a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from guideway.compiler import check as check_playbook
from guideway.compiler import compile_playbook
from guideway.playbooks.loader import load_playbook
from guideway.playbooks.models import Playbook
from guideway.statemachine.diagnostic import Diagnostic, Level
from guideway.statemachine.errors import PlaybookError
from guideway.statemachine.machine import Machine

Source = str | Path | Mapping[str, Any] | Playbook
Skills = Mapping[str, Sequence[str]]


def load(source: Source, *, skills: Skills | None = None) -> Machine:
    """
    Read, validate and compile a playbook.

    Args:
        source: a path, a dict, JSON or YAML text (a string with a newline or a leading `{`), or a `Playbook`.
        skills: the tools each skill named by `uses` stands for.

    Raises:
        PlaybookError: with every finding in `diagnostics`.

    >>> load({"id": "t", "name": "T", "steps": []}).definition.initial
    'success'
    """
    playbook = read(source)
    compiled = compile_playbook(playbook, skills=skills)
    if compiled.definition is None:
        errors = [d for d in compiled.diagnostics if d.level is Level.ERROR]
        lines = "\n".join(map(str, errors))
        raise PlaybookError(f"the playbook cannot be used: {len(errors)} error(s)\n{lines}", compiled.diagnostics)
    return Machine.of(compiled.definition)


def check(source: Source, *, skills: Skills | None = None) -> list[Diagnostic]:
    """
    Say everything that is known to be wrong with a playbook, in the order of the page.

    >>> [d.code for d in check({"id": "t", "name": "T", "stepps": []})]
    ['GW020']
    """
    try:
        playbook = read(source)
    except PlaybookError as error:
        return list(error.diagnostics)
    return check_playbook(playbook, skills=skills)


def read(source: Source) -> Playbook:
    """The playbook of a source; one that is a `Playbook` already stays as it is."""
    return source if isinstance(source, Playbook) else load_playbook(source)

"""Where the rooms meet: from a playbook, in any form, to a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from guideway.compiler import check as check_playbook
from guideway.compiler import check_definition, compile_playbook
from guideway.compiler.checking import check_names
from guideway.playbooks.limits import Limits
from guideway.playbooks.loader import PlaybookLoadError, load_error, load_playbook
from guideway.playbooks.models import Playbook
from guideway.playbooks.validate import recheck
from guideway.statemachine.diagnostic import Diagnostic, Level, in_order
from guideway.statemachine.errors import PlaybookError
from guideway.statemachine.machine import Machine

Source = str | Path | Mapping[str, Any] | Playbook
Skills = Mapping[str, Sequence[str]]


def load(source: Source, *, skills: Skills | None = None, limits: Limits | None = None, flow: bool = True) -> Machine:
    """
    Read, validate, compile and check a playbook.

    Args:
        source: a path, a dict, JSON or YAML text (a string with a newline or a leading `{`), or a `Playbook`.
        skills: the tools each skill named by `uses` stands for.
        limits: how much is read (bytes, values, depth).
        flow: look for steps that cannot be reached or never end, too; False leaves that to `check`.

    Raises:
        PlaybookError: with every finding in `diagnostics`.

    >>> load({"id": "t", "name": "T", "steps": []}).definition.initial
    'success'
    """
    playbook = read(source, limits)
    compiled = compile_playbook(playbook, skills=skills)
    found = [*playbook.findings, *compiled.diagnostics]
    if compiled.definition is not None and flow:
        found += check_definition(compiled.definition)
    errors = [d for d in found if d.level is Level.ERROR]
    if compiled.definition is None or errors:
        lines = "\n".join(map(str, errors))
        raise PlaybookError(f"the playbook cannot be used: {len(errors)} error(s)\n{lines}", in_order(found))
    return Machine.of(compiled.definition)


def check(source: Source, *, skills: Skills | None = None, limits: Limits | None = None) -> list[Diagnostic]:
    """
    Say everything that is known to be wrong with a playbook, in the order of the page.

    >>> [d.code for d in check({"id": "t", "name": "T", "stepps": []})]
    ['GW020']
    """
    try:
        playbook = read(source, limits)
    except PlaybookLoadError as error:
        names = check_names(error.document, skills=skills) if error.document is not None else []
        return in_order([*error.diagnostics, *names])
    return in_order([*playbook.findings, *check_playbook(playbook, skills=skills)])


def read(source: Source, limits: Limits | None = None) -> Playbook:
    """
    The playbook of a source.

    Raises:
        PlaybookError: one that was built in Python breaks a rule that a file has to keep, too.
    """
    if not isinstance(source, Playbook):
        return load_playbook(source, limits=limits)
    found = recheck(source) if source.built_by_hand else []
    if any(finding.level is Level.ERROR for finding in found):
        raise load_error(source.file, found)
    return source

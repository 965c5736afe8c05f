"""Where the rooms meet: from a playbook, in any form, to a machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from guideway.compiler import check as check_playbook
from guideway.compiler.checking import check_machines, check_names
from guideway.compiler.library import Library
from guideway.compiler.linking import link
from guideway.playbooks.limits import Limits
from guideway.playbooks.loader import PlaybookLoadError, load_error, load_playbook
from guideway.playbooks.models import Playbook
from guideway.playbooks.validate import recheck
from guideway.statemachine.diagnostic import Diagnostic, Level, in_order
from guideway.statemachine.errors import PlaybookError
from guideway.statemachine.machine import Machine

Source = str | Path | Mapping[str, Any] | Playbook
Skills = Mapping[str, Sequence[str]]


def load(
    source: Source,
    *,
    skills: Skills | None = None,
    limits: Limits | None = None,
    flow: bool = True,
    root: str | Path | None = None,
    library: Iterable[Source] = (),
) -> Machine:
    """
    Read, validate, compile and check a playbook, and those it calls.

    Args:
        source: a path, a dict, JSON or YAML text (a string with a newline or a leading `{`), or a `Playbook`.
        skills: the tools each skill named by `uses` stands for.
        limits: how much is read (bytes, values, depth).
        flow: look for steps that cannot be reached or never end, too; False leaves that to `check`.
        root: the folder out of which no sub-playbook is read, whatever a path or a symbolic link says; by default that
            of the file.
        library: playbooks that may be called by their id, in any form that `source` may have; others are found under
            `imports`, or by their id beside the file.

    Raises:
        PlaybookError: with every finding in `diagnostics`.

    >>> load({"id": "t", "name": "T", "steps": []}).definition.initial
    'success'
    >>> triage = {"id": "triage", "name": "Triage", "steps": [{"id": "first", "playbook": "t"}]}
    >>> list(load(triage, library=[{"id": "t", "name": "T"}]).definition.callees)
    ['t']
    """
    playbook = read(source, limits)
    given = [read(other, limits) for other in library]
    linked = link(playbook, _shelf(given, root, limits), skills=skills)
    found = [*playbook.findings, *linked.diagnostics]
    if linked.definition is not None and flow:
        found += check_machines(linked)
    errors = [d for d in found if d.level is Level.ERROR]
    if linked.definition is None or errors:
        lines = "\n".join(map(str, errors))
        raise PlaybookError(f"the playbook cannot be used: {len(errors)} error(s)\n{lines}", in_order(found))
    return Machine.of(linked.definition)


def check(
    source: Source,
    *,
    skills: Skills | None = None,
    limits: Limits | None = None,
    root: str | Path | None = None,
    library: Iterable[Source] = (),
) -> list[Diagnostic]:
    """
    Say everything that is known to be wrong with a playbook and those it calls, in the order of the page.

    The arguments are those of `load`.

    >>> [d.code for d in check({"id": "t", "name": "T", "stepps": []})]
    ['GW020']
    """
    given: list[Playbook] = []
    found: list[Diagnostic] = []
    for other in library:
        try:
            given.append(read(other, limits))
        except PlaybookLoadError as error:
            found += error.diagnostics
    try:
        playbook = read(source, limits)
    except PlaybookLoadError as error:
        names = check_names(error.document, skills=skills) if error.document is not None else []
        return in_order([*found, *error.diagnostics, *names])
    checked = check_playbook(playbook, skills=skills, library=_shelf(given, root, limits))
    return in_order([*found, *playbook.findings, *checked])


def _shelf(given: Iterable[Playbook], root: str | Path | None, limits: Limits | None) -> Library:
    return Library([(playbook.id, playbook) for playbook in given], root=root, limits=limits)


def read(source: Source, limits: Limits | None = None) -> Playbook:
    """
    The playbook of a source.

    In a dict, `termination` may hold conditions of `guideway.termination`.

    Raises:
        PlaybookError: one that was built in Python breaks a rule that a file has to keep, too.
        HostError: a playbook has no words for a condition.
    """
    if isinstance(source, Mapping) and "termination" in source:
        from guideway.statemachine.termination.listed import written_out  # few playbooks need it

        source = {**source, "termination": written_out(source["termination"])}
    if not isinstance(source, Playbook):
        return load_playbook(source, limits=limits)
    found = recheck(source) if source.built_by_hand else []
    if any(finding.level is Level.ERROR for finding in found):
        raise load_error(source.file, found)
    return source

"""From a document to a playbook: every fault of shape at once, each with its place."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any

from pydantic import ValidationError

from guideway.statemachine.diagnostic import Diagnostic, Level, in_order

from .document import Document
from .explain import explain
from .faults import Fault, Path, value_text
from .grouped import flatten
from .models import Playbook
from .policies import POLICY_KINDS
from .quiet import no_collection
from .reader import read_data
from .rules import rule_faults
from .step_rules import SPEAKING

_FILLED_BY: Mapping[str, tuple[str, ...]] = {
    "GW022": ("parallel", "playbook"),
    "GW023": ("description", "expected_tools", *SPEAKING),
    "GW031": ("call", "steps"),
    "GW035": ("when",),
    "GW036": ("because", "ask", "approvers"),
    "GW043": ("parallel", "steps"),
    "GW044": (*POLICY_KINDS, "duration", "until", "signal"),
    "GW047": ("call",),
}
"""Which keys would answer a finding of `rules` that something is missing."""

MAX_FINDINGS = 1000
"""A text of a million faults is no playbook; past this many the rest are not told one by one."""

TOO_MUCH = "GW008"
"""The finding that there are too many values: to judge those which were read would take as long again."""

_ABSENCES = frozenset({"GW023", "GW031", "GW032", "GW036", "GW039", "GW043", "GW044", "GW047"})
"""Findings that something is missing; where reading stopped early they would be guesses."""


def validate(document: Document) -> tuple[Playbook | None, list[Diagnostic]]:
    """
    Check the shape of a document that was read.

    The playbook is None if there is any error, those of reading included; the findings are in the order of the page,
    those of reading among them.

    >>> from guideway.playbooks.reader import read_text
    >>> text = "id: triage\\nname: Triage\\nsteps:\\n  - {id: look, descripton: Look}\\n"
    >>> playbook, found = validate(read_text(text))
    >>> print(*found, sep="\\n")
    <text>:4:16: error: unknown key `descripton` in a step; did you mean `description`? [GW020]
    """
    root = document.root
    if root is None or any(finding.code == TOO_MUCH for finding in document.diagnostics):
        return None, in_order(document.diagnostics)
    if root.kind != "map":
        said = f"a playbook is a map of keys, not {value_text(root.plain())}"
        fault = Fault("GW041", (), said, "begin with `id: …`, `name: …`, `steps: …`")
        return None, in_order([*document.diagnostics, fault.placed(document)])
    with no_collection():
        return _validated(document)


def _validated(document: Document) -> tuple[Playbook | None, list[Diagnostic]]:
    flat, of_groups = flatten(document)
    data = flat.root.plain() if flat.root else {}
    try:
        playbook, faults = judge(data)
    except UnicodeEncodeError:  # half a surrogate pair, which reading has reported: the models cannot write of it
        playbook, faults = judge(_writable(data))
    told = [fault.placed(flat) for fault in _told(faults, flat.complete)]
    found = [*document.diagnostics, *of_groups, *told]
    usable = playbook is not None and not any(finding.level is Level.ERROR for finding in found)
    if playbook is not None:
        playbook._source.document, playbook._source.findings = flat, tuple(in_order(found))
    return (playbook if usable else None), in_order(found)


def _writable(value: Any) -> Any:
    """The same data, its texts such as can be written down."""
    if isinstance(value, dict):
        return {_writable(key): _writable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_writable(item) for item in value]
    return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace") if isinstance(value, str) else value


def judge(data: dict[str, Any]) -> tuple[Playbook | None, list[Fault]]:
    """Let the models and the rules speak, neither of them without end."""
    try:
        playbook = Playbook.model_validate(data, by_alias=True, by_name=False)
        return playbook, list(islice(rule_faults(data), MAX_FINDINGS + 1))
    except ValidationError as why:
        of_keys = list(explain(why.errors(include_url=False)[: MAX_FINDINGS + 1], data))
    meant = {(fault.path[:-1], fault.meant) for fault in of_keys if fault.meant}
    of_rules = (fault for fault in rule_faults(data) if not _follows(fault, meant))
    return None, [*of_keys, *islice(of_rules, MAX_FINDINGS + 1)]


def _follows(fault: Fault, meant: Collection[tuple[Path, str | None]]) -> bool:
    """What seems to be missing is there, under a misspelt key."""
    wanted = _FILLED_BY.get(fault.code, ())
    return any((owner, key) in meant for key in wanted for owner in (fault.path, fault.path[:-1]))


def _told(faults: list[Fault], complete: bool) -> list[Fault]:
    if not complete:
        faults = [fault for fault in faults if fault.code not in _ABSENCES]
    if len(faults) > MAX_FINDINGS:
        more = f"there are more than {MAX_FINDINGS:,} faults of shape; the others are not listed"
        return [*faults[:MAX_FINDINGS], Fault("GW042", (), more, "repair those listed first")]
    return faults


def recheck(playbook: Playbook) -> list[Diagnostic]:
    """
    Check a playbook that was built in Python by the rules that a file has to keep.

    >>> [str(finding) for finding in recheck(Playbook(id="triage", name="Triage"))]
    []
    """
    return validate(read_data(playbook.model_dump(warnings=False)))[1]

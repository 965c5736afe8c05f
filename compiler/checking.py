"""Everything the compiler can say about one playbook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from guideway.playbooks.document import Document
from guideway.playbooks.models import Playbook
from guideway.playbooks.salvage import salvage, sections
from guideway.statemachine.diagnostic import Diagnostic, in_order

from .falling import falls_into_handler
from .flow import check_definition
from .lower import compile_playbook


def check(playbook: Playbook, *, skills: Mapping[str, Sequence[str]] | None = None) -> list[Diagnostic]:
    """
    Check names, expressions and flow; the findings in the order of the page.

    The flow is looked at only where there is a machine, so a misspelt target is one finding and not also an
    unreachable step.

    >>> from guideway.playbooks.models import PlaybookStep
    >>> steps = [PlaybookStep(id=name, description="Look", expected_tools=["t"], next="a") for name in "ab"]
    >>> [finding.code for finding in check(Playbook(id="p", name="P", steps=steps))]
    ['GW201', 'GW202']
    """
    compiled = compile_playbook(playbook, skills=skills)
    found = compiled.diagnostics + list(falls_into_handler(playbook))
    if compiled.definition is not None:
        found += check_definition(compiled.definition)
    return in_order(found)


NAMES: Mapping[str, tuple[str, ...]] = {
    "GW110": ("outcomes",),
    "GW111": ("outcomes",),
    "GW112": ("tools", "optional_tools", "steps"),
    "GW113": ("inputs",),
    "GW115": ("terms",),
    "GW116": (),
    "GW117": (),
    "GW118": (),
    "GW119": (),
    "GW301": (),
}
"""Findings about names -> the parts of a playbook they look names up in."""


def check_names(document: Document, *, skills: Mapping[str, Sequence[str]] | None = None) -> list[Diagnostic]:
    """
    Look up the names of a playbook that has faults of shape, so that both kinds cost one run.

    What has a fault is left out; a finding that might only be there for that reason is not given.

    >>> from guideway.playbooks.reader import read_text
    >>> text = "id: a\\nname: A\\nsteps: [{id: look, expected_tool: [x], next: fuond}]\\n"
    >>> [finding.code for finding in check_names(read_text(text))]
    ['GW110']
    """
    rest = salvage(document)
    if rest is None:
        return []
    playbook, lost = rest
    gone = sections(lost)
    found = compile_playbook(playbook, skills=skills).diagnostics
    return in_order([f for f in found if f.code in NAMES and gone.isdisjoint(NAMES[f.code])])

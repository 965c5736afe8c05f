"""Everything the compiler can say about a playbook, and about those it calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from guideway.playbooks.document import Document
from guideway.playbooks.models import Playbook
from guideway.playbooks.salvage import salvage, sections
from guideway.statemachine.diagnostic import Diagnostic, in_order

from .evidence import rests_on_claims
from .falling import falls_into_handler
from .flow import check_definition
from .library import Library
from .linking import Linked, link
from .lower import Compiled, compile_playbook


def check(
    playbook: Playbook, *, skills: Mapping[str, Sequence[str]] | None = None, library: Library | None = None
) -> list[Diagnostic]:
    """
    Check names, expressions and flow, of the playbook and of those it calls; the findings in the order of the page.

    The flow is looked at only where there is a machine, so a misspelt target is one finding and not also an
    unreachable step.  `library` finds the playbooks that are called; by default those beside the playbook's own file.

    >>> from guideway.playbooks.models import PlaybookStep
    >>> steps = [PlaybookStep(id=name, description="Look", expected_tools=["t"], next="a") for name in "ab"]
    >>> [finding.code for finding in check(Playbook(id="p", name="P", steps=steps))]
    ['GW201', 'GW202']
    """
    return examine(playbook, skills=skills, library=library).diagnostics


def examine(
    playbook: Playbook, *, skills: Mapping[str, Sequence[str]] | None = None, library: Library | None = None
) -> Compiled:
    """Compile a playbook with those it calls, and check all that `check` does: the machine, and every finding."""
    linked = link(playbook, library, skills=skills)
    found = [*linked.diagnostics, *check_machines(linked)]
    for part, _ in linked.parts:
        found += falls_into_handler(part)
    return Compiled(linked.definition, in_order(found))


def check_machines(linked: Linked) -> list[Diagnostic]:
    """Check what only whole machines can show: their flow, and what leads to what cannot be taken back."""
    found: list[Diagnostic] = []
    for index, (_, definition) in enumerate(linked.parts):
        whole = linked.definition if index == 0 and linked.definition is not None else definition
        if whole is not None:
            found += [*check_definition(whole), *rests_on_claims(whole)]
    return found


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
    "GW501": ("tools", "optional_tools", "steps"),
    "GW502": (),
    "GW503": (),
}
"""Findings about names -> the parts of a playbook they look names up in."""


DECLARING = frozenset({"parallel", "for_each", "ask", "claims", "wait", "steps", "predicates"})
OF_STEPS = frozenset({"GW110", "GW114", "GW116", "GW117", "GW118", "GW119"})
"""Keys of steps that make names known, and the findings that may only be there because such a key was left out."""


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
    sources = frozenset(path[-1] for path in lost) & DECLARING
    return in_order([
        f for f in found
        if f.code in NAMES and gone.isdisjoint(NAMES[f.code]) and not (sources and f.code in OF_STEPS)
    ])  # fmt: skip

"""Everything the compiler can say about one playbook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from guideway.playbooks.models import Playbook
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

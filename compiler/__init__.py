"""
From a validated playbook to a machine, and what can be said about it before it runs.

>>> from guideway.compiler import check
>>> from guideway.playbooks.models import Playbook, PlaybookStep
>>> step = PlaybookStep(id="look", description="Look", expected_tools=["query_siem"], next="sucess")
>>> [(finding.code, finding.help) for finding in check(Playbook(id="triage", name="Triage", steps=[step]))]
[('GW110', 'did you mean `success`? known: `look`, `success`, `failed`, `stopped`, `escalated`, `done`')]
"""

from .catalogue import CATALOGUE
from .checking import check
from .flow import check_definition
from .library import Library
from .linking import Linked, compile_playbook, link
from .lower import Compiled

__all__ = [
    "CATALOGUE",
    "Compiled",
    "Library",
    "Linked",
    "check",
    "check_definition",
    "compile_playbook",
    "link",
]

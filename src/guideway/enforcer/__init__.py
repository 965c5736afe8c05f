"""
The enforcement API of the seed, on top of `Session`.

>>> from guideway.enforcer import PlaybookEnforcer, PlaybookEnforcerHook, PlaybookPlan
"""

from __future__ import annotations

from guideway.playbooks.models import StepStatus

from .enforcer import PlaybookEnforcer
from .hook import PlaybookEnforcerHook, PlaybookSelector
from .plan import PlaybookPlan, StepExecution
from .results import EnforcementResult, EnforcementViolation

__all__ = [
    "EnforcementResult", "EnforcementViolation", "PlaybookEnforcer", "PlaybookEnforcerHook", "PlaybookPlan",
    "PlaybookSelector", "StepExecution", "StepStatus",
]  # fmt: skip

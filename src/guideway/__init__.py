"""
Guideway: playbooks for agents, as state machines that are proved before they run and enforced while they do.

>>> import guideway
>>> machine = guideway.load({"id": "t", "name": "T", "steps": [
...     {"id": "look", "description": "Look it up", "expected_tools": ["query_siem"]},
...     {"id": "contain", "description": "Isolate it", "expected_tools": ["isolate_host"]}]})
>>> session = guideway.Session(machine)
>>> [verdict] = session.propose([guideway.ToolCall("isolate_host", {"host": "ws-7"}, call_id="c1")])
>>> verdict.allowed, verdict.code
(False, 'out_of_sequence')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from guideway.agent import Agent, AgentConfig, AgentLimits, AgentResult
    from guideway.door import check, load
    from guideway.enforcer import (
        EnforcementResult,
        EnforcementViolation,
        PlaybookEnforcer,
        PlaybookEnforcerHook,
        PlaybookPlan,
        StepExecution,
    )
    from guideway.playbooks.limits import Limits
    from guideway.playbooks.loader import PlaybookLoader, PlaybookLoadError, load_playbook
    from guideway.playbooks.models import Playbook, PlaybookStep, StepStatus
    from guideway.runtime.approvals import Approvals, Question
    from guideway.runtime.calls import Cancelled, Failed, Outcome, Substituted, Succeeded, ToolCall, Unknown, Usage
    from guideway.runtime.models.fake import FakeModel, FunctionModel
    from guideway.runtime.models.messages import Model, ModelError, ModelReply, ModelRequest
    from guideway.runtime.models.scripted import ScriptedModel
    from guideway.runtime.models.tools import Tool, ToolError
    from guideway.runtime.session import Session
    from guideway.runtime.snapshot import Snapshot
    from guideway.runtime.verdicts import (
        Allow,
        Ask,
        Cancel,
        Command,
        Decided,
        Defer,
        Deny,
        Illegal,
        LegalCall,
        NeedsApproval,
        Progress,
        RunCall,
        Verdict,
        Wait,
    )
    from guideway.statemachine.definition import Definition
    from guideway.statemachine.diagnostic import Diagnostic, Level
    from guideway.statemachine.errors import GuidewayError, HostError, JournalError, PlaybookError
    from guideway.statemachine.machine import Machine

__version__ = "0.1.0"

_HOMES = {
    "guideway.agent": ("Agent", "AgentConfig", "AgentLimits", "AgentResult"),
    "guideway.door": ("check", "load"),
    "guideway.enforcer": (
        *("EnforcementResult", "EnforcementViolation", "PlaybookEnforcer", "PlaybookEnforcerHook", "PlaybookPlan"),
        "StepExecution",
    ),
    "guideway.playbooks.limits": ("Limits",),
    "guideway.playbooks.loader": ("PlaybookLoadError", "PlaybookLoader", "load_playbook"),
    "guideway.playbooks.models": ("Playbook", "PlaybookStep", "StepStatus"),
    "guideway.runtime.approvals": ("Approvals", "Question"),
    "guideway.runtime.calls": (
        "Cancelled", "Failed", "Outcome", "Substituted", "Succeeded", "ToolCall", "Unknown", "Usage",
    ),
    "guideway.runtime.models.fake": ("FakeModel", "FunctionModel"),
    "guideway.runtime.models.messages": ("Model", "ModelError", "ModelReply", "ModelRequest"),
    "guideway.runtime.models.scripted": ("ScriptedModel",),
    "guideway.runtime.models.tools": ("Tool", "ToolError"),
    "guideway.runtime.session": ("Session",),
    "guideway.runtime.snapshot": ("Snapshot",),
    "guideway.runtime.verdicts": (
        *("Allow", "Ask", "Cancel", "Command", "Decided", "Defer", "Deny", "Illegal", "LegalCall"),
        *("NeedsApproval", "Progress", "RunCall", "Verdict", "Wait"),
    ),
    "guideway.statemachine.definition": ("Definition",),
    "guideway.statemachine.diagnostic": ("Diagnostic", "Level"),
    "guideway.statemachine.errors": ("GuidewayError", "HostError", "JournalError", "PlaybookError"),
    "guideway.statemachine.machine": ("Machine",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Agent", "AgentConfig", "AgentLimits", "AgentResult", "Allow", "Approvals", "Ask", "Cancel", "Cancelled",
    "Command", "Decided", "Defer", "Definition", "Deny", "Diagnostic", "EnforcementResult", "EnforcementViolation",
    "Failed", "FakeModel", "FunctionModel", "GuidewayError", "HostError", "Illegal", "JournalError", "LegalCall",
    "Level", "Limits", "Machine", "Model", "ModelError", "ModelReply", "ModelRequest", "NeedsApproval", "Outcome",
    "Playbook", "PlaybookEnforcer", "PlaybookEnforcerHook", "PlaybookError", "PlaybookLoadError", "PlaybookLoader",
    "PlaybookPlan", "PlaybookStep", "Progress", "Question", "RunCall", "ScriptedModel", "Session", "Snapshot",
    "StepExecution", "StepStatus", "Substituted", "Succeeded", "Tool", "ToolCall", "ToolError", "Unknown", "Usage",
    "Verdict", "Wait", "check", "load", "load_playbook",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `import guideway` itself stays light."""
    if name not in _HOME:
        raise AttributeError(f"module 'guideway' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

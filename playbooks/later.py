"""The constructs of the format that this version knows by name and does not run yet."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from .approvals import ApprovalSpec
from .base import Part
from .models import Playbook, PlaybookStep
from .terminations import TerminationItem
from .tools_spec import ToolSpec

LATER: Mapping[type[Part], frozenset[str]] = {
    Playbook: frozenset({"outputs", "conversation", "imports", "predicates", "policies", "finally"}),
    PlaybookStep: frozenset(
        {
            "parallel",
            "join",
            "for_each",
            "steps",
            "wait",
            "ask",
            "playbook",
            "with",
            "claims",
            "undo",
            "required_probes",
        }
    ),
    ApprovalSpec: frozenset({"when", "count", "except", "timeout"}),
    TerminationItem: frozenset({"signal", "custom"}),
    ToolSpec: frozenset({"undo"}),
}
"""A gate that ignored one of these would be open where the author shut it, so each is an error."""

_COMPANIONS: Mapping[str, frozenset[str]] = {
    "join": frozenset({"parallel"}),
    "with": frozenset({"playbook", "call"}),
    "steps": frozenset({"for_each"}),
}
"""Keys that only complete another one: that one is reported, once."""


def is_later(model: type[Part] | None, key: str) -> bool:
    """Whether the key belongs to a construct that is not supported yet."""
    return model is not None and key in LATER.get(model, ())


def is_companion(key: str, beside: Collection[str]) -> bool:
    """
    Whether the key only completes another one of the same map.

    >>> is_companion("join", {"id", "parallel", "join"}), is_companion("steps", {"steps"})
    (True, False)
    """
    return any(principal in beside for principal in _COMPANIONS.get(key, ()))


def not_yet(key: str, beside: Collection[str] = ()) -> str:
    """What to say of such a key."""
    what = "`repeat` with `steps`" if key == "steps" and "repeat" in beside else f"`{key}`"
    return f"{what} is not supported by this version yet"

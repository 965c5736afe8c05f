"""The playbook that is cut off: every kind of effect, side by side, in a sub-playbook, of an agent, of the runtime."""

from __future__ import annotations

from typing import Any

import guideway
from guideway import Machine

TOOLS: dict[str, Any] = {
    "look": {"effect": "read"}, "whois": {"effect": "read"}, "mark": {"effect": "write", "idempotent": True},
    "ticket": {"effect": "write"}, "page": {"effect": "write"}, "wipe": {"effect": "irreversible"},
    "shred": {"effect": "irreversible"},
}  # fmt: skip
CALLEE: dict[str, Any] = {
    "id": "owner", "name": "Whose is it?", "tools": TOOLS,
    "steps": [{"id": "ask", "call": {"tool": "whois"}}, {"id": "tell", "call": {"tool": "page"}}],
    "outputs": {"owner": "facts.ask.owner"},
}  # fmt: skip
BOOK: dict[str, Any] = {
    "id": "retire", "name": "Retire a host", "tools": TOOLS, "outcomes": {"in_doubt": "escalated"},
    "steps": [
        {"id": "gather", "parallel": {
            "state": {"call": {"tool": "look"}}, "flag": {"call": {"tool": "mark"}},
            "paper": {"call": {"tool": "ticket"}}}},
        {"id": "owner", "playbook": "owner"},
        {"id": "check", "description": "Look once more", "expected_tools": ["look"]},
        {"id": "clear", "description": "Wipe it",
         "expected_tools": [{"tool": "wipe", "approval": {"ask": "Wipe it?", "approvers": ["lead"]}}]},
        {"id": "paper_too", "call": {"tool": "shred"}, "on_unknown": "in_doubt", "next": "success"},
    ],
}  # fmt: skip
ONCE = {"ticket", "page", "wipe", "shred"}
"""Tools that must not run a second time."""


def machine() -> Machine:
    """The playbook, compiled."""
    return guideway.load(BOOK, library=[CALLEE])

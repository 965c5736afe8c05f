"""
What the model is told, word for word.

The briefs lie beside this file; `GUIDEWAY_WRITE=1 pytest tests/agent/test_brief.py` writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import guideway as gw
from guideway.runtime.agent.brief import render_brief
from guideway.runtime.agent.endings import onward

HERE = Path(__file__).parent / "briefs"

REFUND: dict[str, Any] = {
    "id": "refund-desk", "name": "Refund desk", "description": "A chat agent that reads before it writes.",
    "conversation": True,
    "inputs": {"customer_id": "string", "token": {"type": "string", "sensitive": True}},
    "outcomes": {"handed_over": "stopped"},
    "optional_tools": ["search_help", "hand_over"],
    "tools": {
        "issue_refund": {"effect": "irreversible", "where": "args.amount <= 100", "because": "more needs a person",
                         "approval": {"ask": "Refund?", "approvers": ["lead"]}},
        "get_order": {"effect": "read"}, "search_help": {"effect": "read"}, "hand_over": {},
    },
    "steps": [
        {"id": "understand", "description": "Find the order\nand learn what went wrong.",
         "hints": ["Ask for the order number"], "expected_tools": ["get_order"], "claims": {"reason": "string"}},
        {"id": "look_around", "required": False, "description": "Look around", "optional_tools": ["get_order"],
         "max_tool_calls": 2},
        {"id": "refund", "description": "Pay", "expected_tools": [{"tool": "issue_refund", "times": 1}],
         "max_tool_calls": 3},
    ],
    "termination": [
        {"tool_called": "hand_over", "outcome": "handed_over"},
        {"all": [{"text_mention": r"\bESCALATE\b"}, {"confidence_met": 0.9}]},
        {"max_iterations": 40},
    ],
}  # fmt: skip
BOTH: dict[str, Any] = {"id": "both", "name": "Both", "steps": [{"id": "look", "parallel": {
    "log": {"description": "Read the log", "expected_tools": ["read_log"]},
    "think": {"description": "Think", "claims": {"cause": "string"}}}}]}  # fmt: skip
CALLED: dict[str, Any] = {"id": "look", "name": "Look", "inputs": {"host": "string"}, "steps": [
    {"id": "read", "description": "Read it", "expected_tools": [
        {"tool": "read_log", "where": "args.host == inputs.host", "because": "it is that host's log"}]}]}  # fmt: skip
CALLER: dict[str, Any] = {"id": "outer", "name": "Outer", "inputs": {"host": "string"}, "steps": [
    {"id": "ask", "playbook": "look", "with": {"host": "{{ inputs.host }}"}}]}  # fmt: skip


def refund(*calls: gw.ToolCall) -> gw.Session:
    """A refund desk after these calls."""
    session = gw.Session(gw.load(REFUND), inputs={"customer_id": "c-1", "token": "hunter2"})
    for call in calls:
        [verdict] = session.propose([call])
        if not (isinstance(verdict, gw.Allow) and verdict.control):
            session.observe(call.call_id, gw.Succeeded({}))
    return session


ORDER = gw.ToolCall("get_order", {}, "c1")
CLAIM = gw.ToolCall("complete_step", {"reason": "late"}, "c2")
SKIP = gw.ToolCall("skip_step", {}, "c3")

SESSIONS = {
    "desk-begins": lambda: refund(),
    "desk-knows-the-order": lambda: refund(ORDER),
    "desk-may-skip": lambda: refund(ORDER, CLAIM),
    "desk-may-pay": lambda: refund(ORDER, CLAIM, SKIP),
    "side-by-side": lambda: gw.Session(gw.load(BOTH)),
    "called": lambda: gw.Session(gw.load(CALLER, library=[CALLED]), inputs={"host": "ws-7"}),
}


@pytest.mark.parametrize("name", sorted(SESSIONS))
def test_a_brief_is_word_for_word(name: str) -> None:
    """
    Each situation has the brief that lies in the file of its name.
    """
    brief, file = render_brief(SESSIONS[name]()), HERE / f"{name}.txt"
    if os.environ.get("GUIDEWAY_WRITE"):
        file.write_text(brief + "\n", encoding="utf-8")

    assert brief + "\n" == file.read_text(encoding="utf-8")


def test_a_brief_is_a_pure_function() -> None:
    """
    Rendering it moves nothing.
    """
    session = refund(ORDER)
    before = session.snapshot.to_json()

    assert render_brief(session) == render_brief(session)
    assert session.snapshot.to_json() == before


def test_sensitive_inputs_are_not_told() -> None:
    """
    What is sensitive goes to nobody who has not asked for it by a tool.
    """
    assert "hunter2" not in render_brief(refund())


def test_every_offer_of_the_brief_is_legal() -> None:
    """
    What the brief says a step needs, the gate admits.
    """
    session = refund(ORDER, CLAIM, SKIP)

    assert "`issue_refund` where `args.amount <= 100`" in render_brief(session)
    assert not isinstance(session.decide(gw.ToolCall("issue_refund", {"amount": 100})), gw.Deny)
    assert isinstance(session.decide(gw.ToolCall("issue_refund", {"amount": 101})), gw.Deny)


def test_what_is_missing_is_said_of_every_open_step() -> None:
    """
    A nudge names each step and what it needs.
    """
    text = onward(gw.Session(gw.load(BOTH)), nudged=True)

    assert text == (
        "The run is not over: step `log` needs `read_log`; step `think` needs `complete_step`. Go on by calling a tool."
    )

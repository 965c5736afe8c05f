"""What the gate has answered, in the words of the seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from guideway.playbooks.models import PlaybookStep
from guideway.runtime.teach import REASONS
from guideway.runtime.verdicts import Deny, Illegal

from .plan import PlaybookPlan

TYPES = {
    "out_of_sequence": "unexpected_tool", "unknown_tool": "unexpected_tool", "order": "unexpected_tool",
    "budget": "max_tool_calls", "quota": "max_tool_calls", "run_over": "run_over",
}  # fmt: skip
"""Code of the gate -> type of violation; any other code is a type of its own."""

NO_VIOLATION = frozenset({"after_failed", "left", "interrupted", "rejected", "expired", "retry_wait"})
"""Codes of calls that were not against the playbook, and did not run all the same."""

COMPLETE = "playbook_complete"


class Answer(NamedTuple):
    """One refusal: its type, its words, the step, and what to do instead."""

    type: str
    message: str
    step: PlaybookStep | None
    hints: list[str]


NOBODY = Answer("rejected", "No person has allowed the call", None, [])
"""The answer to a call whose question was closed without one."""

BLOCKED = "PlaybookEnforcer blocked: "


def wording(answer: Answer) -> str:
    """A refusal, as the model reads it."""
    hints = ["Hints: " + " ".join(answer.hints)] if answer.hints else []
    return BLOCKED + " | ".join([answer.message, *hints])


def wait_for_others(tool: str) -> str:
    """A call that needs those before it, and cannot wait for them where it is."""
    told = f"Tool '{tool}' must wait for the calls before it"
    return wording(Answer("deferred", told, None, ["call it again in the next reply"]))


def answer_to(plan: PlaybookPlan, verdict: Deny | Illegal, outcome: str | None) -> Answer:
    """Put a refusal of the gate into the words of the seed."""
    if plan.completed:
        told = f"Playbook is complete, tool '{verdict.tool}' called after completion"
        return Answer(COMPLETE, told, None, ["Playbook execution is complete"])
    kind = TYPES.get(verdict.code, verdict.code)
    if kind == "run_over":
        told = f"The run is over ({outcome}), tool '{verdict.tool}' called after its end"
        return Answer(kind, told, plan.current_step, ["The run has ended; no tool may run any more"])
    step = plan.playbook.get_step(verdict.step) or plan.current_step
    if step is not None and kind == "unexpected_tool":
        return unexpected(verdict.tool, step)
    if step is not None and verdict.code == "budget" and step.max_tool_calls is not None:
        told = f"Step '{step.id}' has reached max tool calls ({step.max_tool_calls})"
        return Answer(kind, told, step, ["Consider moving to the next step"])
    return Answer(kind, verdict.message, step, list(step.hints) if step is not None else [])


def reason_of(line: Mapping[str, Any]) -> str:
    """Why a call was refused, from the record of it."""
    detail = f" ({line['detail']})" if line.get("detail") else ""
    rule = f" The rule: `{line['rule']}`." if line.get("rule") else ""
    return f"`{line['tool']}` did not run: {REASONS.get(line['code'], line['code'])}{detail}.{rule}"


def unexpected(tool: str, step: PlaybookStep) -> Answer:
    """The step does not expect the tool."""
    expected = [entry.tool for entry in step.expected_entries]
    listed = ", ".join(expected) or "no tool"
    told = f"Tool '{tool}' not expected for step '{step.id}'. Expected: {expected}"
    return Answer("unexpected_tool", told, step, [f"Current step expects: {listed}", *step.hints])

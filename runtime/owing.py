"""
What is owed before a playbook may end well (S42): the agent is sent back first.

Whether a step is the last one depends on guards, joins, and playbooks that return; so it is tried on a copy of the run,
which moves nothing outside.  Only where a policy is open and the owed call can still be made is there anything to try.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from guideway.statemachine.policies import Policy
from guideway.statemachine.tools import CONTROL

from .automatic import automatic
from .candidates import Admit, Decision, Refuse
from .completion import takes_more
from .control import claimed
from .cursors import Cursor
from .ending import verdict
from .frames import Frame
from .gate import decide, unnamed
from .loading import twin
from .monitors import broken
from .moves import take
from .run import Bound, Run

REASON = "failed:policy:"


def judge(run: Run, bound: Bound, *, behind: bool = False) -> Decision:
    """Decide a call; a control tool by which the run would end with a policy open does not leave the step."""
    decision = decide(run, bound, behind=behind)
    if not isinstance(decision, Admit) or bound.tool not in CONTROL or decision.cursor is None:
        return decision
    step = decision.cursor.row.step
    claims = claimed(step, bound.args) if step is not None else {}
    owed = owes(run, decision.cursor, claims, "completed" if bound.tool == "complete_step" else "skipped")
    if owed is None:
        return decision
    return Refuse("control", f"the policy `{owed.id}` asks for something first", cursor=decision.cursor)


def owes(
    run: Run, cursor: Cursor, claims: Mapping[str, Any] | None = None, event: str = "completed"
) -> Policy | None:  # fmt: skip
    """The policy that would be open if the step were left now, and that a call can still keep."""
    still = [policy for policy in open_here(cursor) if can_keep(run, cursor, policy)]
    return still[0] if still and ends_owing(run, cursor, claims, event) else None


def open_here(cursor: Cursor) -> Iterator[Policy]:
    """The policies of the playbook and its callers that are not kept as things stand."""
    for playbook in cursor.frame.playbooks():
        yield from (policy for policy in playbook.plan.definition.policies if broken(playbook, policy))


def can_keep(run: Run, cursor: Cursor, policy: Policy) -> bool:
    """Some call that the policy is about is still legal in the step, or everywhere."""
    step = cursor.row.step
    tools = {event.tool for event in policy.events if event.tool is not None}
    if any(is_free(run, frame, tool) for tool in tools for frame in run.playbooks()):
        return True
    if step is not None and step.max_calls is not None and cursor.spent >= step.max_calls:
        return False
    return any(line.entry.tool in tools and takes_more(cursor, line) for line in cursor.row.lines)


def is_free(run: Run, frame: Frame, tool: str) -> bool:
    """The playbook lets the tool be called in every step."""
    return frame.plan.is_optional(tool) or (frame.plan.is_extra(tool) and unnamed(run, tool))


def ends_owing(run: Run, cursor: Cursor, claims: Mapping[str, Any] | None, event: str) -> bool:
    """Leave the step on a copy, and see whether a playbook ends there that could not end well."""
    trial = twin(run)
    trial.silent = True
    there = list(trial.cursors())[list(run.cursors()).index(cursor)]
    if claims:
        there.frame.write("claims", there.step, dict(claims))
    take(trial, there, event)
    automatic(trial)
    if trial.ending is not None and verdict(trial, trial.frame, trial.ending).startswith(REASON):
        return True
    return any(record[0] == "returned" and record[3].startswith(REASON) for record in trial.records)

"""How a segment ended: the normalised reason, its own words, and whether that is a success."""

from __future__ import annotations

import contextlib
from typing import Any

from guideway.runtime.hooks.points import UNSET
from guideway.statemachine.errors import GuidewayError

from .live import Live
from .reasons import StopReason, from_outcome
from .result import COMPLETED, FAILED, SUSPENDED, AgentResult

BROKEN = (StopReason.ERROR, StopReason.HOOK_FAILED, StopReason.CANCELLED, StopReason.INTERRUPTED)
"""Reasons by which a segment has failed, whatever the session says."""


def result_of(live: Live) -> AgentResult:
    """Put the result together."""
    session, memory, end = live.session, live.memory, live.end
    stop_reason, reason = why(live)
    success = session.outcome_class == "success" and stop_reason not in BROKEN
    return AgentResult(
        run_id=memory.run_id, output=output_of(live), stop_reason=stop_reason, reason=reason,
        status=status_of(live, stop_reason), outcome=session.outcome, success=success,
        messages=[*memory.messages], usage=memory.usage, iterations=memory.iterations,
        model_calls=memory.model_calls, tool_executions=tuple(memory.executions),
        pending=tuple(live.control.pending), waiting=waiting(live), next_due=session.next_due,
        events=tuple(live.events), hook_states=dict(memory.hook_states), warnings=live.settings.warnings,
        error=end.error if end is not None else None, session=session, state=state_of(live),
    )  # fmt: skip


def why(live: Live) -> tuple[StopReason, str]:
    """The normalised reason, and the branch's own words."""
    if live.end is not None:
        return StopReason(live.end.stop_reason), live.end.reason
    outcome = live.session.outcome
    if outcome is None:
        return StopReason.WAITING, "; ".join(waiting(live)) or "waiting"
    branch = branch_of(live)
    if ungrounded(live, outcome):
        return StopReason.GROUNDING_FAILED, outcome
    own = branch or (outcome.partition(":")[2] if outcome.startswith(("stopped:", "incomplete:")) else outcome)
    return from_outcome(outcome, live.session.outcome_class, branch), own


def branch_of(live: Live) -> str | None:
    """The termination branch of the playbook that ended the run, in its own words."""
    branches = {branch.target: branch.reason for branch in live.definition.termination}
    return branches.get(live.session.state)


def ungrounded(live: Live, outcome: str) -> bool:
    """A step's calls were spent, and what it asks of them (`validation`, `where`, `expect`) still did not hold."""
    if not outcome.startswith(("failed:", "incomplete")):
        return False
    for record in live.session.since(live.began):
        kind = record[0]
        if kind == "moved" and str(record[6] or "").startswith("validation"):
            return True
        if kind == "settled" and record[4] == "ok" and record[6] is False and "exhausted" in outcome:
            return True  # it ran, and what the step expects of it did not come
        if kind == "decided" and record[5] == "deny" and record[8] == "where" and names_step(outcome, record[6]):
            return True
    return False


def names_step(outcome: str, step: str) -> bool:
    """The run ended as this step's calls were spent, with or without a success among them (S22)."""
    return outcome in (f"failed:exhausted:{step}", f"incomplete:{step}")


def status_of(live: Live, stop_reason: StopReason) -> str:
    """`completed`, `suspended` or `failed`."""
    if stop_reason in BROKEN:
        return FAILED
    if live.end is None and live.session.outcome is None:
        return SUSPENDED
    return FAILED if live.session.outcome_class == "failed" else COMPLETED


def output_of(live: Live) -> Any:
    """What a hook gave, else the text of the last reply."""
    given = live.end.output if live.end is not None else UNSET
    return live.memory.output if given is UNSET else given


def waiting(live: Live) -> tuple[str, ...]:
    """For whom or what the run waits."""
    if live.session.outcome is not None:
        return ()
    mine = ("the user to answer",) if live.memory.talking else ()
    return (*live.session.waiting, *mine)


def state_of(live: Live) -> dict[str, Any]:
    """All there is to save; nothing where the session cannot be saved any more."""
    with contextlib.suppress(GuidewayError):
        return {"agent": live.memory.to_json(), "session": live.session.snapshot.to_json(), "mode": live.settings.mode}
    return {}

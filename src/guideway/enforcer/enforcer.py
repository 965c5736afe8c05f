"""The seed's enforcer: a playbook, how far its run has come, and the checks of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from guideway.playbooks.models import Playbook, StepStatus
from guideway.runtime.calls import Succeeded, ToolCall
from guideway.runtime.verdicts import Deny, Illegal
from guideway.statemachine.errors import HostError

from .answers import answer_to
from .joining import look
from .plan import PlaybookPlan
from .results import EnforcementResult, EnforcementViolation
from .running import Running
from .view import FAILED_BY_HOST


class PlaybookEnforcer(Running):
    """
    Holds calls to a playbook.  It is the seed's API on a `Session`, which decides; the plan is a view of it.

    By itself it is used by hand: ask before a call, record it after, and say when a step is complete.  Checks of a bare
    name refuse a playbook that has rules on arguments, approvals or work of the runtime's own.  Its JSON holds all of
    it, the violations and the run included.

    >>> from guideway.playbooks.loader import load_playbook
    >>> enforcer = PlaybookEnforcer.from_playbook(load_playbook({"id": "p", "name": "P", "steps": [
    ...     {"id": "look", "description": "Look", "expected_tools": ["search"]},
    ...     {"id": "act", "description": "Act", "expected_tools": ["isolate"]}]}))
    >>> enforcer.validate_tool_call("isolate").violation.message
    "Tool 'isolate' not expected for step 'look'. Expected: ['search']"
    >>> enforcer.record_tool_call("search")
    >>> enforcer.complete_current_step("nothing found"), enforcer.current_step.id, enforcer.progress
    (True, 'act', 0.5)
    """

    @classmethod
    def from_playbook(
        cls,
        playbook: Playbook,
        block_violations: bool = True,
        record_violations: bool = True,
        skills: Mapping[str, Sequence[str]] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> PlaybookEnforcer:
        """
        Begin a run of the playbook.  `skills` are the tools each skill stands for; `inputs` those of the playbook.

        Raises:
            PlaybookError: the playbook cannot be used.
        """
        named = {name: list(tools) for name, tools in (skills or {}).items()}
        return cls(
            plan=PlaybookPlan(playbook=playbook),
            block_violations=block_violations,
            record_violations=record_violations,
            skills=named,
            inputs=dict(inputs or {}),
        )

    @property
    def violations(self) -> list[EnforcementViolation]:
        """The violations so far, in order."""
        self._watched()
        return list(self.found)

    @property
    def progress(self) -> float:
        """Completed steps in all steps, 0 to 1."""
        self._watched()
        return self.plan.progress

    def validate_tool_call(self, tool_name: str) -> EnforcementResult:
        """
        Say whether a call of the tool would be allowed now.  A question: it reserves nothing and moves nothing.

        Raises:
            HostError: the playbook needs more than a name to decide.
        """
        self._by_name()
        self._tick()
        return self._judged(tool_name, look(self._session, ToolCall(tool_name)))

    def record_tool_call(self, tool_name: str) -> None:
        """
        Say that a call of the tool has run, and succeeded.

        It counts for the current step if the gate would have allowed it; else it is listed, moves nothing, and is a
        violation (the checks before it do not make it legal).

        Raises:
            HostError: the playbook needs more than a name to decide.
        """
        self._by_name()
        call = ToolCall(tool_name, {}, self._fresh_id())
        if self._session.outcome is not None:
            self._unasked(call)
            return
        verdict = self._admit(call)
        if isinstance(verdict, Deny):
            self._violate(answer_to(self.plan, verdict, self.outcome), tool_name, blocked=False)
            self._unasked(call)
            return
        if isinstance(verdict, Illegal):
            self._violate(answer_to(self.plan, verdict, self.outcome), tool_name, blocked=False)
        self._settle(call.call_id, Succeeded())

    def complete_current_step(self, result: str | None = None) -> bool:
        """
        Complete the current step, on the host's own authority, and go on.

        Returns True if there is a next step, False if the playbook is complete or the run over.
        """
        step = self._open_step()
        if step is None:
            return False
        self._refresh(self._session.complete(result or "", self._clock(), self._named(step)).verdicts)
        return self._session.outcome is None

    def skip_current_step(self, reason: str | None = None) -> bool:
        """Skip the current step.  Returns False, and does nothing, where it is required or there is none."""
        step = self._open_step()
        if step is None or step.required:
            return False
        self._refresh(self._session.skip(reason or "", self._clock(), self._named(step)).verdicts)
        return True

    def fail_current_step(self, error: str) -> None:
        """
        Mark the current step as failed.

        Its `on_failure` is taken where it has one.  Without, the run stays in the step, and it may be tried again or
        completed, as in the seed.
        """
        step = self._open_step()
        if step is None:
            return
        if step.on_failure is not None:
            self._refresh(self._session.fail(error, self._clock(), self._named(step)).verdicts)
            return
        self._session.note(FAILED_BY_HOST, {"step": step.id, "error": error}, self._clock())
        self._refresh()

    def get_next_step_hints(self) -> list[str]:
        """The hints of the step after the current one; none where it is the last."""
        steps, index = self.plan.playbook.steps, self.plan.current_step_index + 1
        return list(steps[index].hints) if index < len(steps) else []

    def get_step_summary(self) -> dict[str, Any]:
        """Counts of steps by what became of them, and where the run stands."""
        self._watched()
        executions, total = self.plan.step_executions, len(self.plan.playbook.steps)
        count = [execution.status for execution in executions.values()].count
        return {
            "total_steps": total,
            "current_step_index": self.plan.current_step_index,
            "completed": count(StepStatus.COMPLETED),
            "skipped": count(StepStatus.SKIPPED),
            "failed": count(StepStatus.FAILED),
            "pending": total - sum(step.id in executions for step in self.plan.playbook.steps),
            "progress": self.progress,
            "is_complete": self.is_complete,
        }

    def reset(self) -> None:
        """
        Start over: a new run, and no violations.

        Raises:
            HostError: an agent drives the run, and the enforcer only shows it.
        """
        if self._watches:
            raise HostError("this is the view of an agent's run, and starts over with the agent's next run")
        self.plan.clear()
        self.found.clear()
        self.saved = None
        self._begin()

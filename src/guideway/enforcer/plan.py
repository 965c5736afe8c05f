"""How far a run of a playbook has come, step by step."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field

from guideway.playbooks.models import Playbook, PlaybookStep, StepStatus


class StepExecution(BaseModel):
    """
    What became of one step.  Times are in UTC.

    >>> StepExecution(step_id="look").status
    <StepStatus.PENDING: 'pending'>
    """

    step_id: str = Field(description="The step.")
    status: StepStatus = Field(default=StepStatus.PENDING, description="How far it has come.")
    started_at: datetime | None = Field(default=None, description="When its first call was over, or it was left.")
    completed_at: datetime | None = Field(default=None, description="When it was completed, or failed.")
    tool_calls: list[str] = Field(default_factory=list, description="The tools that ran in it, in order.")
    tool_call_count: int = Field(default=0, description="How many calls ran in it.")
    result: str | None = Field(default=None, description="What the host said of it.")
    error: str | None = Field(default=None, description="Why it failed, or is incomplete.")


class PlaybookPlan(BaseModel):
    """
    A playbook, and how far its run has come.

    The plan of an enforcer is a view of the run: the enforcer keeps it up to date, and changing it changes no decision.

    >>> plan = PlaybookPlan(playbook=Playbook(id="p", name="P", steps=[PlaybookStep(id="look", description="Look")]))
    >>> plan.progress, plan.pending_steps, plan.is_step_complete("look")
    (0.0, ['look'], False)
    """

    playbook: Playbook = Field(description="The playbook.")
    started_at: datetime = Field(default_factory=lambda: datetime.now(UTC), description="When the run began.")
    current_step_index: int = Field(default=0, description="Where it stands; the number of steps when it is complete.")
    step_executions: dict[str, StepExecution] = Field(default_factory=dict, description="What became of each step.")
    completed: bool = Field(default=False, description="The run came to an end of the playbook.")
    total_tool_calls: int = Field(default=0, description="How many calls have run.")
    errors: list[str] = Field(default_factory=list, description="`Step ID: ERROR`, in order.")
    metadata: dict[str, Any] = Field(default_factory=dict, description="Anything of the host's.")

    @property
    def current_step(self) -> PlaybookStep | None:
        """The step the run is in; of several, the first; None when it is complete."""
        steps = self.playbook.steps
        return steps[self.current_step_index] if 0 <= self.current_step_index < len(steps) else None

    @property
    def progress(self) -> float:
        """Completed steps in all steps, 0 to 1; 1 where there are none."""
        steps = self.playbook.steps
        done = sum(self.is_step_complete(step.id) for step in steps)
        return done / len(steps) if steps else 1.0

    @property
    def completed_steps(self) -> list[str]:
        """Ids of the steps that are completed, in the order in which they began."""
        return [step for step in self.step_executions if self.is_step_complete(step)]

    @property
    def pending_steps(self) -> list[str]:
        """Ids of the steps that are not completed, in the order of the page; a skipped step is among them."""
        return [step.id for step in self.playbook.steps if not self.is_step_complete(step.id)]

    def get_step_execution(self, step_id: str) -> StepExecution | None:
        """What became of a step; None while nothing has."""
        return self.step_executions.get(step_id)

    def is_step_complete(self, step_id: str) -> bool:
        """Whether the step is completed."""
        execution = self.step_executions.get(step_id)
        return execution is not None and execution.status is StepStatus.COMPLETED

    def clear(self) -> None:
        """Forget what has happened; playbook and metadata of the host's stay."""
        self.step_executions.clear()
        self.errors.clear()
        self.metadata.pop("iterations", None)
        self.current_step_index, self.completed, self.total_tool_calls = 0, False, 0

    def unresolved_required_steps(self) -> list[str]:
        """Required steps that are not completed: while there is one, no run has honestly concluded."""
        return [step.id for step in self.playbook.steps if step.required and not self.is_step_complete(step.id)]

"""What a check of a call answers, and what is kept of one that was against the playbook."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel, Field

from guideway.playbooks.models import PlaybookStep


class EnforcementViolation(BaseModel):
    """
    A call that the playbook does not allow.

    `violation_type` is `unexpected_tool`, `max_tool_calls` or `playbook_complete`, as in the seed; beyond it `run_over`
    (the run ended otherwise), `not_admitted` (it ran, and nobody had asked), and the codes of the gate for what the
    seed has no word for (`where`, `policy`, `bad_args` …).
    """

    violation_type: str = Field(description="What kind of violation it is.")
    message: str = Field(description="It, in words.")
    step_id: str | None = Field(default=None, description="The step the run was in.")
    tool_name: str | None = Field(default=None, description="The tool that was called.")
    timestamp: datetime = Field(default_factory=lambda: datetime.now(UTC), description="When, in UTC.")
    blocked: bool = Field(default=False, description="The call was kept from running.")


class EnforcementResult(BaseModel):
    """
    The answer to a check.

    >>> EnforcementResult(allowed=True).hints
    []
    """

    allowed: bool = Field(description="The call may run.")
    violation: EnforcementViolation | None = Field(default=None, description="What it violates, where that is kept.")
    hints: list[str] = Field(default_factory=list, description="What to do next.")
    current_step: PlaybookStep | None = Field(default=None, description="The step the run is in.")

"""One segment of a run in a process of its own: `python -m tests.hooks.segment FILE [approve]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from guideway.agent import Decision
from guideway.hooks.methods import HookAction, HookContext, hook
from guideway.hooks.verdict import AgentHooks, AgentOutcome, RunInfo

from .kit import ISOLATE, LEAD, SIEM, Desk, playbook


class CountRuns:
    """Counts segments in its saved state."""

    def on_start(self, ctx: HookContext) -> HookAction:
        """One more."""
        return HookAction(state={"runs": (ctx.hook_state or {}).get("runs", 0) + 1})


class Outcomes(AgentHooks):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def on_outcome(self, outcome: AgentOutcome, info: RunInfo) -> None:
        """Keep it."""
        self.told.append(outcome.status)


def main(file: Path, decision: str) -> dict[str, Any]:
    """Begin the run, or go on with it; what came of it."""
    desk, outcomes = Desk(), Outcomes()
    replies: list[Any] = [] if decision else [SIEM, ISOLATE]
    made = desk.agent(replies, playbook=playbook(LEAD), hooks=[hook(CountRuns()), outcomes])
    if decision:
        result = made.resume_sync(json.loads(file.read_text(encoding="utf-8")), Decision(decision, "lead"))
    else:
        result = made.run_sync("go")
        file.write_text(json.dumps(result.state), encoding="utf-8")
    return {
        "status": result.status, "calls": desk.calls, "pending": len(result.pending), "told": outcomes.told,
        "states": dict(result.hook_states),
    }  # fmt: skip


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]), "".join(sys.argv[2:]))))

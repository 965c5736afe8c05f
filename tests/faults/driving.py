"""Driving a session one reply at a time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import guideway as gw

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def playbook(*steps: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A playbook of these steps."""
    return {"id": "p", "name": "P", "steps": [{"description": "Do it", **step} for step in steps], **more}


def session(*steps: Mapping[str, Any], **more: Any) -> gw.Session:
    """A session of these steps."""
    return gw.Session(gw.load(playbook(*steps, **more)), now=NOON)


def call(tool: str, call_id: str = "c1", **args: Any) -> gw.ToolCall:
    """A call."""
    return gw.ToolCall(tool, args, call_id)


class Driver:
    """Runs what the session allows, and counts it."""

    def __init__(self, run: gw.Session, **results: Any) -> None:
        self.run = run
        self.results = results
        """what tools answer; an outcome stands for itself"""
        self.ran: list[str] = []
        self._number = 0

    def reply(self, *tools: str | tuple[str, dict[str, Any]], text: str = "") -> list[gw.Verdict]:
        """One reply of the model with these calls, carried out to its end.  Returns the last verdict of each."""
        calls = [self._call(tool) for tool in tools]
        answers = {verdict.call_id: verdict for verdict in self.run.propose(calls, text=text)}
        todo = list(answers.values())
        while todo:
            verdict = todo.pop(0)
            answers[verdict.call_id] = verdict
            if verdict.allowed and not getattr(verdict, "control", False):
                self.ran.append(verdict.tool)
                todo += self.run.observe(verdict.call_id, self._outcome(verdict.tool)).verdicts
        return [answers[made.call_id] for made in calls]

    def _call(self, tool: str | tuple[str, dict[str, Any]]) -> gw.ToolCall:
        self._number += 1
        name, args = tool if isinstance(tool, tuple) else (tool, {})
        return gw.ToolCall(name, args, f"c{self._number}")

    def _outcome(self, tool: str) -> Any:
        result = self.results.get(tool)
        outcomes = (gw.Succeeded, gw.Failed, gw.Cancelled, gw.Unknown)
        return result if isinstance(result, outcomes) else gw.Succeeded(result)

"""What the tests of the agent share: two tools, a playbook for them, and a clock that a test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import guideway as gw
from guideway.agent import Agent
from guideway.runtime.agent.result import AgentResult
from guideway.runtime.models.fake import FakeModel

START = datetime(2026, 1, 31, 9, tzinfo=UTC)

SIEM = gw.ToolCall("query_siem", {"hours": 24})
ISOLATE = gw.ToolCall("isolate_host", {"host": "ws-7"})

TRIAGE: dict[str, Any] = {
    "id": "triage",
    "name": "Triage an alert",
    "tools": {"query_siem": {"effect": "read"}, "isolate_host": {"effect": "irreversible", "approval": "none",
              "because": "the sensor takes it back"}},
    "steps": [
        {"id": "enrich", "description": "Look the alert up", "expected_tools": ["query_siem"]},
        {"id": "contain", "description": "Isolate the host", "expected_tools": ["isolate_host"]},
    ],
}  # fmt: skip
ASKING: dict[str, Any] = {
    **TRIAGE,
    "tools": {"query_siem": {"effect": "read"},
              "isolate_host": {"effect": "irreversible",
                               "approval": {"ask": "Isolate {{ args.host }}?", "approvers": ["lead"]}}},
}  # fmt: skip


class Tools:
    """The two tools; each run is noted."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, Any]] = []

    def query_siem(self, hours: int = 24) -> dict[str, Any]:
        """Search the SIEM."""
        self.ran.append(("query_siem", hours))
        return {"hits": 3}

    def isolate_host(self, host: str) -> dict[str, Any]:
        """Cut a host off the network."""
        self.ran.append(("isolate_host", host))
        return {"ticket": "C-1"}

    @property
    def both(self) -> list[Any]:
        """As an agent is given them."""
        return [self.query_siem, self.isolate_host]


class Moved:
    """A clock that stands until the test, or a wait, moves it."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> datetime:
        """The time it stands at."""
        return self.at

    def on(self, seconds: float) -> None:
        """Move it."""
        self.at += timedelta(seconds=seconds)

    async def wait(self, due: datetime) -> None:
        """Come back when the test has moved it so far."""
        while self.at < due:
            await asyncio.sleep(0.001)


def agent(replies: Iterable[Any], tools: Tools | None = None, **parts: Any) -> Agent:
    """An agent with a model that says these; by the triage playbook, if the test names no other."""
    if "playbook" not in parts and "machine" not in parts:
        parts["playbook"] = TRIAGE
    return Agent(FakeModel(list(replies)), (tools or Tools()).both, **parts)


def free(replies: Iterable[Any], tools: Tools | None = None, **parts: Any) -> Agent:
    """An agent without a playbook."""
    return Agent(FakeModel(list(replies)), (tools or Tools()).both, **parts)


def words(result: AgentResult) -> tuple[str, str | None, bool]:
    """How a run ended: the normalised reason, the outcome, success."""
    return result.stop_reason.value, result.outcome, result.success


def kinds(result: AgentResult) -> list[str]:
    """The names of its events."""
    return [type(event).__name__ for event in result.events]


def answers(result: AgentResult) -> list[Any]:
    """What the model read of its calls."""
    return [message["content"] for message in result.messages if message["role"] == "tool"]

"""What the tests of hooks share: points as the loop makes them, and asking hooks about them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import guideway as gw
from guideway.agent import Agent, AgentResult
from guideway.hooks import AfterModel, AfterTool, AtEnd, BeforeModel, BeforeTool, Facts, Hooks, Observation, Start
from guideway.runtime.models.fake import FakeModel
from guideway.runtime.models.messages import ModelReply, ToolSpec
from guideway.termination import ToolExecution

SAID = {"role": "user", "content": "An alert on ws-7."}
ISOLATE = gw.ToolCall("isolate_host", {"host": "ws-7"}, "c1")


def facts(**known: Any) -> Facts:
    """What hooks may know of a run."""
    return Facts(**{"run_id": "run-1", "prompt": SAID["content"], "max_iterations": 9, "messages": [SAID], **known})


def start(hooks: list[Any], **known: Any) -> Start:
    """A segment begins."""
    point = Start(known.pop("facts", None) or facts(), [SAID], known.pop("system_prompt", "Be brief."), "fake")
    asyncio.run(Hooks.of(hooks).start(point))
    return point


def before_model(hooks: list[Any], of: Facts | None = None) -> BeforeModel:
    """The model is about to be asked."""
    point = BeforeModel(of or facts(), [dict(SAID)], (ToolSpec("isolate_host"),), "Be brief.")
    asyncio.run(Hooks.of(hooks).before_model(point))
    return point


def after_model(hooks: list[Any], reply: ModelReply | None = None) -> AfterModel:
    """The model has replied."""
    reply = reply or ModelReply("Done.")
    point = AfterModel(facts(), reply, [SAID, reply.as_message()])
    asyncio.run(Hooks.of(hooks).after_model(point))
    return point


def before_tool(
    hooks: list[Any], call: gw.ToolCall = ISOLATE, policy: Callable[[gw.ToolCall], Any] | None = None
) -> BeforeTool:  # fmt: skip
    """A call is about to go to the gate."""
    point = BeforeTool(facts(), call, policy)
    asyncio.run(Hooks.of(hooks).before_tool(point))
    return point


def after_tool(hooks: list[Any], shown: Any = None, **more: Any) -> AfterTool:
    """A call is over; it ran, if nothing else is said."""
    point = AfterTool(facts(), more.pop("call", ISOLATE), more.pop("ran", True), shown, **more)
    asyncio.run(Hooks.of(hooks).after_tool(point))
    return point


def at_end(hooks: list[Any], outcome: str = "completed", **more: Any) -> AtEnd:
    """A segment is over."""
    point = AtEnd(facts(), outcome, more.pop("stop_reason", "complete"), outcome == "completed", **more)
    asyncio.run(Hooks.of(hooks).end(point))
    return point


def observed(hooks: list[Any], kind: str, **data: Any) -> None:
    """Something to be told of."""
    asyncio.run(Hooks.of(hooks).observe(Observation(facts(), kind, data)))


def read(result: AgentResult) -> list[Any]:
    """What the model read of its calls."""
    return [message["content"] for message in result.messages if message["role"] == "tool"]


def ran(result: AgentResult) -> list[ToolExecution]:
    """The executions that were runs."""
    return [each for each in result.tool_executions if each.ran]


class Desk:
    """Two tools, and what they were called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def query_siem(self, hours: int = 24) -> dict[str, Any]:
        """Search the SIEM."""
        self.calls.append(("query_siem", hours))
        return {"hits": 3}

    def isolate_host(self, host: str) -> dict[str, Any]:
        """Cut a host off the network."""
        self.calls.append(("isolate_host", host))
        return {"ticket": "C-1"}

    def agent(self, replies: list[Any], **parts: Any) -> Agent:
        """An agent with these two."""
        return Agent(FakeModel(replies), [self.query_siem, self.isolate_host], **parts)


def playbook(approval: Any = "none") -> dict[str, Any]:
    """Look first, then isolate."""
    return {
        "id": "triage",
        "name": "Triage",
        "tools": {
            "query_siem": {"effect": "read"},
            "isolate_host": {"effect": "irreversible", "approval": approval, "because": "the sensor takes it back"},
        },
        "steps": [
            {"id": "enrich", "description": "Look the alert up", "expected_tools": ["query_siem"]},
            {"id": "contain", "description": "Isolate the host", "expected_tools": ["isolate_host"]},
        ],
    }


LEAD = {"ask": "Isolate {{ args.host }}?", "approvers": ["lead"]}
SIEM = gw.ToolCall("query_siem", {"hours": 24}, "c0")

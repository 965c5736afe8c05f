"""An agent with two tools for the tests of hooks, and hooks of every dialect that note when they are asked."""

from __future__ import annotations

from typing import Any

from guideway.hooks import methods, provider, registry, verdict
from tests.agent.kit import ASKING, ISOLATE, SIEM, TRIAGE, Tools, agent, answers, free, words

__all__ = [
    "ASKING", "ISOLATE", "SIEM", "TRIAGE", "NotedMethods", "NotedNative", "NotedProvider", "NotedVerdict", "Tools",
    "agent", "answers", "free", "noted_registry", "words",
]  # fmt: skip


class NotedNative:
    """A native hook that notes `NAME>` before a tool and `NAME<` after it."""

    def __init__(self, name: str, said: list[str], priority: int = 300) -> None:
        self.name, self.said, self.priority = name, said, priority

    def before_tool(self, point: Any) -> None:
        """Note it."""
        self.said.append(f"{self.name}>")

    async def after_tool(self, point: Any) -> None:
        """Note it."""
        self.said.append(f"{self.name}<")


class NotedProvider(provider.HookProvider):
    """A provider that does the same."""

    def __init__(self, name: str, said: list[str], priority: int = 300) -> None:
        self._name, self.said, self.priority = name, said, priority

    @property
    def name(self) -> str:
        """As it was given."""
        return self._name

    async def on_before_tool_call(self, event: provider.BeforeToolCallEvent) -> None:
        """Note it."""
        self.said.append(f"{self.name}>")

    async def on_after_tool_call(self, event: provider.AfterToolCallEvent) -> None:
        """Note it."""
        self.said.append(f"{self.name}<")


class NotedMethods(methods.Hook):
    """A hook of methods that does the same."""

    def __init__(self, name: str, said: list[str]) -> None:
        super().__init__()
        self._name, self.said = name, said

    @property
    def name(self) -> str:
        """As it was given."""
        return self._name

    def before_tool(self, call: methods.ToolCall) -> None:
        """Note it."""
        self.said.append(f"{self.name}>")

    async def after_tool(self, call: methods.ToolCall, result: methods.ToolResult) -> None:
        """Note it."""
        self.said.append(f"{self.name}<")


class NotedVerdict(verdict.AgentHooks):
    """A hook of verdicts that does the same."""

    def __init__(self, name: str, said: list[str]) -> None:
        self.name, self.said = name, said

    async def before_tool(self, call: verdict.ToolCall, ctx: verdict.ToolContext) -> verdict.HookAction:
        """Note it."""
        self.said.append(f"{self.name}>")
        return verdict.Continue()

    async def after_tool(self, call: verdict.ToolCall, output: verdict.ToolOutput, ctx: verdict.ToolContext) -> None:
        """Note it."""
        self.said.append(f"{self.name}<")


def noted_registry(name: str, said: list[str]) -> registry.Registry:
    """A registry whose handlers do the same."""
    made = registry.Registry()
    registry.on_tool_call(made, lambda event: said.append(f"{name}>"))
    registry.on_tool_result(made, lambda event: said.append(f"{name}<"))
    return made

"""Hooks of every dialect that do what a script says, and the world they act in: what was stopped, what ran, and why."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import guideway as gw
from guideway.agent import Decision, Edited
from guideway.hooks import methods, provider, registry, verdict

KINDS = ("native", "provider", "methods", "verdict", "registry")
BEFORE = ("pass", "forge", "args", "name", "block", "value", "raise", "junk")
AFTER = ("pass", "pass", "shown", "retry", "raise", "terminate", "junk")
TOOLS = ("query_siem", "write_note", "isolate_host")

PLAYBOOK: dict[str, Any] = {
    "id": "stacks",
    "name": "Under stacks of hooks",
    "max_refusals": 9,
    "tools": {
        "query_siem": {"effect": "read"},
        "write_note": {"effect": "write"},
        "isolate_host": {"effect": "irreversible", "approval": {"ask": "Isolate {{ args.n }}?", "approvers": ["lead"]}},
    },
    "steps": [
        {"id": "look", "description": "Look", "optional_tools": ["write_note"],
         "expected_tools": [{"tool": "query_siem", "where": "args.n < 3"}]},
        {"id": "contain", "description": "Contain", "expected_tools": ["isolate_host"],
         "optional_tools": ["write_note", "query_siem"]},
    ],
}  # fmt: skip


@dataclass
class World:
    """What happened outside of the agent."""

    people: Iterator[Any]
    ran: list[tuple[str, Any]] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)
    """calls that a hook blocked, answered or failed"""
    allowed: list[Any] = field(default_factory=list)
    """arguments that a person allowed"""

    def tools(self) -> list[gw.Tool]:
        """Three tools that note that they ran."""
        return [self._tool(name) for name in TOOLS]

    def _tool(self, name: str) -> gw.Tool:
        async def function(**args: Any) -> Any:
            self.ran.append((name, args))
            return {"n": args.get("n")}

        return gw.Tool(name, function, parameters={"type": "object"})

    def decide(self, question: Any) -> Any:
        """A person allows, edits, or rejects."""
        match next(self.people):
            case "approve":
                self.allowed.append(question.args)
                return Decision("approve", "lead")
            case "edit":
                self.allowed.append({"n": 77})
                return Edited("lead", {"n": 77})
        return Decision("reject", "lead")


@dataclass
class Script:
    """What a hook does, a word for each time that it is asked; then from the start again."""

    world: World
    before: Iterator[str]
    after: Iterator[str]

    @classmethod
    def of(cls, world: World, before: list[str], after: list[str]) -> Script:
        """From lists."""
        return cls(world, itertools.cycle(before), itertools.cycle(after))

    def next_before(self, call_id: str, stops: tuple[str, ...]) -> str:
        """The next word; a call that it stops is noted."""
        word = next(self.before)
        if word in stops:
            self.world.stopped.add(call_id)
        return word


class Native:
    """Native."""

    def __init__(self, script: Script, priority: int) -> None:
        self.script, self.priority = script, priority

    def before_tool(self, point: Any) -> None:
        """By the script."""
        match self.script.next_before(point.call.call_id, ("block", "value", "raise", "junk")):
            case "forge" if isinstance(point.asked.args, dict):
                point.asked.args["n"] = 99
            case "args":
                point.change(args={"n": 2})
            case "name":
                point.change(name="write_note")
            case "block":
                point.block("no")
            case "value":
                point.value = {"n": 0}
            case "raise":
                raise ZeroDivisionError
            case "junk":
                point.value = object()

    def after_tool(self, point: Any) -> None:
        """By the script."""
        match next(self.script.after):
            case "shown":
                point.shown = {"forged": True}
            case "retry":
                point.retry = True
            case "raise":
                raise ZeroDivisionError
            case "terminate":
                point.terminate = True
            case "junk":
                point.shown = object()


class Provider(provider.HookProvider):
    """Seed one."""

    def __init__(self, script: Script, priority: int) -> None:
        self.script, self.priority = script, priority

    async def on_before_tool_call(self, event: provider.BeforeToolCallEvent) -> None:
        """By the script."""
        match self.script.next_before(event.tool_call_id, ("block", "raise", "junk")):
            case "args":
                event.arguments = {"n": 1}
            case "block":
                event.cancel = "no"
                event.cancel = False
            case "raise":
                raise ZeroDivisionError
            case "junk":
                event.arguments = 7  # type: ignore[assignment]

    async def on_after_tool_call(self, event: provider.AfterToolCallEvent) -> None:
        """By the script."""
        match next(self.script.after):
            case "shown" | "junk":
                event.result = object()
            case "retry":
                event.retry = True
            case "raise":
                raise ZeroDivisionError


class Methods(methods.Hook):
    """Seed two."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script

    def before_tool(self, call: methods.ToolCall) -> Any:
        """By the script."""
        match self.script.next_before(call.call_id, ("block", "value", "raise", "junk")):
            case "forge":
                call.args["n"] = 99
            case "args":
                return methods.ToolCall(call.call_id, call.name, {"n": 4})
            case "name":
                return methods.ToolCall("another-id", "query_siem", call.args)
            case "value":
                return methods.ToolResult({"n": 0})
            case "block" | "raise":
                raise methods.ToolError("no")
            case "junk":
                return 7
        return None

    def after_tool(self, call: methods.ToolCall, result: methods.ToolResult) -> Any:
        """By the script."""
        match next(self.script.after):
            case "shown" | "junk":
                return methods.ToolResult("forged")
            case "raise":
                raise methods.ToolError("no")
        return None


class Verdict(verdict.AgentHooks):
    """Seed three."""

    def __init__(self, script: Script) -> None:
        self.script = script

    async def before_tool(self, call: gw.ToolCall, ctx: verdict.ToolContext) -> Any:
        """By the script."""
        match self.script.next_before(call.call_id, ("block", "raise", "junk")):
            case "forge" if isinstance(call.args, dict):
                call.args["n"] = 99
            case "args":
                return verdict.Modify({"n": 1})
            case "block":
                return verdict.Block("no")
            case "raise":
                raise ZeroDivisionError
            case "junk":
                return True
        return verdict.Continue()

    async def after_tool(self, call: gw.ToolCall, output: verdict.ToolOutput, ctx: verdict.ToolContext) -> None:
        """By the script."""
        if next(self.script.after) == "raise":
            raise ZeroDivisionError


def handlers(script: Script) -> registry.Registry:
    """Seed five; what raises here fails the run."""
    made = registry.Registry()

    def before(event: registry.ToolCallEvent) -> registry.ToolCallResult | None:
        event.args["n"] = 99  # type: ignore[index]
        word = script.next_before(event.tool_call.call_id, ("block", "raise"))
        return registry.ToolCallResult(True, "no") if word in ("block", "raise") else None

    def after(event: registry.ToolResultEvent) -> registry.ToolResultResult | None:
        match next(script.after):
            case "shown":
                return registry.ToolResultResult(content="forged", is_error=False)
            case "terminate":
                return registry.ToolResultResult(terminate=True)
            case "junk":
                raise ZeroDivisionError
        return None

    registry.on_tool_call(made, before)
    registry.on_tool_result(made, after)
    return made


def hook_of(kind: str, script: Script, priority: int) -> Any:
    """A hook of a dialect."""
    match kind:
        case "native":
            return Native(script, priority)
        case "provider":
            return Provider(script, priority)
        case "methods":
            return Methods(script)
        case "verdict":
            return Verdict(script)
    return handlers(script)

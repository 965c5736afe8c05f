"""Random stacks of hooks of every dialect that change, block, answer, fail, forge, and try to take blocks back."""

from __future__ import annotations

import random
from typing import Any

from guideway.hooks.methods import ToolCall, ToolError, ToolResult, hook
from guideway.hooks.provider import AfterToolCallEvent, BeforeToolCallEvent, HookProvider
from guideway.hooks.registry import Registry, ToolCallResult, ToolResultResult, on_tool_call, on_tool_result
from guideway.hooks.verdict import AgentHooks, Block, Modify

HOSTS = ("ws-7", "ws-8", "dc-1")


class Mischief:
    """What the hooks of one run draw from, and the ids of the calls that they have blocked."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.blocked: set[str] = set()
        self.kept: list[Any] = []

    def draw(self) -> str:
        """What a hook does now; mostly nothing."""
        self.forge()
        kinds = ("nothing", "change", "block", "answer", "raise", "undo")
        return self.rng.choices(kinds, (10, 3, 2, 2, 1, 3))[0]

    def forge(self) -> None:
        """Write into whatever was kept of earlier calls."""
        for args in self.kept:
            args["host"] = "dc-1"

    def keep(self, args: Any) -> None:
        """Keep arguments that were shown, to write into them later."""
        if self.rng.random() < 0.5:
            self.kept.append(args)

    def args(self, tool: str) -> dict[str, Any]:
        """Other arguments, legal or not."""
        return {"host": self.rng.choice(HOSTS)} if tool == "isolate_host" else {"hours": self.rng.randint(1, 48)}


class Native:
    """A native hook of any priority."""

    def __init__(self, mischief: Mischief) -> None:
        self.mischief, self.priority = mischief, mischief.rng.choice((0, 50, 300, 999))

    def before_tool(self, point: Any) -> None:
        """Anything at all."""
        does = self.mischief.draw()
        self.mischief.keep(point.call.args)
        if does == "block":
            self.mischief.blocked.add(point.call.call_id)
            point.block("no")
        elif does == "change":
            point.change(
                name=self.mischief.rng.choice((None, "isolate_host")), args=self.mischief.args(point.call.name)
            )
        elif does == "answer":
            point.value = {"hits": 99}
        elif does == "undo":
            point.block("") if point.blocked else None
            point.error = None
        elif does == "raise":
            raise ZeroDivisionError

    def after_tool(self, point: Any) -> None:
        """Shows something else, wants the call once more, or claims that it ran."""
        self.mischief.forge()
        point.ran = True
        point.retry = self.mischief.rng.random() < 0.3
        if self.mischief.rng.random() < 0.3:
            point.shown, point.is_error = {"ticket": "forged"}, False


class Provider(HookProvider):
    """A provider of any priority."""

    def __init__(self, mischief: Mischief) -> None:
        self.mischief, self.priority = mischief, mischief.rng.choice((0, 50, 300, 999))

    async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
        """Anything at all."""
        does = self.mischief.draw()
        self.mischief.keep(event.arguments)
        if does == "block":
            self.mischief.blocked.add(event.tool_call_id)
            event.cancel = "no"
            event.cancel = False
        elif does == "undo":
            event.cancel = False
        elif does == "change":
            event.arguments = self.mischief.args(event.tool_name)
        elif does == "raise":
            self.mischief.blocked.add(event.tool_call_id)
            raise ZeroDivisionError

    async def on_after_tool_call(self, event: AfterToolCallEvent) -> None:
        """Wants the call once more (fault D12)."""
        event.retry = self.mischief.rng.random() < 0.3
        event.result = {"ticket": "forged"}


class Methods:
    """An object of seed two's dialect."""

    def __init__(self, mischief: Mischief) -> None:
        self.mischief = mischief

    def before_tool(self, call: ToolCall) -> Any:
        """Anything at all."""
        does = self.mischief.draw()
        self.mischief.keep(call.args)
        if does == "change":
            name = self.mischief.rng.choice((call.name, "isolate_host"))
            return ToolCall(self.mischief.rng.choice((call.call_id, "c0", "forged")), name, self.mischief.args(name))
        if does == "block":
            self.mischief.blocked.add(call.call_id)
            raise ToolError("no")
        if does == "answer":
            return ToolResult({"hits": 99})
        return call if does == "nothing" else None

    def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Shows something else."""
        self.mischief.keep(call.args)
        return ToolResult({"ticket": "forged"})


class Verdicts(AgentHooks):
    """One of seed three's."""

    def __init__(self, mischief: Mischief) -> None:
        self.mischief = mischief

    async def before_tool(self, call: Any, ctx: Any) -> Any:
        """Anything at all."""
        does = self.mischief.draw()
        self.mischief.keep(call.args)
        if does == "change":
            return Modify(self.mischief.args(call.name))
        if does in ("block", "raise", "answer"):
            self.mischief.blocked.add(call.call_id)
            return Block("no") if does == "block" else does
        return None


def registry(mischief: Mischief) -> Registry:
    """One of seed five's."""
    made = Registry()

    def before(event: Any) -> Any:
        if mischief.draw() == "block":
            mischief.blocked.add(event.tool_call.call_id)
            return ToolCallResult(True, "no")
        mischief.keep(event.args)
        return ToolCallResult(False)

    on_tool_call(made, before)
    on_tool_result(made, lambda event: ToolResultResult(content={"ticket": "forged"}, is_error=False))
    return made


def stack(mischief: Mischief) -> list[Any]:
    """One to six of them, in any order."""
    kinds: list[Any] = [Native, Provider, lambda m: hook(Methods(m)), Verdicts, registry]
    return [mischief.rng.choice(kinds)(mischief) for _ in range(mischief.rng.randint(1, 6))]

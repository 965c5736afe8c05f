"""Hooks of all dialects in one list: layers nest in its order, and each keeps its own rules inside."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.hooks import SECURITY, Hooks
from guideway.hooks.methods import HookContext, ToolCall, ToolResult, hook
from guideway.hooks.provider import AfterToolCallEvent, BeforeToolCallEvent, HookProvider
from guideway.hooks.registry import (
    Registry,
    ToolCallResult,
    on_before_agent_start,
    on_context,
    on_tool_call,
    on_tool_result,
)
from guideway.hooks.verdict import AgentHooks
from guideway.statemachine.errors import HostError

from .kit import ISOLATE, SIEM, Desk, after_tool, before_tool, playbook, read


class Native:
    """A native hook that notes its points."""

    def __init__(self, name: str, seen: list[str], priority: int = 300) -> None:
        self.name, self.seen, self.priority = name, seen, priority

    def on_start(self, point: Any) -> None:
        """Note it."""
        self.seen.append(f"start {self.name}")

    def before_model(self, point: Any) -> None:
        """Note it."""
        self.seen.append(f"ask {self.name}")

    def before_tool(self, point: Any) -> None:
        """Note it."""
        self.seen.append(f"call {self.name}")

    def after_tool(self, point: Any) -> None:
        """Note it."""
        self.seen.append(f"over {self.name}")

    def on_end(self, point: Any) -> None:
        """Note it."""
        self.seen.append(f"end {self.name}")


class Provider(HookProvider):
    """A provider that does."""

    def __init__(self, name: str, seen: list[str], priority: int) -> None:
        self._name, self.seen, self.priority = name, seen, priority

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    async def on_before_invocation(self, prompt: str, state: Any) -> Any:
        """Note it."""
        self.seen.append(f"start {self.name}")
        return state

    async def on_before_model_call(self, event: Any) -> None:
        """Note it."""
        self.seen.append(f"ask {self.name}")

    async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
        """Note it."""
        self.seen.append(f"call {self.name}")

    async def on_after_tool_call(self, event: AfterToolCallEvent) -> None:
        """Note it."""
        self.seen.append(f"over {self.name}")

    async def on_after_invocation(self, state: Any, success: bool) -> None:
        """Note it."""
        self.seen.append(f"end {self.name}")


class Methods:
    """An object of seed two's dialect that does."""

    def __init__(self, name: str, seen: list[str]) -> None:
        self.name, self.seen = name, seen

    def on_start(self, ctx: HookContext) -> None:
        """Note it."""
        self.seen.append(f"start {self.name}")

    def before_model(self, ctx: HookContext) -> None:
        """Note it."""
        self.seen.append(f"ask {self.name}")

    def before_tool(self, call: ToolCall) -> None:
        """Note it."""
        self.seen.append(f"call {self.name}")

    def after_tool(self, call: ToolCall, result: ToolResult) -> None:
        """Note it."""
        self.seen.append(f"over {self.name}")

    def on_end(self, ctx: HookContext, outcome: str) -> None:
        """Note it."""
        self.seen.append(f"end {self.name}")


class Verdicts(AgentHooks):
    """One of seed three's that does."""

    def __init__(self, name: str, seen: list[str]) -> None:
        self.name, self.seen = name, seen

    async def before_model(self, request: Any, info: Any) -> None:
        """Note it."""
        self.seen.append(f"ask {self.name}")

    async def before_tool(self, call: Any, ctx: Any) -> None:
        """Note it."""
        self.seen.append(f"call {self.name}")

    async def after_tool(self, call: Any, output: Any, ctx: Any) -> None:
        """Note it."""
        self.seen.append(f"over {self.name}")

    async def on_outcome(self, outcome: Any, info: Any) -> None:
        """Note it."""
        self.seen.append(f"end {self.name}")


def registry(name: str, seen: list[str]) -> Registry:
    """A registry that does."""
    made = Registry()
    on_before_agent_start(made, lambda event: seen.append(f"start {name}"))
    on_context(made, lambda event: seen.append(f"ask {name}"))
    on_tool_call(made, lambda event: seen.append(f"call {name}"))
    on_tool_result(made, lambda event: seen.append(f"over {name}"))
    return made


def every_kind(seen: list[str]) -> list[Any]:
    """Two of each kind, but for the registry; within native and provider layers the second goes first."""
    return [
        Native("n2", seen, 300), Native("n1", seen, SECURITY),
        Provider("p2", seen, 300), Provider("p1", seen, 50),
        hook(Methods("m1", seen)), hook(Methods("m2", seen)),
        Verdicts("v1", seen), Verdicts("v2", seen),
        registry("r1", seen),
        Native("n3", seen, 0),
    ]  # fmt: skip


def test_all_four_dialects_and_native_hooks_nest_in_list_order_with_the_gate_innermost() -> None:
    """
    Before: from the first layer in.  Then gate and tool.  After: from the last layer out.  Inside a layer its own rule
    holds: native and providers by priority and reversed after, methods reversed after, verdicts never reversed.
    """
    seen: list[str] = []

    class Tools(Desk):
        def query_siem(self, hours: int = 24) -> dict[str, Any]:
            """Search the SIEM."""
            seen.append("TOOL")
            return {"hits": 3}

    book = {**playbook(), "steps": playbook()["steps"][:1]}
    result = Tools().agent([SIEM], playbook=book, hooks=every_kind(seen)).run_sync("go")

    assert result.success
    assert seen == [
        "start n1", "start n2", "start p1", "start p2", "start m1", "start m2", "start r1", "start n3",
        "ask n1", "ask n2", "ask p1", "ask p2", "ask m1", "ask m2", "ask v1", "ask v2", "ask r1", "ask n3",
        "call n1", "call n2", "call p1", "call p2", "call m1", "call m2", "call v1", "call v2", "call r1", "call n3",
        "TOOL",
        "over n3", "over r1", "over v1", "over v2", "over m2", "over m1", "over p2", "over p1", "over n2", "over n1",
        "end n3", "end v1", "end v2", "end m2", "end m1", "end p2", "end p1", "end n2", "end n1",
    ]  # fmt: skip


def test_what_an_outer_layer_has_settled_the_inner_ones_do_not_see() -> None:
    """
    A block outside ends the asking; after it, layers hear of the call by their own rules (rows 11 and 30).
    """
    seen: list[str] = []
    blocks = Registry()
    on_tool_call(blocks, lambda event: ToolCallResult(block=True, reason="no"))

    desk = Desk()
    result = desk.agent([SIEM, "Done."], hooks=[blocks, *every_kind(seen)]).run_sync("go")

    assert (read(result), desk.calls) == (["no"], [])
    assert not [each for each in seen if each.startswith("call")]
    assert [each for each in seen if each.startswith("over")] == [
        "over n3", "over r1", "over v1", "over v2", "over m2", "over m1", "over n2", "over n1",
    ]  # fmt: skip


def test_names_are_those_of_the_hooks_in_the_order_of_asking() -> None:
    """
    For whoever wants to see what a list came to.
    """
    assert Hooks.of(every_kind([])).names == ("n1", "n2", "p1", "p2", "m1", "m2", "v1", "v2", "Registry", "n3")


def test_a_list_of_native_hooks_is_one_layer() -> None:
    """
    So that priority sorts the whole of it.
    """
    seen: list[str] = []
    pair = [Native("b", seen), Native("c", seen), Native("a", seen, SECURITY)]

    before_tool(pair)
    after_tool(pair)

    assert seen == ["call a", "call b", "call c", "over c", "over b", "over a"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (object(), "object is no hook: it has none of the methods on_start"),
        (Native, "Native is a class; give an object of it, Native()"),
        (type("Odd", (), {"on_before_tol_call": lambda self, event: None})(), "did you mean `on_before_tool_call`"),
        (type("Odd", (), {"before_tools": lambda self, event: None})(), "did you mean `before_tool`"),
        (type("Odd", (), {"before_tool": print, "priority": "high"})(), "priority of Odd is a whole number"),
    ],
)
def test_what_is_no_hook_is_refused_when_the_agent_is_made(wrong: Any, words: str) -> None:
    """
    A guard that would never be asked is a mistake of the host's, told before anything runs.
    """
    with pytest.raises(HostError) as caught:
        Desk().agent(["Done."], hooks=[wrong])

    assert words in str(caught.value)


def test_a_native_hook_that_returns_something_is_told_so() -> None:
    """
    It may have been meant for another dialect: before a tool, it counts as an error and never as a yes.
    """

    class Returns:
        def before_tool(self, point: Any) -> ToolResult:
            return ToolResult("cached")

    point = before_tool([Returns()])

    assert "wrapped with guideway.hooks.methods.hook" in str(point.error)


def test_a_native_after_hook_sees_a_blocked_call_as_not_run() -> None:
    """
    `ran` is False, and who blocked it is told from who denied it.
    """
    seen: list[Any] = []

    class Blocks:
        def before_tool(self, point: Any) -> None:
            if point.call.call_id == "c1":
                point.block("no")

        def after_tool(self, point: Any) -> None:
            seen.append((point.call.call_id, point.ran, point.blocked_by_hook, point.verdict is not None))

    replies = [ISOLATE, ISOLATE._replace(call_id="c2"), SIEM, *["x"] * 4]
    Desk().agent(replies, playbook=playbook(), hooks=[Blocks()]).run_sync("go")

    assert seen == [("c1", False, True, False), ("c2", False, False, True), ("c0", True, False, True)]


def test_hooks_hold_copies_so_that_nothing_is_changed_behind_the_gate() -> None:
    """
    Who keeps arguments or a result and writes into them later changes neither the call, nor the fact, nor the record
    (S53).
    """
    kept: list[Any] = []

    class Keeps:
        def before_tool(self, point: Any) -> None:
            kept.append(point.call.args)
            kept.append(point.asked.args)

        def after_tool(self, point: Any) -> None:
            for args in kept:
                args["hours"] = 1
            point.call.args["hours"] = 1
            point.shown["hits"] = 0

    desk = Desk()
    result = desk.agent([SIEM, "Done."], hooks=[Keeps()]).run_sync("go")

    assert desk.calls == [("query_siem", 24)]
    assert [(each.arguments, each.result) for each in result.tool_executions] == [({"hours": 24}, {"hits": 3})]
    assert result.messages[1]["tool_calls"][0]["args"] == {"hours": 24}
    assert read(result) == [{"hits": 0}]

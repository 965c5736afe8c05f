"""Across dialects: who is asked about what, how changes travel, and that nothing takes a block back."""

from __future__ import annotations

from typing import Any

import pytest

import guideway as gw
from guideway.agent import Decision
from guideway.hooks import methods
from guideway.hooks.methods import HookContext, ToolCall, ToolResult, hook
from guideway.hooks.provider import AgentState, BeforeToolCallEvent, HookProvider
from guideway.hooks.registry import (
    Registry,
    ToolCallResult,
    ToolResultResult,
    on_observation,
    on_tool_call,
    on_tool_result,
)
from guideway.hooks.verdict import AgentHooks, Block, HookAction, Modify, ToolContext

from .world import (
    ASKING,
    ISOLATE,
    SIEM,
    NotedMethods,
    NotedNative,
    NotedProvider,
    NotedVerdict,
    Tools,
    agent,
    answers,
    free,
    noted_registry,
)

Heard = list[str]


def all_of(said: Heard) -> list[Any]:
    """Two neighbours of each dialect, and one native hook alone at the end."""
    return [
        NotedNative("n-late", said, 300), NotedNative("n-early", said, 50),
        NotedProvider("p-late", said, 300), NotedProvider("p-early", said, 50),
        NotedMethods("m1", said), NotedMethods("m2", said),
        NotedVerdict("v1", said), NotedVerdict("v2", said),
        noted_registry("r1", said), noted_registry("r2", said),
        NotedNative("n-last", said, 0),
    ]  # fmt: skip


def test_a_call_that_the_gate_refuses_is_asked_about_before_and_after_by_those_who_ask_to() -> None:
    """
    Hooks of verdicts are asked before only about what the policy allows (row 30); providers hear of nothing that did
    not run (row 11).
    """
    said: Heard = []
    agent([ISOLATE, SIEM, ISOLATE], hooks=all_of(said)).run_sync("go")

    first = said[: said.index("n-early<") + 1]
    assert first == [
        "n-early>", "n-late>", "p-early>", "p-late>", "m1>", "m2>", "r1>", "r2>", "n-last>",
        "n-last<", "r1<", "r2<", "v1<", "v2<", "m2<", "m1<", "n-late<", "n-early<",
    ]  # fmt: skip


def test_changes_are_seen_further_in_and_what_the_model_reads_is_made_further_out() -> None:
    """
    A changed call goes inwards through every dialect, a changed result outwards.
    """
    seen: list[Any] = []

    class Outer(HookProvider):
        async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
            event.arguments = {**event.arguments, "hours": event.arguments["hours"] + 1}

        async def on_after_tool_call(self, event: Any) -> None:
            event.result = [*event.result, "provider"]

    class Middle:
        def before_tool(self, call: ToolCall) -> ToolCall:
            call.args["hours"] *= 10
            return call

        def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
            return ToolResult([*result.value, "methods"])

    class Inner(AgentHooks):
        async def before_tool(self, call: gw.ToolCall, ctx: ToolContext) -> HookAction:
            return Modify({"hours": call.args["hours"] + 2})

    class Last:
        def before_tool(self, point: Any) -> None:
            seen.append((point.asked.args, point.call.args))
            point.change(args={"hours": point.call.args["hours"] + 3})

        def after_tool(self, point: Any) -> None:
            point.shown = [point.shown["hits"], "native"]

    registry = Registry()
    on_tool_result(registry, lambda event: ToolResultResult(content=[*event.content, "registry"]))
    tools = Tools()
    one = gw.ToolCall("query_siem", {"hours": 1})
    result = free([one, "Done."], tools, hooks=[Outer(), hook(Middle()), Inner(), registry, Last()]).run_sync("go")

    assert tools.ran == [("query_siem", 25)]
    assert seen == [({"hours": 1}, {"hours": 22})]
    assert answers(result) == [[3, "native", "registry", "methods", "provider"]]
    assert result.tool_executions[0].arguments == {"hours": 25}


class Native:
    """Blocks."""

    def before_tool(self, point: Any) -> None:
        """Not today."""
        point.block("no")


class Provider(HookProvider):
    """Blocks."""

    async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
        """Not today."""
        event.cancel = "no"


class Verdict(AgentHooks):
    """Blocks."""

    async def before_tool(self, call: gw.ToolCall, ctx: ToolContext) -> HookAction:
        """Not today."""
        return Block("no")


def blocking_registry() -> Registry:
    """Blocks."""
    registry = Registry()
    on_tool_call(registry, lambda event: ToolCallResult(True, "no"))
    return registry


class Undo:
    """A native hook that tries every way to take a block back."""

    def __init__(self, priority: int) -> None:
        self.priority = priority
        self.asked = 0
        self.points: list[Any] = []

    def before_tool(self, point: Any) -> None:
        """Whatever it may try."""
        self.asked += 1
        self.points.append(point)
        point.block("")
        point.value = {"hits": 0}


@pytest.mark.parametrize("guard", [Native, Provider, Verdict, blocking_registry])
@pytest.mark.parametrize("priority", [0, 1000])
def test_no_hook_and_no_priority_takes_a_block_back(guard: Any, priority: int) -> None:
    """
    Before or after it, inside or outside: the call does not run, and counts for nothing.
    """
    for hooks in ([guard(), Undo(priority)], [Undo(priority), guard()]):
        tools = Tools()
        result = agent([SIEM] + ["x"] * 4, tools, hooks=hooks).run_sync("go")

        assert tools.ran == []
        assert result.messages[2]["is_error"]
        assert result.tool_executions[0].allowed is False
        assert "query_siem" not in [record[3] for record in records(result) if record[0] == "settled"]


def test_a_hook_that_keeps_a_point_changes_nothing_later() -> None:
    """
    Neither the arguments that were decided on nor those a person has allowed.
    """

    class Keep:
        def __init__(self) -> None:
            self.kept: list[Any] = []

        def before_tool(self, point: Any) -> None:
            self.kept.append((point, point.call.args))

    keep, tools = Keep(), Tools()

    def lead(question: Any) -> Decision:
        for point, args in keep.kept:
            args["host"] = "forged"
            point.change(args={"host": "forged"})
            point.value = "forged"
        return Decision("approve", "lead")

    agent([SIEM, ISOLATE] + ["x"] * 4, tools, playbook=ASKING, decisions=lead, hooks=[keep]).run_sync("go")

    assert [ran for ran in tools.ran if ran[0] == "isolate_host"] in ([], [("isolate_host", "ws-7")])
    assert "forged" not in str(tools.ran)


def records(result: Any) -> list[Any]:
    """Of the session."""
    return list(result.session.records)


def test_a_verdict_is_asked_for_once_more_where_a_call_was_changed_further_in() -> None:
    """
    The guard may still block what is about to run; it does not modify it again, so that two who change do not go round.
    """
    seen: list[Any] = []

    class Guard(AgentHooks):
        async def before_tool(self, call: gw.ToolCall, ctx: ToolContext) -> HookAction:
            seen.append(call.args)
            return Block("too long") if call.args["hours"] > 100 else Modify({"hours": call.args["hours"] + 1})

    class Inside:
        def before_tool(self, point: Any) -> None:
            point.change(args={"hours": point.call.args["hours"] * 10})

    tools = Tools()
    calls = [gw.ToolCall("query_siem", {"hours": hours}) for hours in (4, 19)]
    result = free([*calls, "Done."], tools, hooks=[Guard(), Inside()]).run_sync("go")

    assert seen == [{"hours": 4}, {"hours": 50}, {"hours": 19}, {"hours": 200}]
    assert tools.ran == [("query_siem", 50)]
    assert answers(result) == [{"hits": 3}, "too long"]


def test_observers_hear_when_other_tools_are_offered() -> None:
    """
    The playbook offers each step its own; the first offer is no update (row 45).
    """
    seen: list[tuple[str, ...]] = []
    registry = Registry()
    on_observation(registry, "tools_update", lambda event: seen.append(event.active_tools))
    result = agent([SIEM, ISOLATE], hooks=[registry]).run_sync("go")

    assert result.success
    assert seen == [("isolate_host",)]


def test_a_state_that_is_replaced_twice_is_replaced_on_top() -> None:
    """
    Two providers in two layers: the second sees what the first has made, and takes nothing of it back (row 12).
    """
    seen: list[Any] = []

    class Put(HookProvider):
        def __init__(self, key: str) -> None:
            self.key = key

        async def on_before_invocation(self, prompt: str, state: AgentState) -> AgentState:
            state.metadata[self.key] = True
            return state

        async def on_iteration_start(self, iteration: int, state: AgentState) -> None:
            seen.append({name: state.metadata.get(name) for name in ("a", "b", "team")})

    free(["Done."], hooks=[Put("a"), NotedNative("between", []), Put("b")]).run_sync("go", team="blue")

    assert seen == [{"a": True, "b": True, "team": "blue"}] * 2


def test_calls_that_are_made_once_more_have_ids_of_their_own_also_where_the_model_gives_two_the_same() -> None:
    """
    And in a later turn, too: nothing runs under an id that something has run under (S53).
    """

    class Again:
        def after_tool(self, point: Any) -> None:
            point.retry = "~" not in point.call.call_id

    tools = Tools()
    same = gw.ToolCall("query_siem", {"hours": 1}, "c1")
    other = gw.ToolCall("isolate_host", {"host": "ws-7"}, "c1")
    made = free([[same, other], [same], "Done."], tools, hooks=[Again()])
    ids = [each.call_id for each in made.run_sync("go").tool_executions if each.ran]

    assert len(ids) == len(set(ids)) == len(tools.ran)
    assert {"c1", "c1~1", "c1~2"} <= set(ids)


def test_hooks_of_methods_need_no_wrapping_where_their_parameters_say_what_they_are() -> None:
    """
    The examples of seed two's page, given as they stand there; native hooks beside them stay native (row 15).
    """

    class StopAfterTwoCalls:
        def before_model(self, ctx: HookContext) -> methods.HookAction | None:
            too_many = ctx.model_calls >= 2
            return methods.HookAction(end=True, output="stopped: too many model calls") if too_many else None

    class CountRuns:
        def on_start(self, ctx: HookContext) -> methods.HookAction:
            return methods.HookAction(state={"runs": (ctx.hook_state or {}).get("runs", 0) + 1})

    class Cache:
        def before_tool(self, call: ToolCall) -> ToolResult | None:
            return ToolResult("none (cached)") if call.args.get("hours") == 1 else None

    class Last:
        def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
            return ToolResult([result.value])

    said: Heard = []
    hooks = [StopAfterTwoCalls(), CountRuns(), NotedNative("n", said), Cache(), Last()]
    tools = Tools()
    calls = [gw.ToolCall("query_siem", {"hours": hours}) for hours in (1, 2)]
    result = free([*calls, "Done."], tools, hooks=hooks).run_sync("go")

    assert answers(result) == [["none (cached)"], [{"hits": 3}]]
    assert tools.ran == [("query_siem", 2)]
    assert said == ["n>", "n<"] * 2
    assert (result.output, result.hook_states) == ("stopped: too many model calls", {"CountRuns": {"runs": 1}})


def test_a_native_guard_with_an_unlucky_parameter_is_no_open_door() -> None:
    """
    Taken for a hook of methods, what it does with its point fails the call.
    """

    class Guard:
        def before_tool(self, call: Any) -> None:
            call.block("no")

    tools = Tools()
    result = free([SIEM, "Done."], tools, hooks=[Guard()]).run_sync("go")

    assert tools.ran == []
    assert "has no attribute 'block'" in answers(result)[0]

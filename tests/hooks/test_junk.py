"""Hooks that leave what the loop cannot go by: the run ends with a name, or the call fails, and nothing runs for it."""

from __future__ import annotations

from threading import Lock
from typing import Any

import pytest

import guideway as gw
from guideway.hooks.methods import HookAction, HookContext, hook
from guideway.hooks.provider import BeforeModelCallEvent, HookProvider
from guideway.hooks.registry import BeforeAgentStartResult, ContextResult, Registry, on_before_agent_start, on_context

from .world import SIEM, Tools, agent, answers, free, words


class Setting:
    """A native hook that sets one field at one point."""

    def __init__(self, where: str, name: str, value: Any) -> None:
        setattr(self, where, lambda point: setattr(point, name, value))


@pytest.mark.parametrize(
    ("where", "name", "value"),
    [
        ("on_start", "messages", None),
        ("on_start", "messages", "go"),
        ("on_start", "system_prompt", 7),
        ("on_start", "state", [1]),
        ("before_model", "messages", [{"content": "no role"}]),
        ("before_model", "system_prompt", None),
        ("before_model", "end", True),
        ("after_model", "reply", "a text"),
        ("after_model", "reply", gw.ModelReply("", ({"name": "query_siem"},))),  # type: ignore[arg-type]
        ("after_model", "end", "enough"),
    ],
)
def test_what_a_native_hook_leaves_is_looked_at(where: str, name: str, value: Any) -> None:
    """
    The run fails as by any mistake of a hook, and the message names hook, field and point.
    """
    tools = Tools()
    result = free([SIEM, "Done."], tools, hooks=[Setting(where, name, value)]).run_sync("go")

    assert words(result) == ("hook_failed", "stopped:hook_failed", False)
    assert "Setting" in str(result.error)
    assert tools.ran == []


def test_what_other_dialects_leave_is_looked_at_too() -> None:
    """
    The same.
    """

    class Provider(HookProvider):
        async def on_before_model_call(self, event: BeforeModelCallEvent) -> None:
            event.messages = None  # type: ignore[assignment]

    class Methods:
        def after_model(self, ctx: HookContext) -> HookAction:
            return HookAction(message={"tool_calls": [{}]})

    context, start = Registry(), Registry()
    on_context(context, lambda event: ContextResult(messages=[7]))  # type: ignore[list-item]
    on_before_agent_start(start, lambda event: BeforeAgentStartResult(messages=7))  # type: ignore[arg-type]
    for each in (Provider(), hook(Methods()), context, start):
        assert words(free([SIEM, "Done."], hooks=[each]).run_sync("go"))[0] == "hook_failed"


@pytest.mark.parametrize(
    "call",
    [None, "isolate_host", ("query_siem", {}, "c1"), gw.ToolCall("query_siem", 7)],  # type: ignore[arg-type]
)
def test_a_call_that_is_none_counts_as_an_error_of_the_tool(call: Any) -> None:
    """
    Nothing runs for it.
    """
    tools = Tools()
    result = free([SIEM, "Done."], tools, hooks=[Setting("before_tool", "call", call)]).run_sync("go")

    assert tools.ran == []
    assert str(answers(result)[0]).startswith("TypeError: ")


@pytest.mark.parametrize("args", [{"hours": object()}, {"hours": Lock()}, {"hours": float("nan")}, {1: 2}])
def test_arguments_that_are_no_json_do_not_run(args: Any) -> None:
    """
    The gate refuses them, or they cannot be taken over at all.
    """

    class Change:
        def before_tool(self, point: Any) -> None:
            point.change(args=args)

    tools = Tools()
    result = free([SIEM, "Done."], tools, hooks=[Change()]).run_sync("go")

    assert tools.ran == []
    assert result.messages[2]["is_error"]
    assert result.success


def test_a_call_keeps_its_id() -> None:
    """
    Whatever a hook puts in its place; and that the gate has admitted it no hook says.
    """

    class Other:
        def before_tool(self, point: Any) -> None:
            point.call = gw.ToolCall("query_siem", {"hours": 1}, "another")
            point.asked = gw.ToolCall("isolate_host", {}, "third")
            point.admitted = True

    tools = Tools()
    result = agent([SIEM] + ["x"] * 4, tools, hooks=[Other()]).run_sync("go")

    assert [each.call_id for each in result.tool_executions] == ["call-1-1"]
    assert tools.ran == [("query_siem", 1)]


def test_a_result_that_is_no_json_is_shown_as_text() -> None:
    """
    The fact stays what the tool answered.
    """
    result = free([SIEM, "Done."], hooks=[Setting("after_tool", "shown", {1, })]).run_sync("go")

    assert answers(result) == ["{1}"]
    assert result.tool_executions[0].result == {"hits": 3}

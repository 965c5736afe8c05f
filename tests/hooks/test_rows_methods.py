"""Rows 15 to 26 of the seeds: hooks whose methods return what they want done."""

from __future__ import annotations

from typing import Any

import guideway as gw
from guideway.agent import Agent, Decision
from guideway.hooks.methods import HookAction, HookContext, ToolCall, ToolError, ToolResult, hook
from guideway.hooks.registry import Registry, on_tool_call
from guideway.hooks.verdict import AgentHooks, RunInfo
from guideway.runtime.models.fake import FakeModel
from guideway.runtime.models.messages import ModelReply

from .kit import (
    ASKING,
    ISOLATE,
    SIEM,
    NotedMethods,
    NotedProvider,
    Tools,
    agent,
    answers,
    free,
    words,
)


def test_row_15_any_object_with_some_of_the_methods_is_a_hook_synchronous_or_not() -> None:
    """
    Wrapped with `hook` in this dialect, as it is in the native one.
    """
    said: list[str] = []

    class Some:
        def on_start(self, ctx: HookContext) -> None:
            said.append("start")

        async def after_tool(self, call: ToolCall, result: ToolResult) -> None:
            said.append(f"after {call.name}")

    class Native:
        async def on_start(self, point: Any) -> None:
            said.append("native start")

        def on_end(self, point: Any) -> None:
            said.append("native end")

    assert free([SIEM, "Done."], hooks=[hook(Some()), Native()]).run_sync("go").success
    assert said == ["start", "native start", "after query_siem", "native end"]


def test_row_16_on_start_once_per_segment_and_it_may_save_state() -> None:
    """
    A run that waited for a person has two segments, however many turns.
    """

    class Count:
        def on_start(self, ctx: HookContext) -> HookAction:
            return HookAction(state={"runs": (ctx.hook_state or {}).get("runs", 0) + 1})

    made = agent([SIEM, ISOLATE], playbook=ASKING, hooks=[hook(Count())])
    waits = made.run_sync("go")
    done = made.send_sync(Decision("approve", "lead"), to=waits)

    assert (waits.status, done.status) == ("suspended", "completed")
    assert (waits.hook_states, done.hook_states) == ({"Count": {"runs": 1}}, {"Count": {"runs": 2}})


def test_row_17_before_model_replaces_the_transcript_or_ends_the_run() -> None:
    """
    The replacement is sent; the run's own transcript stays.
    """

    class Trim:
        def before_model(self, ctx: HookContext) -> HookAction:
            if ctx.model_calls >= 1:
                return HookAction(end=True, output="enough")
            return HookAction(messages=[{"role": "user", "content": "trimmed"}])

    model = FakeModel([SIEM, "never asked"])
    result = Agent(model, Tools().both, hooks=[hook(Trim())]).run_sync("go")

    assert [list(request.messages) for request in model.requests] == [[{"role": "user", "content": "trimmed"}]]
    assert result.messages[0]["content"] == "go"
    assert (result.output, result.stop_reason.value) == ("enough", "hook_end")


def test_row_18_after_model_sees_the_reply_at_the_end_and_may_replace_it_or_end() -> None:
    """
    A hook of verdicts sees the raw reply, and nothing it does to it comes of it (row 28).
    """
    seen: list[Any] = []

    class Replace:
        def after_model(self, ctx: HookContext) -> HookAction:
            seen.append(ctx.messages[-1]["content"])
            if ctx.model_calls == 2:
                return HookAction(end=True, output="ended")
            call = {"call_id": "c9", "name": "query_siem", "args": {"hours": 1}}
            return HookAction(message={"role": "assistant", "content": "", "tool_calls": [call]})

    class Raw(AgentHooks):
        async def after_model(self, response: ModelReply, info: RunInfo) -> None:
            seen.append(("raw", response.text))

    tools = Tools()
    result = free(["I am done.", "Really."], tools, hooks=[hook(Replace()), Raw()]).run_sync("go")

    assert seen == [("raw", "I am done."), "I am done.", ("raw", "Really."), "Really."]
    assert tools.ran == [("query_siem", 1)]
    assert (result.output, words(result)) == ("ended", ("hook_end", "stopped:hook_end", False))


def test_row_19_before_tool_changes_the_call_answers_it_or_fails_it() -> None:
    """
    Name or arguments; a result runs nothing; an error counts as the tool's own.
    """

    class Mend:
        def before_tool(self, call: ToolCall) -> ToolCall | ToolResult | None:
            match call.args:
                case {"hours": 1}:
                    call.args["hours"] = 2
                    return call
                case {"hours": 3}:
                    return ToolCall(call.call_id, "isolate_host", {"host": "ws-7"})
                case {"hours": 4}:
                    return ToolResult({"hits": "cached"})
                case {"hours": 5}:
                    raise ToolError("no such table")
            return None

    tools = Tools()
    calls = [gw.ToolCall("query_siem", {"hours": hours}) for hours in (1, 3, 4, 5, 6)]
    result = free([*calls, "Done."], tools, hooks=[hook(Mend())]).run_sync("go")

    assert tools.ran == [("query_siem", 2), ("isolate_host", "ws-7"), ("query_siem", 6)]
    assert answers(result)[2:4] == [{"hits": "cached"}, "ToolError: no such table"]
    assert [m["is_error"] for m in result.messages if m["role"] == "tool"] == [False, False, False, True, False]


def test_row_20_after_tool_replaces_the_result() -> None:
    """
    What the model reads; the fact stays what the tool answered (S53).
    """

    class Redact:
        def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult | None:
            return ToolResult("redacted") if result.value == {"hits": 3} else None

    result = agent([SIEM, ISOLATE], hooks=[hook(Redact())]).run_sync("go")

    assert answers(result) == ["redacted", {"ticket": "C-1"}]
    assert result.tool_executions[0].result == {"hits": 3}
    assert result.success


def test_row_21_on_end_always_once_per_segment_and_it_changes_nothing() -> None:
    """
    Completed, suspended, failed; also where the hook itself fails at the end.
    """
    ends: list[str] = []

    class Told:
        def on_end(self, ctx: HookContext, outcome: str) -> HookAction:
            ends.append(outcome)
            if outcome == "completed":
                raise ZeroDivisionError
            return HookAction(end=True, output="forged")

    made = agent([SIEM, ISOLATE], playbook=ASKING, hooks=[hook(Told())])
    waits = made.run_sync("go")
    done = made.send_sync(Decision("approve", "lead"), to=waits)
    failed = agent([RuntimeError("down")], hooks=[hook(Told())]).run_sync("go")

    assert ends == [each.status for each in (waits, done, failed)] == ["suspended", "completed", "failed"]
    assert done.success
    assert "forged" not in (waits.output, failed.output)


def test_row_22_befores_in_the_order_of_the_list_and_afters_in_reverse() -> None:
    """
    Providers are sorted by priority meanwhile (row 10).
    """
    said: list[str] = []

    class Whole(NotedMethods):
        def on_start(self, ctx: HookContext) -> None:
            said.append(f"{self.name} start")

        def before_model(self, ctx: HookContext) -> None:
            said.append(f"{self.name} ask")

        def after_model(self, ctx: HookContext) -> None:
            said.append(f"{self.name} heard")

        def on_end(self, ctx: HookContext, outcome: str) -> None:
            said.append(f"{self.name} end")

    hooks = [Whole("a", said), Whole("b", said), NotedProvider("late", said, 300), NotedProvider("early", said, 50)]
    free([SIEM, "Done."], hooks=hooks).run_sync("go")

    model = ["a ask", "b ask", "b heard", "a heard"]
    tool = ["a>", "b>", "early>", "late>", "late<", "early<", "b<", "a<"]
    assert said == ["a start", "b start", *model, *tool, *model, "b end", "a end"]


def test_row_23_an_error_fails_the_run_with_its_cause_and_in_tool_hooks_counts_as_the_tools() -> None:
    """
    A handler of a registry that raises before a tool fails the run instead (row 43); neither opens the gate.
    """

    def broken(*values: Any) -> None:
        raise ZeroDivisionError("no")

    found = {}
    for where in ("on_start", "before_model", "after_model", "before_tool", "after_tool"):
        made, tools = type("Broken", (), {where: staticmethod(broken)})(), Tools()
        found[where] = (free([SIEM, "Done."], tools, hooks=[hook(made)]).run_sync("go"), tools.ran)
    strict = Registry()
    on_tool_call(strict, broken)
    tools = Tools()
    failed = free([SIEM, "Done."], tools, hooks=[strict]).run_sync("go")

    for result in (*(found[where][0] for where in ("on_start", "before_model", "after_model")), failed):
        assert words(result) == ("hook_failed", "stopped:hook_failed", False)
        assert isinstance(result.error and result.error.__cause__, ZeroDivisionError)
    assert answers(found["before_tool"][0]) == answers(found["after_tool"][0]) == ["ZeroDivisionError: no"]
    assert [ran for _, ran in found.values()] == [[], [], [], [], [("query_siem", 24)]]
    assert tools.ran == []


def test_row_24_state_is_kept_by_name_and_unset_is_not_none() -> None:
    """
    By the `name`, else by the class; each hook has its own.
    """
    seen: list[Any] = []

    class Named:
        name = "mine"

        def before_model(self, ctx: HookContext) -> HookAction:
            seen.append(ctx.hook_state)
            return (HookAction(state={"n": 1}), HookAction(), HookAction(state=None))[min(ctx.model_calls, 2)]

    class Unnamed:
        def on_start(self, ctx: HookContext) -> HookAction:
            return HookAction(state=[1])

    result = free([SIEM, ISOLATE, SIEM, "Done."], hooks=[hook(Named()), hook(Unnamed())]).run_sync("go")

    assert seen == [None, {"n": 1}, {"n": 1}, None]
    assert result.hook_states == {"mine": None, "Unnamed": [1]}


def test_row_25_the_context_shows_the_run_and_writes_to_it_are_ignored() -> None:
    """
    Run id, transcript, model calls, own state, the whole state with what `run` was given by keyword.
    """
    seen: list[tuple[Any, ...]] = []

    class Look:
        def before_model(self, ctx: HookContext) -> None:
            seen.append((ctx.run_id, len(ctx.messages), ctx.model_calls, ctx.hook_state, ctx.state["team"]))
            ctx.messages.clear()
            ctx.state["team"] = "forged"
            ctx.state["outcome"] = "success"

    model = FakeModel([SIEM, "Done."])
    result = Agent(model, Tools().both, hooks=[hook(Look())]).run_sync("go", run_id="r1", team="blue")

    assert seen == [("r1", 1, 0, None, "blue"), ("r1", 3, 1, None, "blue")]
    assert [len(request.messages) for request in model.requests] == [1, 3]
    assert result.run_id == "r1"


def test_row_26_a_hook_that_ends_the_run_has_its_own_stop_reason_and_output() -> None:
    """
    It is no success: the playbook has not said so.
    """

    class Stop:
        def before_model(self, ctx: HookContext) -> HookAction | None:
            if ctx.model_calls >= 1:
                return HookAction(end=True, output={"why": "too many model calls"})
            return None

    result = agent([SIEM, ISOLATE], hooks=[hook(Stop())]).run_sync("go")

    assert words(result) == ("hook_end", "stopped:hook_end", False)
    assert result.output == {"why": "too many model calls"}

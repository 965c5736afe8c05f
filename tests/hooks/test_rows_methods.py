"""Rows 15 to 26 of the parity list: seed two's methods."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import guideway as gw
from guideway.agent import Decision
from guideway.hooks import UNSET, HookFailedError
from guideway.hooks.methods import Hook, HookAction, HookContext, ToolCall, ToolError, ToolResult, hook
from guideway.runtime.models.messages import ModelReply
from guideway.statemachine.errors import HostError

from .kit import (
    ISOLATE,
    LEAD,
    SAID,
    SIEM,
    Desk,
    after_model,
    after_tool,
    at_end,
    before_model,
    before_tool,
    facts,
    playbook,
    read,
    start,
)


def test_row_15_any_object_with_some_of_the_methods_is_a_hook_synchronous_or_not() -> None:
    """
    Wrapped, or derived from the base; a plain function and a coroutine are the same.
    """

    class Plain:
        def before_tool(self, call: ToolCall) -> ToolCall:
            call.args["by"] = "plain"
            return call

    class Waits(Hook):
        async def before_tool(self, call: ToolCall) -> ToolCall:
            call.args["and"] = "waits"
            return call

    point = before_tool([hook(Plain()), Waits()])

    assert point.call.args == {"host": "ws-7", "by": "plain", "and": "waits"}
    assert ISOLATE.args == {"host": "ws-7"}


def test_row_15_what_has_no_method_at_all_is_no_hook() -> None:
    """
    An object that nobody would ever ask is a mistake, and named; so is a method with nearly the right name.
    """

    class Misspelt:
        def befor_tool(self, point: Any) -> None: ...

    for wrong, words in ((object(), "object is no hook"), (Misspelt(), "did you mean `before_tool`")):
        with pytest.raises(HostError, match=words):
            before_tool([wrong])


def test_row_16_on_start_is_asked_once_per_segment_and_may_save_state() -> None:
    """
    A run that waits and goes on has two segments.
    """

    class CountRuns:
        def on_start(self, ctx: HookContext) -> HookAction:
            return HookAction(state={"runs": (ctx.hook_state or {}).get("runs", 0) + 1})

    made = Desk().agent([SIEM, ISOLATE], playbook=playbook(LEAD), hooks=[hook(CountRuns())])
    waits = made.run_sync("go")
    done = made.send_sync(Decision("approve", "lead"), to=waits)

    assert waits.hook_states == {"CountRuns": {"runs": 1}}
    assert done.hook_states == {"CountRuns": {"runs": 2}}


def test_row_17_before_model_replaces_the_transcript_or_ends_the_run() -> None:
    """
    The next hook sees the new transcript; after an end nobody is asked.
    """
    seen: list[Any] = []

    class Trim:
        def before_model(self, ctx: HookContext) -> HookAction:
            return HookAction(messages=[{"role": "user", "content": "short"}])

    class Sees:
        def before_model(self, ctx: HookContext) -> HookAction | None:
            seen.append(ctx.messages)
            return HookAction(end=True, output="enough")

    point = before_model([hook(Trim()), hook(Sees()), hook(Sees())])

    assert seen == [[{"role": "user", "content": "short"}]]
    assert (point.messages, point.end and point.end.output) == (seen[0], "enough")


def test_row_18_after_model_sees_the_reply_last_and_replaces_it_or_ends() -> None:
    """
    The replacement is a message, with calls if it has some; what the reply cost stays.
    """
    seen: list[Any] = []

    class Replace:
        def after_model(self, ctx: HookContext) -> HookAction:
            seen.append(ctx.messages[-1]["content"])
            call = {"call_id": "c9", "name": "query_siem", "args": {"hours": 1}}
            return HookAction(message={"role": "assistant", "content": "Better.", "tool_calls": [call]})

    class Ends:
        def after_model(self, ctx: HookContext) -> HookAction:
            seen.append(ctx.messages[-1]["content"])
            return HookAction(end=True, output="enough")

    point = after_model([hook(Ends()), hook(Replace())], ModelReply("Raw.", usage=gw.Usage(7)))

    assert seen == ["Raw.", "Better."]
    assert point.reply.calls == (gw.ToolCall("query_siem", {"hours": 1}, "c9"),)
    assert (point.reply.usage.tokens, point.end and point.end.output) == (7, "enough")


def test_row_19_before_tool_changes_name_or_arguments_answers_or_fails_the_call() -> None:
    """
    A changed call goes on to the next hook, a result or an error ends the asking; the id stays.
    """

    class Other:
        def before_tool(self, call: ToolCall) -> ToolCall:
            return ToolCall("other id", "query_siem", {"hours": 1})

    class Cache:
        def before_tool(self, call: ToolCall) -> ToolResult:
            return ToolResult({"cached": call.name})

    class Fails:
        def before_tool(self, call: ToolCall) -> None:
            raise ToolError("not today")

    changed, answered, failed = (before_tool([hook(Other()), hook(last)]) for last in (Other(), Cache(), Fails()))

    assert changed.call == gw.ToolCall("query_siem", {"hours": 1}, "c1")
    assert answered.value == {"cached": "query_siem"}
    assert (str(failed.error), failed.value) == ("not today", UNSET)


def test_row_19_a_result_skips_the_tool_and_is_what_the_model_reads() -> None:
    """
    In a run: the tool does not run; the gate has been asked all the same (S53).
    """

    class Cache:
        def before_tool(self, call: ToolCall) -> ToolResult | None:
            return ToolResult("cached") if call.name == "query_siem" else None

    desk = Desk()
    early = desk.agent([ISOLATE, SIEM, ISOLATE._replace(call_id="c2")], playbook=playbook(), hooks=[hook(Cache())])
    result = early.run_sync("go")

    assert desk.calls == [("isolate_host", "ws-7")]
    assert read(result)[1] == "cached"
    assert "not legal in the step" in read(result)[0]


def test_row_20_after_tool_replaces_the_result() -> None:
    """
    A `ToolResult` or the bare value; None leaves it.
    """

    class Wrap:
        def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
            return ToolResult([result.value])

    class Leave:
        def after_tool(self, call: ToolCall, result: ToolResult) -> None:
            result.value = "forged"

    assert after_tool([hook(Wrap()), hook(Leave()), hook(Wrap())], 1).shown == [[1]]


def test_row_21_on_end_is_asked_always_and_changes_nothing() -> None:
    """
    Completed, suspended, failed; all hooks hear of it, whatever one raises.
    """
    seen: list[Any] = []

    class Told:
        def on_end(self, ctx: HookContext, outcome: str) -> Any:
            seen.append(outcome)
            ctx.messages.clear()
            raise ZeroDivisionError

    desk = Desk()
    made = desk.agent([SIEM, ISOLATE], playbook=playbook(LEAD), hooks=[hook(Told())])
    waits = made.run_sync("go")
    done = made.send_sync(Decision("approve", "lead"), to=waits)
    broken = desk.agent([RuntimeError("x")], hooks=[hook(Told())]).run_sync("go")

    assert seen == ["suspended", "completed", "failed"]
    assert (done.success, broken.success, len(done.messages) > 0) == (True, False, True)
    at_end([hook(Told()), hook(Told())])
    assert len(seen) == 5


def test_row_22_start_and_before_in_list_order_the_rest_reversed() -> None:
    """
    The first hook is the outermost.
    """
    seen: list[str] = []

    class Order:
        def __init__(self, name: str) -> None:
            self.name = name

        def __getattr__(self, method: str) -> Any:
            if not method.startswith(("on_", "before_", "after_")):
                raise AttributeError(method)
            return lambda *values: seen.append(f"{method} {self.name}")

    pair = [hook(Order("a")), hook(Order("b"))]
    start(pair), before_model(pair), before_tool(pair), after_tool(pair), after_model(pair), at_end(pair)

    assert seen == [
        "on_start a", "on_start b", "before_model a", "before_model b", "before_tool a", "before_tool b",
        "after_tool b", "after_tool a", "after_model b", "after_model a", "on_end b", "on_end a",
    ]  # fmt: skip


@pytest.mark.parametrize("method", ["on_start", "before_model", "after_model"])
def test_row_23_an_exception_around_the_model_fails_the_run_and_keeps_the_cause(method: str) -> None:
    """
    The stop reason is `hook_failed`; an answer that is no action counts likewise.
    """

    class Broken:
        pass

    def raises(ctx: HookContext) -> None:
        raise ZeroDivisionError("oops")

    broken = Broken()
    setattr(broken, method, raises)
    result = Desk().agent(["Done."], hooks=[hook(broken)]).run_sync("go")
    setattr(broken, method, lambda ctx: "yes")
    odd = Desk().agent(["Done."], hooks=[hook(broken)]).run_sync("go")

    assert (result.stop_reason.value, odd.stop_reason.value) == ("hook_failed", "hook_failed")
    assert isinstance(result.error, HookFailedError)
    assert isinstance(result.error.__cause__, ZeroDivisionError)


def test_row_23_an_exception_around_a_tool_is_the_tools_own_error() -> None:
    """
    Before: the tool does not run.  After: it ran, and the model reads the error.
    """

    class Broken:
        def before_tool(self, call: ToolCall) -> None:
            if call.name == "isolate_host":
                raise ToolError("not today")

        def after_tool(self, call: ToolCall, result: ToolResult) -> None:
            if call.name == "query_siem":
                raise ZeroDivisionError("oops")

    desk = Desk()
    result = desk.agent([SIEM, ISOLATE, "Done."], hooks=[hook(Broken())]).run_sync("go")

    assert desk.calls == [("query_siem", 24)]
    assert read(result)[0] == "ZeroDivisionError: oops"
    assert "not today" in read(result)[1]


def test_row_24_state_is_kept_by_name_and_unset_is_not_none() -> None:
    """
    The `name` attribute, else the class; None is saved, unset keeps what was; what is no JSON fails the run.
    """

    class Named:
        name = "mine"

        def __init__(self, action: HookAction) -> None:
            self.action = action

        def before_model(self, ctx: HookContext) -> HookAction:
            return self.action

    known = facts(hook_states={"mine": 1, "Other": 2})
    before_model([hook(Named(HookAction()))], known)
    assert known.hook_states == {"mine": 1, "Other": 2}

    before_model([hook(Named(HookAction(state=None)))], known)
    assert known.hook_states == {"mine": None, "Other": 2}

    with pytest.raises(HookFailedError, match="the state that the hook mine gives is no JSON"):
        before_model([hook(Named(HookAction(state={1, 2})))], known)
    json.dumps(known.hook_states)


def test_row_25_the_context_tells_of_the_run_and_writes_are_ignored() -> None:
    """
    Run id, transcript, count of model calls, own state, the whole state with what was given by keyword.
    """
    seen: list[HookContext] = []

    class Looks:
        def before_model(self, ctx: HookContext) -> None:
            seen.append(copy.deepcopy(ctx))
            ctx.state["team"] = ctx.messages[0]["content"] = "forged"

    Desk().agent([SIEM, "Done."], hooks=[hook(Looks())]).run_sync("go", run_id="r-1", team="blue")

    assert [(ctx.run_id, ctx.model_calls, ctx.hook_state) for ctx in seen] == [("r-1", 0, None), ("r-1", 1, None)]
    assert [ctx.state["team"] for ctx in seen] == ["blue", "blue"]
    assert seen[1].messages[0] == {"role": "user", "content": "go"}


def test_row_26_an_end_by_hook_has_a_reason_and_an_output_of_its_own() -> None:
    """
    The seed's example: no third model call, and no success that the playbook does not know of.
    """

    class StopAfterTwoCalls:
        def before_model(self, ctx: HookContext) -> HookAction | None:
            return HookAction(end=True, output="stopped: too many model calls") if ctx.model_calls >= 2 else None

    made = Desk().agent([SIEM, SIEM._replace(call_id="c2")] * 2, playbook=playbook(), hooks=[hook(StopAfterTwoCalls())])
    result = made.run_sync("go")

    assert (result.stop_reason.value, result.output, result.model_calls) == (
        "hook_end", "stopped: too many model calls", 2,
    )  # fmt: skip
    assert not result.success


def test_a_result_that_is_no_json_is_the_calls_error() -> None:
    """
    Nothing that could not be written down stands for a result.
    """

    class Odd:
        def before_tool(self, call: ToolCall) -> ToolResult:
            return ToolResult({1, 2})

    point = before_tool([hook(Odd())])

    assert (point.value, isinstance(point.error, ValueError)) == (UNSET, True)


def test_arguments_that_were_no_json_stay_the_models_words() -> None:
    """
    A hook that gives the call back as it was does not mend it: the gate still reads what the model wrote.
    """

    class Same:
        def before_tool(self, call: ToolCall) -> ToolCall:
            return call

    broken: Any = "{host: "

    assert before_tool([hook(Same())], gw.ToolCall("isolate_host", broken, "c1")).call.args == broken


def test_the_transcript_is_given_as_copies() -> None:
    """
    A hook that writes into what it was shown changes nothing, for the loop or for the next hook.
    """

    class Writes:
        def after_model(self, ctx: HookContext) -> None:
            ctx.messages[-1]["content"] = "forged"

    assert after_model([hook(Writes()), hook(Writes())]).messages == [SAID, ModelReply("Done.").as_message()]

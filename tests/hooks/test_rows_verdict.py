"""Rows 27 to 34 of the seeds: hooks that answer each call with a verdict, the policy before them, and the loop."""

from __future__ import annotations

import json
from typing import Any

import guideway as gw
from guideway.agent import Agent, AgentLimits, Decision, Edited
from guideway.hooks.methods import HookAction as Action
from guideway.hooks.methods import HookContext, hook
from guideway.hooks import BeforeModel
from guideway.hooks.verdict import (
    AgentHooks,
    AgentOutcome,
    Allow,
    Block,
    Continue,
    DenyCall,
    HookAction,
    Modify,
    PendingRound,
    RequireApproval,
    RunInfo,
    ToolCall,
    ToolContext,
    ToolOutput,
    strictest_of,
)
from guideway.runtime.hooks.verdict_layer import VerdictLayer
from guideway.runtime.models.fake import FakeModel
from guideway.runtime.models.messages import ModelReply

from .kit import (
    ASKING,
    ISOLATE,
    SIEM,
    NotedMethods,
    NotedVerdict,
    Tools,
    agent,
    answers,
    free,
    words,
)


def test_row_27_nothing_is_required_and_the_order_is_that_of_the_list_for_afters_too() -> None:
    """
    In the dialect of methods afters come in reverse (row 22).
    """
    said: list[str] = []
    hooks = [AgentHooks(), NotedVerdict("a", said), NotedVerdict("b", said)]
    methods = [NotedMethods("c", said), NotedMethods("d", said)]

    assert free([SIEM, "Done."], hooks=hooks).run_sync("go").success
    assert free([SIEM, "Done."], hooks=methods).run_sync("go").success
    assert said == ["a>", "b>", "a<", "b<", "c>", "d>", "d<", "c<"]


def test_row_28_the_request_is_edited_in_place_and_the_raw_response_is_for_looking() -> None:
    """
    A hook of methods may replace the reply (row 18): one that stands inside comes before, so "raw" is what it left.
    """
    raw: list[str] = []

    class Redact(AgentHooks):
        async def before_model(self, request: BeforeModel, info: RunInfo) -> None:
            for message in request.messages:
                message["content"] = message["content"].replace("hunter2", "***")

        async def after_model(self, response: ModelReply, info: RunInfo) -> None:
            raw.append(response.text)

    class Replace:
        def after_model(self, ctx: HookContext) -> Action:
            return Action(message={"role": "assistant", "content": "replaced"})

    model = FakeModel(["said"])
    result = Agent(model, Tools().both, hooks=[hook(Replace()), Redact()]).run_sync("the password is hunter2")
    inside = Agent(FakeModel(["said"]), Tools().both, hooks=[Redact(), hook(Replace())]).run_sync("go")

    assert model.requests[0].messages[-1]["content"] == "the password is ***"
    assert result.messages[0]["content"] == "the password is hunter2"
    assert raw == ["said", "replaced"]
    assert result.output == inside.output == "replaced"


def test_row_29_modify_is_seen_by_later_hooks_and_a_block_stops_the_rest() -> None:
    """
    The reason reaches the model as an error; a hook of methods stops a call with an error or a result (row 19).
    """
    seen: list[tuple[str, Any]] = []

    class First(AgentHooks):
        async def before_tool(self, call: ToolCall, ctx: ToolContext) -> HookAction:
            return Modify({"host": f"{call.args['host']}.example.com"})

    class Second(AgentHooks):
        async def before_tool(self, call: ToolCall, ctx: ToolContext) -> HookAction:
            seen.append(("second", call.args))
            return Block("never the controller") if call.args["host"].startswith("dc-") else Continue()

    class Third(AgentHooks):
        async def before_tool(self, call: ToolCall, ctx: ToolContext) -> HookAction:
            seen.append(("third", call.args))
            return Continue()

    tools = Tools()
    controller = gw.ToolCall("isolate_host", {"host": "dc-1"})
    result = free([ISOLATE, controller, "Done."], tools, hooks=[First(), Second(), Third()]).run_sync("go")

    assert seen == [
        ("second", {"host": "ws-7.example.com"}), ("third", {"host": "ws-7.example.com"}),
        ("second", {"host": "dc-1.example.com"}),
    ]  # fmt: skip
    assert tools.ran == [("isolate_host", "ws-7.example.com")]
    assert [(m["content"], m["is_error"]) for m in result.messages if m["role"] == "tool"] == [
        ({"ticket": "C-1"}, False), ("never the controller", True),
    ]  # fmt: skip


def test_row_30_before_for_allowed_calls_alone_and_after_for_all() -> None:
    """
    Blocked, denied by the gate, rejected by a person, failed, done: each with its effective arguments and an error flag.

    A provider hears of calls after them only if they ran (row 11).
    """
    before: list[str] = []
    after: list[tuple[str, Any, bool]] = []

    class Told(AgentHooks):
        async def before_tool(self, call: ToolCall, ctx: ToolContext) -> HookAction:
            before.append(call.name)
            if call.args.get("hours") == 1:
                return Block("too short")
            return Modify({"hours": 48}) if call.args.get("hours") == 24 else Continue()

        async def after_tool(self, call: ToolCall, output: ToolOutput, ctx: ToolContext) -> None:
            after.append((call.name, dict(call.args), output.is_error))

    def no(question: Any) -> Decision:
        return Decision("reject", "lead")

    tools = Tools()
    replies = [ISOLATE, gw.ToolCall("query_siem", {"hours": 1}), SIEM, ISOLATE]
    agent(replies, tools, playbook=ASKING, decisions=no, hooks=[Told()]).run_sync("go")

    assert before == ["query_siem", "query_siem"]
    assert after == [
        ("isolate_host", {"host": "ws-7"}, True), ("query_siem", {"hours": 1}, True),
        ("query_siem", {"hours": 48}, False), ("isolate_host", {"host": "ws-7"}, True),
    ]  # fmt: skip
    assert tools.ran == [("query_siem", 48)]


def test_row_31_on_outcome_once_per_outcome_a_pause_included_and_not_where_the_model_failed() -> None:
    """
    Suspended, completed; a failing provider is no outcome.
    """
    outcomes: list[str] = []

    class Told(AgentHooks):
        async def on_outcome(self, outcome: AgentOutcome, info: RunInfo) -> None:
            outcomes.append(outcome.status)

    made = agent([SIEM, ISOLATE], playbook=ASKING, hooks=[Told()])
    waits = made.run_sync("go")
    made.send_sync(Decision("approve", "lead"), to=waits)
    failed = agent([gw.ModelError("overloaded")], hooks=[Told()]).run_sync("go")

    assert outcomes == ["suspended", "completed"]
    assert failed.stop_reason.value == "error"


def test_row_32_facts_of_the_run() -> None:
    """
    Run, session, rounds used and at most, tokens.
    """
    seen: list[RunInfo] = []

    class Look(AgentHooks):
        async def before_model(self, request: BeforeModel, info: RunInfo) -> None:
            seen.append(info)

    replies = [ModelReply("", (SIEM,), gw.Usage(input_tokens=10, output_tokens=5)), "Done."]
    made = free(replies, hooks=[Look()], session_id="s1", limits=AgentLimits(max_iterations=7))
    made.run_sync("go", run_id="r1")

    assert [(i.run_id, i.session_id, i.steps_used, i.max_steps, i.usage.tokens) for i in seen] == [
        ("r1", "s1", 0, 7, 0), ("r1", "s1", 1, 7, 15),
    ]  # fmt: skip


def test_row_33_policy_before_hooks_and_nobody_changes_what_a_person_allowed() -> None:
    """
    Allow, deny, ask; the round waits; what waits is JSON; silence is no; arguments that a person edits are decided on.

    A hook that would change an approved call makes another call of it, and the person is asked about that.
    """
    calls = [ToolCall("pay", {"amount": 5}, "c1"), ToolCall("look", {}, "c2"), ToolCall("wipe", {}, "c3")]
    waits = PendingRound.of(calls, [strictest_of(Allow(), RequireApproval("payment")), Allow(), DenyCall("never")])
    again = PendingRound.from_json(json.loads(json.dumps(waits.to_json())))
    asked: list[Any] = []

    class Late(AgentHooks):
        async def before_tool(self, call: ToolCall, ctx: ToolContext) -> HookAction:
            return Modify({"host": "ws-8"}) if call.args == {"host": "ws-7"} else Continue()

    def lead(question: Any) -> Decision | Edited:
        asked.append(question.args)
        return Decision("approve", "lead")

    def edits(question: Any) -> Edited:
        return Edited("lead", {"host": "ws-9"})

    tools, other = Tools(), Tools()
    result = agent([SIEM, ISOLATE], tools, playbook=ASKING, decisions=lead, hooks=[Late()]).run_sync("go")
    agent([SIEM, ISOLATE], other, playbook=ASKING, decisions=edits, hooks=[Late()]).run_sync("go")

    assert waits.waits
    assert again.decided({}) == ([calls[1]], {"c1": "rejected", "c3": "never"})
    assert again.decided({"c1": {"amount": 4}})[0] == [ToolCall("pay", {"amount": 4}, "c1"), calls[1]]
    assert strictest_of(Allow(), DenyCall(), RequireApproval()) == DenyCall()
    assert VerdictLayer([Late()]).names == ("Late",)
    assert asked == [{"host": "ws-7"}, {"host": "ws-8"}]
    assert tools.ran == [("query_siem", 24), ("isolate_host", "ws-8")]
    assert other.ran == [("query_siem", 24), ("isolate_host", "ws-9")]
    assert result.success


def test_row_34_what_goes_wrong_is_told_the_model_and_a_loop_is_warned_of_and_then_stopped() -> None:
    """
    Unknown tools, failures and denials are error results, and the run goes on.
    """

    def query_siem(hours: int = 24) -> dict[str, Any]:
        if hours > 24:
            raise ValueError("at most a day")
        return {"hits": 3}

    replies = [gw.ToolCall("no_such_tool"), ISOLATE, gw.ToolCall("query_siem", {"hours": 48}), SIEM, ISOLATE]
    tools = Tools()
    made = agent([], tools).config
    result = Agent(FakeModel(replies), [query_siem, tools.isolate_host], playbook=made.playbook).run_sync("go")
    model = FakeModel([SIEM] * 9)
    looped = Agent(model, Tools().both, limits=AgentLimits(max_repeats=3)).run_sync("go")

    errors = [m["content"] for m in result.messages if m["role"] == "tool" and m["is_error"]]
    assert [text.partition(" did not run")[0] for text in errors] == [
        "`no_such_tool`", "`isolate_host`", "ValueError: at most a day",
    ]  # fmt: skip
    assert result.success
    assert looped.stop_reason.value == "tool_loop"
    assert [len(answers(looped)), len(model.requests)] == [3, 3]
    assert "2 times in a row" in model.requests[2].messages[-1]["content"]

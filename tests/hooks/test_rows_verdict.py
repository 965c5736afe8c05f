"""Rows 27 to 34 of the parity list: seed three's verdicts, and its policy."""

from __future__ import annotations

import json
from typing import Any

import pytest

import guideway as gw
from guideway.agent import AgentLimits, Decision, Edited
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
from guideway.runtime.models.messages import ModelReply
from guideway.runtime.verdicts import Deny, NeedsApproval

from .kit import ISOLATE, LEAD, SIEM, Desk, after_model, after_tool, at_end, before_model, before_tool, playbook, read


class Noting(AgentHooks):
    """Notes who hears of what, and changes nothing."""

    def __init__(self, name: str, seen: list[Any]) -> None:
        self.name, self.seen = name, seen

    async def before_model(self, request: BeforeModel, info: RunInfo) -> None:
        """Note it."""
        self.seen.append(f"before_model {self.name}")

    async def after_model(self, response: ModelReply, info: RunInfo) -> None:
        """Note it."""
        self.seen.append(f"after_model {self.name}")

    async def before_tool(self, call: ToolCall, ctx: ToolContext) -> HookAction:
        """Note it."""
        self.seen.append(f"before_tool {self.name}")
        return Continue()

    async def after_tool(self, call: ToolCall, output: ToolOutput, ctx: ToolContext) -> None:
        """Note it."""
        self.seen.append(f"after_tool {self.name}")

    async def on_outcome(self, outcome: AgentOutcome, info: RunInfo) -> None:
        """Note it."""
        self.seen.append(f"on_outcome {self.name}")


class Says(AgentHooks):
    """Answers every call of one tool with one verdict; notes the arguments it saw."""

    def __init__(self, verdict: Any, tool: str = "isolate_host") -> None:
        self.verdict, self.tool = verdict, tool
        self.saw: list[Any] = []

    async def before_tool(self, call: ToolCall, ctx: ToolContext) -> Any:
        """Answer."""
        if call.name != self.tool:
            return Continue()
        self.saw.append(call.args)
        return self.verdict


class Hears(AgentHooks):
    """Keeps what it is told of calls that are over."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any, bool]] = []

    async def after_tool(self, call: ToolCall, output: ToolOutput, ctx: ToolContext) -> None:
        """Keep it."""
        self.told.append((call.name, dict(call.args), output.is_error))


def test_row_27_every_method_does_nothing_and_hooks_run_in_registration_order() -> None:
    """
    After-hooks, too: this dialect does not reverse them.
    """
    seen: list[Any] = []
    pair = [AgentHooks(), Noting("a", seen), Noting("b", seen)]

    before_model(pair), before_tool(pair), after_tool(pair), after_model(pair), at_end(pair)

    points = ("before_model", "before_tool", "after_tool", "after_model", "on_outcome")
    assert seen == [f"{point} {name}" for point in points for name in ("a", "b")]


def test_row_28_the_request_is_edited_in_place_and_the_response_is_for_reading() -> None:
    """
    The next hook sees the edit; what is done to the response comes to nothing.
    """

    class Redacts(AgentHooks):
        async def before_model(self, request: BeforeModel, info: RunInfo) -> None:
            request.messages[0]["content"] = "redacted"

        async def after_model(self, response: ModelReply, info: RunInfo) -> None:
            response.calls[0].args["host"] = "forged"  # type: ignore[index]

    reply = ModelReply("Raw.", (gw.ToolCall("isolate_host", {"host": "ws-7"}, "c1"),))

    assert before_model([Redacts()]).messages == [{"role": "user", "content": "redacted"}]
    assert after_model([Redacts()], reply).reply.calls[0].args == {"host": "ws-7"}


def test_row_29_a_verdict_continues_modifies_or_blocks() -> None:
    """
    Hooks after a Modify see the new arguments; a Block stops the rest.
    """
    first, second, third = Says(Modify({"host": "ws-8"})), Says(Block("no")), Says(Continue())

    point = before_tool([first, second, third])

    assert (first.saw, second.saw, third.saw) == ([{"host": "ws-7"}], [{"host": "ws-8"}], [])
    assert (point.blocked, point.call.args) == ("no", {"host": "ws-8"})


def test_row_29_the_reason_reaches_the_model_as_an_error() -> None:
    """
    The document's example: nobody outside of the company.
    """
    desk = Desk()
    result = desk.agent([ISOLATE, "I could not."], hooks=[Says(Block("not this host"))]).run_sync("go")
    message = next(message for message in result.messages if message["role"] == "tool")

    assert (message["content"], message["is_error"], desk.calls) == ("not this host", True, [])


@pytest.mark.parametrize("answer", [True, "ok", Block, {"host": "ws-8"}, Modify(None)])  # type: ignore[arg-type]
def test_row_29_what_is_no_verdict_blocks(answer: Any) -> None:
    """
    A guard that answers anything else is never taken for a yes; nor is one that raises.
    """

    class Raises(AgentHooks):
        async def before_tool(self, call: ToolCall, ctx: ToolContext) -> HookAction:
            raise ZeroDivisionError("oops")

    assert "no verdict" in str(before_tool([Says(answer)]).blocked)
    assert "ZeroDivisionError: oops" in str(before_tool([Raises()]).blocked)


def test_row_30_before_tool_is_asked_only_for_what_the_policy_allowed_and_after_tool_for_all() -> None:
    """
    A call that is refused, or that waits for a person, is not asked about; when it is over, every hook hears of it.
    """
    says, hears = Says(Block("no")), Hears()
    refused = before_tool([says], policy=lambda call: Deny("c1", call.name, "where", "not now"))
    waits = before_tool([says], policy=lambda call: NeedsApproval("c1", call.name, "s", "a1", "?", ("lead",)))

    assert (says.saw, refused.blocked, waits.blocked) == ([], None, None)

    Desk().agent([ISOLATE, SIEM, ISOLATE._replace(call_id="c2"), *["x"] * 4], playbook=playbook(),
                 hooks=[Says(Block("no")), hears]).run_sync("go")  # fmt: skip
    assert hears.told == [
        ("isolate_host", {"host": "ws-7"}, True), ("query_siem", {"hours": 24}, False),
        ("isolate_host", {"host": "ws-7"}, True),
    ]  # fmt: skip


def test_row_30_after_tool_hears_of_what_a_person_rejected_with_the_arguments_that_were_used() -> None:
    """
    Rejected: an error.  Modified: the arguments are the changed ones, not the model's.
    """
    hears = Hears()
    Desk().agent(
        [SIEM, ISOLATE, *["x"] * 4], playbook=playbook(LEAD), hooks=[Says(Modify({"hours": 1}), "query_siem"), hears],
        decisions=lambda question: Decision("reject", "lead"),
    ).run_sync("go")  # fmt: skip

    assert hears.told[:2] == [("query_siem", {"hours": 1}, False), ("isolate_host", {"host": "ws-7"}, True)]


def test_row_31_an_outcome_is_told_once_a_pause_included_and_not_where_the_model_failed() -> None:
    """
    One per outcome: the pause, then the end.
    """
    seen: list[Any] = []

    class Outcomes(AgentHooks):
        async def on_outcome(self, outcome: AgentOutcome, info: RunInfo) -> None:
            seen.append((outcome.status, outcome.stop_reason))

    made = Desk().agent([SIEM, ISOLATE], playbook=playbook(LEAD), hooks=[Outcomes()])
    waits = made.run_sync("go")
    made.send_sync(Decision("approve", "lead"), to=waits)
    Desk().agent([RuntimeError("the provider is down")], hooks=[Outcomes()]).run_sync("go")

    assert seen == [("suspended", "waiting"), ("completed", "complete")]


def test_row_32_hooks_know_run_session_rounds_limit_and_tokens() -> None:
    """
    Before each model call the facts are of that moment.
    """
    seen: list[RunInfo] = []

    class Facts(AgentHooks):
        async def before_model(self, request: BeforeModel, info: RunInfo) -> None:
            seen.append(info)

    replies = [ModelReply("", (SIEM,), gw.Usage(10)), ModelReply("Done.", usage=gw.Usage(5))]
    Desk().agent(replies, hooks=[Facts()], session_id="s-1", limits=AgentLimits(max_iterations=6)).run_sync(
        "go", run_id="r-1"
    )

    assert [(info.run_id, info.session_id, info.max_steps) for info in seen] == [("r-1", "s-1", 6)] * 2
    assert [(info.steps_used, info.usage.tokens) for info in seen] == [(0, 0), (1, 10)]


def test_row_33_a_policy_decides_before_hooks_and_its_round_is_saved() -> None:
    """
    The strictest decides; the round waits while one call needs a person; a missing decision is a rejection; edited
    arguments are those that go to the gate.
    """
    calls = [gw.ToolCall("pay", {"n": 5}, "c1"), gw.ToolCall("look", {}, "c2"), gw.ToolCall("drop", {}, "c3"),
             gw.ToolCall("pay", {"n": 9}, "c4")]  # fmt: skip
    said = [strictest_of(Allow(), RequireApproval("money")), Allow(), strictest_of(DenyCall("never"), Allow()),
            RequireApproval("money")]  # fmt: skip

    pending = PendingRound.from_json(json.loads(json.dumps(PendingRound.of(calls, said).to_json())))
    go, stay = pending.decided({"c1": {"n": 4}})

    assert (pending.waits, PendingRound.of(calls[1:2], [Allow()]).waits) == (True, False)
    assert [(call.call_id, call.args) for call in go] == [("c1", {"n": 4}), ("c2", {})]
    assert stay == {"c3": "never", "c4": "rejected"}


def test_row_33_no_hook_changes_what_a_person_allowed() -> None:
    """
    The gap of the seed, closed: a Modify after the approval is another call, and the person is asked about that one.
    """

    class Once(AgentHooks):
        async def before_tool(self, call: ToolCall, ctx: ToolContext) -> HookAction:
            return Modify({"host": "ws-8"}) if call.name == "isolate_host" else Continue()

    desk, asked = Desk(), list[Any]()

    def lead(question: Any) -> Decision:
        asked.append(question.args)
        return Decision("approve", "lead")

    result = desk.agent([SIEM, ISOLATE], playbook=playbook(LEAD), hooks=[Once()], decisions=lead).run_sync("go")

    assert asked == [{"host": "ws-7"}, {"host": "ws-8"}]
    assert desk.calls == [("query_siem", 24), ("isolate_host", "ws-8")]
    assert result.success


def test_row_33_edited_arguments_go_through_the_gate_and_the_hooks_again() -> None:
    """
    Who allows a call with other arguments does not get round a guard.
    """
    desk, guard = Desk(), Says(Continue())
    desk.agent([SIEM, ISOLATE], playbook=playbook(LEAD), hooks=[guard],
               decisions=lambda question: Edited("lead", {"host": "ws-9"})).run_sync("go")  # fmt: skip

    assert guard.saw == [{"host": "ws-9"}]
    assert desk.calls == [("query_siem", 24), ("isolate_host", "ws-9")]


def test_row_34_unknown_tools_failures_and_denials_are_errors_that_the_model_reads() -> None:
    """
    None of them aborts the run.
    """

    def broken() -> None:
        """Fail."""
        raise ZeroDivisionError("oops")

    desk = Desk()
    replies: list[Any] = [gw.ToolCall("no_such_tool", {}, "c1"), gw.ToolCall("broken", {}, "c2"),
               ISOLATE._replace(call_id="c3"), "Done."]  # fmt: skip
    made = gw.Agent(gw.FakeModel(replies), [desk.isolate_host, broken], hooks=[Says(Block("denied"))])
    result = made.run_sync("go")

    assert [message["is_error"] for message in result.messages if message["role"] == "tool"] == [True] * 3
    assert "no_such_tool" in read(result)[0]
    assert read(result)[1:] == ["ZeroDivisionError: oops", "denied"]
    assert result.stop_reason.value == "complete"


def test_row_34_a_loop_is_noticed_and_stopped() -> None:
    """
    The same call with the same result, `max_repeats` times.
    """
    desk = Desk()
    replies = [SIEM._replace(call_id=f"c{n}") for n in range(9)]
    result = desk.agent(replies, limits=AgentLimits(max_repeats=3)).run_sync("go")

    assert (result.stop_reason.value, len(desk.calls)) == ("tool_loop", 3)


def test_the_answer_of_one_run_says_nothing_of_another() -> None:
    """
    A hook object may serve many runs at once: what it was asked about is kept by call, not by id.
    """
    says = Says(Continue())

    before_tool([says]), before_tool([says])

    assert len(says.saw) == 2

"""Hooks in the loop: what they may do to a reply and to a call, and what they never can (S53)."""

from __future__ import annotations

from typing import Any

import pytest

import guideway as gw
from guideway.agent import Agent, AgentLimits, Decision
from guideway.runtime.agent.reasons import StopReason
from guideway.runtime.hooks.points import End
from guideway.runtime.models.fake import FakeModel
from guideway.runtime.models.messages import ModelReply

from .kit import ASKING, ISOLATE, SIEM, TRIAGE, Tools, agent, answers, free, words


def test_a_blocked_call_does_not_run_and_ends_nothing() -> None:
    """
    The model reads the reason; a condition on the tool does not hold (D1, row 11).
    """
    from guideway.termination import ToolCalled

    class Block:
        def before_tool(self, point: Any) -> None:
            if point.call.name == "isolate_host":
                point.block("not on a Friday")

    tools = Tools()
    result = free([ISOLATE, "I could not."], tools, hooks=[Block()], termination=ToolCalled("isolate_host")).run_sync(
        "go"
    )

    assert tools.ran == []
    assert answers(result) == ["not on a Friday"]
    assert words(result) == ("complete", "success", True)
    assert [(each.allowed, each.ran) for each in result.tool_executions] == [(False, False)]


def test_a_reply_of_blocked_calls_is_no_text() -> None:
    """
    A step that a text would end is not ended by calls that a hook stopped.
    """

    class Block:
        def before_tool(self, point: Any) -> None:
            point.block("no")

    step = {"id": "think", "description": "Think", "optional_tools": ["query_siem"]}
    made = agent([ModelReply("Looking.", (SIEM,)), "Thought."], playbook={"id": "t", "name": "T", "steps": [step]},
                 hooks=[Block()])  # fmt: skip
    result = made.run_sync("go")

    assert words(result) == ("complete", "success", True)
    assert result.iterations == 2


def test_blocks_in_a_row_end_the_run() -> None:
    """
    The gate was not asked, and still nobody goes round for ever.
    """

    class Block:
        def before_tool(self, point: Any) -> None:
            point.block("no")

    assert words(agent([SIEM] * 9, hooks=[Block()]).run_sync("go")) == ("refusals", "stopped:refusals", False)


def test_a_changed_call_is_what_the_gate_decides_on() -> None:
    """
    The gate lies inside of all hooks.
    """

    class Other:
        def before_tool(self, point: Any) -> None:
            if point.call.name == "query_siem":
                point.change(name="isolate_host", args={"host": "ws-7"})

    tools = Tools()
    result = agent([SIEM] + ["x"] * 4, tools, hooks=[Other()]).run_sync("go")

    assert tools.ran == []
    assert "not legal in the step" in answers(result)[0]


def test_a_result_that_a_hook_gives_is_evidence_for_reads_alone() -> None:
    """
    The model is shown it; of a tool that writes, the call did not happen (S53).
    """

    class Cache:
        def before_tool(self, point: Any) -> None:
            point.value = {"cached": point.call.name}

    tools = Tools()
    made = agent([SIEM, ISOLATE] + ["x"] * 4, tools, hooks=[Cache()])
    result = made.run_sync("go")

    assert tools.ran == []
    assert answers(result) == [{"cached": "query_siem"}, {"cached": "isolate_host"}]
    assert words(result)[0] == "incomplete"


def test_a_shown_result_is_not_the_fact() -> None:
    """
    Conditions and the playbook have what the tool answered (S53).
    """

    class Redact:
        def after_tool(self, point: Any) -> None:
            point.shown = "redacted"

    result = agent([SIEM, ISOLATE], hooks=[Redact()]).run_sync("go")

    assert answers(result) == ["redacted", "redacted"]
    assert [each.result for each in result.tool_executions] == [{"hits": 3}, {"ticket": "C-1"}]


def test_a_retry_is_a_call_of_its_own_and_cannot_double_a_once_only_tool() -> None:
    """
    The gate is asked anew and says no: the tool has run once (D12).
    """

    class Again:
        def after_tool(self, point: Any) -> None:
            point.retry = point.call.name == "isolate_host"

    tools = Tools()
    result = agent([SIEM, ISOLATE], tools, hooks=[Again()]).run_sync("go")

    assert tools.ran == [("query_siem", 24), ("isolate_host", "ws-7")]
    assert result.success


def test_a_retry_of_a_read_is_recorded_and_the_model_reads_the_last() -> None:
    """
    Every execution has its own admission and its own id.
    """

    class Again:
        def after_tool(self, point: Any) -> None:
            point.retry = point.ran and not point.call.call_id.endswith("~2")

    count = iter(range(9))

    def look() -> int:
        return next(count)

    made = Agent(FakeModel([gw.ToolCall("look", {}, "c1"), "Done."]), [look], hooks=[Again()])
    result = made.run_sync("go")

    assert answers(result) == [2]
    assert [each.call_id for each in result.tool_executions] == ["c1", "c1~1", "c1~2"]


def test_a_change_after_approval_is_asked_about_again() -> None:
    """
    No hook changes what a person has allowed (row 33): the other call is another question.
    """

    class Late:
        def before_tool(self, point: Any) -> None:
            pass

    tools, asked = Tools(), list[Any]()

    def lead(question: Any) -> Decision:
        asked.append(question.args)
        return Decision("approve", "lead")

    from guideway.runtime.hooks.dispatch import Hooks
    from guideway.runtime.hooks.layers import Layer

    class Changing(Layer):
        async def admitted(self, point: Any) -> None:
            if point.call.args == {"host": "ws-7"}:
                point.change(args={"host": "ws-8"})

    made = agent([SIEM, ISOLATE], tools, playbook=ASKING, decisions=lead, hooks=[Late()])
    made._runner._hooks = Hooks([Changing()])
    result = made.run_sync("go")

    assert asked == [{"host": "ws-7"}, {"host": "ws-8"}]
    assert tools.ran == [("query_siem", 24), ("isolate_host", "ws-8")]
    assert result.success


def test_hook_end_before_the_model() -> None:
    """
    A hook ends the run with an output of its own (rows 17, 26).
    """

    class Enough:
        def before_model(self, point: Any) -> None:
            if point.facts.model_calls >= 1:
                point.end = End("enough")

    result = agent([SIEM], hooks=[Enough()]).run_sync("go")

    assert words(result) == ("hook_end", "stopped:hook_end", False)
    assert result.output == "enough"


def test_hook_end_by_a_tool() -> None:
    """
    `terminate` ends the run after the turn (row 44).
    """

    class Stop:
        def after_tool(self, point: Any) -> None:
            point.terminate = True

    assert words(free([SIEM], hooks=[Stop()]).run_sync("go")) == ("hook_end", "stopped:hook_end", False)


@pytest.mark.parametrize("where", ["on_start", "before_model", "after_model"])
def test_hook_failed(where: str) -> None:
    """
    What a hook raises there fails the run, and is its cause (row 23).
    """

    def broken(point: Any) -> None:
        raise ZeroDivisionError

    class Broken:
        pass

    hook = Broken()
    setattr(hook, where, broken)
    result = agent([SIEM], hooks=[hook]).run_sync("go")

    assert words(result) == ("hook_failed", "stopped:hook_failed", False)
    assert isinstance(result.error.__cause__ if result.error else None, ZeroDivisionError)


def test_a_hook_that_fails_before_a_tool_fails_the_call() -> None:
    """
    It counts as the tool's own error, and never leaves the gate open (row 23).
    """

    class Broken:
        def before_tool(self, point: Any) -> None:
            raise ZeroDivisionError("no")

    tools = Tools()
    result = agent([SIEM] + ["x"] * 4, tools, hooks=[Broken()]).run_sync("go")

    assert tools.ran == []
    assert "ZeroDivisionError" in answers(result)[0]


def test_a_reply_may_be_replaced_or_asked_for_again_within_bounds() -> None:
    """
    The replacement is what is proposed; asking again is counted and bounded (rows 13, 18).
    """

    class Again:
        def after_model(self, point: Any) -> None:
            point.retry, point.feedback = True, "Say it in JSON."

    model = FakeModel(["a", "b", "c", "d", "e"])
    result = Agent(model, hooks=[Again()], limits=AgentLimits(model_retries=2)).run_sync("go")

    assert (result.output, result.model_calls) == ("c", 3)
    assert model.requests[1].messages[-1] == {"role": "user", "content": "Say it in JSON."}

    class Replace:
        def after_model(self, point: Any) -> None:
            point.reply = ModelReply("", (SIEM,)) if point.reply.text == "done" else point.reply

    tools = Tools()
    assert agent(["done", ISOLATE], tools, hooks=[Replace()]).run_sync("go").success
    assert tools.ran[0] == ("query_siem", 24)


def test_what_a_hook_changes_for_one_request_is_not_kept() -> None:
    """
    Transcript and system prompt of the request alone (row 17); facts are copies (row 25).
    """

    class Trim:
        def before_model(self, point: Any) -> None:
            point.messages = [{"role": "user", "content": "trimmed"}]
            point.facts.messages[0]["content"] = "forged"
            point.facts.state["outcome"] = "success"

    model = FakeModel([SIEM, ISOLATE])
    result = Agent(model, Tools().both, playbook=TRIAGE, hooks=[Trim()]).run_sync("go")

    assert model.requests[0].messages[1:] == [{"role": "user", "content": "trimmed"}]
    assert result.messages[0] == {"role": "user", "content": "go"}


def test_on_end_is_asked_once_per_segment_whatever_happens() -> None:
    """
    Suspended, completed and failed; it changes nothing (row 21).
    """
    ends: list[str] = []

    class Told:
        def on_end(self, point: Any) -> None:
            ends.append(point.outcome)
            point.outcome = "completed"

    made = agent([SIEM, ISOLATE], playbook=ASKING, hooks=[Told()])
    waits = made.run_sync("go")
    made.send_sync(Decision("approve", "lead"), to=waits)
    failed = agent([RuntimeError("x")], hooks=[Told()]).run_sync("go")

    assert ends == ["suspended", "completed", "failed"]
    assert failed.stop_reason is StopReason.ERROR


def test_hook_states_survive_in_the_saved_state() -> None:
    """
    What hooks save is JSON, by their names, and goes on with the run (rows 24, 51).
    """

    class Count:
        name = "count"

        def on_start(self, point: Any) -> None:
            states = point.facts.hook_states
            states["count"] = states.get("count", 0) + 1

    tools = Tools()
    waits = agent([SIEM, ISOLATE], tools, playbook=ASKING, hooks=[Count()]).run_sync("go")
    done = agent([], tools, playbook=ASKING, hooks=[Count()]).resume_sync(waits.state, Decision("approve", "lead"))

    assert (waits.hook_states, done.hook_states) == ({"count": 1}, {"count": 2})


def test_a_hook_cancels_before_the_run_starts() -> None:
    """
    Nothing has been asked of the model then (row 41).
    """

    class No:
        def on_start(self, point: Any) -> None:
            point.cancelled = "not now"

    model = FakeModel([SIEM])
    result = Agent(model, Tools().both, hooks=[No()]).run_sync("go")

    assert words(result) == ("cancelled", "stopped:not now", False)
    assert model.requests == []


def test_a_transcript_has_no_open_calls_after_a_hook_failed() -> None:
    """
    Providers refuse a transcript in which a call has no answer.
    """
    from guideway.hooks.registry import Registry, on_tool_call

    registry = Registry()

    def broken(event: Any) -> None:
        raise ZeroDivisionError

    on_tool_call(registry, broken)
    result = free([SIEM], hooks=[registry]).run_sync("go")

    assert words(result)[0] == "hook_failed"
    assert answers(result) == ["the call did not run"]


def test_a_hook_cannot_change_what_conditions_read() -> None:
    """
    Not even by reaching into the result (S53).
    """

    class Forge:
        def after_tool(self, point: Any) -> None:
            point.shown["ticket"] = "forged"

    result = free([SIEM, "Done."], hooks=[Forge()]).run_sync("go")

    assert result.tool_executions[0].result == {"hits": 3}
    assert answers(result) == [{"hits": 3, "ticket": "forged"}]

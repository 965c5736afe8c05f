"""Every normalised reason, produced by a run (seed four; issue 4, item 2)."""

from __future__ import annotations

import asyncio
from typing import Any

import guideway as gw
from guideway.agent import AgentLimits, Decision
from guideway.runtime.agent.limits import Price
from guideway.runtime.agent.reasons import StopReason
from guideway.runtime.models.fake import FunctionModel
from guideway.runtime.models.messages import ModelError, ModelReply
from guideway.termination import ConfidenceMet, MaxIterations, NoToolCalls, ToolCalled

from .kit import ASKING, ISOLATE, SIEM, TRIAGE, Moved, Tools, agent, free, words

PAID = ModelReply("", (SIEM,), gw.Usage(input_tokens=800, output_tokens=200))


def test_complete() -> None:
    """
    The end of the playbook is `complete`, and a success.
    """
    assert words(agent([SIEM, ISOLATE]).run_sync("go")) == ("complete", "success", True)


def test_terminal_tool() -> None:
    """
    A condition on a tool that succeeded ends the run; required steps that are open make it no success (S37).
    """
    result = agent([SIEM], termination=ToolCalled("query_siem")).run_sync("go")

    assert words(result) == ("terminal_tool", "incomplete:tool_called:query_siem", False)
    assert result.reason == "tool_called:query_siem"


def test_terminal_tool_of_the_playbook() -> None:
    """
    A termination branch of the playbook counts as one of the agent's.
    """
    playbook = {**TRIAGE, "termination": [{"tool_called": "query_siem", "outcome": "escalated"}]}
    result = agent([SIEM], playbook=playbook).run_sync("go")

    assert words(result) == ("terminal_tool", "escalated", False)
    assert result.reason == "tool_called:query_siem"


def test_confidence_met() -> None:
    """
    With `reflexion` the model is asked how sure it is, and the condition can hold.
    """
    replies = [SIEM, 'I think {"confidence": 0.95}']
    result = free(replies, termination=ConfidenceMet(0.9), reflexion=True).run_sync("go")

    assert words(result) == ("confidence_met", "success", True)


def test_max_iterations() -> None:
    """
    A limit is never a goal (S37).
    """
    result = free([SIEM, SIEM], termination=ToolCalled("isolate_host") | MaxIterations(2)).run_sync("go")

    assert words(result) == ("max_iterations", "stopped:max_iterations", False)


def test_max_iterations_as_a_limit_of_the_agent() -> None:
    """
    The same as a limit, which is asked before the model is.
    """
    made = free([SIEM, SIEM], limits=AgentLimits(max_iterations=1))

    assert words(made.run_sync("go")) == ("max_iterations", "stopped:max_iterations", False)


def test_a_limit_of_calls() -> None:
    """
    Calls past the limit do not run, the model is told, and the run stops before it asks again.
    """
    tools = Tools()
    result = free([[SIEM, ISOLATE]], tools, limits=AgentLimits(calls=1)).run_sync("go")

    assert words(result) == ("max_iterations", "stopped:calls", False)
    assert tools.ran == [("query_siem", 24)]


def test_tool_loop() -> None:
    """
    The same call with the same result, three times in a row.
    """
    result = free([SIEM] * 5).run_sync("go")

    assert words(result) == ("tool_loop", "stopped:tool_loop", False)
    assert result.iterations == 3


def test_another_result_is_no_loop() -> None:
    """
    A call whose result changes is asked on purpose.
    """
    hits = iter(range(9))

    def query_siem(hours: int) -> int:
        return next(hits)

    made = gw_agent([SIEM] * 4 + ["Enough."], [query_siem])

    assert words(made.run_sync("go")) == ("complete", "success", True)


def gw_agent(replies: list[Any], tools: list[Any], **parts: Any) -> Any:
    """An agent with tools of the test's own."""
    from guideway.agent import Agent
    from guideway.runtime.models.fake import FakeModel

    return Agent(FakeModel(replies), tools, **parts)


def test_no_tools() -> None:
    """
    A turn without calls, where that is a condition.
    """
    result = agent(["Nothing to do."], termination=NoToolCalls()).run_sync("go")

    assert words(result) == ("no_tools", "incomplete:no_tools", False)


def test_grounding_failed() -> None:
    """
    The step's calls are spent, and what it expects of them did not come.
    """
    step = {"id": "look", "description": "Look", "max_tool_calls": 1,
            "expected_tools": [{"tool": "query_siem", "expect": "result.hits > 10"}]}  # fmt: skip
    result = agent([SIEM], playbook={"id": "t", "name": "T", "steps": [step]}).run_sync("go")

    assert words(result)[0] == "grounding_failed"
    assert not result.success


def test_grounding_failed_by_validation() -> None:
    """
    So it is where the validation of the step stays untrue.
    """
    step = {"id": "look", "description": "Look", "max_tool_calls": 1, "expected_tools": ["query_siem"],
            "validation": {"enough": "facts.query_siem.hits > 10"}}  # fmt: skip
    result = agent([SIEM], playbook={"id": "t", "name": "T", "steps": [step]}).run_sync("go")

    assert words(result)[0] == "grounding_failed"


def test_token_budget() -> None:
    """
    Tokens of the model, both ways together.
    """
    result = free([PAID, PAID], limits=AgentLimits(tokens=1000)).run_sync("go")

    assert words(result) == ("token_budget", "stopped:token_budget", False)
    assert result.usage.tokens == 1000


def test_cost_budget() -> None:
    """
    Tokens have a price, which the host gives.
    """
    limits, prices = AgentLimits(cost=0.01), {"fake": Price(10.0, 20.0)}
    result = free([PAID, PAID], limits=limits, prices=prices).run_sync("go")

    assert words(result) == ("cost_budget", "stopped:cost_budget", False)
    assert round(result.cost, 6) == 0.012


def test_time_budget() -> None:
    """
    Time goes on while tools run.
    """
    clock = Moved()

    async def query_siem(hours: int) -> None:
        clock.on(61)

    made = gw_agent([SIEM], [query_siem], clock=clock, limits=AgentLimits(seconds=60))

    assert words(made.run_sync("go")) == ("time_budget", "stopped:time_budget", False)


def test_time_budget_while_the_model_thinks() -> None:
    """
    A model that never answers is not waited for past the end of the time.
    """
    clock = Moved()

    async def forever(request: Any) -> str:
        clock.on(61)
        await asyncio.Event().wait()
        return "never"

    from guideway.agent import Agent

    made = Agent(FunctionModel(forever), clock=clock, limits=AgentLimits(seconds=60))

    assert words(made.run_sync("go")) == ("time_budget", "stopped:time_budget", False)


def test_context_exhausted() -> None:
    """
    A request that has filled the window is the last; or the provider says so.
    """
    filled = free([PAID, PAID], limits=AgentLimits(context_window=800)).run_sync("go")
    refused = free([ModelError("too long", kind="context_window")]).run_sync("go")

    assert [words(filled)[0], words(refused)[0]] == ["context_exhausted"] * 2
    assert words(filled)[1] == "stopped:context_exhausted"


def test_error() -> None:
    """
    A model that fails ends in an event, and the run can be gone on with.
    """
    made = agent([SIEM, ModelError("overloaded"), ISOLATE])
    broken = made.run_sync("go")
    healed = made.send_sync()

    assert words(broken) == ("error", None, False)
    assert str(broken.error) == "overloaded" and broken.status == "failed"
    assert words(healed) == ("complete", "success", True)


def test_incomplete() -> None:
    """
    The agent may simply stop; that is no success (D2).
    """
    result = agent([SIEM, "done", "done", "done", "done"]).run_sync("go")

    assert words(result) == ("incomplete", "stopped:nudges", False)


def test_refusals() -> None:
    """
    Refusals in a row end the run.
    """
    assert words(agent([ISOLATE] * 9).run_sync("go")) == ("refusals", "stopped:refusals", False)


def test_refusals_by_the_limit_of_the_agent() -> None:
    """
    The agent's own limit may be lower than the playbook's.
    """
    made = agent([ISOLATE] * 9, limits=AgentLimits(refusals=2))

    assert words(made.run_sync("go")) == ("refusals", "stopped:refusals", False)


def test_cancelled() -> None:
    """
    `cancel` ends the run from outside, with its reason.
    """

    async def main() -> Any:
        from guideway.agent import Agent

        never = Agent(FunctionModel(lambda request: asyncio.Event().wait()))
        task = asyncio.ensure_future(never.run("go"))
        await asyncio.sleep(0.01)
        assert never.cancel(reason="shift is over") == 1
        return await task

    result = asyncio.run(main())

    assert words(result) == ("cancelled", "stopped:shift is over", False)


def test_waiting() -> None:
    """
    Without anybody to decide the run is suspended, with the question.
    """
    result = agent([SIEM, ISOLATE], playbook=ASKING).run_sync("go")

    assert words(result) == ("waiting", None, False)
    assert [question.ask for question in result.pending] == ["Isolate ws-7?"]


def test_interrupted_by_a_person() -> None:
    """
    A step that a person rejects ends the run.
    """
    step = {"id": "agree", "approval": {"ask": "Go on?", "approvers": ["lead"]}}
    playbook = {"id": "t", "name": "T", "steps": [step]}
    result = agent([], playbook=playbook, decisions=lambda question: Decision("reject", "lead")).run_sync("go")

    assert words(result) == ("interrupted", "stopped:rejected", False)


COVERED = {
    name.removeprefix("test_") for name in dir() if name.startswith("test_")
}  # fmt: skip


def test_every_reason_is_produced_somewhere() -> None:
    """
    No reason without a run that ends by it; those of hooks and of interruption are in test_hooked and test_cancel.
    """
    elsewhere = {"hook_end", "hook_failed", "interrupted"}

    assert {reason.value for reason in StopReason} - COVERED - elsewhere == set()

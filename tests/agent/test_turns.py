"""What one turn does: what the model is offered, what runs, and what it reads of its calls."""

from __future__ import annotations

import asyncio
from typing import Any

import guideway as gw
from guideway.agent import Agent
from guideway.runtime.agent.events import Nudged, ToolDecided
from guideway.runtime.models.fake import FakeModel
from guideway.runtime.models.messages import ModelReply

from .kit import ASKING, ISOLATE, SIEM, TRIAGE, Tools, agent, answers, free, kinds, words


def offered(model: FakeModel) -> list[list[str]]:
    """The tools of each request."""
    return [[tool.name for tool in request.tools] for request in model.requests]


def test_only_legal_tools_are_offered() -> None:
    """
    The model is offered what is legal now, and told where it stands (D10).
    """
    model = FakeModel([SIEM, ISOLATE])
    result = Agent(model, Tools().both, playbook=TRIAGE).run_sync("go")

    assert result.success
    assert offered(model) == [["query_siem"], ["isolate_host"]]
    assert "You are in step `contain`" in model.requests[1].messages[0]["content"]


def test_without_a_playbook_every_tool_is_offered_and_nothing_is_said_of_steps() -> None:
    """
    The same loop, under a playbook of one open step that the model never hears of.
    """
    model = FakeModel([[SIEM, ISOLATE], "All quiet."])
    result = Agent(model, Tools().both, instructions="Be brief.").run_sync("go")

    assert (result.output, words(result)) == ("All quiet.", ("complete", "success", True))
    assert offered(model)[0] == ["isolate_host", "query_siem"]
    assert model.requests[0].messages[0] == {"role": "system", "content": "Be brief."}


def test_a_denied_call_does_not_run_and_teaches() -> None:
    """
    The answer to a refused call is the denial's own message (row 34).
    """
    tools = Tools()
    result = agent([ISOLATE, SIEM, ISOLATE], tools).run_sync("go")

    assert tools.ran == [("query_siem", 24), ("isolate_host", "ws-7")]
    assert "not legal in the step" in answers(result)[0]
    assert [execution.allowed for execution in result.tool_executions] == [False, True, True]


def test_a_batch_in_order_runs_in_waves() -> None:
    """
    A correct batch is not refused (D5): the second call waits for what the first one moves.
    """
    tools = Tools()
    result = agent([[SIEM, ISOLATE]], tools).run_sync("go")

    assert words(result) == ("complete", "success", True)
    assert tools.ran == [("query_siem", 24), ("isolate_host", "ws-7")]
    assert result.iterations == 1


def test_a_batch_cannot_beat_a_budget() -> None:
    """
    Three calls at once of a tool that may run once: one runs (D4).
    """
    tools = Tools()
    batch = [gw.ToolCall("isolate_host", {"host": f"ws-{n}"}) for n in range(3)]
    result = agent([SIEM, batch], tools).run_sync("go")

    assert result.success
    assert tools.ran == [("query_siem", 24), ("isolate_host", "ws-0")]


def test_calls_of_one_reply_run_side_by_side() -> None:
    """
    Each waits for the other, which only works when both are under way.
    """
    here, there = asyncio.Event(), asyncio.Event()

    async def one() -> str:
        here.set()
        await there.wait()
        return "one"

    async def two() -> str:
        there.set()
        await here.wait()
        return "two"

    result = Agent(FakeModel([[gw.ToolCall("two"), gw.ToolCall("one")], "Done."]), [one, two]).run_sync("go")

    assert answers(result) == ["two", "one"]


def test_one_after_another_where_the_host_says_so() -> None:
    """
    With `parallel=False` a call begins when the one before it is over.
    """
    under_way: list[int] = []
    most: list[int] = []

    async def look(n: int) -> None:
        under_way.append(n)
        most.append(len(under_way))
        await asyncio.sleep(0.001)
        under_way.remove(n)

    batch = [gw.ToolCall("look", {"n": n}) for n in range(4)]
    Agent(FakeModel([batch, "Done."]), [look], parallel=False).run_sync("go")

    assert most == [1, 1, 1, 1]


def test_results_are_read_in_the_order_of_the_reply() -> None:
    """
    Whichever call is over first.
    """

    async def look(n: int) -> int:
        await asyncio.sleep(0.005 * (3 - n))
        return n

    batch = [gw.ToolCall("look", {"n": n}) for n in range(3)]
    result = Agent(FakeModel([batch, "Done."]), [look]).run_sync("go")

    assert answers(result) == [0, 1, 2]


def test_a_failing_tool_is_told_and_moves_nothing() -> None:
    """
    A failure is no success of the step (D3).
    """
    failing = True

    def query_siem() -> dict[str, int]:
        if failing:
            raise ConnectionError("down")
        return {"hits": 1}

    made = Agent(FakeModel([gw.ToolCall("query_siem"), *["done"] * 6]), [query_siem, Tools().isolate_host],
                 playbook=TRIAGE)  # fmt: skip
    result = made.run_sync("go")

    assert answers(result) == ["ConnectionError: down"]
    assert words(result) == ("incomplete", "stopped:nudges", False)


def test_an_exception_may_end_the_run() -> None:
    """
    With `on_tool_exception="raise"` the run ends with `error`, and keeps what was raised.
    """

    def query_siem() -> None:
        raise ConnectionError("down")

    made = Agent(FakeModel([gw.ToolCall("query_siem")]), [query_siem], on_tool_exception="raise")
    result = made.run_sync("go")

    assert words(result)[0] == "error" and result.status == "failed"
    assert isinstance(result.error.__cause__ if result.error else None, ConnectionError)


def test_unknown_tools_bad_arguments_and_repeated_ids_are_answered_by_the_gate() -> None:
    """
    What a model gets wrong goes on by the gate's answers (row 34).
    """
    text: Any = "{hours: "
    bad = gw.ToolCall("query_siem", text, "c2")
    batch = (gw.ToolCall("format_disk", {}, "c1"), bad, gw.ToolCall("query_siem", {"hours": 1}, "c3"),
             gw.ToolCall("query_siem", {"hours": 2}, "c3"))  # fmt: skip
    tools = Tools()
    result = agent([ModelReply("", batch), ISOLATE], tools).run_sync("go")

    codes = [event.verdict.code for event in result.events
             if isinstance(event, ToolDecided) and isinstance(event.verdict, gw.Deny)]  # fmt: skip
    assert result.success
    assert sorted(codes) == ["bad_args", "id_reused", "unknown_tool"]
    assert tools.ran == [("query_siem", 1), ("isolate_host", "ws-7")]


def test_a_tool_says_why_it_cannot_take_arguments() -> None:
    """
    What is against the tool's own hints is a failure the model can read.
    """
    result = agent([gw.ToolCall("query_siem", {"hours": "many"})] + ["x"] * 4).run_sync("go")

    assert "`hours`" in answers(result)[0]


def test_an_empty_reply_ends_nothing() -> None:
    """
    Neither text nor calls: nothing was said, so not even an open step is completed by it.
    """
    result = free(["", "", "Here I am."]).run_sync("go")

    assert (result.output, result.iterations) == ("Here I am.", 3)
    assert kinds(result).count("Nudged") == 2


def test_too_many_empty_replies_end_the_run() -> None:
    """
    As nudges do.
    """
    assert words(free([""] * 9).run_sync("go")) == ("incomplete", "stopped:nudges", False)


def test_a_premature_answer_is_sent_back_with_what_is_missing() -> None:
    """
    A final answer is accepted only at a goal (S16, D2).
    """
    result = agent([SIEM, "All contained.", ISOLATE]).run_sync("go")
    nudges = [event.text for event in result.events if isinstance(event, Nudged)]

    assert result.success
    assert nudges == ["The run is not over: step `contain` needs `isolate_host`. Go on by calling a tool."]
    assert {"role": "user", "content": nudges[0]} in result.messages


def test_a_text_ends_a_step_without_tools_and_the_model_hears_of_it() -> None:
    """
    That is no nudge: the run goes on in the next step (S16).
    """
    steps = [{"id": "plan", "description": "Plan"}, {"id": "look", "description": "Look",
              "expected_tools": ["query_siem"]}]  # fmt: skip
    result = agent(["First the SIEM.", SIEM], playbook={"id": "t", "name": "T", "steps": steps}).run_sync("go")

    assert result.success and "Nudged" not in kinds(result)
    assert result.messages[2] == {
        "role": "user",
        "content": "That is noted, and the run goes on: step `look` needs `query_siem`.",
    }


def test_control_tools_carry_their_claims() -> None:
    """
    `complete_step` is offered with the claims of the step, and completes it.
    """
    step = {"id": "weigh", "description": "Weigh it", "claims": {"cause": "string"}}
    model = FakeModel([gw.ToolCall("complete_step", {"cause": "a phish"})])
    result = Agent(model, playbook={"id": "t", "name": "T", "steps": [step]}).run_sync("go")

    [spec] = model.requests[0].tools
    assert result.success
    assert (spec.name, spec.parameters["required"]) == ("complete_step", ["cause"])


def test_the_playbook_makes_its_own_calls_without_the_model() -> None:
    """
    Deterministic steps run with no model turn.
    """
    tools = Tools()
    steps = [{"id": "look", "call": {"tool": "query_siem", "args": {"hours": 24}}},
             {"id": "cut", "call": {"tool": "isolate_host", "args": {"host": "ws-7"}}}]  # fmt: skip
    tools_say = {"query_siem": {"effect": "read"}, "isolate_host": {"effect": "write"}}
    playbook = {"id": "t", "name": "T", "tools": tools_say, "steps": steps}
    result = agent([], tools, playbook=playbook).run_sync("go")

    assert words(result) == ("complete", "success", True)
    assert tools.ran == [("query_siem", 24), ("isolate_host", "ws-7")]
    assert (result.model_calls, result.iterations) == (0, 0)


def test_a_wait_is_waited_for() -> None:
    """
    A clock that leaps is told the time, and the run goes on by itself.
    """
    from guideway.runtime.clocks import LeapingClock

    steps = [{"id": "rest", "wait": "4h"}, {"id": "look", "description": "Look", "expected_tools": ["query_siem"]}]
    made = agent([SIEM], playbook={"id": "t", "name": "T", "steps": steps}, clock=LeapingClock())

    assert words(made.run_sync("go")) == ("complete", "success", True)


def test_a_name_of_the_frameworks_is_offered_and_understood() -> None:
    """
    A tool may have another name in the playbook than in the agent.
    """

    def mcp__siem__search() -> dict[str, int]:
        return {"hits": 1}

    tools = {"query_siem": {"effect": "read", "name": "mcp__siem__search"}}
    steps = [{"id": "look", "description": "Look", "expected_tools": ["query_siem"]}]
    model = FakeModel([gw.ToolCall("mcp__siem__search")])
    made = Agent(model, [mcp__siem__search], playbook={"id": "t", "name": "T", "tools": tools, "steps": steps})

    assert made.run_sync("go").success
    assert offered(model) == [["mcp__siem__search"]]


def test_record_mode_lets_an_illegal_call_run_and_moves_nothing() -> None:
    """
    S55: it is recorded, and the playbook goes on from where it was.
    """
    tools = Tools()
    result = agent([ISOLATE, SIEM, ISOLATE], tools, mode="record").run_sync("go")

    assert result.success
    assert [name for name, _ in tools.ran] == ["isolate_host", "query_siem", "isolate_host"]


def test_a_tool_that_no_step_names_is_offered_where_the_playbook_allows_extra_tools() -> None:
    """
    `allow_extra_tools` opens the gate to tools that no step names, and never to a later step's (D8).
    """

    def search_help() -> str:
        return "…"

    model = FakeModel([gw.ToolCall("search_help"), SIEM, ISOLATE])
    made = Agent(model, [*Tools().both, search_help], playbook={**TRIAGE, "allow_extra_tools": True, "tools": {
        **TRIAGE["tools"], "search_help": {"effect": "read"}}})  # fmt: skip

    assert made.run_sync("go").success
    assert offered(model)[0] == ["query_siem", "search_help"]


def test_approvals_are_shown_in_the_brief() -> None:
    """
    The model knows beforehand that a person will be asked.
    """
    model = FakeModel([SIEM, ISOLATE])
    Agent(model, Tools().both, playbook=ASKING).run_sync("go")

    assert "a person approves first" in model.requests[1].messages[0]["content"]

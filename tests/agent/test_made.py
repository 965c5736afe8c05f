"""Making an agent: what fits together, what does not, and what is only odd."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from typing import Any

import pytest

import guideway as gw
from guideway.agent import Agent, AgentConfig, AgentLimits
from guideway.agent_config import AgentParts
from guideway.runtime.models.fake import FakeModel, FunctionModel
from guideway.termination import ConfidenceMet, MaxIterations, ToolCalled

from .kit import ISOLATE, SIEM, TRIAGE, Tools, agent, free, words


def test_a_config_is_an_agent_as_a_value() -> None:
    """
    `AgentConfig(playbook=…)` installs the gate by itself (row 10); keywords go before it.
    """
    config = AgentConfig(FakeModel([ISOLATE, SIEM, ISOLATE]), Tools().both, playbook=TRIAGE)
    made = Agent(config=config, instructions="Be brief.")

    assert words(made.run_sync("go")) == ("complete", "success", True)
    assert (made.config.instructions, config.instructions) == ("Be brief.", "")


def test_the_keywords_of_an_agent_are_the_fields_of_its_config() -> None:
    """
    The two lists cannot drift apart.
    """
    assert {"model", "tools", *AgentParts.__annotations__} == {each.name for each in fields(AgentConfig)}


def test_a_machine_that_was_loaded_serves_many_agents() -> None:
    """
    `machine=` takes what `gw.load` gave.
    """
    machine = gw.load(TRIAGE)

    assert all(agent([SIEM, ISOLATE], machine=machine).run_sync("go").success for _ in range(2))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"machine": gw.load(TRIAGE), "playbook": TRIAGE}, "a machine or a playbook, not both"),
    ({"playbok": TRIAGE}, "did you mean `playbook`"),
    ({"tools": [], "playbook": TRIAGE}, "no tool `query_siem` was given"),
    ({"mode": "strict"}, "one of enforce, record, shadow"),
    ({"limits": AgentLimits(cost=1.0)}, "needs the price of `fake`"),
    ({"model": None}, "needs a model"),
    ({"hooks": [object()]}, "no hook"),
]


@pytest.mark.parametrize(("parts", "says"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_parts_that_do_not_fit_are_refused(parts: dict[str, Any], says: str) -> None:
    """
    Before anything runs, naming what is wrong.
    """
    given: dict[str, Any] = {"model": FakeModel([]), "tools": Tools().both, **parts}

    with pytest.raises(gw.HostError, match=says):
        Agent(**given)


def test_a_tool_with_the_name_of_a_control_tool_is_refused() -> None:
    """
    Nothing of the host's can be taken for the playbook's own verbs.
    """

    def complete_step() -> None:
        """Pretend."""

    with pytest.raises(gw.HostError, match="Guideway's own"):
        Agent(FakeModel([]), [complete_step])


@pytest.mark.parametrize("limit", ["tokens", "cost", "seconds", "calls", "max_iterations", "max_repeats"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), True, "9"])
def test_a_limit_is_a_number_above_0(limit: str, value: Any) -> None:
    """
    Whatever else is given is named.
    """
    given: dict[str, Any] = {limit: value}

    with pytest.raises(gw.HostError, match=limit):
        AgentLimits(**given)


def test_confidence_without_reflexion_is_warned_of() -> None:
    """
    The document's gotcha: it never trips; that is said, and is no error.
    """
    odd = free([], termination=ToolCalled("query_siem") & ConfidenceMet(0.9) | MaxIterations(3))
    right = free([], termination=ConfidenceMet(0.9), reflexion=True)

    assert "ConfidenceMet" in odd.warnings[0]
    assert right.warnings == ()


def test_a_tool_that_the_playbook_does_not_know_is_warned_of() -> None:
    """
    It is never offered.
    """

    def format_disk() -> None:
        """Never."""

    made = Agent(FakeModel([SIEM, ISOLATE]), [*Tools().both, format_disk], playbook=TRIAGE)

    assert "`format_disk`" in made.warnings[0]
    assert made.run_sync("go").warnings == made.warnings


def test_what_is_given_by_keyword_must_be_json() -> None:
    """
    It is saved with the run.
    """
    with pytest.raises(gw.HostError, match="JSON"):
        free(["x"]).run_sync("go", ticket=object())


def test_inputs_are_checked_before_the_model_is_asked() -> None:
    """
    A missing input is the host's mistake.
    """
    with pytest.raises(gw.HostError, match="needs the input `host`"):
        agent([SIEM], playbook={**TRIAGE, "inputs": {"host": "string"}}).run_sync("go")


def test_a_prompt_may_be_a_transcript() -> None:
    """
    Earlier messages go before.
    """
    model = FakeModel(["Fine."])
    Agent(model).run_sync([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                           {"role": "user", "content": "c"}])  # fmt: skip

    assert [message["content"] for message in model.requests[0].messages] == ["a", "b", "c"]


def test_a_reflexion_of_the_hosts_own() -> None:
    """
    A function of the run's state says how sure it is; nonsense says nothing.
    """
    sure = free([SIEM], reflexion=lambda state: 0.99, termination=ConfidenceMet(0.9)).run_sync("go")
    unsure = free([SIEM, "Done."], reflexion=lambda state: "very", termination=ConfidenceMet(0.9)).run_sync("go")

    assert (words(sure)[0], words(unsure)[0]) == ("confidence_met", "complete")


def test_a_reflexion_is_no_part_of_the_transcript() -> None:
    """
    The question and its answer leave no trace but the claim and the cost.
    """
    result = free([SIEM, "no idea", "Done."], reflexion=True).run_sync("go")

    assert [message["role"] for message in result.messages] == ["user", "assistant", "tool", "assistant"]
    assert result.model_calls == 3


def test_the_documents_own_example_of_a_custom_condition() -> None:
    """
    Seed four's `host_contained`, unchanged.
    """
    from guideway.termination import CustomCondition

    def host_contained(state: Any) -> bool:
        return any(
            e.tool_name == "isolate_host" and (e.result or {}).get("ticket")
            for e in state.tool_executions
        )  # fmt: skip

    result = free([SIEM, ISOLATE, "x"], termination=CustomCondition(host_contained) | MaxIterations(15)).run_sync("go")

    assert (result.iterations, result.success) == (2, True)


def test_listeners_are_awaited_and_cannot_break_a_run() -> None:
    """
    A run does not run ahead of who listens; what a listener raises is logged.
    """
    heard: list[str] = []

    async def listen(event: Any) -> None:
        await asyncio.sleep(0)
        heard.append(type(event).__name__)

    def broken(event: Any) -> None:
        raise ZeroDivisionError

    assert free(["Hi."], on_event=listen).run_sync("go").success
    assert free(["Hi."], on_event=broken).run_sync("go").success
    assert (heard[0], heard[-1]) == ("RunStarted", "RunEnded")


def test_a_stream_does_not_run_ahead_of_its_reader() -> None:
    """
    The model is asked the second time when the events of the first have been read.
    """
    asked: list[int] = []

    def reply(request: Any) -> Any:
        asked.append(len(asked))
        return SIEM if len(asked) == 1 else "Done."

    async def main() -> list[int]:
        seen: list[int] = []
        async for event in Agent(FunctionModel(reply), Tools().both).stream("go"):
            if type(event).__name__ == "ToolStarted":
                for _ in range(50):
                    await asyncio.sleep(0)
                seen.append(len(asked))
        return seen

    assert asyncio.run(main()) == [1]

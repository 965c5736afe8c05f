"""The faults that are an agent's, driven through an agent whose model is told what to say."""

from __future__ import annotations

from typing import Any

import pytest

import guideway as gw
from guideway.agent import Agent, AgentResult, Decision
from guideway.enforcer import PlaybookEnforcerHook
from guideway.hooks.provider import AfterToolCallEvent, BeforeToolCallEvent, HookPriority, HookProvider
from guideway.runtime.models.fake import FakeModel
from guideway.termination import MaxIterations, ToolCalled

from .driving import playbook

LOOK = {"id": "look", "description": "Search the logs", "expected_tools": ["query_siem"], "hints": ["last 24 hours"]}
ACT = {"id": "act", "expected_tools": ["isolate_host"]}
TELL = {"id": "tell", "expected_tools": ["tell"]}


class Host:
    """Tools that count how often they ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def tools(self) -> list[Any]:
        """As functions."""

        def query_siem() -> dict[str, int]:
            """Search the SIEM."""
            self.ran.append("query_siem")
            return {"hits": 3}

        def isolate_host(host: str = "ws-7") -> dict[str, bool]:
            """Cut a host off the network."""
            self.ran.append("isolate_host")
            return {"isolated": True}

        def tell() -> str:
            """Tell the owner."""
            self.ran.append("tell")
            return "told"

        return [query_siem, isolate_host, tell]


def says(*replies: Any) -> FakeModel:
    """A model with these replies: a text, or the names of tools to call."""
    return FakeModel([reply if isinstance(reply, str) else [gw.ToolCall(name) for name in reply] for reply in replies])


def drive(host: Host, model: FakeModel, book: dict[str, Any], **parts: Any) -> AgentResult:
    """Run an agent to its end."""
    return Agent(model, host.tools(), playbook=book, **parts).run_sync("An alert on ws-7.")


def test_d1_the_incident_does_not_end_contained_by_a_call_that_was_refused() -> None:
    """
    A condition on a tool is met by the call that ran, not by the one that the gate stopped.
    """
    host = Host()
    model = says(["isolate_host"], ["query_siem"], ["isolate_host"], "never asked")
    result = drive(
        host,
        model,
        playbook(LOOK, ACT, TELL),
        termination=ToolCalled("isolate_host", require_success=True) | MaxIterations(9),
    )

    assert host.ran == ["query_siem", "isolate_host"]
    assert result.iterations == 3
    assert result.reason == "tool_called:isolate_host"


def test_d2_a_model_that_stops_early_does_not_succeed() -> None:
    """
    Its answer is sent back; in the end the run has a name that is no success, whatever the model said.
    """
    host = Host()
    result = drive(host, says(*["All contained."] * 9), playbook(LOOK, ACT, max_nudges=2))

    assert host.ran == []
    assert not result.success
    assert (result.outcome, result.model_calls) == ("stopped:nudges", 3)


def test_d2_a_model_that_is_sent_back_may_still_do_it() -> None:
    """
    It is told what is missing, does it, and the run succeeds.
    """
    host, model = Host(), says("All contained.", ["query_siem"], ["isolate_host"])
    result = drive(host, model, playbook(LOOK, ACT))

    assert host.ran == ["query_siem", "isolate_host"]
    assert result.success


def test_d5_a_batch_in_order_runs_through_an_agent() -> None:
    """
    One reply with the calls of two steps is carried out in two waves.
    """
    host = Host()
    result = drive(host, says(["query_siem", "isolate_host"]), playbook(LOOK, ACT))

    assert host.ran == ["query_siem", "isolate_host"]
    assert result.success


def test_d10_the_model_is_offered_what_is_legal_and_told_of_the_playbook() -> None:
    """
    In each turn only the tools of the step, and the brief names the step, its description and its hints.
    """
    host, model = Host(), says(["query_siem"], ["isolate_host"])
    drive(host, model, playbook(LOOK, ACT))
    offered = [[tool.name for tool in request.tools] for request in model.requests]
    brief = str(model.requests[0].messages[0]["content"])

    assert offered == [["query_siem"], ["isolate_host"]]
    assert "`look`" in brief
    assert "Search the logs" in brief
    assert "last 24 hours" in brief


@pytest.mark.parametrize("tool", ["isolate_host", "drop_table"])
def test_d10_what_is_not_offered_does_not_run(tool: str) -> None:
    """
    A model that calls it all the same reads why not, and what is legal.
    """
    host = Host()
    result = drive(host, says([tool], ["query_siem"], ["isolate_host"]), playbook(LOOK, ACT))
    answer = next(message for message in result.messages if message["role"] == "tool")

    assert answer["is_error"]
    assert "`query_siem`" in str(answer["content"])
    assert host.ran == ["query_siem", "isolate_host"]


class Unblocks(HookProvider):
    """Comes last, and takes every block back."""

    priority = HookPriority.DEFAULT

    async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
        """No block stands."""
        event.cancel = False


class Blocks(HookProvider):
    """Comes first, wherever it stands in the list."""

    priority = HookPriority.SECURITY_DEFAULT

    def __init__(self, seen: list[str]) -> None:
        self._seen = seen

    async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
        """Nothing is isolated today."""
        self._seen.append(event.tool_name)
        if event.tool_name == "isolate_host":
            event.cancel = "not today"


class Retries(HookProvider):
    """Wants every call made again."""

    async def on_after_tool_call(self, event: AfterToolCallEvent) -> None:
        """Once more."""
        event.retry = True


@pytest.mark.parametrize("last", [True, False])
def test_d11_no_hook_unblocks_what_another_has_blocked(last: bool) -> None:
    """
    Providers are asked by priority, whatever the order of the list, and a block is not taken back.
    """
    host, seen = Host(), list[str]()
    hooks: list[HookProvider] = [Blocks(seen), Unblocks()]
    result = drive(host, says(["query_siem"], *[["isolate_host"]] * 9), playbook(LOOK, ACT),
                   hooks=hooks if last else hooks[::-1])  # fmt: skip

    assert host.ran == ["query_siem"]
    assert seen[:2] == ["query_siem", "isolate_host"]
    assert not result.success


def test_d11_no_hook_unblocks_what_the_gate_refuses() -> None:
    """
    The gate lies inside of all hooks, so there is nobody who could come after it.
    """
    host = Host()
    drive(host, says(["isolate_host"], ["query_siem"], ["isolate_host"]), playbook(LOOK, ACT), hooks=[Unblocks()])

    assert host.ran == ["query_siem", "isolate_host"]


def test_d11_no_hook_unblocks_a_playbook_that_comes_by_a_hook() -> None:
    """
    The same where the playbook is that of a `PlaybookEnforcerHook`, which stands before the hook that unblocks.
    """
    host, guard = Host(), PlaybookEnforcerHook(gw.load_playbook(playbook(LOOK, ACT)))
    model = says(["isolate_host"], ["query_siem"], ["isolate_host"])
    Agent(model, host.tools(), hooks=[guard, Unblocks()]).run_sync("An alert on ws-7.")

    assert host.ran == ["query_siem", "isolate_host"]
    assert [violation.tool_name for violation in guard.enforcer.violations] == ["isolate_host"]


def test_d12_a_hook_that_retries_does_not_double_a_destructive_call() -> None:
    """
    S53: the second execution is a call of its own, which the gate refuses; the tool runs once.
    """
    act = {"id": "act", "expected_tools": ["isolate_host"]}
    book = playbook(act, TELL, tools={"isolate_host": {"effect": "irreversible"}, "tell": {}})
    host = Host()
    drive(host, says(["isolate_host"], ["tell"]), book, hooks=[Retries()])

    assert host.ran.count("isolate_host") == 1


def test_d12_what_is_made_again_is_counted() -> None:
    """
    Where the playbook has room for it, the call is made again, admitted and recorded each time.
    """
    act = {"id": "act", "expected_tools": [{"tool": "query_siem", "times": 2}]}
    host = Host()
    result = drive(host, says(["query_siem"], ["tell"], ["tell"]), playbook(act, TELL), hooks=[Retries()])

    assert host.ran.count("query_siem") == 2
    assert [e.tool_name for e in result.tool_executions if e.ran].count("query_siem") == 2


def test_d16_a_run_goes_on_in_its_next_segment() -> None:
    """
    A run that waits for a person is saved as JSON, and another agent goes on where it stood: nothing is made again.
    """
    gate = {"id": "agree", "approval": {"ask": "Isolate it?", "approvers": ["lead"]}}
    book, host = playbook(LOOK, gate, ACT), Host()
    first = drive(host, says(["query_siem"]), book)
    [question] = first.pending
    second = Agent(says(["query_siem"], ["isolate_host"]), host.tools(), playbook=book)
    result = second.resume_sync(first.state, {question.approval_id: Decision("approve", by="lead")})

    assert first.status == "suspended"
    assert host.ran == ["query_siem", "isolate_host"]
    assert result.success


def test_d17_a_model_that_does_not_learn_is_stopped() -> None:
    """
    Five refusals in a row end the run; nothing has run.
    """
    host = Host()
    result = drive(host, says(*[["isolate_host"]] * 30), playbook(LOOK, ACT))

    assert host.ran == []
    assert (result.stop_reason.value, result.model_calls) == ("refusals", 5)

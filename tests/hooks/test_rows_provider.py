"""Rows 10 to 14 of the parity list: seed one's providers."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.enforcer import PlaybookEnforcerHook
from guideway.hooks.provider import (
    AfterModelCallEvent,
    AfterToolCallEvent,
    AgentState,
    BeforeModelCallEvent,
    BeforeToolCallEvent,
    HookPriority,
    HookProvider,
    HookRegistry,
)
from guideway.playbooks.models import Playbook
from guideway.runtime.models.messages import ModelReply
from guideway.statemachine.errors import HostError

from .kit import (
    ISOLATE,
    SAID,
    SIEM,
    Desk,
    after_model,
    after_tool,
    before_model,
    before_tool,
    playbook,
    ran,
    read,
    start,
)

BOOK = {"id": "b", "name": "B", "steps": [{"id": "look", "description": "Look", "expected_tools": ["query_siem"]}]}


class Noting(HookProvider):
    """Notes who is asked, in which order."""

    def __init__(self, name: str, priority: int, seen: list[str]) -> None:
        self._name, self.priority, self.seen = name, priority, seen

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
        """Note it."""
        self.seen.append(f"before {self.name}")

    async def on_after_tool_call(self, event: AfterToolCallEvent) -> None:
        """Note it."""
        self.seen.append(f"after {self.name}")


def test_row_10_a_playbook_in_the_config_gates_and_a_hook_by_hand_does_so_too() -> None:
    """
    Both refuse what the playbook does not allow; by hand the hook stands where guards stand.
    """
    by_config, by_hand = Desk(), Desk()
    hook = PlaybookEnforcerHook(Playbook.model_validate(BOOK))
    by_config.agent([ISOLATE, SIEM, "Done."], playbook=BOOK).run_sync("go")
    by_hand.agent([ISOLATE, SIEM, "Done."], hooks=[hook]).run_sync("go")

    assert by_config.calls == by_hand.calls == [("query_siem", 24)]
    assert (hook.priority, int(HookPriority.SECURITY_DEFAULT)) == (50, 50)


def test_row_10_priority_counts_and_not_the_place_in_the_list() -> None:
    """
    Before-hooks by priority, lower first, then by the list; after-hooks in reverse (fault D11).
    """
    seen: list[str] = []
    hooks = [Noting("late", 300, seen), Noting("guard", 50, seen), Noting("later", 300, seen)]

    before_tool(hooks)
    after_tool(hooks)

    assert seen == ["before guard", "before late", "before later", "after later", "after late", "after guard"]


def test_row_10_a_registry_refuses_a_second_provider_of_one_name() -> None:
    """
    Providers are found by name, and iterated by priority.
    """
    registry = HookRegistry([Noting("b", 300, []), Noting("a", 50, [])])

    with pytest.raises(HostError, match="named a is registered already"):
        registry.register(Noting("a", 1, []))

    assert [provider.name for provider in registry] == ["a", "b"]
    assert (registry.unregister("a"), registry.unregister("a"), len(registry)) == (True, False, 1)


def test_row_11_the_reason_is_what_the_model_reads_and_after_hooks_do_not_see_the_call() -> None:
    """
    A cancelled call does not run, and no after-hook of this dialect hears of it.
    """
    seen: list[str] = []

    class Cancel(HookProvider):
        async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
            if event.tool_name == "isolate_host":
                event.cancel = "not on a Friday"

    desk = Desk()
    result = desk.agent([SIEM, ISOLATE, "Done."], hooks=[Cancel(), Noting("n", 300, seen)]).run_sync("go")

    assert read(result)[1] == "not on a Friday"
    assert desk.calls == [("query_siem", 24)]
    assert seen == ["before n", "after n"]


def test_row_11_a_cancel_once_set_stays() -> None:
    """
    Neither the one who set it nor one who comes later takes it back; `True` is a reason, too (fault D11).
    """

    class Cancel(HookProvider):
        async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
            event.cancel = "no"
            event.cancel = False
            event.cancel = "another"

    class Flag(HookProvider):
        async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
            event.cancel = True

    class Undo(HookProvider):
        async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
            event.cancel = False

    assert before_tool([Cancel(), Undo()]).blocked == "no"
    assert before_tool([Flag(), Undo()]).blocked == "cancelled by Flag"


def test_row_11_a_guard_that_fails_is_no_open_door() -> None:
    """
    What it raises before a tool stops the call, and so do arguments that are none.
    """

    class Broken(HookProvider):
        async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
            raise ZeroDivisionError("oops")

    class Nothing(HookProvider):
        async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
            event.arguments = None  # type: ignore[assignment]

    assert before_tool([Broken()]).blocked == "the hook Broken failed: ZeroDivisionError: oops"
    assert before_tool([Nothing()]).blocked == "Nothing set the arguments to a NoneType"


def test_row_12_the_state_may_be_replaced_and_the_end_and_each_turn_are_told() -> None:
    """
    `on_before_invocation` may return another state; `on_after_invocation` gets the success of the playbook.
    """
    seen: list[Any] = []

    class Around(HookProvider):
        async def on_before_invocation(self, prompt: str, state: AgentState) -> AgentState:
            seen.append(prompt)
            return AgentState(state.run_id, prompt, [*state.messages, {"role": "user", "content": "Be quick."}])

        async def on_iteration_start(self, iteration: int, state: AgentState) -> None:
            seen.append(("start", iteration))

        async def on_iteration_end(self, iteration: int, state: AgentState) -> None:
            seen.append(("end", iteration))

        async def on_after_invocation(self, state: AgentState, success: bool) -> None:
            seen.append(success)

    desk = Desk()
    done = desk.agent([SIEM, ISOLATE], playbook=playbook(), hooks=[Around()]).run_sync("go")
    assert seen == ["go", ("start", 0), ("end", 0), ("start", 1), ("end", 1), True]
    assert done.messages[1] == {"role": "user", "content": "Be quick."}

    seen.clear()
    desk.agent(["Nothing."] * 5, playbook=playbook(), hooks=[Around()]).run_sync("go")
    assert seen[-1] is False


def test_row_12_what_is_no_state_fails_the_run() -> None:
    """
    A provider that forgets to return the state is told so.
    """

    class Forgets(HookProvider):
        async def on_before_invocation(self, prompt: str, state: AgentState) -> AgentState:
            return None  # type: ignore[return-value]

    result = Desk().agent(["Done."], hooks=[Forgets()]).run_sync("go")

    assert result.stop_reason.value == "hook_failed"
    assert "no AgentState" in str(result.error)


def test_row_13_messages_may_be_edited_and_tools_are_read_only() -> None:
    """
    Each provider sees the messages of the one before; every other field is write-protected.
    """

    class Add(HookProvider):
        async def on_before_model_call(self, event: BeforeModelCallEvent) -> None:
            event.messages = [*event.messages, {"role": "user", "content": str(len(event.messages))}]
            with pytest.raises(AttributeError, match="`tools` of a BeforeModelCallEvent cannot be set"):
                event.tools = ()
            with pytest.raises(AttributeError, match="cannot be deleted"):
                del event.tools

    point = before_model([Add(), Add()])

    assert [message["content"] for message in point.messages] == [SAID["content"], "1", "2"]
    assert [tool.name for tool in point.tools] == ["isolate_host"]


def test_row_13_a_response_may_be_replaced_or_asked_for_again() -> None:
    """
    A reply or a text takes its place; `retry` asks anew with the feedback; anything else fails the run.
    """

    class Rewrite(HookProvider):
        async def on_after_model_call(self, event: AfterModelCallEvent) -> None:
            event.response = "Better."

    class Again(HookProvider):
        async def on_after_model_call(self, event: AfterModelCallEvent) -> None:
            if event.response.text == "Hm.":
                event.retry, event.retry_feedback = True, "Say more."

    desk = Desk()
    result = desk.agent(["Hm.", "Done."], hooks=[Again()]).run_sync("go")
    point = after_model([Rewrite()])

    assert (point.reply.text, point.messages[-1]["content"]) == ("Better.", "Better.")
    assert (result.output, result.model_calls, result.messages[1]["content"]) == ("Done.", 2, "Say more.")


def test_row_13_a_result_may_be_changed_and_the_arguments_not_any_more() -> None:
    """
    After the call `result` is what the model reads; the arguments are those that were used.
    """

    class Redact(HookProvider):
        async def on_after_tool_call(self, event: AfterToolCallEvent) -> None:
            event.arguments["host"] = "forged"
            event.result = "redacted"

    point = after_tool([Redact()], {"ticket": "C-1"})

    assert (point.shown, point.call) == ("redacted", ISOLATE)


def test_row_14_points_that_are_not_implemented_are_skipped() -> None:
    """
    The map says what a provider does, by itself or by its own words; the rest is never called.
    """
    calls: list[str] = []

    class Silent(HookProvider):
        async def on_before_tool_call(self, event: BeforeToolCallEvent) -> None:
            calls.append("before")

        async def on_after_tool_call(self, event: AfterToolCallEvent) -> None:
            calls.append("after")

        def register_hooks(self) -> dict[str, bool]:
            return {**super().register_hooks(), "on_after_tool_call": False}

    silent = Silent()
    before_tool([silent])
    after_tool([silent])

    assert calls == ["before"]
    assert {name for name, does in silent.register_hooks().items() if does} == {"on_before_tool_call"}
    assert not any(HookProvider().register_hooks().values())


def test_every_after_hook_runs_and_the_first_error_is_raised() -> None:
    """
    One that fails keeps no other from hearing of the call (section 1.4 of the notes).
    """
    seen: list[str] = []

    class Broken(HookProvider):
        async def on_after_tool_call(self, event: AfterToolCallEvent) -> None:
            raise ZeroDivisionError("oops")

    desk = Desk()
    result = desk.agent([SIEM, "x"], hooks=[Noting("n", 300, seen), Broken()]).run_sync("go")

    assert seen == ["before n", "after n"]
    assert isinstance(result.error.__cause__ if result.error else None, ZeroDivisionError)
    assert (result.stop_reason.value, len(ran(result))) == ("hook_failed", 1)


def test_any_object_with_the_methods_is_a_provider_and_events_say_which_run() -> None:
    """
    No base class is needed; `event.run` has the ids, and `event.emit` puts an event into the agent's stream.
    """
    seen: list[Any] = []

    class Duck:
        def on_before_tool_call(self, event: Any) -> None:
            seen.append((event.run.run_id, event.tool_name, event.tool_call_id))
            event.emit({"hello": "there"})

    result = Desk().agent([SIEM, "Done."], hooks=[Duck()]).run_sync("go", run_id="r-1")

    assert seen == [("r-1", "query_siem", "c0")]
    assert "CustomEvent" in [type(event).__name__ for event in result.events]


def test_a_reply_object_may_take_the_place_of_a_response() -> None:
    """
    With calls: they are what the gate decides on.
    """

    class Calls(HookProvider):
        async def on_after_model_call(self, event: AfterModelCallEvent) -> None:
            event.response = ModelReply("", (ISOLATE,))

    assert after_model([Calls()]).reply.calls == (ISOLATE,)


def test_the_state_that_a_start_replaces_is_what_hooks_see_after() -> None:
    """
    `metadata` are the values given by keyword; replaced ones stay replaced.
    """

    class Meta(HookProvider):
        async def on_before_invocation(self, prompt: str, state: AgentState) -> AgentState:
            state.metadata["team"] = "blue"
            return state

    assert start([Meta()]).state == {"team": "blue"}

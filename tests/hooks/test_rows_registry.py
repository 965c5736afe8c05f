"""Rows 40 to 50 of the parity list: seed five's registry, its chains and its bridge."""

from __future__ import annotations

import asyncio
import logging
from threading import Thread
from typing import Any

import pytest

from guideway.hooks import HookFailedError
from guideway.hooks.registry import (
    EVENT_CONTEXT_USAGE,
    EVENT_SAVE_POINT,
    EVENT_TOOL_CALL,
    BeforeAgentStartEvent,
    BeforeAgentStartResult,
    Config,
    ContextEvent,
    ContextResult,
    ErrRunCancelled,
    ObservationEvent,
    Registry,
    RunCancelledError,
    ToolCallEvent,
    ToolCallResult,
    ToolResultEvent,
    ToolResultResult,
    TurnUpdate,
    bridge_config,
    chain_after_tool_call,
    chain_before_tool_call,
    chain_prepare_next_turn,
    chain_transform_context,
    merge_hook_fields,
    observe,
    on_before_agent_start,
    on_context,
    on_observation,
    on_tool_call,
    on_tool_result,
)

from .kit import ISOLATE, SAID, SIEM, Desk, after_tool, before_model, before_tool, observed, read, start


def says(text: str) -> dict[str, Any]:
    """A message."""
    return {"role": "user", "content": text}


def test_row_40_registration_is_typed_and_without_registry_or_handler_there_is_nothing_to_do() -> None:
    """
    None is safe on both sides.
    """
    registry = Registry()
    for register in (on_before_agent_start, on_context, on_tool_call, on_tool_result, observe):
        register(None, lambda event: None)
        register(registry, None)
    on_observation(None, EVENT_SAVE_POINT, lambda event: None)
    on_observation(registry, EVENT_SAVE_POINT, None)

    assert (registry.has_handlers(), registry.has_loop_handlers()) == (False, False)
    assert before_tool([registry]).blocked is None

    observe(registry, lambda event: None)
    assert (registry.has_handlers(), registry.has_loop_handlers()) == (True, False)

    on_context(registry, lambda event: None)
    assert registry.has_loop_handlers()


def test_row_40_handlers_are_those_there_were_when_the_event_was_emitted() -> None:
    """
    One that is registered by a handler hears the next event, not this one.
    """
    registry, seen = Registry(), list[str]()

    def first(event: ToolCallEvent) -> None:
        seen.append("first")
        on_tool_call(registry, lambda event: seen.append("late"))

    on_tool_call(registry, first)
    before_tool([registry])
    assert seen == ["first"]

    before_tool([registry])
    assert seen == ["first", "first", "late"]


def test_row_40_threads_may_register_while_others_emit() -> None:
    """
    No registration is lost.
    """
    registry = Registry()

    def register() -> None:
        for _ in range(500):
            on_tool_call(registry, lambda event: None)

    threads = [Thread(target=register) for _ in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        asyncio.run(registry.emit_tool_call(ToolCallEvent(ISOLATE)))
    for thread in threads:
        thread.join()

    assert len(registry.handlers(EVENT_TOOL_CALL)) == 4000


def test_row_41_start_handlers_chain_and_a_cancel_stays() -> None:
    """
    None is unchanged, a list is another transcript; the others are asked all the same.
    """
    registry, seen = Registry(), list[Any]()

    def first(event: BeforeAgentStartEvent) -> BeforeAgentStartResult:
        return BeforeAgentStartResult(messages=[says("new")], system_prompt="Be kind.", cancel=True)

    def second(event: BeforeAgentStartEvent) -> BeforeAgentStartResult:
        seen.append((event.messages, event.system_prompt, event.model_name))
        return BeforeAgentStartResult()

    on_before_agent_start(registry, first)
    on_before_agent_start(registry, second)
    point = start([registry])

    assert seen == [([says("new")], "Be kind.", "fake")]
    assert (point.messages, point.system_prompt) == ([says("new")], "Be kind.")
    assert isinstance(point.error, RunCancelledError)
    assert ErrRunCancelled is RunCancelledError
    assert start([Registry()]).messages == [SAID]


def test_row_41_a_cancelled_start_is_an_error_of_its_own() -> None:
    """
    The model is asked nothing; the result has the dedicated error.
    """
    registry = Registry()
    on_before_agent_start(registry, lambda event: BeforeAgentStartResult(cancel=True))
    result = Desk().agent([SIEM, "Done."], hooks=[registry]).run_sync("go")

    assert (result.stop_reason.value, result.model_calls) == ("cancelled", 0)
    assert isinstance(result.error, RunCancelledError)


def test_row_42_each_context_handler_sees_what_the_one_before_has_made() -> None:
    """
    None leaves the messages as they are.
    """
    registry = Registry()

    def add(event: ContextEvent) -> ContextResult:
        return ContextResult([*event.messages, says(str(len(event.messages)))])

    on_context(registry, add)
    on_context(registry, lambda event: None)
    on_context(registry, add)

    assert before_model([registry]).messages == [SAID, says("1"), says("2")]


def test_row_43_the_first_block_wins_and_stops() -> None:
    """
    Later handlers are not asked; the model reads the first reason.
    """
    registry, seen = Registry(), list[str]()
    on_tool_call(registry, lambda event: ToolCallResult(block=event.tool_call.name == "isolate_host", reason="first"))
    on_tool_call(registry, lambda event: seen.append(event.tool_call.name))

    desk = Desk()
    result = desk.agent([SIEM, ISOLATE, "Done."], hooks=[registry]).run_sync("go")

    assert (seen, desk.calls) == (["query_siem"], [("query_siem", 24)])
    assert read(result)[1] == "first"


def test_row_43_an_error_of_a_handler_propagates_and_the_call_does_not_run() -> None:
    """
    The run fails, and the cause is kept.
    """
    registry = Registry()

    def raises(event: ToolCallEvent) -> ToolCallResult:
        raise ZeroDivisionError("oops")

    on_tool_call(registry, raises)
    desk = Desk()
    result = desk.agent([SIEM, "Done."], hooks=[registry]).run_sync("go")

    assert (result.stop_reason.value, desk.calls) == ("hook_failed", [])
    assert isinstance(result.error.__cause__ if result.error else None, ZeroDivisionError)
    with pytest.raises(HookFailedError, match="a handler of tool_call failed: oops"):
        before_tool([registry])


def test_row_44_patches_merge_per_field_and_terminate_stays() -> None:
    """
    Each handler sees the patches so far.
    """
    registry, seen = Registry(), list[Any]()
    on_tool_result(registry, lambda event: ToolResultResult(content="patched", terminate=True))

    def second(event: ToolResultEvent) -> ToolResultResult:
        seen.append((event.content, event.is_error))
        return ToolResultResult(is_error=True)

    on_tool_result(registry, second)
    on_tool_result(registry, lambda event: seen.append((event.content, event.is_error)))
    point = after_tool([registry], {"ticket": "C-1"})

    assert seen == [("patched", False), ("patched", True)]
    assert (point.shown, point.is_error, point.terminate) == ("patched", True, True)


def test_row_44_terminate_ends_the_run_after_the_turn() -> None:
    """
    The call has run; nothing more is asked of the model.
    """
    registry = Registry()
    on_tool_result(registry, lambda event: ToolResultResult(terminate=True))
    desk = Desk()
    result = desk.agent([SIEM, ISOLATE], hooks=[registry]).run_sync("go")

    assert (result.stop_reason.value, desk.calls, result.model_calls) == ("hook_end", [("query_siem", 24)], 1)


def test_row_45_observers_read_and_fail_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """
    One hears its type, another all; what they raise is logged, and what they write is lost.
    """
    registry, seen = Registry(), list[str]()

    def raises(event: ObservationEvent) -> None:
        raise ZeroDivisionError("oops")

    on_observation(registry, EVENT_SAVE_POINT, raises)
    on_observation(registry, EVENT_SAVE_POINT, lambda event: seen.append(f"save {event.type}"))
    observe(registry, lambda event: seen.append(event.type))

    with caplog.at_level(logging.WARNING, "guideway.hooks"):
        observed([registry], EVENT_SAVE_POINT)
        observed([registry], EVENT_CONTEXT_USAGE, tokens=5, window=100)

    assert seen == ["save save_point", "save_point", "context_usage"]
    assert "an observer of save_point failed: oops" in caplog.text


def test_row_45_a_run_tells_observers_of_its_save_points_and_its_context() -> None:
    """
    After every turn; the usage carries tokens and window.
    """
    registry, seen = Registry(), list[ObservationEvent]()
    observe(registry, seen.append)
    Desk().agent([SIEM, "Done."], hooks=[registry]).run_sync("go")

    assert [event.type for event in seen].count("save_point") == 2
    assert all(event.context_usage for event in seen if event.type == "context_usage")


def test_row_45_warnings_may_go_elsewhere() -> None:
    """
    The seed's `log_warn` argument.
    """
    registry, told = Registry(), list[str]()

    def raises(event: ObservationEvent) -> None:
        raise ZeroDivisionError("oops")

    observe(registry, raises)
    asyncio.run(registry.emit_observation(ObservationEvent("save_point"), lambda text, *args: told.append(text % args)))

    assert told == ["an observer of save_point failed: oops"]


def test_row_46_the_bridge_puts_hooks_after_the_callbacks_of_the_host() -> None:
    """
    Base first; before each, the cancellation of the run is checked.
    """
    registry, seen, cancelled = Registry(), list[str](), list[bool]()
    on_context(registry, lambda event: ContextResult([*event.messages, says("hook")]))
    on_tool_call(registry, lambda event: seen.append("hook"))
    base = Config(
        transform_context=lambda messages: [*messages, says("base")],
        before_tool_call=lambda event: seen.append("base"), queues=[1],
    )  # fmt: skip
    config = bridge_config(registry, base, lambda: bool(cancelled))

    assert config.transform_context and config.before_tool_call
    assert asyncio.run(config.transform_context([])) == [says("base"), says("hook")]
    asyncio.run(config.before_tool_call(ToolCallEvent(ISOLATE)))
    assert (seen, config.queues, config.prepare_next_turn) == (["base", "hook"], [1], None)

    cancelled.append(True)
    for work in (config.transform_context([]), config.before_tool_call(ToolCallEvent(ISOLATE))):
        with pytest.raises(RunCancelledError):
            asyncio.run(work)


def test_row_46_without_handlers_of_the_loop_nothing_changes() -> None:
    """
    The very same config; observers alone are none of the loop's.
    """
    registry, base = Registry(), Config()
    observe(registry, lambda event: None)

    assert bridge_config(registry, base) is base
    assert bridge_config(None, base) is base


def test_row_47_a_chain_of_one_is_that_one_and_a_block_or_an_error_stops() -> None:
    """
    For each of the chains.
    """
    seen: list[str] = []

    def block(event: ToolCallEvent) -> ToolCallResult:
        return ToolCallResult(True, "inner")

    def raises(event: ToolCallEvent) -> ToolCallResult:
        raise ZeroDivisionError

    def outer(event: Any) -> None:
        seen.append("outer")

    chains: Any = (chain_transform_context, chain_before_tool_call, chain_after_tool_call, chain_prepare_next_turn)
    for chain in chains:
        assert (chain(None, outer), chain(outer, None), chain(None, None)) == (outer, outer, None)
    blocked, broken = chain_before_tool_call(block, outer), chain_before_tool_call(raises, outer)

    assert blocked and broken
    assert asyncio.run(blocked(ToolCallEvent())) == ToolCallResult(True, "inner")
    with pytest.raises(ZeroDivisionError):
        asyncio.run(broken(ToolCallEvent()))
    assert seen == []


def test_row_48_the_outer_one_sees_what_the_inner_changed_at_a_boundary() -> None:
    """
    Context and model.
    """
    seen: list[Any] = []
    both = chain_prepare_next_turn(lambda turn: TurnUpdate(context="trimmed"), seen.append)

    assert both
    asyncio.run(both(TurnUpdate("long", "big")))
    assert seen == [TurnUpdate("trimmed", "big")]


def test_row_49_merging_copies_callbacks_and_leaves_queues() -> None:
    """
    What the source does not set stays.
    """

    def mine(event: Any) -> None: ...

    def theirs(event: Any) -> None: ...

    into = Config(before_tool_call=mine, after_tool_call=mine, queues=["mine"])
    merge_hook_fields(into, Config(after_tool_call=theirs, queues=["theirs"]))
    merge_hook_fields(None, into)
    merge_hook_fields(into, None)

    assert (into.before_tool_call, into.after_tool_call, into.queues) == (mine, theirs, ["mine"])


def test_row_50_nothing_that_the_inner_one_did_is_dropped() -> None:
    """
    Better than the seed: patches merge field by field, and an outer that says nothing keeps the inner's update.
    """
    after = chain_after_tool_call(
        lambda event: ToolResultResult(content="inner"), lambda event: ToolResultResult(is_error=True)
    )
    turn = chain_prepare_next_turn(lambda turn: TurnUpdate(model="small"), lambda turn: None)
    halves = chain_prepare_next_turn(lambda turn: TurnUpdate(model="small"), lambda turn: TurnUpdate(context="short"))

    assert after and turn and halves
    assert asyncio.run(after(ToolResultEvent())) == ToolResultResult("inner", True)
    assert asyncio.run(turn(TurnUpdate())) == TurnUpdate(model="small")
    assert asyncio.run(halves(TurnUpdate())) == TurnUpdate("short", "small")

"""Random stacks of hooks of every dialect over a running agent: what no hook can do, no stack of them does (S53)."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import guideway as gw
from guideway.agent import AgentLimits, AgentResult
from guideway.runtime.agent.calling import AGAIN
from guideway.runtime.agent.events import ToolStarted
from guideway.runtime.models.messages import ModelReply

from .scripted import AFTER, BEFORE, KINDS, PLAYBOOK, TOOLS, Script, World, hook_of

WORDS = st.tuples(
    st.sampled_from(KINDS), st.lists(st.sampled_from(BEFORE), min_size=1, max_size=4),
    st.lists(st.sampled_from(AFTER), min_size=1, max_size=4), st.sampled_from((0, 50, 300)),
)  # fmt: skip
CALLS = st.builds(lambda name, n: gw.ToolCall(name, {"n": n}), st.sampled_from(TOOLS), st.integers(0, 4))
TURNS = st.lists(st.lists(CALLS, min_size=1, max_size=3), min_size=1, max_size=6)
PEOPLE = st.lists(st.sampled_from(("approve", "edit", "reject")), min_size=1, max_size=4)


def play(stack: list[Any], turns: list[list[gw.ToolCall]], people: list[str]) -> tuple[World, AgentResult]:
    """Run an agent whose model says these turns, and then again and again the way to the end."""
    world = World(itertools.cycle(people))
    hooks = [hook_of(kind, Script.of(world, before, after), priority) for kind, before, after, priority in stack]
    way = [ModelReply("", (gw.ToolCall(name, {"n": 1}),)) for name in ("query_siem", "isolate_host")] * 4
    model = gw.FakeModel([*(ModelReply("", tuple(calls)) for calls in turns), *way])
    limits = AgentLimits(max_iterations=12, max_repeats=None)
    made = gw.Agent(model, world.tools(), playbook=PLAYBOOK, hooks=hooks, decisions=world.decide, limits=limits)
    return world, made.run_sync("go")


def key(name: str, args: Any) -> str:
    """A call as text."""
    return name + json.dumps(args, sort_keys=True)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(WORDS, max_size=5), TURNS, PEOPLE)
def test_no_stack_of_hooks_gets_round_the_gate(
    stack: list[Any], turns: list[list[gw.ToolCall]], people: list[str]
) -> None:  # fmt: skip
    """
    What ran is what the gate admitted, with those arguments, each once; what was stopped did not run; what a person
    allowed is what ran; the playbook's success has its evidence.
    """
    world, result = play(stack, turns, people)
    records = list(result.session.records) if result.session else []

    admitted = {r[2]: key(r[3], r[4]) for r in records if r[0] == "decided" and r[5] == "allow"}
    assert len(admitted) == sum(r[0] == "decided" and r[5] == "allow" for r in records)
    begun = [e.call for e in result.events if isinstance(e, ToolStarted)]
    assert [key(call.name, call.args) for call in begun] == [admitted[call.call_id] for call in begun]
    assert len({call.call_id for call in begun}) == len(begun)
    assert Counter(key(*each) for each in world.ran) == Counter(key(call.name, call.args) for call in begun)

    assert not world.stopped & {call.call_id for call in begun}

    asked_for = Counter(key("isolate_host", args) for args in world.allowed)
    assert not Counter(key(*each) for each in world.ran if each[0] == "isolate_host") - asked_for

    settled = {r[2]: r[4] for r in records if r[0] == "settled"}
    assert {call.call_id for call in begun} <= set(settled)
    executed = {each.call_id: each for each in result.tool_executions}
    for call in begun:
        assert executed[call.call_id].ran
        assert executed[call.call_id].arguments == call.args
        assert executed[call.call_id].result == {"n": call.args.get("n")}
    assert max(Counter(call_id.partition("~")[0] for call_id in executed).values(), default=0) <= AGAIN + 1
    assert not result.success or "isolate_host" in [name for name, _ in world.ran]
    assert json.loads(json.dumps(result.state)) == result.state


def test_the_stacks_reach_what_they_are_to_test() -> None:
    """
    Among simple ones there are runs that succeed, calls that are stopped, repeated, edited, and ends of several kinds.
    """
    ends: Counter[str] = Counter()
    stopped = repeated = edited = 0
    for kind, before, after in itertools.product(KINDS, BEFORE, AFTER[1:]):
        world, result = play([(kind, ["pass", before], [after, "pass"], 50)], [[]], ["approve", "edit"])
        ends[result.stop_reason.value] += 1
        stopped += len(world.stopped)
        repeated += any("~" in each.call_id for each in result.tool_executions)
        edited += {"n": 77} in world.allowed

    assert {"complete", "hook_end", "hook_failed"} <= set(ends), ends
    assert min(stopped, repeated, edited) > 5, (stopped, repeated, edited)

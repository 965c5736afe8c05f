"""Whatever a stack of hooks does, it takes nothing back and lets nothing by that the gate has not allowed."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import guideway as gw
from guideway.agent import AgentLimits, AgentResult, Decision
from guideway.runtime.agent.events import ToolStarted
from guideway.runtime.models.tool import Tool

from .kit import LEAD, playbook
from .stacks import HOSTS, Mischief, stack

SEEDS = range(200)
REUSED = "c0"
"""The id that the model gives to several calls: of those that were blocked, it names none."""


class World:
    """One run: a model that says anything, a lead who allows or rejects, and hooks that misbehave."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"hooks {seed}")
        self.mischief = Mischief(random.Random(f"mischief {seed}"))
        self.ran: list[tuple[str, dict[str, Any]]] = []
        self.allowed: Counter[Any] = Counter()
        book = playbook(LEAD if seed % 2 else "none")
        book["tools"]["isolate_host"]["where"] = 'args.host != "dc-1"'
        self.asks = bool(seed % 2)
        self.made = gw.Agent(
            gw.FunctionModel(lambda request: self.reply()), [self.tool("query_siem"), self.tool("isolate_host")],
            playbook=book, hooks=stack(self.mischief), decisions=self.lead,
            limits=AgentLimits(max_iterations=15, max_repeats=None, refusals=9),
        )  # fmt: skip

    def tool(self, name: str) -> Tool:
        """One that takes anything, and is noted."""

        async def function(**args: Any) -> dict[str, Any]:
            self.ran.append((name, args))
            return {"ok": True}

        return Tool(name, function, parameters={"type": "object"})

    def reply(self) -> Any:
        """One call or several, of either tool, legal or not; ids repeat now and then."""
        return [self.call() for _ in range(self.rng.choice((1, 1, 2, 3)))]

    def call(self) -> gw.ToolCall:
        """One of them."""
        call_id = self.rng.choice(("", "", "", REUSED))
        if self.rng.random() < 0.5:
            return gw.ToolCall("query_siem", {"hours": 24}, call_id)
        return gw.ToolCall("isolate_host", {"host": self.rng.choice(HOSTS)}, call_id)

    def lead(self, question: Any) -> Decision:
        """Allows most of what is asked, and remembers exactly what."""
        if self.rng.random() < 0.2:
            return Decision("reject", "lead")
        self.allowed[question.args.get("host")] += 1
        return Decision("approve", "lead")


def admitted(result: AgentResult) -> dict[str, tuple[str, Any]]:
    """The calls that the session let through, with the arguments on record."""
    assert result.session is not None
    records = result.session.records
    asked = {r[2]: (r[5], r[6]) for r in records if r[0] == "asked"}
    found = {r[2]: (r[3], r[4]) for r in records if r[0] == "decided" and r[5] == "allow"}
    for record in records:
        if record[0] == "answered" and record[3] == "approved":
            found[record[2].removeprefix("call ")] = asked[record[2]]
    return found


def check(world: World, result: AgentResult) -> None:
    """The promises, one by one."""
    started = [event.call for event in result.events if isinstance(event, ToolStarted)]
    ids = [call.call_id for call in started]
    let_through = admitted(result)
    isolated = [args.get("host") for tool, args in world.ran if tool == "isolate_host"]

    assert not (world.mischief.blocked - {REUSED}) & set(ids), "a blocked call ran"
    assert len(ids) == len(set(ids)) == len(world.ran), "a call ran twice, or unrecorded"
    assert [let_through[call.call_id] for call in started] == [(call.name, call.args) for call in started]
    assert world.ran == [(call.name, call.args) for call in started], "other arguments ran"
    assert len(isolated) <= 1, "what cannot be taken back ran twice"
    assert "dc-1" not in isolated, "a call ran that a rule refuses"
    if world.asks:
        assert Counter(isolated) <= world.allowed, "a call ran that nobody allowed"
    assert result.success <= bool(isolated), "a run succeeded by what hooks say"


def test_random_stacks_of_hooks_never_get_round_the_gate() -> None:
    """
    No hook un-blocks a call, runs one that the gate denied, changes what a person allowed, or makes one run twice
    unrecorded.
    """
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        world = World(seed)
        result = world.made.run_sync("go")
        check(world, result)
        seen[result.stop_reason.value] += 1
        seen["ran"] += len(world.ran)
        seen["isolated"] += sum(tool == "isolate_host" for tool, _ in world.ran)
        seen["blocked"] += len(world.mischief.blocked)

    assert min(seen["complete"], seen["isolated"]) > 10, seen
    assert min(seen["ran"], seen["blocked"]) > 100, seen


@pytest.mark.parametrize("seed", range(3))
def test_the_check_can_fail(seed: int) -> None:
    """
    A tool that is run beside the loop is noticed.
    """
    world = World(seed)
    result = world.made.run_sync("go")
    world.ran.append(("isolate_host", {"host": "dc-1"}))

    with pytest.raises(AssertionError):
        check(world, result)

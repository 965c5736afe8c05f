"""Random playbooks, models, tools, people and hooks: whatever comes, the loop keeps what the gate has promised."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from typing import Any

import pytest

import guideway as gw
from guideway.agent import Agent, AgentLimits, Decision
from guideway.runtime.agent.events import ToolStarted
from guideway.runtime.agent.result import AgentResult
from guideway.runtime.clocks import StillClock
from guideway.runtime.models.fake import FunctionModel
from guideway.runtime.models.messages import ModelError, ModelReply, ModelRequest
from guideway.runtime.models.tool import Tool, ToolError
from tests.properties.hosting import PERSONS, PREDICATES, MixedHost
from tests.properties.mixing import compiled
from tests.properties.walking import GOOD, NAMES, T0

RUNS = 80
CONTROL = ("complete_step", "skip_step")


class World:
    """The model, the tools and the people of one run; the same seed says and does the same."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"agent {seed}")
        self.host = MixedHost(self.rng)
        self.ran: Counter[str] = Counter()
        self.left = 40

    def reply(self, request: ModelRequest) -> Any:
        """Mostly something legal; now and then nonsense, a text, nothing, or a failure."""
        self.left -= 1
        if self.left < 0 or self.rng.random() < 0.03:
            raise ModelError("overloaded")
        if self.rng.random() < 0.15:
            return self.rng.choice(("", "go on", "STOP", "HALT now"))
        offered = [tool.name for tool in request.tools]
        calls = [self.call(offered) for _ in range(self.rng.choice((1, 1, 1, 2, 3)))]
        return ModelReply("", tuple(calls), gw.Usage(self.rng.choice((0, 50))))

    def call(self, offered: list[str]) -> gw.ToolCall:
        """One call; sometimes of a tool that was not offered, with an id that was used, or with no arguments at all."""
        name = self.rng.choice(offered if offered and self.rng.random() < 0.85 else list(NAMES))
        args: Any = {"n": self.rng.randint(-1, 5)} if name not in CONTROL else {"word": "good"}
        if self.rng.random() < 0.05:
            args = "{n: "
        return gw.ToolCall(name, args, self.rng.choice(("", "", "", "", "c1")))

    def tool(self, name: str) -> Tool:
        """A tool that may fail, take its time, or answer with anything."""

        async def function(**args: Any) -> Any:
            self.ran[name] += 1
            for _ in range(self.rng.randint(0, 4)):
                await asyncio.sleep(0)
            if self.rng.random() < 0.15:
                raise ToolError("broken", self.rng.choice(("Throttled", "error")))
            found = self.host.outcome()
            return found.result if isinstance(found, gw.Succeeded) else None

        return Tool(name, function, parameters={"type": "object"})

    def decide(self, question: Any) -> Decision | None:
        """Somebody says something, or nobody anything."""
        by = self.rng.choice(("lead", "boss", *PERSONS))
        if self.rng.random() < 0.15:
            return None
        if question.of == "reconcile":
            return Decision(self.rng.choice(("happened", "did_not_happen")), "lead", result=GOOD)
        if question.of == "ask":
            answer = self.rng.choice(question.choices or ("yes",))
            fields = {"n": 1, "why": "so"} if question.fields else {}
            return Decision("answer", by, answer=answer, fields=fields, groups=PERSONS[by])
        return Decision(self.rng.choice(("approve", "approve", "reject")), by, groups=PERSONS[by])


class Hook:
    """A hook that changes, blocks, answers, fails, shows something else, and wants calls made again."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def before_tool(self, point: Any) -> None:
        """Whatever it likes."""
        drawn = self.rng.random()
        if drawn < 0.1:
            point.block("no")
        elif drawn < 0.2:
            point.change(args={"n": self.rng.randint(0, 5)})
        elif drawn < 0.3:
            point.value = {"n": 3, "ok": True}
        elif drawn < 0.35:
            raise ZeroDivisionError

    def after_tool(self, point: Any) -> None:
        """The same."""
        point.retry = self.rng.random() < 0.15
        if self.rng.random() < 0.2:
            point.shown = {"forged": True}


def agent_of(seed: int, world: World, hooks: bool) -> Agent | None:
    """An agent by the playbook of a seed; none where that is not valid."""
    machine = compiled(seed, True)
    if machine is None:
        return None
    names = {name.replace("*", letter) for name in tools_of(machine) for letter in ("a", "b")}
    return Agent(
        FunctionModel(world.reply), [world.tool(name) for name in sorted(names)], machine=machine,
        decisions=world.decide, clock=StillClock(T0), predicates=PREDICATES, user=lambda text: "yes",
        limits=AgentLimits(max_iterations=60, max_repeats=None), hooks=[Hook(world.rng)] if hooks else [],
    )  # fmt: skip


def tools_of(machine: gw.Machine) -> set[str]:
    """Every tool that the playbook, or one it calls, speaks of."""
    from guideway.runtime.plan import plan_of

    parts = plan_of(machine).definition.playbooks
    names = {name for part in parts for name in (*part.named_tools, *part.tools, *part.optional_tools, *NAMES)}
    return names - set(CONTROL)


def check(result: AgentResult, world: World) -> None:
    """Every run of a tool was admitted, each once; transcript, state and reason hold together."""
    session = result.session
    assert session is not None
    records = session.records
    admitted = {r[2] for r in records if r[0] == "decided" and r[5] == "allow"}
    approved = {r[2].removeprefix("call ") for r in records if r[0] == "answered" and r[3] == "approved"}
    started = [event.call.call_id for event in result.events if isinstance(event, ToolStarted)]
    assert len(started) == len(set(started))
    assert set(started) <= admitted | approved
    assert sum(world.ran.values()) == len(started)
    assert json.loads(json.dumps(result.state)) == result.state
    answered = [m["call_id"] for m in result.messages if m["role"] == "tool"]
    asked = [call["call_id"] for m in result.messages for call in m.get("tool_calls", ())]
    assert answered == asked[: len(answered)]
    assert result.success <= (session.outcome_class == "success")


@pytest.mark.parametrize("hooks", [False, True])
def test_random_runs_keep_the_promises(hooks: bool) -> None:
    """
    Nothing runs that was not admitted, nothing twice, and every run ends, waits or fails with a name.
    """
    ends: Counter[str] = Counter()
    for seed in range(RUNS):
        world = World(seed)
        made = agent_of(seed, world, hooks)
        if made is not None:
            result = asyncio.run(asyncio.wait_for(made.run("go"), 30))
            check(result, world)
            ends[result.stop_reason.value] += 1

    assert len(ends) >= 3, ends


def test_a_run_taken_up_again_goes_where_it_would_have_gone() -> None:
    """
    Saved as JSON whenever it waits, and gone on with by a new agent: the same end.
    """
    waited = 0
    for seed in range(RUNS):
        world = World(seed)
        made = agent_of(seed, world, False)
        if made is None:
            continue
        result = asyncio.run(made.run("go"))
        for _ in range(5):
            if result.status != "suspended":
                break
            waited += 1
            again = agent_of(seed, world, False)
            assert again is not None
            before = result.session.snapshot.to_json() if result.session else {}
            result = asyncio.run(asyncio.wait_for(again.resume(json.loads(json.dumps(result.state))), 30))
            assert before["digest"] == (result.session.snapshot.to_json() if result.session else {})["digest"]

    assert waited > 5


def test_a_run_cut_short_at_any_point_is_left_in_order() -> None:
    """
    Cancelled after any number of events, the last event is there, and nothing is left running.
    """
    for seed in range(RUNS):
        world, events = World(seed), list[Any]()
        made = agent_of(seed, world, bool(seed % 2))
        if made is None:
            continue

        async def main(made: Agent = made, events: list[Any] = events, after: int = seed % 17) -> int:
            stream = made.stream("go")
            async for event in stream:
                events.append(event)
                if len(events) > after:
                    break
            await stream.aclose()  # type: ignore[attr-defined]
            return len(asyncio.all_tasks()) - 1

        assert asyncio.run(main()) == 0

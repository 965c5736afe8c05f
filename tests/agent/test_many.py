"""Many runs at once: of one agent, in one loop, and in many threads on one machine."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import Any

import guideway as gw
from guideway.agent import Agent, Decision
from guideway.runtime.agent.events import ToolStarted
from guideway.runtime.agent.result import AgentResult
from guideway.runtime.models.fake import FunctionModel
from guideway.runtime.models.messages import ModelRequest

from .kit import ASKING

RUNS, THREADS = 200, 8

PLAYBOOK: dict[str, Any] = {**ASKING, "inputs": {"host": "string"}}


def script(request: ModelRequest) -> Any:
    """A model without a memory: it looks, and then isolates the host of its own prompt, twice in one reply."""
    host = next(message["content"] for message in request.messages if message["role"] == "user")
    if [tool.name for tool in request.tools] == ["query_siem"]:
        return gw.ToolCall("query_siem", {"host": host})
    return [gw.ToolCall("isolate_host", {"host": host}), gw.ToolCall("isolate_host", {"host": host})]


class World:
    """What the tools do, by host."""

    def __init__(self) -> None:
        self.ran: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    async def query_siem(self, host: str) -> dict[str, str]:
        """Look."""
        await asyncio.sleep(0)
        return self._note("query_siem", host)

    def isolate_host(self, host: str) -> dict[str, str]:
        """Cut it off; in a worker thread."""
        return self._note("isolate_host", host)

    def _note(self, tool: str, host: str) -> dict[str, str]:
        with self._lock:
            self.ran[tool, host] += 1
        return {"seen": host}


def shared(world: World) -> Agent:
    """One agent for all runs."""

    async def lead(question: Any) -> Decision:
        await asyncio.sleep(0)
        return Decision("approve", "lead")

    return Agent(FunctionModel(script), [world.query_siem, world.isolate_host], playbook=PLAYBOOK, decisions=lead)


def own(result: AgentResult, host: str) -> bool:
    """Everything in the result is of its own run: messages, facts, events."""
    seen = [message["content"] for message in result.messages if message["role"] == "tool"]
    mine = seen[0] == seen[1] == {"seen": host}
    session = result.session
    facts = session._run.frame.facts if session is not None else {}
    started = [event.call.args["host"] for event in result.events if isinstance(event, ToolStarted)]
    return mine and set(started) == {host} and all(value == {"seen": host} for value in facts.values())


def test_two_hundred_runs_in_one_loop() -> None:
    """
    A once-only tool runs once per run, and nothing of one run is seen in another.
    """
    world = World()
    made = shared(world)
    hosts = [f"ws-{number}" for number in range(RUNS)]

    async def main() -> list[AgentResult]:
        return list(await asyncio.gather(*(made.run(host, inputs={"host": host}) for host in hosts)))

    results = asyncio.run(main())

    assert all(result.success for result in results)
    assert all(own(result, host) for result, host in zip(results, hosts, strict=True))
    assert world.ran == Counter({(tool, host): 1 for tool in ("query_siem", "isolate_host") for host in hosts})


def test_eight_threads_on_one_machine() -> None:
    """
    Each thread has an event loop of its own; the machine is the same.
    """
    world = World()
    made = shared(world)
    results: dict[str, AgentResult] = {}

    def work(number: int) -> None:
        for turn in range(5):
            host = f"ws-{number}-{turn}"
            results[host] = made.run_sync(host, inputs={"host": host})

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(results) == 5 * THREADS
    assert all(result.success and own(result, host) for host, result in results.items())
    assert set(world.ran.values()) == {1}


def test_cancel_reaches_one_run_by_its_name() -> None:
    """
    The others go on.
    """

    async def main() -> list[AgentResult]:
        gate = asyncio.Event()

        async def reply(request: ModelRequest) -> str:
            await gate.wait()
            return "done"

        made = Agent(FunctionModel(reply))
        tasks = [asyncio.ensure_future(made.run("go", run_id=name)) for name in ("a", "b")]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        made.cancel("a")
        gate.set()
        return list(await asyncio.gather(*tasks))

    first, second = asyncio.run(main())

    assert (first.stop_reason.value, second.stop_reason.value) == ("cancelled", "complete")


def test_a_run_is_driven_once_at_a_time() -> None:
    """
    Two segments of one run side by side would share its session.
    """

    async def main() -> list[Any]:
        made = Agent(FunctionModel(lambda request: "done"))
        runs = [made.run("go", run_id="same") for _ in range(2)]
        return list(await asyncio.gather(*runs, return_exceptions=True))

    results = asyncio.run(main())

    assert [type(result).__name__ for result in results] == ["AgentResult", "HostError"]

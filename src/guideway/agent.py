"""
The agent: a model, tools and a playbook, run together.

>>> import guideway
>>> from guideway.runtime.models.fake import FakeModel
>>> def query_siem(hours: int) -> dict:
...     "Search the SIEM."
...     return {"hits": 3}
>>> model = FakeModel([guideway.ToolCall("query_siem", {"hours": 24}), "Three hits."])
>>> agent = Agent(model, [query_siem], playbook={"id": "t", "name": "T", "steps": [
...     {"id": "look", "description": "Look it up", "expected_tools": ["query_siem"]}]})
>>> result = agent.run_sync("An alert on ws-7.")
>>> result.success, result.stop_reason.value, result.outcome
(True, 'complete', 'success')
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, Unpack

from guideway.agent_config import AgentConfig, AgentParts, configured
from guideway.runtime.agent.events import Event, RunEnded
from guideway.runtime.agent.limits import AgentLimits
from guideway.runtime.agent.live import Live
from guideway.runtime.agent.outcomes import result_of
from guideway.runtime.agent.people import Edited
from guideway.runtime.agent.result import AgentResult
from guideway.runtime.agent.runner import Runner, Saying, Sink, alone
from guideway.runtime.decisions import Decision
from guideway.runtime.models.messages import Message, Model
from guideway.runtime.models.tool import AnyTool
from guideway.statemachine.errors import HostError
from guideway.statemachine.machine import Machine

__all__ = ["Agent", "AgentConfig", "AgentLimits", "AgentResult", "Decision", "Edited"]

Prompt = str | Sequence[Message]


class Agent:
    """
    A model at work under a playbook.  One object may run many runs at once: nothing of a run is kept in it.

    The arguments are those of `AgentConfig`; or give one, and what should differ from it by keyword.

    Raises:
        HostError: the parts do not fit together: a tool is missing that the playbook needs, two have one name …
        PlaybookError: the playbook cannot be used; `diagnostics` says why.
    """

    def __init__(
        self,
        model: Model | str | Any = None,
        tools: Iterable[AnyTool] | Mapping[str, AnyTool] = (),
        *,
        config: AgentConfig | None = None,
        **parts: Unpack[AgentParts],
    ) -> None:
        self.config = configured(model, tools, config, parts)
        self._runner = Runner(self.config.settings())
        self._latest: AgentResult | None = None
        self._lock = Lock()

    @property
    def machine(self) -> Machine:
        """The machine that gates it."""
        return self._runner.settings.machine

    @property
    def warnings(self) -> tuple[str, ...]:
        """What looks like a mistake in its making, and is none for certain."""
        return self._runner.settings.warnings

    async def run(
        self, prompt: Prompt, *, inputs: Mapping[str, Any] | None = None, run_id: str | None = None,
        started_by: str = "", **state: Any,
    ) -> AgentResult:  # fmt: skip
        """
        Begin a run, and drive it until it ends or must wait for somebody.

        What is given by keyword beside the inputs is for hooks, conditions and nobody else (`facts.state`).

        Raises:
            HostError: inputs are missing or wrong.
            JournalError: the journal could not keep it.
            asyncio.CancelledError: the task was cancelled; hooks have heard of it.
        """
        live = self._runner.begin(prompt, inputs=inputs, run_id=run_id, started_by=started_by, state=state, sink=None)
        return self._keep(await self._runner.drive(live))

    def run_sync(
        self, prompt: Prompt, *, inputs: Mapping[str, Any] | None = None, run_id: str | None = None,
        started_by: str = "", **state: Any,
    ) -> AgentResult:  # fmt: skip
        """The same for programs without an event loop."""
        return alone(self.run(prompt, inputs=inputs, run_id=run_id, started_by=started_by, **state))

    def stream(
        self, prompt: Prompt, *, inputs: Mapping[str, Any] | None = None, run_id: str | None = None,
        started_by: str = "", **state: Any,
    ) -> AsyncIterator[Event]:  # fmt: skip
        """
        Begin a run, and bring its events as they happen; the last is `RunEnded`, with the result.

        Use it with `async for`.  Who leaves early cancels the run: calls under way are stopped, and hooks hear of it.
        """

        def make(sink: Sink) -> Live:
            return self._runner.begin(
                prompt, inputs=inputs, run_id=run_id, started_by=started_by, state=state, sink=sink
            )

        return self._streamed(make)

    async def _streamed(self, make: Callable[[Sink], Live]) -> AsyncIterator[Event]:
        stream = self._runner.stream(make)
        try:
            async for event in stream:
                if isinstance(event, RunEnded):
                    self._keep(event.result)
                yield event
        finally:
            await stream.aclose()  # type: ignore[attr-defined]  # who leaves early cancels the run

    async def send(
        self, said: Saying = None, *, to: AgentResult | Mapping[str, Any] | None = None, **state: Any
    ) -> AgentResult:
        """
        The next segment of a run: the user's text in a conversation, or decisions on what people were asked.

        `to` names the run, by its last result or by that result's `state`; left out, the run that this agent brought to
        its end last.  Decisions are a map from the ids of questions, or one alone where one is asked.  Nothing said: go
        on, since time has passed, or a failing model may answer now.

        Raises:
            HostError: the run is over, it waits for something else, or a decision does not count.
        """
        held = to if to is not None else self._latest
        if held is None:
            raise HostError("this agent has run nothing yet; say which run to go on with: send(…, to=result)")
        live = self._runner.again(held, state, None)
        return self._keep(await self._runner.drive(self._runner.tell(live, said)))

    def send_sync(
        self, said: Saying = None, *, to: AgentResult | Mapping[str, Any] | None = None, **state: Any
    ) -> AgentResult:
        """The same for programs without an event loop."""
        return alone(self.send(said, to=to, **state))

    async def resume(self, saved: Mapping[str, Any], said: Saying = None, **state: Any) -> AgentResult:
        """Go on with a run that another process has saved (`result.state`, as JSON)."""
        return await self.send(said, to=saved, **state)

    def resume_sync(self, saved: Mapping[str, Any], said: Saying = None, **state: Any) -> AgentResult:
        """The same for programs without an event loop."""
        return self.send_sync(said, to=saved, **state)

    async def recover(
        self, run_id: str, *, inputs: Mapping[str, Any] | None = None, said: Saying = None, **state: Any
    ) -> AgentResult:  # fmt: skip
        """
        Go on with a run whose program has stopped, from the journal.

        What was under way then is unknown (S54): a read is made again, of anything else a person says what happened,
        and no call that was observed is run again.  Sensitive inputs are given once more.

        Raises:
            HostError: the agent keeps no journal, or the run is of another playbook.
            JournalError: there is no such run, or its entries are not those that were written.
        """
        live = self._runner.recover(run_id, inputs, state)
        if live.session.outcome is not None and said is None:
            return self._keep(result_of(live))
        return self._keep(await self._runner.drive(self._runner.tell(live, said)))

    def recover_sync(
        self, run_id: str, *, inputs: Mapping[str, Any] | None = None, said: Saying = None, **state: Any
    ) -> AgentResult:  # fmt: skip
        """The same for programs without an event loop."""
        return alone(self.recover(run_id, inputs=inputs, said=said, **state))

    def cancel(self, run_id: str | None = None, reason: str = "cancelled") -> int:
        """Cancel one run, or all that go on, from any thread; says how many.  They end `stopped:REASON`."""
        return self._runner.cancel(run_id, reason)

    def _keep(self, result: AgentResult) -> AgentResult:
        with self._lock:
            self._latest = result
        return result

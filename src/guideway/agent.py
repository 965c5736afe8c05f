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
from dataclasses import dataclass, field, fields, replace
from threading import Lock
from typing import Any, TypedDict, Unpack

from guideway.door import Source, load
from guideway.runtime.agent.events import Event, RunEnded
from guideway.runtime.agent.limits import AgentLimits, PriceTable
from guideway.runtime.agent.live import Live
from guideway.runtime.agent.outcomes import result_of
from guideway.runtime.agent.people import Edited
from guideway.runtime.agent.result import AgentResult
from guideway.runtime.agent.runner import Runner, Saying, Sink, alone
from guideway.runtime.agent.settings import Settings, check_names
from guideway.runtime.decisions import Decision
from guideway.runtime.models.messages import Message, Model
from guideway.runtime.models.named import model_of
from guideway.runtime.models.tool import AnyTool, toolset
from guideway.runtime.models.tools import OnToolException
from guideway.statemachine.errors import HostError
from guideway.statemachine.machine import Machine

__all__ = ["Agent", "AgentConfig", "AgentLimits", "AgentResult", "Decision", "Edited"]

Prompt = str | Sequence[Message]


@dataclass(frozen=True)
class AgentConfig:
    """
    Everything an agent is made of, as one value.

    Args:
        model: a model, or its name (`anthropic:claude-sonnet-4-6`, through pydantic-ai).
        tools: functions, `Tool` objects, or maps; the playbook decides when each may be called.
        machine, playbook: what gates the agent: a compiled machine, or a playbook in any form `guideway.load` takes.
            With neither, every tool is legal at any time, and a text without a call ends the run.
        hooks: any of the five kinds (`guideway.hooks`).
        termination: a condition of `guideway.termination`; asked after every turn.
        reflexion: True asks the model after each turn with calls how sure it is; a function of the run's state says so
            itself.
        instructions: the system prompt; the brief of the playbook follows it.
        limits, prices: what the run may cost; `prices` in a currency of yours for a million tokens.
        mode: `enforce`; `record` lets illegal calls run and records them; `shadow` likewise.
        decisions: who decides: a function from a question to a `Decision`, an `Edited` or None (also asynchronous),
            or an object with `decide`.  None: the run is suspended.
        user: who answers the agent in a conversation: a function from text to text, also asynchronous.
        journal, journal_key: where every verb is kept before it takes effect, and the secret of its entries and of
            people in other processes.
        poll: seconds between two looks for what people in other processes have decided; None: the run is suspended.
        clock: tells the time and waits; by default the real one.
        on_tool_exception: what an exception of a tool comes to: "fail" (the model reads it), "raise" (the run ends
            with `error`), or a function that says what the model reads.
        parallel: allowed calls of one reply run side by side.
        model_settings: `temperature` …, as the provider takes them.
        predicates: yes-or-no questions of the playbook.
        on_event: is told every event, of every run; what it returns is awaited, what it raises is logged.
        session_id: for hooks.
    """

    model: Model | str | Any
    tools: Iterable[AnyTool] | Mapping[str, AnyTool] = ()
    machine: Machine | None = None
    playbook: Source | None = None
    hooks: Iterable[Any] = ()
    termination: Any = None
    reflexion: bool | Callable[[Any], Any] = False
    instructions: str = ""
    limits: AgentLimits = field(default_factory=AgentLimits)
    prices: PriceTable | None = None
    mode: str = "enforce"
    decisions: Any = None
    user: Any = None
    journal: Any = None
    journal_key: bytes | None = None
    poll: float | None = None
    clock: Any = None
    on_tool_exception: OnToolException = "fail"
    parallel: bool = True
    model_settings: Mapping[str, Any] = field(default_factory=dict)
    predicates: Mapping[str, Callable[[Mapping[str, Any]], bool]] | None = None
    on_event: Callable[[Event], Any] | None = None
    session_id: str | None = None

    def settings(self) -> Settings:
        """
        The parts, made ready.

        Raises:
            HostError: they do not fit together.
            PlaybookError: the playbook cannot be used.
        """
        if self.machine is not None and self.playbook is not None:
            raise HostError("give the agent a machine or a playbook, not both")
        tools = toolset(self.tools)
        check_names(tools)
        taken = taken_over(self) if self.machine is None and self.playbook is None else {}
        gated = self.machine is not None or self.playbook is not None or bool(taken)
        machine = taken.pop("machine", self.machine)
        machine = machine or load(self.playbook if self.playbook is not None else everything(tools))
        same = {each.name for each in fields(Settings)} & {each.name for each in fields(self)}
        given = {name: getattr(self, name) for name in same}
        given |= {"model": model_of(self.model), "machine": machine, "tools": tools, "hooks": tuple(self.hooks)}
        given |= taken
        return Settings(**given, open=not gated)


class AgentParts(TypedDict, total=False):
    """The arguments of `AgentConfig` that an `Agent` takes by keyword."""

    machine: Machine | None
    playbook: Source | None
    hooks: Iterable[Any]
    termination: Any
    reflexion: bool | Callable[[Any], Any]
    instructions: str
    limits: AgentLimits
    prices: PriceTable | None
    mode: str
    decisions: Any
    user: Any
    journal: Any
    journal_key: bytes | None
    poll: float | None
    clock: Any
    on_tool_exception: OnToolException
    parallel: bool
    model_settings: Mapping[str, Any]
    predicates: Mapping[str, Callable[[Mapping[str, Any]], bool]] | None
    on_event: Callable[[Event], Any] | None
    session_id: str | None


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


def configured(model: Any, tools: Any, config: AgentConfig | None, parts: Mapping[str, object]) -> AgentConfig:
    """
    The config that was meant.

    Raises:
        HostError: no model was given, or an argument is none of the config's.
    """
    from difflib import get_close_matches

    names = [each.name for each in fields(AgentConfig)]
    for name in parts:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            raise HostError(f"an agent takes no `{name}`" + (f"; did you mean `{near[0]}`?" if near else ""))
    given: dict[str, Any] = dict(parts)
    if model is not None:
        given["model"] = model
    if tools:
        given["tools"] = tools
    if config is not None:
        return replace(config, **given)
    if "model" not in given:
        raise HostError("an agent needs a model: an object with `reply`, or a name such as anthropic:claude-sonnet-4-6")
    return AgentConfig(**given)


def taken_over(config: AgentConfig) -> dict[str, Any]:
    """
    What changes where a `PlaybookEnforcerHook` is all that holds the agent to a playbook: the gate itself takes over.

    It sees the calls of a reply together and has the last word; the hook goes on showing the run.
    """
    from guideway.enforcer.taking import take_over

    return take_over(tuple(config.hooks), config.decisions, config.mode)


def everything(tools: Mapping[str, Any]) -> dict[str, Any]:
    """The playbook of an agent that has none: one step, in which every tool may be called."""
    step = {"id": "work", "description": "Do what is asked.", "required": False, "optional_tools": sorted(tools)}
    effects = {name: {"effect": tool.effect} if tool.effect else {} for name, tool in sorted(tools.items())}
    return {"id": "open", "name": "No playbook", "tools": effects, "steps": [step]}

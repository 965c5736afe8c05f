"""What an agent is made of, as one value; and how that becomes the settings of its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypedDict

from guideway.door import Source, load
from guideway.runtime.agent.events import Event
from guideway.runtime.agent.limits import AgentLimits, PriceTable
from guideway.runtime.agent.settings import Settings, check_names
from guideway.runtime.models.messages import Model
from guideway.runtime.models.named import model_of
from guideway.runtime.models.tool import AnyTool, toolset
from guideway.runtime.models.tools import OnToolException
from guideway.statemachine.errors import HostError
from guideway.statemachine.machine import Machine


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
    vault: Any = None
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
    vault: Any
    poll: float | None
    clock: Any
    on_tool_exception: OnToolException
    parallel: bool
    model_settings: Mapping[str, Any]
    predicates: Mapping[str, Callable[[Mapping[str, Any]], bool]] | None
    on_event: Callable[[Event], Any] | None
    session_id: str | None


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

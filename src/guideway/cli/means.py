"""What a run works with, out of the options of its command."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from guideway.runtime.agents import Agent
from guideway.runtime.clocks import Clock
from guideway.runtime.decisions import Decisions, Nobody, Recorded, RejectAll
from guideway.runtime.scripted import ScriptedAgent
from guideway.runtime.signals import Signals
from guideway.runtime.toolbox import first_agent_step, load_tools, missing_tools
from guideway.runtime.users import User
from guideway.statemachine.definition import Definition
from guideway.statemachine.errors import HostError

from .asking import user
from .draw import Format, by_suffix
from .inputs import inputs_of
from .keeping import Keeping
from .loading import file_of
from .outside import Others, Predicates, clock_of, predicates_of, signals_of, user_of
from .status import MisuseError
from .streams import is_terminal


@dataclass(frozen=True, slots=True)
class Request:
    """The options of a run, as they were given."""

    tools: str | None
    input: list[str]
    inputs: str | None
    approve: str
    agent: str | None
    trace: str | None
    draw: str | None
    started_by: str | None
    fast_forward: bool
    others: Others
    keeping: Keeping
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Means:
    """What a run works with."""

    values: dict[str, Any]
    tools: dict[str, Any]
    agent: Agent | None
    decisions: Decisions | None
    """None: whoever sits at the terminal"""
    clock: Clock
    by: str
    form: Format | None
    user: User | None
    """None: whoever sits at the terminal"""
    signals: Signals
    predicates: Predicates
    model: Any = None
    """in the place of an agent: the model that works in agents' steps"""

    @classmethod
    def of(cls, definition: Definition, request: Request, kept: Mapping[str, Any] | None = None) -> Means:
        """
        Make them ready, complete, or say which option is at fault.

        `kept` are the inputs that the journal of a run holds, which is resumed.
        """
        by = request.started_by or user()
        model = model_of(request)
        agent = agent_of(definition, request.agent) if model is None else None
        tools = tools_of(definition, request.tools)
        values = inputs_of(definition, request.input, request.inputs, kept)
        decisions = decisions_of(request.approve, by)
        form = by_suffix(request.draw, "--draw") if request.draw is not None else None
        others = request.others
        clock = clock_of(others.at, leaps=request.fast_forward)
        heard, signals = user_of(others.user), signals_of(definition, others.signal)
        predicates = predicates_of(definition, others.predicates)
        return cls(values, tools, agent, decisions, clock, by, form, heard, signals, predicates, model)


def model_of(request: Request) -> Any:
    """The model, where `--agent` names one."""
    kind, colon, _ = (request.agent or "").partition(":")
    if not colon or kind == "scripted":
        return None
    if request.others.signal:
        raise MisuseError("--signal: beside a model signals come through the journal; use guideway signal")
    from .modelled import model_named

    return model_named(request.agent or "")


def agent_of(definition: Definition, given: str | None) -> Agent | None:
    """Who plays the agent; needed where an agent has a step."""
    step = first_agent_step(definition)
    if given is None:
        if step is not None:
            raise MisuseError(f"--agent: an agent works in step `{step}`; give --agent scripted:FILE, or a model")
        return None
    kind, _, file = given.partition(":")
    if kind != "scripted" or not file:
        raise MisuseError(f"--agent: {given} is no agent; write scripted:FILE, or the name of a model")
    file_of(file, "--agent")
    try:
        return ScriptedAgent.load(file)
    except HostError as fault:
        raise MisuseError(f"--agent: {fault}") from None


def tools_of(definition: Definition, given: str | None) -> dict[str, Any]:
    """The tools, none of those missing that the playbook cannot do without."""
    try:
        tools = load_tools(given) if given is not None else {}
    except HostError as fault:
        raise MisuseError(f"--tools: {fault}") from None
    if missing := list(missing_tools(definition, tools)):
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise MisuseError(f"--tools: {missing[0]}{more}")
    return tools


def decisions_of(given: str, by: str) -> Decisions | None:
    """Where decisions come from."""
    kind, _, file = given.partition(":")
    if given == "ask":
        return None if is_terminal(sys.stdin) and is_terminal(sys.stdout) else Nobody()
    if given == "deny":
        return RejectAll()
    if kind != "file" or not file:
        raise MisuseError(f"--approve: {given} is none of ask, deny and file:FILE")
    file_of(file, "--approve")
    try:
        return Recorded.load(file)
    except HostError as fault:
        raise MisuseError(f"--approve: {fault}") from None

"""What an agent is made of; one value serves any number of runs at once, and no run changes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from guideway.runtime.calls import told
from guideway.runtime.lenient import check_mode
from guideway.runtime.models.messages import Model
from guideway.runtime.models.tool import Tool
from guideway.runtime.models.tools import OnToolException
from guideway.runtime.plan import plan_of
from guideway.runtime.toolbox import missing_tools
from guideway.statemachine.errors import HostError
from guideway.statemachine.machine import Machine
from guideway.statemachine.tools import CONTROL, best_match

from .events import Event
from .limits import AgentLimits, PriceTable, price_of


@dataclass(frozen=True, slots=True)
class Settings:
    """
    The parts of an agent, checked.

    Raises:
        HostError: a tool is missing that the playbook needs, a tool has the name of a control tool, or a cost limit
            has no price to go by.
    """

    model: Model
    machine: Machine
    tools: Mapping[str, Tool] = field(default_factory=dict)
    open: bool = False
    """no playbook was given: every tool is legal, and nothing is said of steps"""
    hooks: tuple[Any, ...] = ()
    termination: Any = None
    reflexion: bool | Callable[[Any], Any] = False
    instructions: str = ""
    limits: AgentLimits = field(default_factory=AgentLimits)
    prices: PriceTable | None = None
    mode: str = "enforce"
    decisions: Any = None
    user: Any = None
    journal: Any = None
    journal_key: bytes | None = field(default=None, repr=False)
    vault: Any = field(default=None, repr=False)
    poll: float | None = None
    clock: Any = None
    on_tool_exception: OnToolException = "fail"
    parallel: bool = True
    model_settings: Mapping[str, Any] = field(default_factory=dict)
    predicates: Mapping[str, Callable[[Mapping[str, Any]], bool]] | None = None
    on_event: Callable[[Event], Any] | None = None
    session_id: str | None = None
    shown_to: Any = None
    """an object with `follow(session, run_id)` that is shown each run: a hook whose playbook the gate has taken over"""

    def __post_init__(self) -> None:
        check_mode(self.mode)
        check_kinds(self)
        check_tools(self)
        if self.poll is not None and (self.journal is None or not self.poll > 0):
            raise HostError("`poll` is a number of seconds, and needs the journal where people leave their decisions")
        if self.limits.cost is not None and price_of(self.model.name, self.prices or {}) is None:
            raise HostError(
                f"a cost limit needs the price of `{self.model.name}`; give prices={{{self.model.name!r}: "
                "Price(input=…, output=…)}} for a million tokens"
            )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What looks like a mistake and is none for certain."""
        found = []
        names = "ConfidenceMet" if asks_confidence(self.termination) else ""
        if names and not self.reflexion:
            found.append(f"`{names}` never holds unless somebody says how confident they are; give reflexion=True")
        definition = plan_of(self.machine).definition
        if not self.open and (idle := [name for name in self.tools if not known(definition, name)]):
            found.append(f"the playbook speaks of no tool {', '.join(f'`{name}`' for name in idle)}; it is not offered")
        return tuple(found)


def check_names(tools: Mapping[str, Tool]) -> None:
    """
    None has a name of Guideway's own.

    Raises:
        HostError: one has.
    """
    for name in CONTROL:
        if name in tools:
            raise HostError(f"`{name}` is a tool of Guideway's own; give yours another name")


def check_kinds(settings: Settings) -> None:
    """Parts that would only be found to be of the wrong kind when a run needs them."""
    if not isinstance(settings.limits, AgentLimits):
        raise HostError(f"`limits` is an AgentLimits, not {told(settings.limits)}; write AgentLimits(tokens=…)")
    if settings.journal is not None and not hasattr(settings.journal, "append"):
        kinds = "SqliteJournal or JsonLinesJournal of guideway.journal"
        raise HostError(f"`journal` is a journal, such as a {kinds}, not {told(settings.journal)}")
    if settings.journal_key is not None and not isinstance(settings.journal_key, bytes):
        raise HostError("`journal_key` is bytes, as guideway.journal.read_key gives them")


def check_tools(settings: Settings) -> None:
    """The tools are all that the playbook needs, and none has a name of Guideway's own."""
    check_names(settings.tools)
    functions: Mapping[str, Any] = {name: tool.function for name, tool in settings.tools.items()}
    missing = list(missing_tools(plan_of(settings.machine).definition, functions))
    if missing:
        raise HostError(missing[0] + (f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""))


def known(definition: Any, name: str) -> bool:
    """Some playbook of the run speaks of the tool, or takes any."""
    for part in definition.playbooks:
        names = {*part.named_tools, *part.optional_tools}
        alias = {tool.alias for tool in part.tools.values() if tool.alias}
        if part.extra_tools or name in alias or part.tool(name) or best_match(name, names):
            return True
    return False


def asks_confidence(condition: Any) -> bool:
    """Somewhere in it a confidence is waited for."""
    if condition is None:
        return False
    if type(condition).__name__ == "ConfidenceMet":
        return True
    inner = getattr(condition, "conditions", None) or [getattr(condition, "condition", None)]
    return any(asks_confidence(part) for part in inner)

"""The seed's hook: holds the calls of an agent's runs to a playbook."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from guideway.hooks.provider import HookPriority, HookProvider
from guideway.playbooks.models import Playbook
from guideway.runtime.calls import Failed, Outcome, Substituted, Succeeded
from guideway.runtime.session import Session
from guideway.statemachine.errors import HostError

from .answers import BLOCKED
from .asking import Ask
from .desk import Desk
from .enforcer import PlaybookEnforcer
from .machines import definition_of, foreign
from .onlooker import onlooker
from .plain import plain
from .plan import PlaybookPlan

PlaybookSelector = Callable[[Any], Playbook | None]
"""Chooses the playbook of a run, by what is known of the run; None: the run is not held to one."""

PlaybookScope = Literal["run", "thread", "agent"]
"""What one plan spans: one run, the runs of a thread, or everything the agent does."""

NO_RUN = "__no_run__"
"""Key of calls that belong to no run."""


class PlaybookEnforcerHook(HookProvider):
    """
    A hook provider that asks an enforcer before every tool call, and reports every one that ran.

    A step is over when its expected tools have succeeded, or its `max_tool_calls` are spent.  Calls of one reply that
    depend on one another run one after the other, where the agent runs each in a task of its own.

    Args:
        playbook: the playbook of every run; or `select`, exactly one of the two.
        block_violations: a call against the playbook is cancelled; else it runs, and is recorded.
        record_violations: violations are kept in `enforcer.violations`.
        priority: its place among hooks, lower first; 50 is the seed's for security.
        select: chooses the playbook of a run, once; if it raises, no tool of that run may run.
        skills: the tools each skill stands for that a step `uses`.
        scope: what one plan spans.
        max_runs: how many runs are kept; the least recently used goes first.
        approvals: decides what a person has to allow.  Without it a playbook that asks for one is refused.
        inputs: values of the playbook's `inputs`.

    Raises:
        HostError: the playbook has steps that need more than somebody who checks calls; use an `Agent` then.
        PlaybookError: the playbook cannot be used.
        ValueError: both of `playbook` and `select`, or neither; no such scope; no room for a run.

    >>> book = Playbook(id="p", name="P")
    >>> PlaybookEnforcerHook(book).enforcer.is_complete
    True
    """

    prefix = BLOCKED
    """how every refusal begins that the model reads"""

    def __init__(
        self,
        playbook: Playbook | None = None,
        *,
        block_violations: bool = True,
        record_violations: bool = True,
        priority: int = HookPriority.SECURITY_DEFAULT,
        select: PlaybookSelector | None = None,
        skills: Mapping[str, Sequence[str]] | None = None,
        scope: PlaybookScope = "run",
        max_runs: int = 1024,
        approvals: Ask | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        if (playbook is None) == (select is None):
            raise ValueError("PlaybookEnforcerHook takes a playbook or select=, exactly one")
        if scope not in ("run", "thread", "agent"):
            raise ValueError(f"scope must be 'run', 'thread' or 'agent', and is {scope!r}")
        if max_runs < 1:
            raise ValueError("max_runs must be at least 1")
        self.playbook, self._select, self.priority = playbook, select, priority
        self._block, self._record = block_violations, record_violations
        self.skills = {name: list(tools) for name, tools in (skills or {}).items()}
        self._scope, self._max_runs, self.people = scope, max_runs, approvals
        self._inputs = dict(inputs or {})
        self._runs: OrderedDict[str, Desk | str | None] = OrderedDict()
        self._last = NO_RUN
        if playbook is not None:
            self._runs[NO_RUN] = self._desk(playbook)

    @property
    def enforcer(self) -> PlaybookEnforcer:
        """
        The enforcer of the latest run: how far it has come, its violations.

        Raises:
            LookupError: no run has been held to a playbook yet.
        """
        desk = self._runs.get(self._last) or self._runs.get(NO_RUN)
        if isinstance(desk, Desk):
            return fresh(desk)
        raise LookupError("no run has been enforced yet")

    def enforcer_for(self, run_id: str) -> PlaybookEnforcer | None:
        """The enforcer of one run, or None where it has none."""
        desk = self._runs.get(run_id)
        return fresh(desk) if isinstance(desk, Desk) else None

    @property
    def blocks(self) -> bool:
        """A call against the playbook is cancelled."""
        return self._block

    def follow(self, session: Session, run_id: str) -> None:
        """
        Only show a run from now on: the agent that makes it holds it to this hook's playbook itself.

        Guideway's own agent does so: its gate sees the calls of a reply together, and has the last word.
        """
        if self.playbook is None:
            raise HostError("a hook with a selector has no playbook that an agent could hold its calls to")
        self._runs[run_id] = onlooker(session, self._fresh(self.playbook))
        self._last = run_id

    def resume(self, enforcer: PlaybookEnforcer, run_id: str = NO_RUN) -> None:
        """
        Go on with a run of another process: an enforcer from its JSON.

        Calls that were under way then are unknown (S54): until a person has said whether they happened
        (`guideway.Approvals(enforcer.session)`), what depends on them is refused.

        Raises:
            HostError: the enforcer is one whose steps the host completes.
        """
        if not enforcer.advances:
            raise HostError("a hook goes on with an enforcer of a hook; this one's steps are completed by the host")
        enforcer._refresh(enforcer.session.interrupted(enforcer._clock()).verdicts)
        enforcer._news.clear()
        self._runs[run_id] = Desk(enforcer, self.people)
        self._last = run_id

    def _desk(self, playbook: Playbook) -> Desk:
        enforcer = self._fresh(playbook)
        why = foreign(definition_of(enforcer._machine), people=self.people is not None)
        if why is not None:
            raise HostError(
                f"the playbook `{playbook.id}` has {why}, which this hook cannot carry out: give the playbook to "
                "guideway.Agent, or drive a guideway.Session"
            )
        return Desk(enforcer, self.people)

    def _fresh(self, playbook: Playbook) -> PlaybookEnforcer:
        return PlaybookEnforcer(
            plan=PlaybookPlan(playbook=playbook),
            block_violations=self._block,
            record_violations=self._record,
            advances=True,
            skills=self.skills,
            inputs=self._inputs,
        )

    def _key(self, run: Any) -> str:
        if self._scope == "agent" or run is None:
            return NO_RUN
        thread = getattr(run, "thread_id", None)
        return f"thread:{thread}" if self._scope == "thread" and thread else str(getattr(run, "run_id", NO_RUN))

    def _for(self, event: Any) -> Desk | str | None:
        """The desk of the event's run, set up at its first event; a text: why no tool of the run may run."""
        run = getattr(event, "run", None)
        key = self._last = self._key(run)
        if key not in self._runs:
            self._runs[key] = self._chosen(run)
            while len(self._runs) > self._max_runs:
                self._runs.popitem(last=False)
        self._runs.move_to_end(key)
        return self._runs[key]

    def _chosen(self, run: Any) -> Desk | str | None:
        try:
            playbook = self.playbook if self._select is None else self._select(run)
            return None if playbook is None else self._desk(playbook)
        except Exception as error:  # a selector that raises must not switch the gate off
            told = f"the playbook for this run could not be chosen ({type(error).__name__}: {error})"
            return f"{BLOCKED}{told}, so no tool may run."

    async def on_before_tool_call(self, event: Any) -> None:
        """Ask the enforcer; where it refuses, cancel the call with the reason, which the model reads."""
        desk = self._for(event)
        try:
            said = await desk.ask(event.tool_name, arguments(event), call_id(event)) if isinstance(desk, Desk) else desk
        except Exception as error:  # what nobody could decide does not run
            said = f"{BLOCKED}the call could not be decided ({type(error).__name__}: {error})"
        if said is not None:
            event.cancel = said

    async def on_after_tool_call(self, event: Any) -> None:
        """Report what came of the call.  A failure is recorded, and completes nothing."""
        desk = self._for(event)
        if isinstance(desk, Desk):
            error, result = getattr(event, "error", None), getattr(event, "result", None)
            told = str(error) or "error" if error else None
            outcome = outcome_of(event, told, plain(result))
            desk.report(event.tool_name, arguments(event), call_id(event), outcome)

    async def on_before_model_call(self, event: Any) -> None:
        """A turn begins; calls of the turn before that have not run were stopped by something else."""
        desk = self._for(event)
        if isinstance(desk, Desk):
            desk.turn()

    async def on_after_model_call(self, event: Any) -> None:
        """A reply without calls completes a step without tools."""
        desk, reply = self._for(event), getattr(event, "response", None)
        if isinstance(desk, Desk) and not getattr(event, "retry", False) and not has_calls(reply):
            desk.said(text_of(reply))


def fresh(desk: Desk) -> PlaybookEnforcer:
    """The enforcer, with all that has happened, also where somebody else drives its run."""
    desk.enforcer._refresh()
    return desk.enforcer


def outcome_of(event: Any, error: str | None, result: Any) -> Outcome:
    """What came of a call; a result that another hook gave instead of the tool is told apart, where that is said."""
    if error:
        return Failed(error)
    return Succeeded(result) if getattr(event, "ran", True) else Substituted(result)


def arguments(event: Any) -> Mapping[str, Any]:
    """The arguments of a call, as far as the event has them."""
    found = getattr(event, "arguments", None)
    return found if isinstance(found, Mapping) else {}


def call_id(event: Any) -> str:
    """The id the agent knows the call by."""
    return str(getattr(event, "tool_call_id", None) or "")


def has_calls(reply: Any) -> bool:
    """The reply calls tools."""
    holder = getattr(reply, "message", reply)
    return bool(getattr(holder, "tool_calls", None) or getattr(holder, "calls", None))


def text_of(reply: Any) -> str:
    """The text of a reply."""
    holder = getattr(reply, "message", reply)
    found = getattr(holder, "text", None) or getattr(holder, "content", None)
    return found if isinstance(found, str) else ""

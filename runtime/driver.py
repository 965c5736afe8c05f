"""
Running a session to its end with real tools.

The session says what is to be done; the driver does it, one thing after another: the agent's allowed calls, the
runtime's own calls, questions to people, the agent's next reply, waiting.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from guideway.statemachine.canonical import normal
from guideway.statemachine.definition import StateKind
from guideway.statemachine.errors import HostError

from .agents import Agent, Brief, Heard, Reply
from .approvals import Approvals, Question
from .calls import Cancelled, Outcome, ToolCall, Unknown
from .clocks import Clock, WallClock
from .decisions import Decisions, Nobody, enact
from .plan import plan_of
from .records import Record
from .session import Session
from .toolbox import Tools, call_tool, find_tool, first_agent_step, missing_tools
from .verdicts import Allow, Cancel, Deny, RunCall, Verdict, Wait


class Why(StrEnum):
    """Why a drive came to its end."""

    ENDED = "ended"
    """the run has an outcome"""
    WAITING = "waiting"
    """for a person"""
    SILENT = "silent"
    """the agent had nothing more to say"""
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Finish:
    """How a drive ended; `text` says it to people."""

    why: Why
    text: str


class Watcher:
    """Every method is optional: override what you want to watch."""

    def happened(self, records: Sequence[Record]) -> None:
        """New records, told before an effect whose intent they carry (S57): raise, and the call does not run."""

    def waits(self, wait: Wait, seconds: float) -> None:
        """The driver waits, for this long."""

    def objected(self, approval_id: str, why: str) -> None:
        """A decision does not count."""


class Driver:
    """
    Drives one session.

    >>> import guideway
    >>> machine = guideway.load({"id": "t", "name": "T", "steps": [
    ...     {"id": "look", "call": {"tool": "query_siem", "args": {"hours": 24}}}]})
    >>> Driver(Session(machine), {"query_siem": lambda hours: {"hits": 3}}).run()
    Finish(why=<Why.ENDED: 'ended'>, text='success')

    Raises:
        HostError: a tool or an agent that the playbook needs was not given.
    """

    def __init__(
        self,
        session: Session,
        tools: Tools,
        *,
        agent: Agent | None = None,
        decisions: Decisions | None = None,
        clock: Clock | None = None,
        watchers: Iterable[Watcher] = (),
    ) -> None:
        self._definition = plan_of(session.machine).definition
        check_means(session, tools, agent)
        self._session = session
        self._control = Approvals(session)
        self._tools = tools
        self._agent = agent
        self._decisions = decisions or Nobody()
        self._clock = clock or WallClock()
        self._watchers = tuple(watchers)
        self._told = 0
        self._allowed: deque[str] = deque()
        """ids of the agent's calls that may run and have not"""
        self._calls: dict[str, ToolCall] = {}
        """calls of the newest reply, by id"""
        self._heard: list[Heard] = []

    def run(self) -> Finish:
        """
        Go on until the run has ended, a person is waited for, or the agent falls silent.

        An interrupt (Ctrl-C) stops it cleanly: the call that was running is observed as unknown.
        """
        try:
            finish = None
            while finish is None and self._session.outcome is None:
                self._tell()
                finish = self._advance()
        except KeyboardInterrupt:
            finish = Finish(Why.INTERRUPTED, f"interrupted in `{self._session.state}`")
            self._give_up()
        self._tell()
        return finish or Finish(Why.ENDED, str(self._session.outcome))

    def _advance(self) -> Finish | None:
        """Do the next thing there is to do; say so where there is none."""
        commands = self._session.commands
        if self._allowed:
            self._run_allowed(self._allowed.popleft())
        elif call := next((c for c in commands if isinstance(c, RunCall)), None):
            self._observe(call.call_id, self._call(call.call_id, call.tool, call.args))
        elif self._control.pending:
            return None if self._decide() else Finish(Why.WAITING, "; ".join(map(whom, self._control.pending)))
        elif self._definition.states[self._session.state].kind is StateKind.STEP:
            return self._turn()
        elif wait := min((c for c in commands if isinstance(c, Wait)), key=lambda c: c.due, default=None):
            self._wait(wait)
        else:
            return Finish(Why.WAITING, "; ".join(self._session.waiting) or f"nothing to do in `{self._session.state}`")
        return None

    def _run_allowed(self, call_id: str) -> None:
        """Run one call of the agent's, unless the run has ended since it was allowed."""
        if any(isinstance(c, Cancel) and c.call_id == call_id for c in self._session.commands):
            self._observe(call_id, Cancelled())
            return
        call = self._calls[call_id]
        self._observe(call_id, self._call(call_id, call.name, call.args))

    def _call(self, call_id: str, tool: str, args: Mapping[str, Any]) -> Outcome:
        self._tell()
        try:
            return call_tool(find_tool(self._tools, self._definition, tool), tool, args)
        except KeyboardInterrupt:
            self._session.observe(call_id, Unknown(), self._clock.now())
            raise

    def _observe(self, call_id: str, outcome: Outcome) -> None:
        self._hear(call_id, outcome=outcome)
        self._take(self._session.observe(call_id, outcome, self._clock.now()).verdicts)

    def _take(self, verdicts: Iterable[Verdict]) -> None:
        """Note new answers on calls of the agent's; those allowed are to be run."""
        for verdict in verdicts:
            if verdict.call_id in self._calls:
                self._hear(verdict.call_id, verdict=verdict)
                self._allow(verdict)

    def _allow(self, verdict: Verdict) -> None:
        if isinstance(verdict, Allow) and not verdict.control:
            self._allowed.append(verdict.call_id)

    def _hear(self, call_id: str, **news: Any) -> None:
        """Keep for the next brief what became of a call; of two with one id the first is the one that may have run."""
        for index, heard in enumerate(self._heard):
            if heard.verdict.call_id == call_id:
                self._heard[index] = replace(heard, **news)
                return

    def _decide(self) -> bool:
        """Put every open question to the source of decisions; True where one was decided."""
        for question in self._questions():
            objection = ""
            while decision := self._decisions.decide(question, objection):
                decided = enact(self._control, question, decision, self._clock.now())
                self._take(decided.progress.verdicts)
                if decided.accepted:
                    return True
                objection = decided.reason
                for watcher in self._watchers:
                    watcher.objected(question.approval_id, objection)
                if question.approval_id not in {open_.approval_id for open_ in self._control.pending}:
                    return True  # time has closed it
        return False

    def _questions(self) -> list[Question]:
        """What is asked; before a step of the runtime's own call, with that call as it would be made now."""
        return self._control.pending

    def _turn(self) -> Finish | None:
        """Ask the agent, and propose what it wants to do."""
        step = self._definition.states[self._session.state].step
        if self._agent is None or step is None:
            raise HostError(f"an agent works in `{self._session.state}`, and none was given")
        self._sit_out()
        reply = self._agent.reply(Brief(step, self._session.legal(), tuple(self._heard)))
        if reply is None:
            return Finish(Why.SILENT, f"the agent has nothing more to say, and the run stands in step `{step.id}`")
        self._propose(reply)
        return None

    def _propose(self, reply: Reply) -> None:
        if reply.confidence is not None:
            self._session.claim(confidence=reply.confidence, now=self._clock.now())
            if self._session.outcome is not None:
                return
        calls = [own(call) for call in reply.calls]
        verdicts = self._session.propose(calls, text=reply.text, usage=reply.usage, now=self._clock.now())
        self._calls = {}
        for call, verdict in zip(calls, verdicts, strict=True):
            self._calls.setdefault(verdict.call_id, call)
            self._allow(verdict)
        self._heard = [Heard(call, verdict) for call, verdict in zip(calls, verdicts, strict=True)]

    def _sit_out(self) -> None:
        """Where a call was refused because its tool must rest a while, let that time pass before the agent goes on."""
        barred = self._session.barred
        refused = {
            h.verdict.tool for h in self._heard if isinstance(h.verdict, Deny) and h.verdict.code == "retry_wait"
        }
        if due := [barred[tool] for tool in refused if tool in barred]:
            self._wait(Wait("", max(due), self._session.state))

    def _wait(self, wait: Wait) -> None:
        seconds = (wait.due - self._clock.now()).total_seconds()
        if seconds > 0:
            for watcher in self._watchers:
                watcher.waits(wait, seconds)
            self._clock.wait_until(wait.due)
        self._session.tick(max(self._clock.now(), wait.due))

    def _give_up(self) -> None:
        """Calls that were allowed and have not begun did not happen."""
        while self._allowed:
            self._session.observe(self._allowed.popleft(), Cancelled(), self._clock.now())

    def _tell(self) -> None:
        new = self._session.since(self._told)
        self._told += len(new)
        if new:
            for watcher in self._watchers:
                watcher.happened(new)


def check_means(session: Session, tools: Tools, agent: Agent | None) -> None:
    """
    Hold what was given against what the playbook needs, before anything runs.

    Raises:
        HostError: naming the tool, or the agent's step, and where it stands.
    """
    definition = plan_of(session.machine).definition
    missing = list(missing_tools(definition, tools))
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise HostError(missing[0] + more)
    if agent is None and (step := first_agent_step(definition)) is not None:
        raise HostError(f"an agent works in step `{step}`, and none was given")


def whom(question: Question) -> str:
    """For whom a question waits, and what it is."""
    return f"{' or '.join(question.approvers) or 'anybody'} to decide on `{question.step}`: {question.ask}"


def own(call: ToolCall) -> ToolCall:
    """A call whose arguments nobody else can change after they were decided on; what is no JSON the gate refuses."""
    try:
        return ToolCall(call.name, normal(call.args), call.call_id)
    except ValueError:
        return call


def denials(brief: Brief) -> list[str]:
    """What an agent should read about the calls of its last reply that were refused."""
    return [heard.verdict.message for heard in brief.heard if isinstance(heard.verdict, Deny)]

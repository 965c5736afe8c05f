"""
Running a session to its end with real tools.

The session says what is to be done; the driver does it, one thing after another: outside signals, the agent's allowed
calls, the runtime's own calls, questions to people, the agent's next reply, waiting.  Branches that run side by side
take turns: none waits for another that waits for a person or for time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from guideway.statemachine.canonical import normal
from guideway.statemachine.errors import HostError

from .agents import Agent, Brief, Heard, Reply
from .approvals import Approvals, Question
from .calls import Cancelled, Outcome, ToolCall, Unknown
from .clocks import Clock, WallClock
from .decisions import Decisions, Nobody, enact
from .finish import Finish, Why
from .mail import Mail
from .session import Session
from .shadowing import witnessed
from .signals import NoSignals, Signals
from .situation import (
    admitted,
    awaited,
    check_means,
    converses,
    definition_for,
    forgotten,
    mode_of,
    never_begun,
    open_steps,
    overtaken,
    under_way,
    whom,
)
from .talk import Talk
from .toolbox import Tools, call_tool, find_tool
from .users import User
from .verdicts import Allow, Ask, Deny, Illegal, RunCall, Verdict, Wait
from .watchers import Watcher

__all__ = ["Driver", "Finish", "Watcher", "Why", "denials"]


class Driver:
    """
    Drives one session.

    >>> import guideway
    >>> machine = guideway.load({"id": "t", "name": "T", "steps": [
    ...     {"id": "look", "call": {"tool": "query_siem", "args": {"hours": 24}}}]})
    >>> Driver(Session(machine), {"query_siem": lambda hours: {"hits": 3}}).run()
    Finish(why=<Why.ENDED: 'ended'>, text='success')

    Args:
        session: the run; another driver may have brought it so far.
        tools: name -> function, for the playbook and those it calls.
        agent: who works in agents' steps.
        decisions: where decisions and answers of people come from; by default nobody decides.
        clock: tells the time and waits.
        watchers: are told what happens.
        signals: where outside signals come from; by default none come.
        user: who answers the agent in a playbook with `conversation`; by default nobody.
        mail: what people in other processes say; by default nothing.

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
        signals: Signals | None = None,
        user: User | None = None,
        mail: Mail | None = None,
    ) -> None:
        check_means(session, tools, agent)
        self._session = session
        self._control = Approvals(session)
        self._tools = tools
        self._agent = agent
        self._decisions = decisions or Nobody()
        self._clock = clock or WallClock()
        self._watchers = tuple(watchers)
        self._signals = signals or NoSignals()
        self._talk = Talk(user or User(), self._watchers)
        self._mail = mail or Mail()
        self._told = forgotten(session)
        self._allowed: deque[str] = deque()
        """ids of the agent's calls that may run and have not"""
        self._calls: dict[str, ToolCall] = under_way(session)
        """the agent's calls that may still run, and those of its newest reply, by id"""
        self._heard: list[Heard] = []
        self._put: set[tuple[Any, ...]] = set()
        """questions that were put, and that nobody decided"""
        self._silent: str | None = None
        """the step in which the agent had nothing more to say"""

    def run(self) -> Finish:
        """
        Go on until the run has ended, somebody or something outside is waited for, or the agent falls silent.

        An interrupt (Ctrl-C) stops it cleanly: the call that was running is observed as unknown.
        """
        self._put.clear()
        try:
            finish = None
            while finish is None and self._session.outcome is None:
                self._tell()
                finish = None if self._advance() else self._linger()
        except KeyboardInterrupt:
            finish = Finish(Why.INTERRUPTED, f"interrupted in `{'`, `'.join(self._session.states)}`")
            self._give_up()
        self._tell()
        return finish or Finish(Why.ENDED, str(self._session.outcome))

    def _advance(self) -> bool:
        """Do the next thing there is to do; False where there is none."""
        ways: tuple[Callable[[], bool], ...] = (
            self._hear_of_people, self._signal, self._work, self._decide, self._turn, self._pass_time, self._look_again,
        )  # fmt: skip
        return any(way() for way in ways)

    def _hear_of_people(self) -> bool:
        """Carry out what people in other processes have said."""
        verdicts = self._mail.take(self._clock.now())
        self._take(verdicts or ())
        return verdicts is not None

    def _linger(self) -> Finish | None:
        """Say why the run does not go on; None where it was worth waiting for somebody to say something."""
        finish = self._stand()
        if finish.why is not Why.WAITING or not self._mail.linger(self._session.next_due):
            return finish
        self._take(self._session.tick(self._clock.now()).verdicts)
        return None

    def _stand(self) -> Finish:
        """Say why the run does not go on."""
        waits = [*map(whom, self._control.pending), *awaited(self._session)]
        if self._talk.open and open_steps(self._session):
            waits.append("the user to answer")
        if not waits and self._silent is not None:
            return Finish(Why.SILENT, f"the agent has nothing more to say, and the run stands in step `{self._silent}`")
        text = "; ".join(waits or self._session.waiting) or f"nothing to do in `{self._session.state}`"
        return Finish(Why.WAITING, text)

    def _signal(self) -> bool:
        """Deliver the next outside signal that has come."""
        names = [c.signal for c in self._session.commands if isinstance(c, Wait) and c.signal is not None]
        signal = self._signals.next(names)
        if signal is None:
            return False
        self._take(self._session.signal(signal.name, signal.data, self._clock.now()).verdicts)
        return True

    def _work(self) -> bool:
        """Run one call: of the agent's, else of the runtime's own; give up one that was overtaken."""
        if self._allowed:
            call_id = self._allowed.popleft()
            call = admitted(self._session, call_id) or self._calls[call_id]  # a person may have edited it
            self._carry_out(call_id, call.name, call.args)
        elif command := next((c for c in self._session.commands if isinstance(c, RunCall)), None):
            self._carry_out(command.call_id, command.tool, command.args)
        elif left := never_begun(self._session):
            self._observe(left, Cancelled())
        else:
            return False
        return True

    def _carry_out(self, call_id: str, tool: str, args: Mapping[str, Any]) -> None:
        """Make a call, unless the end of the run or of its branch has come before it."""
        gone = overtaken(self._session, call_id)
        self._observe(call_id, Cancelled() if gone else self._call(call_id, tool, args))

    def _call(self, call_id: str, tool: str, args: Mapping[str, Any]) -> Outcome:
        self._tell()
        try:
            return call_tool(find_tool(self._tools, definition_for(self._session, call_id), tool), tool, args)
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
        if isinstance(verdict, Illegal) or (isinstance(verdict, Allow) and not verdict.control):
            self._allowed.append(verdict.call_id)

    def _hear(self, call_id: str, **news: Any) -> None:
        """Keep for the next brief what became of a call; of two with one id the first is the one that may have run."""
        for index, heard in enumerate(self._heard):
            if heard.verdict.call_id == call_id:
                self._heard[index] = replace(heard, **news)
                return

    def _decide(self) -> bool:
        """Put every open question to the source of decisions; True where one was decided."""
        reminders = {c.call_id: c.reminders for c in self._session.commands if isinstance(c, Ask)}
        for question in self._control.pending:
            occasion = (question.approval_id, len(question.said), reminders.get(question.approval_id, 0))
            if occasion not in self._put:
                self._put.add(occasion)
                if self._ask(question):
                    return True
        return False

    def _ask(self, question: Question) -> bool:
        """Put one question, again and again while what comes does not count; True where it was decided."""
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

    def _turn(self) -> bool:
        """Ask the agent, and propose what it wants to do; False where it cannot speak, or has nothing to say."""
        steps = open_steps(self._session)
        self._silent = None
        if not steps:
            return False
        self._tell()
        if not self._talk.answered():
            return False
        if self._agent is None:
            raise HostError(f"an agent works in `{steps[0].step.id}`, and none was given")
        if self._sit_out():
            return True
        brief = Brief(steps[0].step, self._session.legal(), tuple(self._heard), steps, self._talk.said())
        reply = self._agent.reply(brief)
        if reply is None:
            self._silent = steps[0].step.id
            return False
        self._propose(reply)
        return True

    def _propose(self, reply: Reply) -> None:
        if reply.confidence is not None:
            self._session.claim(confidence=reply.confidence, now=self._clock.now())
            if not open_steps(self._session):
                return
        calls = [own(call) for call in reply.calls]
        self._talk.speak(reply.text if not calls and converses(self._session) else None)
        if calls and mode_of(self._session) == "shadow":
            verdicts = witnessed(self._session, self._tools, calls, self._clock)
        else:
            verdicts = self._session.propose(calls, text=reply.text, usage=reply.usage, now=self._clock.now())
        self._calls = under_way(self._session)
        for call, verdict in zip(calls, verdicts, strict=True):
            self._calls.setdefault(verdict.call_id, call)
            if admitted(self._session, verdict.call_id):
                self._allow(verdict)
        self._heard = [Heard(call, verdict) for call, verdict in zip(calls, verdicts, strict=True)]

    def _sit_out(self) -> bool:
        """Where a call was refused because its tool must rest a while, let that time pass before the agent goes on."""
        barred, now = self._session.barred, self._clock.now()
        refused = {
            h.verdict.tool for h in self._heard if isinstance(h.verdict, Deny) and h.verdict.code == "retry_wait"
        }
        due = [barred[tool] for tool in refused if tool in barred and barred[tool] > now]
        if due:
            self._wait(min([Wait("", max(due), self._session.state), *self._times()], key=lambda wait: wait.due))
        return bool(due)

    def _times(self) -> list[Wait]:
        """The times that are waited for."""
        return [c for c in self._session.commands if isinstance(c, Wait) and c.due is not None]

    def _pass_time(self) -> bool:
        """Wait for the next time that a branch waits for; who put a question off may be asked again after it."""
        times = self._times()
        if times:
            self._wait(min(times, key=lambda wait: wait.due))
            self._put.clear()
        return bool(times)

    def _wait(self, wait: Wait) -> None:
        seconds = (wait.due - self._clock.now()).total_seconds()
        if seconds > 0:
            for watcher in self._watchers:
                watcher.waits(wait, seconds)
            if self._mail.wait(wait.due) and self._clock.now() < wait.due:
                return
            self._clock.wait_until(wait.due)
        self._take(self._session.tick(max(self._clock.now(), wait.due)).verdicts)

    def _look_again(self) -> bool:
        """Tell the session the time once more; True where that brought something about."""
        self._take(self._session.tick(self._clock.now()).verdicts)
        return self._session.outcome is not None or bool(self._session.since(self._told))

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


def own(call: ToolCall) -> ToolCall:
    """A call whose arguments nobody else can change after they were decided on; what is no JSON the gate refuses."""
    try:
        return ToolCall(call.name, normal(call.args), call.call_id)
    except ValueError:
        return call


def denials(brief: Brief) -> list[str]:
    """What an agent should read about the calls of its last reply that were refused."""
    return [heard.verdict.message for heard in brief.heard if isinstance(heard.verdict, Deny)]

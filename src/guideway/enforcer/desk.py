"""One run under a hook: calls come in one by one, wait where they must, and are reported when they are over."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from guideway.runtime.calls import Cancelled, Outcome, ToolCall, Unknown
from guideway.runtime.hooks.asking import asker
from guideway.runtime.verdicts import Allow, Defer, Deny, Illegal, NeedsApproval, Verdict

from .answers import NOBODY, answer_to, wait_for_others, wording
from .asking import Ask, ask_for_call, ask_for_step
from .enforcer import PlaybookEnforcer
from .joining import look
from .plain import plain


class Asked(NamedTuple):
    """A call that may run: the id the agent knows it by, the call, and the task that asked (a wait in it is a knot)."""

    given: str
    call: ToolCall
    task: Any
    beyond: bool = False
    """the playbook is complete, and lets everything through"""


class Desk:
    """Admits the calls of one run, and hears what came of them.  `people` decides on approvals."""

    def __init__(self, enforcer: PlaybookEnforcer, people: Ask | None = None) -> None:
        self.enforcer = enforcer
        self._people = people
        self._admitted: list[Asked] = []
        self._open: dict[str, Verdict] = {}
        """the latest verdict on each call that is being decided"""
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._given_up: set[str] = set()

    async def ask(self, tool: str, args: Mapping[str, Any], given: str) -> str | None:
        """Ask whether the call may run.  Returns why not, ready for the model; None: it may, and is reserved."""
        enforcer, task = self.enforcer, asker()
        enforcer._tick()
        self._pass_on()
        call = ToolCall(tool, plain(dict(args)), enforcer._fresh_id(given))
        if enforcer._beyond_the_end(tool):
            self._admitted.append(Asked(given, call, task, beyond=True))
            return None
        await ask_for_step(enforcer, self._people)
        self._pass_on()
        if isinstance(look(enforcer.session, call), Defer) and self._knot(task):
            return wait_for_others(tool)
        return self._answered(Asked(given, call, task), await self._decided(call))

    def _knot(self, task: Any) -> bool:
        """Nobody else is at work that a wait could be for; or this very task is."""
        mine = any(asked.task is task for asked in self._admitted)
        return mine or not (self._admitted or self._open)

    async def _decided(self, call: ToolCall) -> Verdict:
        """Propose the call, and stay with it until it may run, or may not."""
        name = call.call_id
        self._open[name] = self.enforcer._admit(call)
        try:
            self._pass_on()
            while isinstance(verdict := self._open[name], Defer | NeedsApproval):
                if isinstance(verdict, Defer):
                    await self._news_of(name)
                    if self._open[name] is verdict and self._stuck():
                        self._give_up(name)
                        break
                else:
                    await ask_for_call(self.enforcer, verdict.approval_id, self._people)
                    self._pass_on()
                    if self._open[name] is verdict:
                        break  # the question is closed and has brought no answer
            return self._open[name]
        except BaseException:
            self._give_up(name)
            raise
        finally:
            self._open.pop(name, None)

    async def _news_of(self, name: str) -> None:
        """Wait until the call has been decided again: when those before it are over (S13)."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[name] = future
        try:
            await future
        finally:
            self._waiting.pop(name, None)

    def _stuck(self) -> bool:
        """Every call that is being decided waits, and none is under way that it could wait for."""
        return not self._admitted and all(isinstance(verdict, Defer) for verdict in self._open.values())

    def _lost(self, asked: Asked, task: asyncio.Task[Any]) -> None:
        """The task of a call has ended without a report: cancelled, or by an exception.  Nobody knows what happened."""
        if any(one is asked for one in self._admitted) and (task.cancelled() or task.exception() is not None):
            self._admitted = [one for one in self._admitted if one is not asked]
            if not asked.beyond:
                self._settle(asked.call.call_id, Unknown())
            if self._stuck():
                for future in self._waiting.values():
                    future.get_loop().call_soon_threadsafe(wake, future)

    def _give_up(self, name: str) -> None:
        """The agent has let go of a call while it was being decided: it will not run."""
        if isinstance(self._open[name], Allow | Illegal):
            self._settle(name, Cancelled())
        else:
            self._given_up.add(name)

    def _pass_on(self) -> None:
        """Hand new verdicts to the calls that wait for them; what nobody waits for any more is given back."""
        news = self.enforcer._news
        while news:
            verdict = news.pop(0)
            if verdict.call_id in self._open:
                self._open[verdict.call_id] = verdict
                if (future := self._waiting.get(verdict.call_id)) is not None:
                    future.get_loop().call_soon_threadsafe(wake, future)
            elif verdict.call_id in self._given_up and verdict.allowed:
                self._given_up.discard(verdict.call_id)
                self.enforcer._settle(verdict.call_id, Cancelled())

    def _answered(self, asked: Asked, verdict: Verdict) -> str | None:
        """Reserve what may run; keep what is a violation."""
        answer = NOBODY
        if isinstance(verdict, Deny | Illegal):
            answer = answer_to(self.enforcer.plan, verdict, self.enforcer.outcome)
            self.enforcer._violate(answer, asked.call.name, blocked=isinstance(verdict, Deny))
        if isinstance(verdict, Allow | Illegal):
            self._admitted.append(asked)
            asked.task.add_done_callback(partial(self._lost, asked))
            return None
        return wait_for_others(asked.call.name) if isinstance(verdict, Defer) else wording(answer)

    def report(self, tool: str, args: Mapping[str, Any], given: str, outcome: Outcome) -> None:
        """Hear what came of a call.  One that was not admitted as it ran is listed, and moves nothing."""
        call = ToolCall(tool, plain(dict(args)), given)
        found = next((a for a in self._admitted if a.given == given and a.call.name == tool), None)
        if found is not None:
            self._admitted.remove(found)
        if found is not None and found.beyond:
            self.enforcer._unasked(call)
        elif found is None or found.call.args != call.args:
            if found is not None:
                self._settle(found.call.call_id, Cancelled())
            self.enforcer._never_admitted(call)
        else:
            self._settle(found.call.call_id, outcome)

    def _settle(self, name: str, outcome: Outcome) -> None:
        self.enforcer._settle(name, outcome)
        self._pass_on()

    def turn(self) -> None:
        """The model is asked again: what was admitted and has not run was stopped elsewhere; a turn more is spent."""
        while self._admitted:
            asked = self._admitted.pop()
            if not asked.beyond:
                self._settle(asked.call.call_id, Cancelled())
        plan, session = self.enforcer.plan, self.enforcer.session
        spent = plan.metadata["iterations"] = plan.metadata.get("iterations", 0) + 1
        limit = plan.playbook.max_iterations
        if limit is not None and spent > limit and session.outcome is None:
            self.enforcer._refresh(session.stop("max_iterations", now=self.enforcer._clock()).verdicts)
            self._pass_on()

    def said(self, text: str) -> None:
        """A reply without calls completes a step that has no tools (S16); in any other it changes nothing."""
        self.enforcer._tick()
        self._pass_on()
        step = self.enforcer.current_step
        if step is None or step.expected_entries or self._admitted or self._open or self.enforcer.outcome is not None:
            return
        self.enforcer.session.propose([], text=text, now=self.enforcer._clock())
        self.enforcer._refresh()


def wake(future: asyncio.Future[None]) -> None:
    """Wake a call that waits, unless it has been given up meanwhile."""
    if not future.done():
        future.set_result(None)

"""One run under a hook: calls come in one by one, wait where they must, and are reported when they are over."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from guideway.runtime.calls import Cancelled, Failed, Outcome, Succeeded, ToolCall
from guideway.runtime.verdicts import Defer, Deny, Illegal, NeedsApproval, Verdict

from .answers import Answer, answer_to
from .asking import Ask, asked_of_step, decided
from .enforcer import PlaybookEnforcer
from .joining import look

BLOCKED = "PlaybookEnforcer blocked: "


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
        self._waiting: dict[str, asyncio.Future[Verdict]] = {}

    async def ask(self, tool: str, args: Mapping[str, Any], given: str) -> str | None:
        """Ask whether the call may run.  Returns why not, ready for the model; None: it may, and is reserved."""
        enforcer, task = self.enforcer, asyncio.current_task()
        enforcer._tick()
        call = ToolCall(tool, plain(dict(args)), enforcer._fresh_id(given))
        if enforcer._beyond_the_end(tool):
            self._admitted.append(Asked(given, call, task, beyond=True))
            return None
        await asked_of_step(enforcer, self._people)
        if isinstance(look(enforcer._session, call), Defer) and any(asked.task is task for asked in self._admitted):
            return f"{BLOCKED}Tool '{tool}' must wait for the calls before it | Hints: call it again in the next reply"
        verdict = enforcer._admit(call)
        if isinstance(verdict, Defer):
            verdict = await self._turn_of(call.call_id)
        if isinstance(verdict, NeedsApproval):
            verdict = await decided(enforcer, verdict, self._people)
        return self._answered(Asked(given, call, task), verdict)

    def _answered(self, asked: Asked, verdict: Verdict) -> str | None:
        """Note the violation, and reserve what may run."""
        if isinstance(verdict, Deny | Illegal):
            answer = answer_to(self.enforcer.plan, verdict, self.enforcer.outcome)
            self.enforcer._violate(answer, asked.call.name, blocked=isinstance(verdict, Deny))
            if isinstance(verdict, Deny):
                return wording(answer)
        self._admitted.append(asked)
        return None

    async def _turn_of(self, call_id: str) -> Verdict:
        """Wait until the calls before it are over, and it has been decided again (S13)."""
        future: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._waiting[call_id] = future
        try:
            return await future
        finally:
            self._waiting.pop(call_id, None)

    def report(self, tool: str, args: Mapping[str, Any], given: str, error: str | None, result: Any) -> None:
        """Hear what came of a call.  One that was not admitted as it ran is listed, and moves nothing."""
        call = ToolCall(tool, plain(dict(args)), given)
        found = next((a for a in self._admitted if a.given == given and a.call.name == tool), None)
        if found is not None:
            self._admitted.remove(found)
        if found is not None and found.beyond:
            self.enforcer._unasked(call, Answer("", "", None, []))
        elif found is None or found.call.args != call.args:
            if found is not None:
                self._settle(found.call.call_id, Cancelled())
            self._never_asked(call)
        else:
            self._settle(found.call.call_id, Failed(error) if error else Succeeded(plain(result)))

    def _never_asked(self, call: ToolCall) -> None:
        told = f"Tool '{call.name}' ran a call that was not admitted: blocked, changed afterwards, or made once more"
        self.enforcer._unasked(call, Answer("not_admitted", told, self.enforcer.current_step, []))

    def _settle(self, call_id: str, outcome: Outcome) -> None:
        """Report it, and wake whoever waited for it; a call that nobody waits for any more is given up."""
        progress = self.enforcer._settle(call_id, outcome)
        for verdict in progress.verdicts:
            future = self._waiting.pop(verdict.call_id, None)
            if future is not None and not future.done():
                future.get_loop().call_soon_threadsafe(hand_over, future, verdict)
            elif verdict.allowed:
                self._settle(verdict.call_id, Cancelled())

    def turn(self) -> None:
        """The model is asked again: what was admitted and has not run was stopped elsewhere; a turn more is spent."""
        while self._admitted:
            asked = self._admitted.pop()
            if not asked.beyond:
                self._settle(asked.call.call_id, Cancelled())
        plan, session = self.enforcer.plan, self.enforcer._session
        spent = plan.metadata["iterations"] = plan.metadata.get("iterations", 0) + 1
        limit = plan.playbook.max_iterations
        if limit is not None and spent > limit and session.outcome is None:
            session.stop("max_iterations", now=self.enforcer._clock())
            self.enforcer._refresh()

    def said(self, text: str) -> None:
        """A reply without calls completes a step that has no tools (S16); in any other it changes nothing."""
        step = self.enforcer.current_step
        if step is None or step.expected_entries or self._admitted or self.enforcer.outcome is not None:
            return
        self.enforcer._session.propose([], text=text, now=self.enforcer._clock())
        self.enforcer._refresh()


def hand_over(future: asyncio.Future[Verdict], verdict: Verdict) -> None:
    """Wake a call that waits, unless it has been given up meanwhile."""
    if not future.done():
        future.set_result(verdict)


def wording(answer: Answer) -> str:
    """A refusal, as the model reads it."""
    hints = ["Hints: " + " ".join(answer.hints)] if answer.hints else []
    return BLOCKED + " | ".join([answer.message, *hints])


def plain(value: Any) -> Any:
    """A value as JSON; what is none is kept as its text."""
    try:
        return json.loads(json.dumps(value, default=str, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return str(value)

"""Runs of one agent: begun, gone on with, taken up again, streamed, and cancelled; any number at once."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any

from guideway.runtime.decisions import Decision
from guideway.runtime.models.messages import Message
from guideway.runtime.session import Session
from guideway.runtime.situation import mode_of
from guideway.statemachine.canonical import normal
from guideway.statemachine.errors import HostError

from . import people
from .clock import clock_of
from .events import Event
from .keeping import recovered
from .live import Live
from .loop import run_segment
from .memory import Memory
from .people import Edited
from .quiet import hooks_of
from .result import AgentResult
from .settings import Settings

Sink = Callable[[Event], Any]
Saying = str | Decision | Edited | Mapping[str, Any] | None
"""What goes to a run that waits: a text for a conversation, or decisions, by the id of the question."""


class Runner:
    """Begins and goes on with runs of one agent."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._hooks = hooks_of(settings.hooks)
        self._running: dict[str, tuple[asyncio.AbstractEventLoop, Live]] = {}
        self._segments: dict[str, int] = {}
        """run -> its latest segment that was driven here"""
        self._lock = Lock()

    def begin(
        self, prompt: str | Sequence[Message], *, inputs: Mapping[str, Any] | None, run_id: str | None,
        started_by: str, state: Mapping[str, Any], sink: Sink | None,
    ) -> Live:  # fmt: skip
        """
        Make ready to run; nothing has been asked or done yet.

        Raises:
            HostError: inputs are missing or wrong, or what was given by keyword is no JSON.
        """
        clock = clock_of(self.settings.clock)
        name = run_id or f"run-{secrets.token_hex(6)}"
        memory = Memory(name, instructions=self.settings.instructions, state=keywords(state), started=clock.now())
        say(memory, prompt)
        session = self._session(name, inputs, started_by, clock.now())
        return Live(self.settings, session, memory, self._hooks, clock, self._sink(sink))

    def _session(self, run_id: str, inputs: Mapping[str, Any] | None, started_by: str, now: Any) -> Session:
        settings = self.settings
        given: dict[str, Any] = {
            "inputs": inputs, "now": now, "run_id": run_id, "started_by": started_by,
            "predicates": settings.predicates, "mode": settings.mode,
        }  # fmt: skip
        if settings.journal is None:
            return Session(settings.machine, **given)
        from guideway.runtime.journal import start

        return start(
            settings.journal, settings.machine, key=settings.journal_key, vault=settings.vault, **given
        )

    def again(self, held: AgentResult | Mapping[str, Any], state: Mapping[str, Any], sink: Sink | None) -> Live:
        """
        Make ready to go on with a run.

        Raises:
            HostError: this is no saved run, or one of another playbook.
        """
        saved = held.state if isinstance(held, AgentResult) else held
        if not isinstance(saved, Mapping) or not {"agent", "session"} <= saved.keys():
            raise HostError("go on with an AgentResult, or with its `state`; this is neither")
        memory = Memory.of_json(saved["agent"])
        if memory.segments < self._segments.get(memory.run_id, 0) and isinstance(held, AgentResult):
            raise HostError(f"run {memory.run_id} has gone on since this result; send to its latest one")
        memory.state |= keywords(state)
        session = held.session if isinstance(held, AgentResult) else None
        if session is None and self.settings.journal is not None:
            raise HostError(f"the journal knows more than this state: go on with recover({memory.run_id!r})")
        if session is None:
            session = Session.restore(self.settings.machine, saved["session"], predicates=self.settings.predicates)
        same_mode(self.settings, session)
        return Live(self.settings, session, memory, self._hooks, clock_of(self.settings.clock), self._sink(sink))

    def recover(self, run_id: str, inputs: Mapping[str, Any] | None, state: Mapping[str, Any]) -> Live:
        """
        Make ready to go on with a run whose program has stopped, from the journal.

        Raises:
            HostError: there is no journal, or the run is of another playbook.
            JournalError: there is no such run, or its entries are not those that were written.
        """
        clock = clock_of(self.settings.clock)
        session, memory = recovered(self.settings, run_id, inputs, clock.now())
        same_mode(self.settings, session)
        memory.state |= keywords(state)
        return Live(self.settings, session, memory, self._hooks, clock, self._sink(None))

    def _sink(self, sink: Sink | None) -> Sink | None:
        own = self.settings.on_event
        if own is None or sink is None:
            return sink or own

        def both(event: Event) -> Any:
            sink(event)
            return own(event)

        return both

    def tell(self, live: Live, said: Saying) -> Live:
        """
        Hand a run that waits what somebody has said; the run to go on with.

        Raises:
            HostError: the run has ended, it waits for something else, or a decision does not count.
        """
        if isinstance(said, str):
            return self._text(live, said)
        if live.session.outcome is not None:
            raise HostError(f"the run is over ({live.session.outcome}); begin another with `run`")
        if said is not None:
            for approval_id, decision in decisions(live, said).items():
                decide(live, approval_id, decision)
        return live

    def _text(self, live: Live, text: str) -> Live:
        """The user goes on talking; where no playbook says when a run is over, also after its end."""
        memory = live.memory
        if live.session.outcome is not None:
            if not self.settings.open:
                raise HostError(f"the run is over ({live.session.outcome}); begin another with `run`")
            session = self._session(f"{memory.run_id}.{memory.segments + 1}", None, "", live.clock.now())
            live = Live(self.settings, session, memory, self._hooks, live.clock, live.sink)
        if memory.deals:
            raise HostError(f"the run waits for {'; '.join(live.session.waiting)}; send a decision on that")
        memory.prompt = text
        people.hear(live, text)
        return live

    async def drive(self, live: Live) -> AgentResult:
        """Run the segment; `cancel` reaches it meanwhile."""
        run_id = live.memory.run_id
        with self._lock:
            if run_id in self._running:
                raise HostError(f"run {run_id} is going on already")
            self._running[run_id] = (asyncio.get_running_loop(), live)
        try:
            return await run_segment(live)
        finally:
            with self._lock:
                del self._running[run_id]
                self._segments[run_id] = live.memory.segments

    def cancel(self, run_id: str | None, reason: str) -> int:
        """Cancel a run, or all of them, from any thread; says how many."""
        with self._lock:
            found = [held for name, held in self._running.items() if run_id in (None, name)]
        for loop, live in found:
            with suppress(RuntimeError):  # its loop has been closed meanwhile
                loop.call_soon_threadsafe(live.stop, reason, "cancelled")
        return len(found)

    async def stream(self, make: Callable[[Sink], Live]) -> AsyncIterator[Event]:
        """
        The events of a segment as they happen, which goes on when they have been read.

        Who leaves early cancels it, and it is left in order.
        """
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        live = make(queue.put_nowait)
        live.taken = queue.join
        task = asyncio.ensure_future(self.drive(live))
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
                queue.task_done()
            await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


def same_mode(settings: Settings, session: Session) -> None:
    """
    A run goes on in the mode that it was begun in.

    Raises:
        HostError: the agent is of another mode: one that enforces must not go on with a run that only records.
    """
    begun = mode_of(session)
    if begun != settings.mode:
        raise HostError(f"the run was begun in `{begun}` mode; this agent is of `{settings.mode}`; make one like it")


def keywords(state: Mapping[str, Any]) -> dict[str, Any]:
    """
    What was given by keyword, copied.

    Raises:
        HostError: it is no JSON, so it could not be saved with the run.
    """
    try:
        found: dict[str, Any] = normal(dict(state))
    except ValueError as error:
        raise HostError(f"what is given by keyword is saved with the run, so it must be JSON: {error}") from None
    return found


def say(memory: Memory, prompt: str | Sequence[Message]) -> None:
    """
    Begin the transcript: with a text of the user's, or with messages.

    Raises:
        HostError: it is neither.
    """
    if isinstance(prompt, str):
        memory.prompt = prompt
        memory.messages = [{"role": "user", "content": prompt}]
        return
    if not isinstance(prompt, Sequence) or not all(isinstance(m, Mapping) and "role" in m for m in prompt):
        raise HostError("the prompt is a text, or a list of messages {'role': …, 'content': …}")
    memory.messages = [dict(message) for message in prompt if isinstance(message, Mapping)]
    last = next((m for m in reversed(memory.messages) if m["role"] == "user"), {})
    memory.prompt = str(last.get("content", ""))


def decisions(live: Live, said: Decision | Edited | Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Decisions by the ids of their questions; one alone is on the only question there is.

    Raises:
        HostError: several questions are open, or none.
    """
    if isinstance(said, Mapping):
        return said
    pending = [question.approval_id for question in live.control.pending]
    if len(pending) != 1:
        asked = ", ".join(map(repr, pending)) or "nobody is asked anything"
        raise HostError(f"say which question the decision is on, send({{ID: decision}}): {asked}")
    return {pending[0]: said}


def decide(live: Live, approval_id: str, decision: Any) -> None:
    """
    Carry out one decision.

    Raises:
        HostError: nobody is asked that, or the decision does not count, with the reason.
    """
    question = next((q for q in live.control.pending if q.approval_id == approval_id), None)
    if question is None:
        raise HostError(f"nobody is asked {approval_id!r} now")
    decided = people.carry_out(live, question, decision)
    live.take(decided.progress.verdicts)
    if not decided.accepted:
        raise HostError(f"the decision on {approval_id!r} does not count: {decided.reason}")


def alone(work: Coroutine[Any, Any, AgentResult]) -> AgentResult:
    """
    Run to the end in an event loop of its own.

    Raises:
        HostError: there is one already in this thread.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise HostError("an event loop is running here: write `await agent.run(…)` instead of `agent.run_sync(…)`")

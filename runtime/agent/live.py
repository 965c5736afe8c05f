"""One segment of a run while it goes on: what its parts share."""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from guideway.runtime.approvals import Approvals
from guideway.runtime.hooks.points import UNSET, Facts
from guideway.runtime.plan import plan_of
from guideway.runtime.session import Session
from guideway.runtime.verdicts import Allow, Deny, Illegal, Verdict
from guideway.statemachine.definition import Definition
from guideway.statemachine.errors import HostError

from .clock import AgentClock, Borrowed
from .deals import Deal, own
from .events import CustomEvent, Event, Moved, ToolDecided
from .memory import Memory
from .patience import Patient
from .pool import Pool
from .settings import Settings

log = logging.getLogger("guideway.agent")

OWN_STATE = ("run_id", "prompt", "step", "steps", "outcome", "iteration")
"""Names in the state that hooks see which the loop writes, and nobody else."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """Why the segment is to end now."""

    reason: str
    stop_reason: str
    output: Any = UNSET
    error: BaseException | None = None


class Live:
    """What the parts of the loop share: session, memory, hooks, clock, running calls, and the way out for events."""

    def __init__(
        self, settings: Settings, session: Session, memory: Memory, hooks: Any, clock: AgentClock,
        sink: Callable[[Event], Any] | None = None,
    ) -> None:  # fmt: skip
        self.settings, self.session, self.memory, self.clock = settings, session, memory, clock
        self.hooks: Any = Patient(hooks, self) if hooks.names else hooks
        self.control = Approvals(session)
        self.pool = Pool()
        self.ready: deque[Deal] = deque()
        """the model's calls that may run and have not begun"""
        self.questions: dict[str, asyncio.Task[Any]] = {}
        """what people are being asked, by the id of the question"""
        self.put: set[tuple[Any, ...]] = set()
        self.end: Stopped | None = None
        self.kept: dict[str, int] = {}
        """how much of transcript and executions the journal has"""
        self.rested: list[str] = []
        """tools that were refused in the turn before because they must rest a while"""
        self.offered: list[str] | None = None
        """tools that the latest request named"""
        self.terminate = False
        """a hook wants the run to end after this turn"""
        self.wake = asyncio.Event()
        self.events: list[Event] = []
        self.began = known(session)
        self.sink, self._told = sink, self.began
        self._heard: deque[Awaitable[Any]] = deque()
        self.taken: Callable[[], Awaitable[None]] | None = None
        """comes back when a stream has been read so far"""
        if settings.shown_to is not None:
            settings.shown_to.follow(session, memory.run_id)
        self.watchers = watchers_of(settings.hooks, session, memory.run_id)
        self._watched = self.began if memory.segments else 0

    @property
    def over(self) -> bool:
        """The segment is to end."""
        return self.end is not None

    @property
    def streams(self) -> bool:
        """Somebody listens while the run goes on."""
        return self.sink is not None

    def emit(self, event: Event) -> None:
        """Put an event into the stream."""
        self.events.append(event)
        if self.sink is None:
            return
        try:
            said = self.sink(event)
        except Exception:
            log.exception("who listens to run %s failed on %s", self.memory.run_id, type(event).__name__)
        else:
            if inspect.isawaitable(said):
                self._heard.append(said)

    async def drain(self) -> None:
        """Wait until who listens has taken in what was told: a run does not run ahead of its listeners."""
        while self._heard:
            try:
                await self._heard.popleft()
            except Exception:
                log.exception("who listens to run %s failed", self.memory.run_id)
        if self.taken is not None:
            await self.taken()

    def custom(self, event: Any) -> None:
        """Put an event of a hook's own into the stream."""
        self.emit(event if isinstance(event, CustomEvent) else CustomEvent(type(event).__name__, event))

    def tell(self) -> None:
        """Tell how the run has moved."""
        new = self.session.since(self._told)
        self._told += len(new)
        if self.watchers:
            late = self.session.since(self._watched)
            self._watched += len(late)
            for watcher in self.watchers:
                watcher.happened(late)
        for record in new:
            if record[0] == "moved":
                self.emit(Moved(record[2], record[3], record[4], record[5] or ""))

    def facts(self) -> Facts:
        """What hooks may know now; copies, where there are hooks that could change them."""
        memory, session = self.memory, self.session
        messages = copy.deepcopy(memory.messages) if self.hooks.names else memory.messages
        own = (memory.run_id, memory.prompt, session.state, list(session.states), session.outcome, memory.iterations)
        state = {**copy.deepcopy(memory.state), **dict(zip(OWN_STATE, own, strict=True))}
        return Facts(
            memory.run_id, self.settings.session_id, memory.prompt, memory.iterations, self.most_turns,
            memory.model_calls, memory.usage, messages, state, memory.hook_states, self.custom,
        )  # fmt: skip

    @property
    def most_turns(self) -> int:
        """How many turns the run may take."""
        mine = self.settings.limits.max_iterations
        theirs = self.definition.max_iterations
        return theirs if mine is None else min(mine, theirs)

    def stop(
        self, reason: str, stop_reason: str, *, goal: bool = False, output: Any = UNSET,
        error: BaseException | None = None, session: bool = True,
    ) -> None:  # fmt: skip
        """End the segment, and, but for `session=False`, the run: the first reason stands."""
        if self.end is not None:
            return
        self.end = Stopped(reason, stop_reason, output, error)
        self.wake.set()
        if session and self.session.outcome is None:
            try:
                self.take(self.session.stop(reason, goal=goal, now=self.clock.now()).verdicts)
            except HostError:
                self.tell()  # it is ending already

    def deal(self, call_id: str) -> Deal | None:
        """The call of the open turn under that id; of two with one id the one that may run."""
        return next((deal for deal in self.memory.deals if deal.call_id == call_id and not deal.over), None)

    def take(self, verdicts: Iterable[Verdict]) -> None:
        """Note answers of the gate on calls of the model's."""
        for verdict in verdicts:
            deal = self.deal(verdict.call_id)
            if deal is not None:
                self.decide(deal, verdict)

    def decide(self, deal: Deal, verdict: Verdict) -> None:
        """Note the answer on one call; what may run is put in line."""
        deal.verdict = verdict
        self.emit(ToolDecided(own(deal.used), verdict))
        if isinstance(verdict, Deny):
            deal.refuse(verdict)
            if self.settings.shown_to is not None:
                deal.shown = f"{self.settings.shown_to.prefix}{deal.shown}"
        elif isinstance(verdict, Allow) and verdict.control:
            deal.show("done", False)
        elif isinstance(verdict, Allow | Illegal):
            self.ready.append(deal)

    @property
    def definition(self) -> Definition:
        """The playbook."""
        return plan_of(self.session.machine).definition

    @property
    def confidence(self) -> float | None:
        """What was claimed last."""
        return self.session._run.confidence

    @property
    def claims(self) -> dict[str, Any]:
        """What the model has claimed, by step; evidence of nothing."""
        with self.session._inside(thaw=False) as run:
            return copy.deepcopy(dict(run.frame.claims))

    @property
    def turn_open(self) -> bool:
        """The session waits for calls of the turn."""
        with self.session._inside() as run:
            return run.turn is not None

    def due(self) -> datetime | None:
        """When something happens by itself: a timer of the run, or the end of its time."""
        times = [self.session.next_due, self.deadline]
        return min((time for time in times if time is not None), default=None)

    @property
    def deadline(self) -> datetime | None:
        """The end of the time that the agent's limits give the run."""
        seconds, started = self.settings.limits.seconds, self.memory.started
        return None if seconds is None or started is None else started + timedelta(seconds=seconds)

    def out_of_time(self) -> bool:
        """The time that the agent's limits give is over."""
        return self.deadline is not None and self.clock.now() >= self.deadline

    def real(self, due: datetime | None) -> datetime | None:
        """A time to wait for beside work that goes on; a clock that leaps must not leap over that."""
        return None if isinstance(self.clock, Borrowed) else due

    async def rest(self, tasks: Iterable[asyncio.Task[Any]], due: datetime | None) -> None:
        """Wait until a task is done, it is `due`, or the run is to end."""
        waited: set[asyncio.Task[Any]] = set(tasks)
        mine: list[asyncio.Task[Any]] = [asyncio.ensure_future(self.wake.wait())]
        if due is not None:
            mine.append(asyncio.ensure_future(self.clock.wait(due)))
        try:
            await asyncio.wait({*waited, *mine}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in mine:
                task.cancel()
            await asyncio.gather(*mine, return_exceptions=True)

    def tick(self) -> None:
        """Let time pass, and take what that brings."""
        self.take(self.session.tick(self.clock.now()).verdicts)


def watchers_of(hooks: Iterable[Any], session: Session, run_id: str) -> list[Any]:
    """Hooks with `watch_run` are told every record of the run, before the effect whose intent it carries (S57)."""
    found = (getattr(hook, "watch_run", None) for hook in hooks)
    made = (watch(session, run_id) for watch in found if callable(watch))
    return [watcher for watcher in made if watcher is not None]


def known(session: Session) -> int:
    """How many records there are by now."""
    session.since(sys.maxsize)
    return len(session._run.shown) + session._run.forgotten

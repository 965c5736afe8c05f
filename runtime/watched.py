"""What every session has beside its verbs: one verb at a time, all of it or nothing; and what can be seen of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NoReturn

from guideway.statemachine.errors import HostError
from guideway.statemachine.machine import Machine
from guideway.statemachine.tools import CONTROL

from . import quick, snapshot
from .control import at_work
from .ending import break_off
from .loading import twin
from .owing import owes
from .records import Record, own_record, spread
from .reports import waits
from .run import Run, first
from .teach import legal
from .timers import let_pass, next_due, utc
from .turns import start_macro_step
from .turnstile import Turnstile
from .verbs import Event, Recorder
from .verdicts import Command, LegalCall, Progress

NO_FAULT_OF_THE_HOST = (KeyError, IndexError, TypeError, ValueError, AttributeError, RuntimeError)


class Watched:
    """A machine and where one run of it stands, for those who look."""

    __slots__ = ("_free", "_gate", "_held", "_recorder", "_run", "machine")

    machine: Machine
    _run: Run

    def _attach(self, machine: Machine, run: Run) -> None:
        self.machine = machine
        self._run = run
        self._recorder: Recorder | None = None
        self._gate = Turnstile()
        self._free, self._held = self._gate.free, self._gate.held

    def _open(self) -> None:
        """Let the first verb in."""
        self._gate.enter()
        self._let_go()

    def _let_go(self) -> None:
        """Put the token where the next verb finds it; what the run holds nothing in takes no room from now on."""
        ready = self._recorder is None and quick.is_ready(self._run)
        self._run.rest()
        self._gate.leave(ready)

    @contextmanager
    def _inside(self, thaw: bool = True) -> Iterator[Run]:
        """Hold the token; with `thaw`, a call the fast path has under way becomes the open turn it stands for."""
        gate = self._gate
        gate.enter()
        try:
            if thaw and (held := gate.take()) is not None:
                quick.thaw(self._run, held)
            yield self._run
        finally:
            self._let_go()

    @contextmanager
    def _verb(self, now: datetime | None, verb: str, **data: Any) -> Iterator[None]:
        """Everything a verb does lies between: time, fresh answers; no verb inside another; all of it or nothing."""
        run = self._run
        if run.busy:
            raise HostError("a callback of the machine may look at its session, but not move it")
        moves_time = (to := utc(now)) is not None and next_due(run, to) is not None
        saved = self._backup() if moves_time or self.machine.materialized else None
        before, seen = run.now, len(run.shown)
        run.busy = True
        run.verdicts = []
        try:
            let_pass(run, now)
            start_macro_step(run)
            yield
            if self._recorder is not None:
                self._keep(Event(verb, data, run.now))
        except HostError:
            self._undo(saved, before, seen)
            raise
        except BaseException as error:
            self._undo(saved, before, seen)
            if saved is None:
                break_off(run)  # a fault of our own, half way through: nothing may be admitted any more
            self._raise(error)
        finally:
            run.busy = False

    def _keep(self, event: Event) -> None:
        """
        Hand what happened to the recorder.

        Raises:
            JournalError: it was not kept; the caller breaks the run off then.
        """
        run, recorder = self._run, self._recorder
        if recorder is not None:
            known = len(run.shown)
            run.shown += spread(run.records)
            run.records.clear()
            recorder.keep(event, [own_record(record) for record in run.shown[known:]])

    def attach(self, recorder: Recorder) -> None:
        """
        Let a recorder keep every verb from now on, before it returns; a session has one at most.

        Raises:
            HostError: there is one already.
        """
        with self._inside():
            if self._recorder is not None:
                raise HostError("this session has a recorder already")
            run = self._run
            run.shown += spread(run.records)
            run.records.clear()
            self._recorder = recorder

    def forget(self, keep: int = 0) -> None:
        """Let go of all records but the last `keep`; they are kept elsewhere, and a long run need not hold them."""
        with self._inside(thaw=False) as run:
            run.shown += spread(run.records)
            run.records.clear()
            gone = max(0, len(run.shown) - keep)
            run.forgotten += gone
            run.shown = run.shown[gone:]

    def _break_off(self, error: BaseException) -> NoReturn:
        """The fast path was cut off half way (Ctrl-C): take the token wherever it is, and admit nothing any more."""
        self._free.clear()
        self._held.clear()
        self._gate.inside = True
        break_off(self._run)
        self._raise(error)

    def _raise(self, error: BaseException) -> NoReturn:
        """In a run that was restored a fault of ours says that the snapshot does not hold together; else it stands."""
        if self._run.restored and not self.machine.materialized and isinstance(error, NO_FAULT_OF_THE_HOST):
            raise HostError(
                f"the snapshot this session was restored from is damaged: {type(error).__name__} {error}"
            ) from error
        raise error

    def _undo(self, saved: Run | None, before: datetime | None, seen: int) -> None:
        self._run.now = before
        del self._run.shown[seen:]
        if saved is not None:
            self._run = saved

    def _backup(self) -> Run:
        """A copy to go back to, should a callback of the machine raise, or the verb be the host's mistake (S8, S52)."""
        run = self._run
        saved = twin(run)
        saved.shown, saved.records, saved.forgotten = run.shown, list(run.records), run.forgotten
        return saved

    def _progress(self) -> Progress:
        run = self._run
        return Progress(first(run).state, tuple(run.verdicts), run.outcome)

    def legal(self) -> tuple[LegalCall, ...]:
        """Calls that are legal now, each with its constraints."""
        with self._inside(thaw=False) as run:
            return tuple(call for call in legal(run) if call.tool not in CONTROL or not kept_open(run, call))

    @property
    def commands(self) -> list[Command]:
        """What is to be done and has not been reported: calls to run, times to wait for, questions to ask."""
        with self._inside() as run:
            return list(run.commands.values())

    @property
    def waiting(self) -> tuple[str, ...]:
        """For whom or what the run waits, a line each."""
        with self._inside() as run:
            return tuple(waits(run))

    @property
    def next_due(self) -> datetime | None:
        """When the next timer falls due, of whatever kind: `tick` then at the latest; None where none runs."""
        with self._inside(thaw=False) as run:
            return min((timer.due for timer in run.timers), default=None)

    @property
    def barred(self) -> dict[str, datetime]:
        """Tools that failed and may be tried again, and not before when (S23)."""
        with self._inside(thaw=False) as run:
            return {tool: until for cursor in run.cursors() for tool, until in (cursor.barred or {}).items()}

    @property
    def outcome(self) -> str | None:
        """None while the run goes on, then how it ended: `success`, `stopped:max_iterations`, the author's word …"""
        return self._run.outcome

    @property
    def outcome_class(self) -> str | None:
        """`success`, `stopped`, `failed`, `escalated` or `incomplete`, once the run has ended."""
        with self._inside(thaw=False) as run:
            return snapshot.outcome_class(run)

    @property
    def state(self) -> str:
        """The state the cursor is in; where there are several, that of the first in order."""
        return first(self._run).state

    @property
    def states(self) -> tuple[str, ...]:
        """The states of all cursors, in order, each after the path of its frame."""
        with self._inside(thaw=False) as run:
            return tuple(f"{cursor.frame.path}{cursor.state}" for cursor in run.leaves())

    @property
    def now(self) -> datetime | None:
        """The latest time the session was told."""
        return self._run.now

    @property
    def snapshot(self) -> snapshot.Snapshot:
        """All there is to save."""
        with self._inside() as run:
            return snapshot.take(run)

    @property
    def records(self) -> tuple[Record, ...]:
        """What happened, in order; `guideway.runtime.records` gives them names, JSON and a hash chain."""
        return tuple(self.since(0))

    def since(self, index: int) -> list[Record]:
        """The records from number `index` on, for a live view."""
        with self._inside(thaw=False) as run:
            run.shown += spread(run.records)
            run.records.clear()
            return [own_record(record) for record in run.shown[max(0, index - run.forgotten) :]]


def kept_open(run: Run, call: LegalCall) -> bool:
    """Some policy asks for something before the step may be declared complete, or skipped."""
    event = "completed" if call.tool == "complete_step" else "skipped"
    return any(owes(run, cursor, event=event) is not None for cursor in at_work(run) if cursor.step == call.step)

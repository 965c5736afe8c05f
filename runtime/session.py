"""
One run of a playbook, and the verbs that move it (S51, S52).

Sans-I/O: the session runs no tool, reads no clock, asks nobody.  It answers, and lists what is to be done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from guideway.statemachine.errors import HostError
from guideway.statemachine.machine import Machine

from . import quick, snapshot
from .calls import Outcome, Succeeded, ToolCall, Usage, told
from .crash import recover
from .facts import copy
from .host import complete, fail, skip, stop
from .lenient import check_mode
from .moves import enter
from .own import clean, words
from .plan import plan_of
from .proposals import check_reply, foresee, foresee_all, open_turn, repeated
from .reports import arrive, check_report, heard_before, running
from .run import Predicates, Run
from .start import check_inputs, check_predicates, check_start, openly, set_limits
from .timers import utc
from .turns import follow, react
from .verdicts import Progress, Verdict
from .waits import check_signal, payload, signal
from .watched import Watched
from .witnessing import witness


class Session(Watched):
    """
    A machine and where one run of it stands.

    >>> import guideway
    >>> machine = guideway.load({"id": "t", "name": "T", "steps": [
    ...     {"id": "look", "description": "Look it up", "expected_tools": ["query_siem"]}]})
    >>> session = Session(machine)
    >>> [verdict] = session.propose([ToolCall("query_siem", {"hours": 24}, call_id="c1")])
    >>> verdict.allowed
    True
    >>> session.observe("c1", Succeeded({"hits": 3})).outcome
    'success'

    Raises:
        HostError: inputs are missing or against their schema, the machine needs `now`, or skills are unresolved.
    """

    __slots__ = ()

    def __init__(
        self,
        machine: Machine,
        *,
        inputs: Mapping[str, Any] | None = None,
        now: datetime | None = None,
        run_id: str = "run",
        started_by: str = "",
        predicates: Predicates | None = None,
        mode: str = "enforce",
    ) -> None:
        plan = plan_of(machine)
        check_start(plan.definition, now)
        values = check_inputs(plan.definition, {} if inputs is None else inputs)
        asked = check_predicates(plan.definition, predicates)
        run = Run(plan, values, clean(run_id), clean(started_by), utc(now), asked)
        run.mode = check_mode(mode)
        self._attach(machine, run)
        shown, by = openly(plan.definition, values), run.started_by or None
        run.record("started", plan.definition.id, plan.definition.digest, run.run_id, by, run.root.state, shown)
        set_limits(run, run.frame)
        enter(run, run.root, None)
        react(run)
        run.verdicts.clear()
        self._open()

    @classmethod
    def restore(
        cls,
        machine: Machine,
        saved: snapshot.Snapshot | Mapping[str, Any],
        *,
        predicates: Predicates | None = None,
    ) -> Session:
        """
        Go on from a snapshot, or from its JSON.

        Raises:
            HostError: the snapshot is of another playbook, or is no snapshot; or a predicate is missing.
        """
        session = cls.__new__(cls)
        plan = plan_of(machine)
        run = snapshot.restore(plan, saved)
        run.predicates = check_predicates(plan.definition, predicates)
        run.restored = True
        session._attach(machine, run)
        session._open()
        return session

    @classmethod
    def recover(
        cls,
        machine: Machine,
        saved: snapshot.Snapshot | Mapping[str, Any],
        *,
        now: datetime | None = None,
        predicates: Predicates | None = None,
    ) -> Session:
        """
        Go on from a snapshot after a crash: whatever ran when the program stopped, nobody saw its end (S54).

        Calls that were running are unknown: of a tool that only reads, or is idempotent, the call is made again; of any
        other a person reconciles, or `on_unknown` is taken.  Questions to people stay open, calls that had not been
        decided did not run, and the turn is over.

        Raises:
            HostError: as for `restore`.
        """
        session = cls.restore(machine, saved, predicates=predicates)
        session.interrupted(now)
        return session

    def interrupted(self, now: datetime | None = None) -> Progress:
        """Settle what was under way when the program stopped that drove this run (S54); see `recover`."""
        with self._inside(), self._verb(now, "recover"):
            recover(self._run)
            return self._progress()

    def propose(
        self, calls: Sequence[ToolCall], *, text: str = "", usage: Usage | None = None, now: datetime | None = None
    ) -> list[Verdict]:
        """
        Open a turn: the calls of one model reply, in order, with its text and what it cost.

        Returns a verdict per call.  Run those that are allowed, and `observe` each.

        Raises:
            HostError: a turn is still open, or `now` has no time zone.  Nothing has changed then.
        """
        free = self._free
        if free and now is None and usage is None and type(calls) is list and len(calls) == 1:
            try:
                del free[0]  # no call, so that nothing can come between taking the token and the next line
            except IndexError:  # another thread was quicker
                return self._propose(calls, text, usage, now)
            try:
                verdict = quick.propose(self._run, calls[0], text, self._held)
                if verdict is not None:
                    return [verdict]
                free.append(None)
            except BaseException as error:
                self._break_off(error)
        return self._propose(calls, text, usage, now)

    def _propose(
        self, calls: Sequence[ToolCall], text: str, usage: Usage | None, now: datetime | None
    ) -> list[Verdict]:
        check_reply(calls, text, usage)
        with self._inside():
            if self._run.turn is not None:
                return repeated(self._run, calls)
            with self._verb(now, "propose", calls=calls, text=text, usage=usage):
                return open_turn(self._run, calls, text, usage)

    def observe(self, call_id: str, outcome: Outcome, now: datetime | None = None) -> Progress:
        """
        Report what came of an allowed call, or of a `RunCall` command.

        Returns the state, the answers for deferred calls, and the outcome of the run once it has one.

        Raises:
            HostError: the id is of no admitted call, or was reported with another outcome.  Nothing has changed then.
        """
        held = self._held
        if held and now is None and type(outcome) is Succeeded:
            try:
                call = held[0]
                del held[0]  # no call between the two, so that no other thread and no signal comes between
            except IndexError:  # another thread was quicker
                return self._observe(call_id, outcome, now)
            try:
                progress = quick.observe(self._run, call, outcome) if call[0] == call_id else None
                if progress is not None:
                    self._free.append(None)
                    return progress
                held.append(call)
            except BaseException as error:
                self._break_off(error)
        return self._observe(call_id, outcome, now)

    def _observe(self, call_id: str, outcome: Outcome, now: datetime | None) -> Progress:
        check_report(call_id, outcome)
        with self._inside() as run:
            if running(run, call_id) is None:
                heard_before(run, call_id, outcome)
                return self._progress()
            with self._verb(now, "observe", call_id=call_id, outcome=outcome):
                if (bound := running(run, call_id)) is not None:  # else a deadline came first, and ended the run
                    arrive(run, bound, outcome)
                return self._progress()

    def tick(self, now: datetime) -> Progress:
        """Let time pass: fire what is due by `now`, and look at what is waited for."""
        with self._inside(), self._verb(now, "tick"):
            if self._run.watching:
                follow(self._run)
            return self._progress()

    def claim(self, *, confidence: float, now: datetime | None = None) -> Progress:
        """Note the confidence (0 to 1) that the agent, or a check of the host's, gives."""
        if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
            raise HostError(f"a confidence lies between 0 and 1, and is not {told(confidence)}")
        with self._inside(), self._verb(now, "claim", confidence=confidence):
            self._run.confidence = confidence
            self._run.claims += 1
            self._run.record("claimed", confidence)
            follow(self._run)
            return self._progress()

    def signal(self, name: str, data: Any = None, now: datetime | None = None) -> Progress:
        """
        Tell of something outside: whoever waits for it goes on, else it is kept until somebody does.

        `data` is any JSON; the wait that takes it makes it `signals.NAME`.

        Raises:
            HostError: no step waits for a signal of that name and nothing ends by it, or the data is no JSON.
        """
        with self._inside(), self._verb(now, "signal", name=name, data=data):
            check_signal(self._run, name)
            value = payload(name, data)
            self._run.record("signalled", name, value)
            if self._run.ending is None:
                signal(self._run, name, value)
            follow(self._run)
            return self._progress()

    def complete(self, note: str = "", now: datetime | None = None, step: str | None = None) -> Progress:
        """
        Declare a step complete, by the host's own authority (recorded as such; no proof covers it).

        `step` says which, where several are open.
        """
        with self._inside(), self._verb(now, "complete", note=note, step=step):
            complete(self._run, note, step)
            return self._progress()

    def skip(self, note: str = "", now: datetime | None = None, step: str | None = None) -> Progress:
        """
        Skip a step.

        Raises:
            HostError: the step is required, or several are open and none is named.
        """
        with self._inside(), self._verb(now, "skip", note=note, step=step):
            skip(self._run, note, step)
            return self._progress()

    def fail(self, note: str = "", now: datetime | None = None, step: str | None = None) -> Progress:
        """Declare a step failed: its `on_failure`, else the failure of its block, or the end of the run."""
        with self._inside(), self._verb(now, "fail", note=note, step=step):
            fail(self._run, note, step)
            return self._progress()

    def stop(self, reason: str, *, goal: bool = False, now: datetime | None = None) -> Progress:
        """
        End the run where it stands, by the host's own authority: `stopped:REASON`.

        With `goal`, as a termination branch that is a goal would (S37): `success` where no required step is open, else
        `incomplete:REASON`.

        Raises:
            HostError: the run is over already.
        """
        with self._inside(), self._verb(now, "stop", reason=reason, goal=goal):
            stop(self._run, reason, goal)
            return self._progress()

    def note(self, name: str, data: Any = None, now: datetime | None = None) -> None:
        """
        Put something of the host's own into the record; it moves nothing.

        Raises:
            HostError: the name is no text, or the data no JSON.
        """
        with self._inside(), self._verb(now, "note", name=name, data=data):
            self._run.record("noted", words(name, "the name of a note"), payload(name, data))

    def witness(self, call: ToolCall, outcome: Outcome, *, now: datetime | None = None) -> Verdict:
        """
        Judge a call that ran without being asked about, in `shadow` mode (S55).

        Returns what the gate would have said; a legal call moves the run as if it had been admitted, an illegal one, or
        one that a person should have allowed first, is recorded and moves nothing.

        Raises:
            HostError: the session is in another mode, or a turn is open.
        """
        if self._run.mode != "shadow":
            raise HostError("calls are witnessed in `shadow` mode; in any other, propose them first")
        check_reply([call], "", None)
        check_report(call.call_id, outcome)
        with self._inside() as run:
            if run.turn is not None:
                return repeated(run, [call])[0]
            with self._verb(now, "witness", call=call, outcome=outcome):
                return witness(run, call, outcome)

    def foresee(self, calls: Sequence[ToolCall]) -> list[Verdict]:
        """Say what `propose(calls)` would answer, and change nothing; while a turn is open, only for its own calls."""
        check_reply(calls, "", None)
        with self._inside() as run:
            return repeated(run, calls) if run.turn is not None else foresee_all(run, calls)

    def call(self, call_id: str) -> ToolCall:
        """
        An admitted call as it may run: with the arguments that were decided on, or those a person has edited.

        Raises:
            HostError: no call of that id is under way.
        """
        with self._inside() as run:
            bound = running(run, call_id)
            if bound is None:
                raise HostError(f"no call {told(call_id)} may run now")
            return ToolCall(bound.tool, copy(bound.args), bound.call_id)

    def decide(self, call: ToolCall) -> Verdict:
        """Say what `propose([call])` would answer, and change nothing."""
        check_reply([call], "", None)
        with self._inside() as run:
            return repeated(run, [call])[0] if run.turn is not None else foresee(run, call)

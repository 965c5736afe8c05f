"""Taking in what a host reports of a call, once (S15, S52)."""

from __future__ import annotations

from collections.abc import Iterator

from guideway.statemachine.errors import HostError
from guideway.statemachine.tools import Effect

from .calls import Outcome, Substituted, Succeeded, told
from .gate import effect_of
from .own import CONTROL_DONE, Settled, own, same_outcome
from .run import Bound, Run, Status
from .turns import follow, settle
from .verdicts import Wait


def check_report(call_id: object, outcome: object) -> None:
    """
    What a host passes to `observe`.

    Raises:
        HostError: the id is no text, or the outcome no outcome.
    """
    if not isinstance(call_id, str):
        raise HostError(f"a call id is a text, not {told(call_id)}")
    if not isinstance(outcome, Outcome):
        known = "Succeeded, Failed, Cancelled, Unknown or Substituted"
        raise HostError(f"the outcome of a call is {known}, not {told(outcome)}")


def running(run: Run, call_id: str) -> Bound | None:
    """The call, if it was admitted and nothing has been reported of it."""
    bound = run.outstanding.get(call_id)
    return bound if bound is not None and bound.status is Status.RUNNING else None


def arrive(run: Run, bound: Bound, outcome: Outcome) -> None:
    """An agent's outcome waits for those of earlier calls of its turn (S15); others are applied as they arrive."""
    bound.outcome = taken(run, bound, outcome)
    bound.substituted = isinstance(outcome, Substituted)
    bound.status = Status.ARRIVED
    run.commands.pop(bound.call_id, None)
    if bound.automatic or bound.orphan or run.turn is None or bound not in run.turn.calls:
        settle(run, bound)
    elif next(call for call in run.turn.calls if call.holds) is not bound:
        run.record("arrived", bound.call_id, bound.outcome.word)
    follow(run)


def taken(run: Run, bound: Bound, outcome: Outcome) -> Settled:
    """The outcome, copied.  A result that no tool gave is evidence of a read; no write happened by it (S53)."""
    found = own(outcome)
    if isinstance(outcome, Substituted) and effect_of(run, bound) is not Effect.READ:
        return Settled("cancelled", found.value)
    return found


def heard_before(run: Run, call_id: str, outcome: Outcome) -> None:
    """
    Accept a repeated report of the same outcome, which changes nothing.

    Raises:
        HostError: the outcome is another one, or the call was never admitted.
    """
    bound = run.outstanding.get(call_id)
    known = bound.outcome if bound is not None else how_settled(run, call_id)
    if known is not None and (same(known, outcome) or is_control(known, outcome)):
        return
    if bound is not None and bound.status is Status.PENDING:
        raise HostError(f"call {told(call_id)} waits for a person; it must not have run")
    if call_id in run.settled or bound is not None:
        raise HostError(f"call {told(call_id)} is settled already, with another outcome")
    raise HostError(f"no call {told(call_id)} was admitted; report only calls whose verdict is allowed")


def same(known: Settled, outcome: Outcome) -> bool:
    """The same end, reported twice."""
    found = own(outcome)
    if isinstance(outcome, Substituted) and known.word == "cancelled":
        found = found._replace(word="cancelled")
    return same_outcome(known, found)


def how_settled(run: Run, call_id: str) -> Settled | None:
    """How the call ended, if it has."""
    found = run.settled.get(call_id)
    return None if found is None else Settled(*found)


def is_control(known: Settled, outcome: Outcome) -> bool:
    """A control tool ran inside the gate; an adapter may report it as done all the same."""
    return known == CONTROL_DONE and isinstance(outcome, Succeeded)


def waits(run: Run) -> Iterator[str]:
    """What the run waits for: questions, calls under way, timers; a line each."""
    for asked in run.pending.values():
        yield f"{asked.approval_id}: {asked.ask or asked.of} ({', '.join(asked.approvers) or 'anybody'})"
    for bound in run.outstanding.values():
        if bound.status is Status.RUNNING:
            yield f"call {bound.call_id}: {bound.tool}"
    for timer in run.timers:
        yield f"{timer.kind} of {timer.step or 'the run'}: {timer.due.isoformat()}"
    for command in run.commands.values():
        if isinstance(command, Wait) and command.due is None:
            yield f"signal {command.signal} in {command.step}" if command.signal else f"{command.step} until it holds"

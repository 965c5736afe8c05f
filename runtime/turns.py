"""Turns, waves, and what follows an event (S9, S12, S13, S15 to S17)."""

from __future__ import annotations

from guideway.statemachine.definition import StateKind
from guideway.statemachine.tools import CONTROL

from .completion import held_open
from .ending import check_termination, publish
from .gate import Admit, Hold, decide
from .issue import admit, admit_automatic, hold, issue, note
from .moves import automatic, take
from .own import CONTROL_DONE
from .run import Bound, Run, Status
from .settle import apply
from .teach import refuse
from .verdicts import Allow


def react(run: Run) -> None:
    """Automatic moves, ends, commands: steps 4 to 6 of a macro-step, until nothing moves (S9)."""
    while True:
        automatic(run)
        check_termination(run)
        if run.ending is not None or not issue(run):
            break
    publish(run)


def follow(run: Run) -> None:
    """What follows an event: outcomes that waited, deferred automatic calls, the next wave, the end of the turn."""
    drain(run)
    react(run)
    if run.waiting:
        again, run.waiting = run.waiting, []
        for bound in again:
            admit_automatic(run, bound)
        react(run)
    advance_turn(run)
    publish(run)


def advance_turn(run: Run) -> None:
    """Decide the next wave when the last one is settled; end the turn when nothing of it is left."""
    while (turn := run.turn) is not None and not any(bound.holds for bound in turn.calls):
        deferred = [bound for bound in turn.calls if bound.status is Status.DEFERRED]
        if not deferred:
            end_turn(run)
            return
        decide_wave(run, deferred, again=True)
        if all(bound.status is Status.DEFERRED for bound in deferred):
            return  # they wait for calls outside this turn


def decide_wave(run: Run, calls: list[Bound], again: bool = False) -> None:
    """Decide calls in model order (S13, S14)."""
    behind = False
    for bound in calls:
        if run.turn is not None and run.turn.failed and again and run.ending is None:
            refuse(run, bound, "after_failed")
            continue
        decision = decide(run, bound, behind=behind)
        if isinstance(decision, Hold):
            hold(run, bound, decision, again)
            behind = True
        elif not isinstance(decision, Admit):
            refuse(run, bound, *decision)
        elif bound.tool in CONTROL:
            carry_out(run, bound)
        else:
            admit(run, bound, decision)


def carry_out(run: Run, bound: Bound) -> None:
    """A control tool acts at once: there is nothing to run (S17)."""
    step, turn = run.row.step, run.turn
    bound.status = Status.DONE
    bound.step = step.id if step else ""
    run.settled[bound.call_id] = CONTROL_DONE
    bound.answer = Allow(bound.call_id, bound.tool, bound.step, True)
    run.verdicts.append(bound.answer)
    note(run, bound, "allow")
    run.record("settled", bound.call_id, bound.tool, "ok", None, True, bound.step)
    if turn is not None:
        turn.succeeded = True
    run.nudges = run.refusals = 0
    confidence = bound.args.get("confidence")
    if isinstance(confidence, int | float) and not isinstance(confidence, bool):
        run.confidence = confidence
    run.moves = 0
    take(run, "completed" if bound.tool == "complete_step" else "skipped")
    react(run)


def drain(run: Run) -> None:
    """Apply the outcomes that have arrived, in model order, as far as they go (S15)."""
    turn = run.turn
    for bound in list(turn.calls) if turn else ():
        if bound.status is Status.ARRIVED and bound.outcome is not None:
            settle(run, bound)
        if bound.holds:
            return


def settle(run: Run, bound: Bound) -> None:
    """Apply one outcome, with its macro-step."""
    outcome = bound.outcome
    if outcome is None:
        return
    run.moves = 0
    apply(run, bound, outcome)
    react(run)


def end_turn(run: Run) -> None:
    """The `turn` event (S16), a macro-step of its own."""
    turn = run.turn
    if turn is None:
        return
    run.turn = None
    run.moves = 0
    run.iterations += 1
    run.text, run.text_only = turn.text, not turn.calls
    if run.ending is not None:
        run.record("turn_ended", turn.number, None)
        publish(run)
        return
    effect = after_text(run, turn.began) if run.text_only else None
    if turn.denied and not turn.succeeded:
        run.refusals += 1
        effect = "refused"
    run.record("turn_ended", turn.number, effect)
    react(run)


def after_text(run: Run, began: tuple[tuple[str, int], ...]) -> str | None:
    """A text-only turn completes, skips or nudges the step it began in."""
    step = run.row.step
    if run.row.kind is not StateKind.STEP or step is None:
        return None
    same = (run.cursor.step, run.cursor.visit) in began
    if same and not run.row.needed and held_open(run) is None:
        take(run, "completed", "the reply ends the step")
        return "completed"
    if same and untouched(run):
        skip_optional(run)
        return "skipped"
    run.nudges += 1
    return "nudged"


def untouched(run: Run) -> bool:
    """An optional step in which nothing was called."""
    step = run.row.step
    return step is not None and not step.required and run.cursor.spent == 0 and run.row.kind is StateKind.STEP


def skip_optional(run: Run) -> None:
    """Pass over the optional step, and on through those right behind it."""
    seen: set[str] = set()
    while untouched(run) and run.ending is None and run.row.name not in seen:
        seen.add(run.row.name)
        take(run, "skipped", "the reply calls nothing")
        automatic(run)

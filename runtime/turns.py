"""Turns, waves, and what follows an event (S9, S12, S13, S15 to S17)."""

from __future__ import annotations

from guideway.statemachine.definition import StateKind
from guideway.statemachine.tools import CONTROL

from .automatic import automatic, issue
from .candidates import Admit, Hold
from .closing import close_frames
from .completion import held_open
from .control import at_work
from .cursors import Cursor
from .ending import check_termination, publish
from .issue import admit, admit_automatic, hold, note
from .lenient import turn_down
from .moves import take
from .owing import judge, owes
from .own import CONTROL_DONE
from .run import Bound, Run, Status
from .settle import apply
from .verdicts import Allow
from .waits import watch


def react(run: Run) -> None:
    """Automatic moves, ends, commands: steps 4 to 6 of a macro-step, until nothing moves (S9)."""
    while True:
        automatic(run)
        check_termination(run)
        if run.restless and run.ending is None:
            continue
        if issue(run) and (run.restless or run.fresh):
            continue
        if run.watching and run.ending is None and watch(run):
            continue
        if not close_frames(run):
            break
    publish(run)


def start_macro_step(run: Run) -> None:
    """Moves and items are counted anew (S9.4)."""
    run.moves = run.entered = 0
    run.most = run.size
    run.opened.clear()


def follow(run: Run) -> None:
    """What follows an event: outcomes that waited, deferred automatic calls, the next wave, the end of the turn."""
    while True:
        drain(run)
        react(run)
        if run.waiting:
            again, run.waiting = run.waiting, []
            for bound in again:
                if bound.current:
                    admit_automatic(run, bound)
            react(run)
        advance_turn(run)
        react(run)
        if not arrived(run):
            return


def arrived(run: Run) -> bool:
    """An outcome that waited for earlier ones waits no longer: what it waited for has become void meanwhile."""
    for bound in run.turn.calls if run.turn is not None else ():
        if bound.status is Status.ARRIVED:
            return True
        if bound.holds:
            break
    return bool(orphans(run))


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
            turn_down(run, bound, "after_failed")
            continue
        decision = judge(run, bound, behind=behind)
        if isinstance(decision, Hold):
            hold(run, bound, decision, again)
            behind = True
        elif not isinstance(decision, Admit):
            turn_down(run, bound, *decision)
        elif bound.tool in CONTROL:
            carry_out(run, bound, decision)
        else:
            admit(run, bound, decision)


def carry_out(run: Run, bound: Bound, decision: Admit) -> None:
    """A control tool acts at once: there is nothing to run (S17)."""
    cursor, turn = decision.cursor, run.turn
    if cursor is None:
        return
    bound.status = Status.DONE
    bound.cursor, bound.frame, bound.step = cursor, cursor.frame, cursor.step
    run.settled[bound.call_id] = CONTROL_DONE
    bound.answer = Allow(bound.call_id, bound.tool, bound.step, True)
    run.verdicts.append(bound.answer)
    note(run, bound, "allow")
    run.record("settled", bound.call_id, bound.tool, "ok", None, True, bound.step, cursor.frame.shown)
    if turn is not None:
        turn.succeeded = True
    run.nudges = run.refusals = 0
    take_claims(run, cursor, bound)
    start_macro_step(run)
    take(run, cursor, "completed" if bound.tool == "complete_step" else "skipped")
    react(run)


def take_claims(run: Run, cursor: Cursor, bound: Bound) -> None:
    """What the agent says of itself: its confidence, and the claims that the step declares."""
    confidence = bound.args.get("confidence")
    if isinstance(confidence, int | float) and not isinstance(confidence, bool):
        run.confidence = confidence
        run.claims += 1
    step = cursor.row.step
    if step is not None and step.claims and bound.tool == "complete_step":
        cursor.frame.write("claims", step.id, {k: v for k, v in bound.args.items() if k in step.claims})


def drain(run: Run) -> None:
    """Apply the outcomes that have arrived, in model order, as far as they go (S15)."""
    for bound in orphans(run):
        settle(run, bound)
    turn = run.turn
    for bound in list(turn.calls) if turn else ():
        if bound.status is Status.ARRIVED and bound.outcome is not None:
            settle(run, bound)
        if bound.holds:
            return


def orphans(run: Run) -> list[Bound]:
    """Outcomes that have arrived of calls whose visit is gone: they wait for nothing (S26, S31)."""
    return [b for b in run.outstanding.values() if b.orphan and b.status is Status.ARRIVED] if run.strays else []


def settle(run: Run, bound: Bound) -> None:
    """Apply one outcome, with its macro-step."""
    outcome = bound.outcome
    if outcome is None:
        return
    start_macro_step(run)
    apply(run, bound, outcome)
    react(run)


def end_turn(run: Run) -> None:
    """The `turn` event (S16), a macro-step of its own."""
    turn = run.turn
    if turn is None:
        return
    run.turn = None
    start_macro_step(run)
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


def after_text(run: Run, began: tuple[tuple[Cursor, str, int], ...]) -> str | None:
    """A text-only turn completes or skips the steps it began in, or nudges (S16)."""
    effects = [ended_by_text(run, cursor) for cursor, step, visit in began if cursor.at == (step, visit)]
    if any(effects):
        return next(effect for effect in effects if effect)
    if all(converses(cursor) for cursor in at_work(run)):
        return None
    run.nudges += 1
    return "nudged"


def ended_by_text(run: Run, cursor: Cursor) -> str | None:
    """What the reply does to one step."""
    step = cursor.row.step
    if cursor.gone or run.ending is not None or cursor.row.kind is not StateKind.STEP or step is None:
        return None
    if converses(cursor):
        return None
    plain = not cursor.row.needed and not step.claims
    if plain and held_open(run, cursor) is None and owes(run, cursor) is None:
        take(run, cursor, "completed", "the reply ends the step")
        return "completed"
    if untouched(cursor) and owes(run, cursor, event="skipped") is None:
        skip_optional(run, cursor)
        return "skipped"
    return None


def converses(cursor: Cursor) -> bool:
    """A reply without calls goes to the user: the playbook says so, or one that has called it."""
    return any(frame.plan.definition.conversation for frame in cursor.frame.playbooks())


def untouched(cursor: Cursor) -> bool:
    """An optional step in which nothing was called."""
    step = cursor.row.step
    return step is not None and not step.required and cursor.spent == 0 and cursor.row.kind is StateKind.STEP


def skip_optional(run: Run, cursor: Cursor) -> None:
    """Pass over the optional step, and on through those right behind it."""
    seen: set[str] = set()
    while untouched(cursor) and run.ending is None and not cursor.gone and cursor.row.name not in seen:
        seen.add(cursor.row.name)
        take(run, cursor, "skipped", "the reply calls nothing")
        automatic(run)

"""Admitting calls and issuing the runtime's own (S9.6, S14.9, S28)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from guideway.statemachine.definition import StateKind
from guideway.statemachine.expressions import Unknown as Missing
from guideway.statemachine.steps import Approval, Call
from guideway.statemachine.tools import Effect

from .facts import copy
from .gate import Admit, Hold, decide
from .moves import fail, take
from .own import key_of
from .questions import ask_call, ask_step, text
from .run import Bound, Run, Status, Timer
from .scope import scope
from .teach import refuse
from .verdicts import Allow, Defer, RunCall, Wait


def issue(run: Run) -> bool:
    """Issue what the state just entered asks for; True where that moved the cursor on."""
    if not run.fresh or run.ending is not None:
        return False
    run.fresh = False
    before = run.cursor.state, run.cursor.visit
    if run.row.kind is StateKind.APPROVAL:
        ask_for_step(run)
    elif run.row.kind is StateKind.CALL:
        call(run)
    return run.ending is not None or before != (run.cursor.state, run.cursor.visit)


def call(run: Run) -> None:
    """Make the call of an automatic step: with its arguments of now, or those of the try before."""
    step, cursor = run.row.step, run.cursor
    if step is None or step.call is None:
        return
    args = arguments(run, step.call)
    if isinstance(args, Missing):
        fail(run, f"args: {args.why}")
        return
    bound = Bound(next_id(run), step.call.tool, copy(args), automatic=True)
    bound.step, bound.visit, bound.approved = step.id, cursor.visit, cursor.granted
    cursor.again, cursor.granted = None, False
    admit_automatic(run, bound)


def arguments(run: Run, call: Call) -> Any:
    """The arguments of an automatic call: those a person was shown, those of the try before, or of now."""
    again = run.cursor.again
    return again if again is not None else text(run, dict(call.args), scope(run))


def ask_for_step(run: Run) -> None:
    """Ask for the step; where it makes a call, the person decides on exactly that call (S29)."""
    step = run.row.step
    args: Any = None
    if step is not None and step.call is not None:
        args = arguments(run, step.call)
        if isinstance(args, Missing):
            fail(run, f"args: {args.why}")
            return
        args = run.cursor.again = copy(args)
        run.cursor.shown = key_of(step.call.tool, args)
    if why := ask_step(run, args):
        fail(run, f"approval: {why}")


def next_id(run: Run) -> str:
    """`STEP@VISIT.N`, made longer where an agent has taken that id."""
    run.cursor.issued += 1
    call_id = f"{run.cursor.step}@{run.cursor.visit}.{run.cursor.issued}"
    while call_id in run.settled or call_id in run.outstanding:
        call_id += "'"
    return call_id


def admit_automatic(run: Run, bound: Bound) -> None:
    """Decide an automatic call: run it, ask, wait, or fail its step."""
    decision = decide(run, bound)
    if isinstance(decision, Hold):
        run.waiting.append(bound)
    elif isinstance(decision, Admit):
        admit(run, bound, asked_anew(run, bound, decision))
    else:
        denial = refuse(run, bound, *decision)
        fail(run, f"denied: {denial.code}")


def asked_anew(run: Run, bound: Bound, decision: Admit) -> Admit:
    """
    A step's approval covers the call that was shown with it, and single use (S29).

    A later round of `repeat` is asked about again if its arguments are others, or if it cannot be undone.
    """
    step, cursor = run.row.step, run.cursor
    if step is None or step.approval is None or bound.approved or decision.approval is not None:
        return decision
    key, covered = key_of(bound.tool, bound.args), cursor.shown
    used = cursor.issued > 1 and run.plan.effect(bound.tool) is Effect.IRREVERSIBLE
    cursor.shown = key
    return decision if key == covered and not used else decision._replace(approval=step.approval)


def admit(run: Run, bound: Bound, decision: Admit) -> None:
    """Reserve, bind and answer (S14.9)."""
    bind(run, bound, decision)
    if decision.approval is not None and not bound.approved:
        if ask(run, bound, decision.approval):
            return
    else:
        start(run, bound)


def bind(run: Run, bound: Bound, decision: Admit) -> None:
    """Tie the call to cursor, visit and entry."""
    bound.line = decision.line
    bound.step, bound.visit = run.cursor.step, run.cursor.visit
    run.outstanding[bound.call_id] = bound


def ask(run: Run, bound: Bound, approval: Approval) -> bool:
    """Wait for a person; a question that cannot be written refuses the call."""
    answer = ask_call(run, bound, approval)
    if isinstance(answer, str):
        del run.outstanding[bound.call_id]
        refuse(run, bound, "approval", answer, bound.line)
        if bound.automatic:
            fail(run, f"approval: {answer}")
        return False
    bound.answer = answer
    run.verdicts.append(answer)
    note(run, bound, "needs_approval")
    return True


def start(run: Run, bound: Bound) -> None:
    """The call may run."""
    bound.status = Status.RUNNING
    if bound.automatic:
        tool = run.plan.tool(bound.tool)
        name = tool.alias if tool and tool.alias else bound.tool
        run.commands[bound.call_id] = RunCall(bound.call_id, name, copy(bound.args), bound.step)
    else:
        bound.answer = Allow(bound.call_id, bound.tool, bound.step)
        run.verdicts.append(bound.answer)
    note(run, bound, "allow")


def hold(run: Run, bound: Bound, decision: Hold, again: bool) -> None:
    """The call waits; an answer it has had already is not given twice."""
    bound.status = Status.DEFERRED
    if not again:
        bound.answer = Defer(bound.call_id, bound.tool, decision.why)
        run.verdicts.append(bound.answer)
        note(run, bound, "defer", decision.why)


def note(run: Run, bound: Bound, verdict: str, detail: str | None = None) -> None:
    """Record the answer."""
    run.record(
        "decided", bound.call_id, bound.tool, bound.args, verdict, bound.step, run.row.name, None, detail, None, None
    )


def wait(run: Run, seconds: float) -> None:
    """Wake the step for its next try or round, at once where there is nothing to wait for."""
    cursor = run.cursor
    if seconds <= 0 or run.now is None:
        run.fresh = True
        return
    timer = Timer(run.now + timedelta(seconds=seconds), "wake", cursor.step, cursor.visit)
    run.timers.append(timer)
    wake = f"wake {cursor.step}@{cursor.visit}.{cursor.issued}"
    run.commands[wake] = Wait(wake, timer.due, cursor.step)


def reject(run: Run, bound: Bound, why: str) -> None:
    """A person said no: the step's `on_reject`, or the agent is told (S30)."""
    run.outstanding.pop(bound.call_id, None)
    refuse(run, bound, "rejected", why, by_gate=False)
    cursor = run.cursor
    if (bound.step, bound.visit) != (cursor.step, cursor.visit):
        return
    cursor.rejected = [*(cursor.rejected or ()), key_of(bound.tool, bound.args)]
    if run.row.state.edges.get("rejected"):
        take(run, "rejected", why)
    elif bound.automatic:
        fail(run, "rejected")

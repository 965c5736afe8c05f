"""Admitting calls and issuing what states ask for (S9.6, S14.9, S28)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from guideway.statemachine.approvals import Approval
from guideway.statemachine.expressions import Unknown as Missing
from guideway.statemachine.steps import Call
from guideway.statemachine.tools import Effect

from .candidates import Admit, Hold, applies
from .cursors import Cursor
from .facts import copy
from .gate import decide
from .moves import fail, take
from .own import key_of
from .questions import ask_call, ask_step, text
from .run import Bound, Run, Status, Timer
from .scope import scope
from .teach import refuse
from .verdicts import Allow, Defer, RunCall, Wait


def call(run: Run, cursor: Cursor) -> None:
    """Make the call of an automatic step: with its arguments of now, or those of the try before."""
    step = cursor.row.step
    if step is None or step.call is None:
        return
    args = arguments(run, cursor, step.call)
    if isinstance(args, Missing):
        fail(run, cursor, f"args: {args.why}")
        return
    make(run, cursor, step.call.tool, args)


def make(run: Run, cursor: Cursor, tool: str, args: dict[str, Any], reverses: list[Any] | None = None) -> None:
    """Propose a call of the runtime's own to the gate."""
    bound = Bound(next_id(run, cursor), tool, copy(args), automatic=True)
    bound.cursor, bound.frame, bound.reverses = cursor, cursor.frame, reverses
    bound.step, bound.visit = cursor.at
    bound.approved = cursor.granted
    cursor.again, cursor.granted = None, False
    admit_automatic(run, bound)


def arguments(run: Run, cursor: Cursor, call: Call) -> Any:
    """The arguments of an automatic call: those a person was shown, those of the try before, or of now."""
    again = cursor.again
    return again if again is not None else text(run, dict(call.args), scope(run, cursor.frame))


def ask_for_step(run: Run, cursor: Cursor) -> None:
    """Ask for the step; where it makes a call, the person decides on exactly that call (S29)."""
    step = cursor.row.step
    approval = applies(run, cursor.frame, step.approval, None) if step is not None else None
    if step is None or approval is None:
        take(run, cursor, past_approval(cursor), "no rule asks for an approval")
        return
    args: Any = None
    if step.call is not None:
        args = arguments(run, cursor, step.call)
        if isinstance(args, Missing):
            fail(run, cursor, f"args: {args.why}")
            return
        args = cursor.again = copy(args)
        cursor.shown = key_of(step.call.tool, args)
    if why := ask_step(run, cursor, approval, args):
        fail(run, cursor, f"approval: {why}")


def past_approval(cursor: Cursor) -> str:
    """The event that leads on from an approval: into the step, or, where it is all there is, to what follows."""
    return "approved" if cursor.row.state.edges.get("approved") else "completed"


def next_id(run: Run, cursor: Cursor) -> str:
    """`STEP@VISIT.N` after the path of its frame, made longer where an agent has taken that id."""
    cursor.issued += 1
    call_id = f"{cursor.name}@{cursor.visit}.{cursor.issued}"
    while call_id in run.settled or call_id in run.outstanding:
        call_id += "'"
    return call_id


def admit_automatic(run: Run, bound: Bound) -> None:
    """Decide an automatic call: run it, ask, wait, or fail its step."""
    decision = decide(run, bound)
    cursor = bound.cursor
    if isinstance(decision, Hold):
        run.waiting.append(bound)
    elif isinstance(decision, Admit):
        admit(run, bound, asked_anew(run, bound, decision))
    else:
        denial = refuse(run, bound, *decision)
        if cursor is not None:
            fail(run, cursor, f"denied: {denial.code}")


def asked_anew(run: Run, bound: Bound, decision: Admit) -> Admit:
    """
    A step's approval covers the call that was shown with it, and single use (S29).

    A later round of `repeat` is asked about again if its arguments are others, or if it cannot be undone.
    """
    cursor = bound.cursor
    step = cursor.row.step if cursor is not None else None
    if cursor is None or step is None or step.approval is None or step.call is None:
        return decision
    if bound.approved or decision.approval is not None:
        return decision
    key, covered = key_of(bound.tool, bound.args), cursor.shown
    used = cursor.issued > 1 and cursor.frame.effect(bound.tool) is Effect.IRREVERSIBLE
    if covered is None:
        return decision  # no rule asked for the step
    cursor.shown = key
    if key == covered and not used:
        return decision
    return decision._replace(approval=applies(run, cursor.frame, step.approval, None))


def admit(run: Run, bound: Bound, decision: Admit) -> None:
    """Reserve, bind and answer (S14.9)."""
    bind(run, bound, decision)
    if decision.approval is not None and not bound.approved:
        if ask(run, bound, decision.approval):
            return
    else:
        start(run, bound)


def bind(run: Run, bound: Bound, decision: Admit) -> None:
    """Tie the call to cursor, visit and entry; where there are several, one that is legal everywhere has no cursor."""
    bound.line, bound.frame = decision.line, decision.frame
    if not bound.automatic:
        bound.cursor = at = decision.cursor or run.single
        bound.step, bound.visit = at.at if at is not None else ("", 0)
    run.outstanding[bound.call_id] = bound


def ask(run: Run, bound: Bound, approval: Approval) -> bool:
    """Wait for a person; a question that cannot be written refuses the call."""
    answer = ask_call(run, bound, approval)
    if isinstance(answer, str):
        del run.outstanding[bound.call_id]
        refuse(run, bound, "approval", answer, bound.line)
        if bound.automatic and bound.cursor is not None:
            fail(run, bound.cursor, f"approval: {answer}")
        return False
    bound.answer = answer
    run.verdicts.append(answer)
    note(run, bound, "needs_approval")
    return True


def start(run: Run, bound: Bound) -> None:
    """The call may run."""
    bound.status = Status.RUNNING
    if bound.automatic:
        tool = (bound.frame or run.frame).tool(bound.tool)
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
    at = bound.cursor or run.single or run.root
    run.record(
        "decided", bound.call_id, bound.tool, bound.args, verdict, bound.step, at.row.name, None, detail, None, None,
        (bound.frame or run.frame).shown,
    )  # fmt: skip


def wait(run: Run, cursor: Cursor, seconds: float, kind: str = "wake") -> None:
    """Set the timer of a wait (`due`), or of the next try or round (`wake`): at once where there is nothing to wait."""
    if seconds <= 0 or run.now is None:
        run.fresh.append(cursor)
        return
    wake = f"wake {cursor.name}@{cursor.visit}.{cursor.issued}"
    timer = Timer(run.now + timedelta(seconds=seconds), kind, cursor, wake)
    run.set_timer(timer)
    run.commands[wake] = Wait(wake, timer.due, cursor.step)


def reject(run: Run, bound: Bound, why: str) -> None:
    """A person said no, or not in time: the step's `on_reject`, or the agent is told (S30)."""
    run.outstanding.pop(bound.call_id, None)
    expired = why == "expired"
    refuse(run, bound, "expired" if expired else "rejected", "" if expired else why, by_gate=False)
    cursor = bound.cursor
    if cursor is None or not bound.current:
        return
    cursor.rejected = [*(cursor.rejected or ()), key_of(bound.tool, bound.args)]
    event = no_event(cursor, expired)
    if event is not None:
        take(run, cursor, event, why)
    elif bound.automatic:
        fail(run, cursor, "rejected")


def no_event(cursor: Cursor, expired: bool) -> str | None:
    """What a rejection is for the step: where it expired, `on_timeout` if the step has one."""
    edges = cursor.row.state.edges
    if expired and edges.get("timeout"):
        return "timeout"
    return "rejected" if edges.get("rejected") else None

"""The control tools `complete_step` and `skip_step` (S17), decided with nothing outstanding."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from guideway.statemachine.definition import StateKind
from guideway.statemachine.steps import Step

from .candidates import Admit, Decision, Refuse
from .completion import held_open
from .cursors import Cursor
from .run import Bound, Run
from .schemas import problem

OWN_ARGS = frozenset({"result", "confidence", "step", "reason"})
"""What a control tool takes beside the claims of the step."""


def control(run: Run, bound: Bound) -> Decision:
    """Decide a control tool: for the step it names, else for the one step it can be meant for."""
    there = at_work(run)
    named = bound.args.get("step")
    if named is not None and len(there) != 1:
        there = [cursor for cursor in there if cursor.step == named]
        if not there:
            return Refuse("control", f"no step `{named}` is open")
    if not there:
        return Refuse("control", "no step of yours is open")
    confidence = bound.args.get("confidence", 0)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        return Refuse("bad_args", "a confidence lies between 0 and 1")
    decide = completing if bound.tool == "complete_step" else skipping
    answers = [decide(run, cursor, bound) for cursor in there]
    admitted = [answer for answer in answers if isinstance(answer, Admit)]
    if len(admitted) > 1 and named is None:
        steps = ", ".join(f"`{answer.cursor.step}`" for answer in admitted if answer.cursor)
        return Refuse("control", f"several steps can be meant, so say which: `step` is one of {steps}")
    return admitted[0] if admitted else answers[0]


def at_work(run: Run) -> list[Cursor]:
    """The cursors in agents' steps, in order."""
    if run.single is not None:
        return [run.single] if run.single.row.kind is StateKind.STEP else []
    return run.openings.at_work() if run.openings is not None else []


def skipping(run: Run, cursor: Cursor, bound: Bound) -> Decision:
    """Only an optional step that no person has allowed can be skipped."""
    step = cursor.row.step
    if step is None or step.required:
        return Refuse("control", f"`{cursor.step}` is required", cursor=cursor)
    if step.approval:
        return Refuse("control", f"a person allowed `{step.id}`", cursor=cursor)
    return Admit(None, None, cursor.frame, cursor)


def completing(run: Run, cursor: Cursor, bound: Bound) -> Decision:
    """It can never stand in for a tool: all else that completes the step must hold."""
    step = cursor.row.step
    if step is None:
        return Refuse("control", "no step of yours is open")
    if cursor.row.needed and not step.claims:
        tools = ", ".join(f"`{line.entry.tool}`" for line in cursor.row.needed)
        return Refuse(
            "control", f"`{step.id}` completes when {tools} succeeded, not by being declared complete", cursor=cursor
        )
    if step.claims and (wrong := wrong_claims(step, bound.args)):
        return Refuse("bad_args", wrong, cursor=cursor)
    if why := held_open(run, cursor, claimed(step, bound.args)):
        return Refuse("control", why, cursor=cursor)
    return Admit(None, None, cursor.frame, cursor)


def claimed(step: Step, args: dict[str, Any]) -> dict[str, Any]:
    """The declared claims among the arguments."""
    return {name: args[name] for name in step.claims if name in args}


def wrong_claims(step: Step, args: dict[str, Any]) -> str | None:
    """What is wrong with the claims: one is missing, unknown, or of another type."""
    for name, schema in step.claims.items():
        if name not in args:
            return f"`{step.id}` needs the claim `{name}`"
        if wrong := problem(dict(schema), args[name]):
            return f"claim `{name}`: {wrong}"
    for name in args:
        if name not in step.claims and name not in OWN_ARGS:
            near = get_close_matches(name, step.claims, n=1)
            return f"`{step.id}` declares no claim `{name}`" + (f"; did you mean `{near[0]}`?" if near else "")
    return None

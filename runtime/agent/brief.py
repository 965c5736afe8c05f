"""
What the model is told of where the run stands: a pure function of the session.

It says what the gate will say: every sentence comes from the table that decides.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from guideway.runtime.agents import OpenStep
from guideway.runtime.plan import plan_of
from guideway.runtime.run import first
from guideway.runtime.session import Session
from guideway.runtime.situation import converses, inner_inputs, open_steps
from guideway.runtime.start import openly
from guideway.runtime.teach import budgets
from guideway.runtime.verdicts import LegalCall
from guideway.statemachine.definition import Definition
from guideway.statemachine.tools import CONTROL

from .endings import ends

LONGEST = 400
"""Characters shown of one input."""


def render_brief(session: Session) -> str:
    """
    The brief: the playbook, its inputs, the open steps with what each needs and takes, budgets, and what ends the run.

    >>> import guideway
    >>> machine = guideway.load({"id": "t", "name": "Triage", "steps": [
    ...     {"id": "look", "description": "Look it up", "expected_tools": ["query_siem"]}]})
    >>> print(render_brief(guideway.Session(machine)))
    You work by the playbook "Triage". Every call is held against it; a refused call says what to do instead.
    <BLANKLINE>
    You are in step `look`: Look it up
    It needs: `query_siem`.
    Left: 1000 turns; 5 refusals in a row.
    <BLANKLINE>
    The run is over when the playbook says so. A reply without a call does not end it.
    """
    definition, inputs, left = known(session)
    head = [heading(definition), *given("Inputs", definition, inputs)]
    for inner, values in inner_inputs(session):
        head += given(f"Inputs of `{inner.id}`", inner, values)
    talks = converses(session)
    steps = ["\n".join(lines(step, talks)) for step in open_steps(session)]
    if steps:
        steps[-1] += f"\nLeft: {'; '.join(f'{count} {what}' for what, count in left)}."
    everywhere = [call for call in session.legal() if not call.step and call.tool not in CONTROL]
    if everywhere:
        steps.append(f"In every step you may use: {listed(everywhere)}.")
    return "\n\n".join(["\n".join(head), *steps, " ".join(ends(definition))])


def known(session: Session) -> tuple[Definition, Mapping[str, Any], list[tuple[str, int]]]:
    """The playbook, the inputs of the run, and what is left of its budgets."""
    with session._inside() as run:
        return plan_of(session.machine).definition, run.frame.inputs, list(budgets(run, first(run)))


def heading(definition: Definition) -> str:
    """Which playbook this is."""
    about = f" {definition.description.strip()}" if definition.description else ""
    rule = "Every call is held against it; a refused call says what to do instead."
    return f'You work by the playbook "{definition.name}".{about} {rule}'


def given(title: str, definition: Definition, inputs: Mapping[str, Any]) -> list[str]:
    """The inputs, one line; sensitive ones hidden."""
    shown = openly(definition, inputs)
    return [f"{title}: " + "; ".join(f"{name} = {short(value)}" for name, value in shown.items())] if shown else []


def short(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def lines(open_step: OpenStep, talks: bool = False) -> Iterator[str]:
    """One open step: what it is, what it needs, what it takes beside, how it ends."""
    step = open_step.step
    about = f": {' '.join(step.description.split())}" if step.description else ""
    yield f"You are in step `{open_step.path}{step.id}`{about}"
    if step.hints:
        yield "Hints:"
        yield from (f"- {hint}" for hint in step.hints)
    needed = [call for call in open_step.legal if call.needed]
    others = [call for call in open_step.legal if not call.needed and call.tool not in CONTROL]
    if needed:
        yield f"It needs: {listed(needed)}."
    if others:
        yield f"It also takes: {listed(others)}."
    if not step.required:
        yield "It is not required: `skip_step` leaves it out."
    if ending := how_it_ends(open_step, needed, talks):
        yield ending


def how_it_ends(open_step: OpenStep, needed: list[LegalCall], talks: bool) -> str:
    """How a step ends that its tools alone do not complete."""
    step = open_step.step
    if step.claims:
        claims = ", ".join(f"`{name}`" for name in step.claims)
        return f"It ends when you call `complete_step` with {claims}" + (", once the rest is done." if needed else ".")
    if step.work is None or all(entry.optional for entry in step.work.entries):
        return "It ends when you call `complete_step`" + ("." if talks else ", or reply with a text and no call.")
    return ""


def listed(calls: list[LegalCall]) -> str:
    """Calls, each with its constraints, how many more may succeed, and why."""
    return "; ".join(one(call) for call in calls)


def one(call: LegalCall) -> str:
    """
    One legal call in words.

    >>> one(LegalCall("pay", "refund", ("args.amount <= 100",), "of the cap", left=1))
    '`pay` where `args.amount <= 100` (once; because of the cap)'
    """
    left = "" if call.left is None else "once" if call.left == 1 else f"{call.left} times"
    notes = "; ".join(note for note in (left, f"because {call.because}" if call.because else "") if note)
    return f"{call}" + (f" ({notes})" if notes else "")

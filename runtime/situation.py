"""What a driver must know of a session beside its commands: who is at work, and what is waited for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from guideway.statemachine.definition import Definition
from guideway.statemachine.errors import HostError

from .agents import Agent, OpenStep
from .approvals import Question
from .calls import ToolCall
from .control import at_work
from .facts import copy
from .plan import plan_of
from .run import Run, Status
from .session import Session
from .teach import legal_in
from .toolbox import Tools, first_agent_step, missing_tools
from .turns import converses as to_the_user
from .verdicts import Cancel, Wait


def open_steps(session: Session) -> tuple[OpenStep, ...]:
    """The steps in which an agent may work now, in order; none while a turn is open."""
    with session._inside() as run:
        if run.turn is not None or run.ending is not None:
            return ()
        doubted = [bound.cursor for bound in run.outstanding.values() if bound.status is Status.DOUBT]
        at = [cursor for cursor in at_work(run) if not any(cursor is other for other in doubted)]
        there = [(step, cursor) for cursor in at if (step := cursor.row.step) is not None]
        return tuple(OpenStep(step, cursor.frame.path, tuple(legal_in(run, cursor))) for step, cursor in there)


def converses(session: Session) -> bool:
    """A reply without calls goes to the user now: the playbook of a step that is open is a conversation."""
    with session._inside(thaw=False) as run:
        return any(to_the_user(cursor) for cursor in at_work(run))


def overtaken(session: Session, call_id: str) -> bool:
    """A call that may run is not wanted any more: the run is ending, or the branch or visit it was for is over."""
    with session._inside() as run:
        bound = run.outstanding.get(call_id)
        return isinstance(run.commands.get(call_id), Cancel) or (bound is not None and bound.orphan)


def never_begun(session: Session) -> str | None:
    """A call of the runtime's own that the end of the run has overtaken; a driver that works in order began none."""
    with session._inside() as run:
        cancelled = (run.outstanding.get(c.call_id) for c in run.commands.values() if isinstance(c, Cancel))
        return next((bound.call_id for bound in cancelled if bound is not None and bound.automatic), None)


def definition_for(session: Session, call_id: str) -> Definition:
    """The playbook that a call under way belongs to: that of the run, or one that it calls."""
    with session._inside() as run:
        bound = run.outstanding.get(call_id)
        frame = bound.frame if bound is not None else None
        return (frame or run.frame).plan.definition


def under_way(session: Session) -> dict[str, ToolCall]:
    """The agent's calls that have been admitted or wait for a person, by id."""
    with session._inside() as run:
        mine = [bound for bound in run.outstanding.values() if not bound.automatic]
        return {bound.call_id: ToolCall(bound.tool, copy(bound.args), bound.call_id) for bound in mine}


def admitted(session: Session, call_id: str) -> ToolCall | None:
    """The call as it may run now, with the arguments a person has edited, if one has; None: it may not run."""
    with session._inside() as run:
        bound = run.outstanding.get(call_id)
        if bound is None or bound.status is not Status.RUNNING:
            return None
        return ToolCall(bound.tool, copy(bound.args), bound.call_id)


def forgotten(session: Session) -> int:
    """How many records the session holds no more, because they are kept elsewhere."""
    with session._inside(thaw=False) as run:
        return run.forgotten


def mode_of(session: Session) -> str:
    """The mode: `enforce`, `record` or `shadow`."""
    with session._inside(thaw=False) as run:
        return run.mode


def inner_inputs(session: Session) -> list[tuple[Definition, Mapping[str, Any]]]:
    """The playbooks that are called and open now, each with the inputs it was given."""
    with session._inside() as run:
        return [(frame.plan.definition, frame.inputs) for frame in run.frames]


def whom(question: Question) -> str:
    """
    For whom a question waits, and what it is.

    >>> whom(Question("ask a@1", "ask", "a", "Was it you?", ("ann",)))
    'ann to answer in `a`: Was it you?'
    """
    verb = "answer in" if question.of == "ask" else "decide on"
    missing = question.needed - len(question.said)
    more = f" ({missing} persons)" if missing > 1 else ""
    return f"{' or '.join(question.approvers) or 'anybody'} to {verb} `{question.step}`{more}: {question.ask}"


def awaited(session: Session) -> list[str]:
    """What the run waits for that is neither a person nor a time: signals, conditions, calls others have begun."""
    with session._inside() as run:
        return [*_outside(run), *_under_way(run)]


def _outside(run: Run) -> Iterator[str]:
    for command in run.commands.values():
        if isinstance(command, Wait) and command.due is None and command.signal is not None:
            yield f"the signal `{command.signal}` (step `{command.step}`)"
    for cursor in run.watching:
        wait = cursor.row.step.wait if cursor.row.step is not None else None
        if wait is not None and wait.until is not None:
            yield f"`{wait.until.source}` to hold (step `{cursor.step}`)"


def _under_way(run: Run) -> Iterator[str]:
    for bound in run.outstanding.values():
        if bound.status is Status.RUNNING:
            yield f"what comes of call {bound.call_id} of `{bound.tool}`"


def check_means(session: Session, tools: Tools, agent: Agent | None) -> None:
    """
    Hold what was given against what the playbook and those it calls need, before anything runs.

    Raises:
        HostError: naming the tool, or the agent's step, and where it stands.
    """
    definition = plan_of(session.machine).definition
    missing = list(missing_tools(definition, tools))
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise HostError(missing[0] + more)
    if agent is None and (step := first_agent_step(definition)) is not None:
        raise HostError(f"an agent works in step `{step}`, and none was given")


def watches(session: Session) -> bool:
    """Some step waits for a condition that may come true by itself."""
    with session._inside(thaw=False) as run:
        return bool(run.watching)

"""One run, from its options to its exit status."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, TextIO

from guideway.runtime.agents import Agent
from guideway.runtime.approvals import Approvals
from guideway.runtime.clocks import Clock
from guideway.runtime.decisions import Decisions, Nobody, Recorded, RejectAll
from guideway.runtime.driver import Driver, Finish, Watcher, Why
from guideway.runtime.learning import Learning
from guideway.runtime.narrator import Narrator
from guideway.runtime.plan import plan_of
from guideway.runtime.records import to_json
from guideway.runtime.redact import Redactor
from guideway.runtime.scripted import ScriptedAgent
from guideway.runtime.session import Session
from guideway.runtime.signals import Signals
from guideway.runtime.situation import whom
from guideway.runtime.toolbox import first_agent_step, load_tools, missing_tools
from guideway.runtime.trace import TraceFile
from guideway.runtime.users import User
from guideway.statemachine.definition import Definition, OutcomeClass
from guideway.statemachine.errors import HostError, JournalError
from guideway.statemachine.machine import Machine
from guideway.statemachine.span import escaped

from .asking import Terminal, TerminalUser, user
from .draw import Format, by_suffix, drawn
from .inputs import inputs_of
from .live import PlainView, TerminalView, view
from .loading import file_of, writable, write_file
from .outside import Others, Predicates, clock_of, predicates_of, signals_of, user_of
from .status import CLEAN, FOUND, INTERRUPTED, WAITING, MisuseError, OutputError
from .streams import is_terminal, say

STATUS = {Why.WAITING: WAITING, Why.SILENT: FOUND, Why.INTERRUPTED: INTERRUPTED}


@dataclass(frozen=True, slots=True)
class Request:
    """The options of a run, as they were given."""

    tools: str | None
    input: list[str]
    inputs: str | None
    approve: str
    agent: str | None
    trace: str | None
    draw: str | None
    started_by: str | None
    fast_forward: bool
    others: Others


def carry_out(definition: Definition, request: Request) -> int:
    """
    Run a machine as asked.

    Everything that could be misused is looked at before anything runs.

    Raises:
        MisuseError: naming the option.
    """
    means = Means.of(definition, request)
    session = started(definition, means)
    picture(session, definition, request.draw, means.form)
    with ExitStack() as stack:
        stream = stack.enter_context(opened(request.trace))
        shown = view()
        stack.callback(shown.close)
        redactor = Redactor(definition, means.values)
        try:
            finish = drive(session, means, stream, shown, redactor)
        except JournalError as fault:
            shown.close()
            raise JournalError(f"{fault}; {standing(session)}") from None
    status = told(session, finish, redactor)
    picture(session, definition, request.draw, means.form)
    if shown.lost is not None:
        raise OutputError(f"{shown.lost}; the run went on: {standing(session)}")
    return status


@dataclass(frozen=True, slots=True)
class Means:
    """What a run works with."""

    values: dict[str, Any]
    tools: dict[str, Any]
    agent: Agent | None
    decisions: Decisions | None
    """None: whoever sits at the terminal"""
    clock: Clock
    by: str
    form: Format | None
    user: User | None
    """None: whoever sits at the terminal"""
    signals: Signals
    predicates: Predicates

    @classmethod
    def of(cls, definition: Definition, request: Request) -> Means:
        """Make them ready, complete, or say which option is at fault."""
        by = request.started_by or user()
        agent = agent_of(definition, request.agent)
        tools = tools_of(definition, request.tools)
        values = inputs_of(definition, request.input, request.inputs)
        decisions = decisions_of(request.approve, by)
        form = by_suffix(request.draw, "--draw") if request.draw is not None else None
        others = request.others
        clock = clock_of(others.at, leaps=request.fast_forward)
        heard, signals = user_of(others.user), signals_of(definition, others.signal)
        predicates = predicates_of(definition, others.predicates)
        return cls(values, tools, agent, decisions, clock, by, form, heard, signals, predicates)


def agent_of(definition: Definition, given: str | None) -> Agent | None:
    """Who plays the agent; needed where an agent has a step."""
    step = first_agent_step(definition)
    if given is None:
        if step is not None:
            raise MisuseError(f"--agent: an agent works in step `{step}`; give --agent scripted:FILE")
        return None
    kind, _, file = given.partition(":")
    if kind != "scripted" or not file:
        raise MisuseError(f"--agent: {given} is no agent; write scripted:FILE")
    file_of(file, "--agent")
    try:
        return ScriptedAgent.load(file)
    except HostError as fault:
        raise MisuseError(f"--agent: {fault}") from None


def tools_of(definition: Definition, given: str | None) -> dict[str, Any]:
    """The tools, none of those missing that the playbook cannot do without."""
    try:
        tools = load_tools(given) if given is not None else {}
    except HostError as fault:
        raise MisuseError(f"--tools: {fault}") from None
    if missing := list(missing_tools(definition, tools)):
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise MisuseError(f"--tools: {missing[0]}{more}")
    return tools


def decisions_of(given: str, by: str) -> Decisions | None:
    """Where decisions come from."""
    kind, _, file = given.partition(":")
    if given == "ask":
        return None if is_terminal(sys.stdin) and is_terminal(sys.stdout) else Nobody()
    if given == "deny":
        return RejectAll()
    if kind != "file" or not file:
        raise MisuseError(f"--approve: {given} is none of ask, deny and file:FILE")
    file_of(file, "--approve")
    try:
        return Recorded.load(file)
    except HostError as fault:
        raise MisuseError(f"--approve: {fault}") from None


@contextmanager
def opened(path: str | None) -> Iterator[TextIO | None]:
    """The file of the trace, empty."""
    if path is None:
        yield None
        return
    stream = writable(path, "--trace").open("w", encoding="utf-8")
    try:
        yield stream
    finally:
        with suppress(OSError):  # a full disk was reported by the write before
            stream.close()


def started(definition: Definition, means: Means) -> Session:
    """A session, or what its inputs lack."""
    try:
        return Session(
            Machine.of(definition),
            inputs=means.values,
            now=means.clock.now(),
            run_id=f"run-{uuid.uuid4().hex[:12]}",
            started_by=means.by,
            predicates=means.predicates,
        )
    except HostError as fault:
        option = "--skills" if definition.unresolved_skills else "--input"
        raise MisuseError(f"{option}: {Redactor(definition, means.values).hide(str(fault))}") from None


def drive(
    session: Session, means: Means, stream: TextIO | None, shown: PlainView | TerminalView, redactor: Redactor
) -> Finish:
    """Drive the session, recording and telling."""
    watchers: list[Watcher] = [Learning(session, redactor)]
    watchers += [TraceFile(stream, redactor)] if stream is not None else []
    watchers.append(Narrator(plan_of(session.machine).definition, redactor, shown.tell))
    pause = shown.paused if isinstance(shown, TerminalView) else nullcontext
    return Driver(
        session,
        means.tools,
        agent=means.agent,
        decisions=means.decisions or Terminal(redactor, pause),
        clock=means.clock,
        watchers=watchers,
        signals=means.signals,
        user=means.user or TerminalUser(pause),
    ).run()


def picture(session: Session, definition: Definition, path: str | None, form: Format | None) -> None:
    """
    Draw the machine with the way of the run so far; a picture shows states, and nothing that was given to them.

    It is drawn before the run, too: a missing Graphviz must not be found out at the end.
    """
    if path is None or form is None:
        return
    from guideway.diagrams.render import RenderError
    from guideway.diagrams.walk import Walk

    walk = Walk.from_records(to_json(record) for record in session.records)
    try:
        drawing = drawn(definition, walk, form)
    except RenderError as fault:
        raise MisuseError(f"--draw: {fault}") from None
    write_file(path, "--draw", drawing)


def standing(session: Session) -> str:
    """Where a run stands that could not be told to its end: its outcome or its state, and the call that ran last."""
    where = f"it ended in `{session.outcome}`" if session.outcome is not None else f"it stopped in `{session.state}`"
    ran = [record for record in map(to_json, session.records) if record["kind"] == "settled"]
    ran = [record for record in ran if record["outcome"] != "cancelled"]
    last = f"the last call that ran was `{ran[-1]['tool']}` ({ran[-1]['call_id']})" if ran else "no call has run"
    return f"{where}, and {last}"


def told(session: Session, finish: Finish, redactor: Redactor) -> int:
    """Say how it came out, where that is no plain end, and give the exit status."""
    if finish.why is Why.ENDED:
        return CLEAN if session.outcome_class == OutcomeClass.SUCCESS else FOUND
    text = finish.text
    if finish.why is Why.WAITING:  # as the driver says it, but for what is sensitive in the questions
        for question in Approvals(session).pending:
            text = text.replace(whom(question), whom(redactor.question(question)))
    said = {Why.WAITING: "waiting for ", Why.SILENT: "stopped: ", Why.INTERRUPTED: "stopped: "}[finish.why]
    say(f"guideway run: {said}{escaped(text)}")
    return STATUS[finish.why]

"""One run, from its options to its exit status."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, TextIO

from guideway.runtime.approvals import Approvals, Question
from guideway.runtime.decisions import Decisions
from guideway.runtime.driver import Driver, Finish, Watcher, Why
from guideway.runtime.learning import Learning
from guideway.runtime.narrate import Line, Mark
from guideway.runtime.narrator import Narrator
from guideway.runtime.records import Record, to_json
from guideway.runtime.redact import Redactor
from guideway.runtime.session import Session
from guideway.runtime.situation import awaited, whom
from guideway.runtime.trace import TraceFile
from guideway.runtime.users import User
from guideway.runtime.wording import printable
from guideway.statemachine.definition import Definition, OutcomeClass
from guideway.statemachine.errors import HostError, JournalError
from guideway.statemachine.machine import Machine
from guideway.statemachine.span import escaped

from .asking import Terminal, TerminalUser
from .draw import Format, drawn
from .journals import Opened, keep_from_tools
from .keeping import how_to_decide, how_to_go_on, kept
from .live import PlainView, TerminalView, view
from .loading import writable, write_file
from .means import Means, Request
from .postbox import Postbox
from .status import CLEAN, FOUND, INTERRUPTED, WAITING, MisuseError, OutputError
from .streams import say

STATUS = {Why.WAITING: WAITING, Why.SILENT: FOUND, Why.INTERRUPTED: INTERRUPTED}


@dataclass(frozen=True, slots=True)
class Going:
    """A run that is about to be driven."""

    definition: Definition
    request: Request
    means: Means
    session: Session
    run: str
    found: Opened | None = None
    """the journal it is kept in"""
    past: Sequence[Record] = ()
    """what its journal holds of it, where it is resumed"""


def carry_out(definition: Definition, request: Request) -> int:
    """
    Run a machine as asked.

    Everything that could be misused is looked at before anything runs.

    Raises:
        MisuseError: naming the option.
    """
    check(request)
    secret = keep_from_tools()
    means = Means.of(definition, request)
    run = request.keeping.run_id or f"run-{uuid.uuid4().hex[:12]}"
    with kept(request.keeping, secret) as found:
        session = started(definition, means, run, request.keeping.mode, found)
        return carried(Going(definition, request, means, session, run, found))


def check(request: Request) -> None:
    """Options that do not go together."""
    request.keeping.check(leaps=request.fast_forward or request.others.at is not None)


def carried(going: Going) -> int:
    """Drive a run that has been started or resumed, and tell how it came out."""
    session, request, means = going.session, going.request, going.means
    picture(going, request.draw, means.form)
    with ExitStack() as stack:
        stream = stack.enter_context(opened(request.trace))
        shown = view()
        stack.callback(shown.close)
        redactor = Redactor(going.definition, means.values)
        try:
            finish = drive(going, stream, shown, redactor)
        except JournalError as fault:
            shown.close()
            raise JournalError(f"{fault}; {standing(session)}") from None
    status = told(going, finish, redactor)
    picture(going, request.draw, means.form)
    if shown.lost is not None:
        raise OutputError(f"{shown.lost}; the run went on: {standing(session)}")
    return status


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


def started(definition: Definition, means: Means, run: str, mode: str, found: Opened | None) -> Session:
    """A session, or what its inputs lack."""
    about: dict[str, Any] = {
        "inputs": means.values, "now": means.clock.now(), "run_id": run, "started_by": means.by,
        "predicates": means.predicates, "mode": mode,
    }  # fmt: skip
    if found is not None and found.journal.last(run) is not None:
        raise MisuseError(f"--run-id: {found.path} holds a run {run} already; go on with it: guideway resume {run}")
    from guideway.runtime.journal import start

    try:
        if found is None:
            return Session(Machine.of(definition), **about)
        return start(found.journal, Machine.of(definition), key=found.key, **about)
    except HostError as fault:
        option = "--skills" if definition.unresolved_skills else "--input"
        raise MisuseError(f"{option}: {Redactor(definition, means.values).hide(str(fault))}") from None


def drive(going: Going, stream: TextIO | None, shown: PlainView | TerminalView, redactor: Redactor) -> Finish:
    """Drive the session, recording and telling."""
    session, means = going.session, going.means
    watchers: list[Watcher] = [Learning(session, redactor)]
    watchers += [TraceFile(stream, redactor)] if stream is not None else []
    watchers.append(narrator(going, redactor, shown.tell))
    if stream is not None and going.past:
        watchers[1].happened(going.past)
    pause = shown.paused if isinstance(shown, TerminalView) else nullcontext
    decisions, heard = means.decisions or Terminal(redactor, pause), means.user or TerminalUser(pause)
    if means.model is not None:
        return driven_by_model(going, decisions, heard, watchers, redactor)
    box = None if going.found is None else postbox(going, going.found, shown.tell, redactor)
    finish = Driver(
        session,
        means.tools,
        agent=means.agent,
        decisions=decisions,
        clock=means.clock,
        watchers=watchers,
        signals=means.signals,
        user=heard,
        mail=box,
    ).run()
    if box is not None and finish.why is Why.ENDED:
        box.take(means.clock.now())  # what came too late is answered as well
    return finish


def driven_by_model(
    going: Going, decisions: Decisions, user: User, watchers: Sequence[Watcher], redactor: Redactor
) -> Finish:
    """The same, with a model as the agent."""
    from .modelled import drive_model

    keeping, definition = going.request.keeping, going.definition
    return drive_model(
        going.session, going.means, run=going.run, found=going.found, patient=keeping.wait, mode=keeping.mode,
        prompt=going.request.prompt or definition.description or definition.name, resumed=bool(going.past),
        decisions=decisions, user=user, watchers=watchers, waiting=announcing(going, redactor),
    )  # fmt: skip


def narrator(going: Going, redactor: Redactor, tell: Callable[[Line], None]) -> Narrator:
    """Who tells the run; what is past is known, and not told again."""
    past = bool(going.past)
    teller = Narrator(going.definition, redactor, lambda line: None if past else tell(line))
    if past:
        teller.happened(going.past)
        past = False
        about = f"{printable(going.definition.name)} [{going.definition.id} {going.definition.digest[:12]}]"
        tell(Line(Mark.HEAD, f"{about} run {printable(going.run)} goes on"))
    return teller


def postbox(going: Going, found: Opened, tell: Callable[[Line], None], redactor: Redactor) -> Postbox:
    """Hears people in other processes, and says for whom it waits."""
    patient, waiting = going.request.keeping.wait, announcing(going, redactor)
    return Postbox(going.session, going.run, found, going.means.clock, tell, patient=patient, waiting=waiting)


def announcing(going: Going, redactor: Redactor) -> Callable[[], None]:
    """Says for whom the run waits, and how to decide, once for each time that this changes."""
    said: list[str] = []
    keeping = going.request.keeping

    def waiting() -> None:
        head = f"guideway {keeping.command}: waiting for"
        now = [f"{head} {escaped(text)}" for text in waits(going.session, redactor)]
        now += [f"  {line}" for line in how_to_decide(going.run, keeping.journal or "", questions(going.session))]
        if now != said:
            said[:] = now
            for line in now:
                say(line)

    return waiting


def questions(session: Session) -> list[Question]:
    """What is asked now."""
    return Approvals(session).pending


def waits(session: Session, redactor: Redactor) -> list[str]:
    """For whom and what the run waits, as it may be shown."""
    return [*(whom(redactor.question(question)) for question in questions(session)), *awaited(session)]


def picture(going: Going, path: str | None, form: Format | None) -> None:
    """
    Draw the machine with the way of the run so far; a picture shows states, and nothing that was given to them.

    It is drawn before the run, too: a missing Graphviz must not be found out at the end.
    """
    if path is None or form is None:
        return
    from guideway.diagrams.render import RenderError
    from guideway.diagrams.walk import Walk

    walk = Walk.from_records(to_json(record) for record in (*going.past, *going.session.records))
    try:
        drawing = drawn(going.definition, walk, form)
    except RenderError as fault:
        raise MisuseError(f"--draw: {fault}") from None
    write_file(path, "--draw", drawing)


def standing(session: Session) -> str:
    """Where a run stands that could not be told to its end: its outcome or its state, and the call that ran last."""
    if session.outcome == "failed:engine":
        calls = ", ".join(f"`{tool}` ({call_id})" for call_id, tool in unreported(session).items())
        left = f"these calls were under way and may have run: {calls}" if calls else "no call was under way"
        return f"this program drives the run no more, and {left}"
    where = f"it ended in `{session.outcome}`" if session.outcome is not None else f"it stopped in `{session.state}`"
    ran = [record for record in map(to_json, session.records) if record["kind"] == "settled"]
    ran = [record for record in ran if record["outcome"] != "cancelled"]
    last = f"the last call that ran was `{ran[-1]['tool']}` ({ran[-1]['call_id']})" if ran else "no call has run"
    return f"{where}, and {last}"


def unreported(session: Session) -> dict[str, str]:
    """Calls that were admitted, and of which the journal does not know the end."""
    found: dict[str, str] = {}
    for record in map(to_json, session.records):
        if record["kind"] == "decided" and record["verdict"] in ("allow", "illegal"):
            found[record["call_id"]] = record["tool"]
        elif record["kind"] == "settled":
            found.pop(record["call_id"], None)
    return found


def told(going: Going, finish: Finish, redactor: Redactor) -> int:
    """Say how it came out, where that is no plain end, and give the exit status."""
    session, keeping = going.session, going.request.keeping
    if finish.why is Why.ENDED:
        return CLEAN if session.outcome_class == OutcomeClass.SUCCESS else FOUND
    text = finish.text
    if finish.why is Why.WAITING:  # as the driver says it, but for what is sensitive in the questions
        for question in questions(session):
            text = text.replace(whom(question), whom(redactor.question(question)))
        if going.means.model is not None:
            text = "; ".join(waits(session, redactor)) or text
    if finish.why is Why.SILENT:
        text = str(redactor.hide(text))
    said = {Why.WAITING: "waiting for ", Why.SILENT: "stopped: ", Why.INTERRUPTED: "stopped: "}[finish.why]
    say(f"guideway {keeping.command}: {said}{escaped(text)}")
    if keeping.journal is not None:
        for line in (*how_to_decide(going.run, keeping.journal, questions(session)), how_to_go_on(going.run, keeping)):
            say(f"  {escaped(line)}")
    return STATUS[finish.why]

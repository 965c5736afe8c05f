"""What must hold of every run of the whole format, read off its records alone, and of every moment of a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from guideway import Approvals, Session
from guideway.statemachine.definition import ANYWHERE, Definition, StateKind
from guideway.statemachine.tools import Effect

from .counting import tally
from .following import Blocks, Takings
from .walking import automatic, running, turn_is_open

CONTROL = ("complete_step", "skip_step")
Record = tuple[Any, ...]


def parts(path: str | None) -> list[str]:
    """The frames a path leads through."""
    return [part for part in (path or "").split("/") if part]


class Frames:
    """Which playbook runs in which frame, as the records tell."""

    def __init__(self, definition: Definition) -> None:
        self.root = definition
        self.called: dict[str, str] = {}
        """path of a sub-playbook's frame -> its id"""

    def definition(self, path: str | None) -> Definition:
        """The playbook of a frame; that of an item is the one around it."""
        names = parts(path)
        while names:
            found = self.called.get("/".join(names) + "/")
            if found is not None:
                return self.root.callees[found]
            assert names[-1].endswith("]"), f"nobody has called {path}"
            names.pop()
        return self.root


class Tape:
    """Goes through the records of one run, in order, and raises `AssertionError` at the first that may not be."""

    def __init__(self, definition: Definition) -> None:
        self.frames = Frames(definition)
        self.admitted: dict[str, tuple[str, Effect]] = {}
        self.running: dict[str, tuple[str, Effect]] = {}
        self.asked: dict[str, str] = {}
        self.open: set[str] = set()
        """frames of sub-playbooks that have neither returned nor been left"""
        self.over = self.published = False
        self.blocks = Blocks()
        self.takings = Takings()

    def read(self, records: Iterable[Record]) -> None:
        """Hold every rule against every record."""
        for kind, _, *values in records:
            assert not self.published or kind in ("signalled", "claimed", "turn", "decided", "turn_ended", "host"), kind
            found = getattr(self, f"on_{kind}", None)
            if found is not None:
                found(*values)

    def on_called(self, playbook: str, step: str, state: str, inputs: Any, path: str) -> None:
        """A sub-playbook begins."""
        assert not self.over
        assert path not in self.frames.called, f"{path} twice"
        self.frames.called[path] = playbook
        self.open.add(path)

    def on_returned(self, playbook: str, outcome: str, path: str) -> None:
        """It returns once."""
        self.open.remove(path)
        assert self.frames.called[path] == playbook

    def on_decided(
        self, call_id: str, tool: str, args: Any, verdict: str, step: str, state: str, code: Any, detail: Any,
        rule: Any, because: Any, path: str | None,
    ) -> None:  # fmt: skip
        """A call is admitted, or put before a person."""
        if verdict not in ("allow", "needs_approval"):
            return
        definition = self.frames.definition(path)
        assert not self.over or step in definition.closing, f"{call_id} is admitted after the end"
        assert call_id not in self.admitted, f"{call_id} is admitted twice"
        if tool in CONTROL or verdict == "needs_approval":
            return
        found = definition.tool(tool)
        effect = found.effect if found else Effect.WRITE
        beside = [*self.running.values()]
        assert not beside or effect is not Effect.IRREVERSIBLE, f"irreversible {call_id} {tool} beside {beside}"
        alone = [other for other in beside if other[1] is Effect.IRREVERSIBLE]
        assert not alone, f"{call_id} {tool} beside irreversible {alone}"
        self.takings.admitted(definition, call_id, tool, args, step, path or "")
        self.admitted[call_id] = self.running[call_id] = (tool, effect)

    def on_settled(
        self, call_id: str, tool: str, outcome: str, detail: Any, counts: bool, step: str, path: str | None
    ) -> None:  # fmt: skip
        """A call has come to its end."""
        if tool in CONTROL:
            return
        assert call_id in self.running, f"{call_id} settles and was not under way"
        assert self.running.pop(call_id)[0] == tool
        self.takings.settled(call_id, tool, outcome, detail, counts, path or "")

    def on_asked(self, approval_id: str, of: str, *_: Any) -> None:
        """A question is asked once at a time."""
        assert approval_id not in self.asked, f"{approval_id} is asked while it is open"
        assert not self.over or of == "call", f"{approval_id} is asked after the end"
        self.asked[approval_id] = of

    def on_answered(self, approval_id: str, decision: str, *_: Any) -> None:
        """And answered once."""
        assert approval_id in self.asked, f"{approval_id} is answered and was not asked"
        del self.asked[approval_id]

    def on_moved(self, source: str, event: str, target: str, step: str, why: Any, path: str | None) -> None:
        """A move is along an edge of its playbook."""
        definition = self.frames.definition(path)
        state = definition.states[source]
        edges = [*state.edges.get(event, ()), *(edge for edge in definition.anywhere if edge.event == event)]
        engine = event == "failed" and target in ("failed:host", "failed:livelock")
        assert engine or any(edge.target == target for edge in edges), f"no edge {source} -{event}-> {target}"
        assert not any(edge.source not in (source, ANYWHERE) for edge in edges)
        self.blocks.moved(definition, source, event, target, why, path or "")

    def on_ending(self, state: str, outcome: str) -> None:
        """A run ends once."""
        assert not self.over
        self.over = True

    def on_ended(self, state: str, outcome: str) -> None:
        """Nothing is published while a call is under way or a question is open."""
        assert self.over
        assert not self.running
        assert not self.asked
        self.published = True


def never_wedged(session: Session) -> None:
    """A run that has not ended waits for somebody: a call, a person, a time, a signal, or the agent's next reply."""
    run = session._run
    if session.outcome is not None:
        nothing_left(session)
        return
    if running(session) or automatic(session) or Approvals(session).pending:
        return
    assert not turn_is_open(session), "a turn is open, and nothing is awaited"
    assert run.ending is None, "ending, and nothing is awaited"
    agents = [c for c in run.leaves() if c.row.kind is StateKind.STEP]
    assert agents or session.commands, f"nothing is awaited in {session.states}"
    for cursor in run.leaves():
        waits = cursor.row.kind in (StateKind.STEP, StateKind.WAIT, StateKind.APPROVAL, StateKind.ASK)
        about = [t for t in run.timers if t.cursor is cursor] + [b for b in run.waiting if b.cursor is cursor]
        assert waits or about, f"{cursor.frame.path}{cursor.state} waits for nothing"


def nothing_left(session: Session) -> None:
    """After an end nobody is asked, nothing is awaited, nothing is to be done."""
    run = session._run
    assert session.waiting == ()
    assert session.commands == []
    assert not Approvals(session).pending
    assert session.legal() == ()
    left = (run.timers, run.pending, run.waiting, run.outstanding, run.watching, run.closers, run.mail, run.frames)
    assert not any(left), left
    assert run.turn is None


def note(count: Counter[str], session: Session) -> None:
    """Count what one run went through."""
    tally(count, session.records)
    count[f"class {session.outcome_class}"] += 1
    for kind, _, *values in session.records:
        if kind in ("called", "returned", "closed", "policy", "signalled", "allowed", "host"):
            count[kind] += 1
        elif kind == "decided" and values[3] == "deny":
            count[f"code {values[6]}"] += 1
        elif kind == "answered":
            count[f"decision {values[1]}"] += 1
        elif kind == "moved" and (values[5] or "").endswith("]/"):
            count["moves in items"] += 1


WANTED = (
    "called", "returned", "closed", "signalled", "allowed", "host", "moves in items", "event forked", "event joined",
    "event answered", "event failed", "event rejected", "event timeout", "event passed", "asked ask", "asked step",
    "asked call", "asked reconcile", "timer timeout", "timer due", "timer expire", "timer remind", "decision approved",
    "decision void", "code policy", "code left", "code after_failed", "code where", "decided in a later wave",
    "outcome unknown", "outcome cancelled", "class success", "class failed", "class stopped", "class incomplete",
)  # fmt: skip
"""What random runs of the whole format go through; a generator that no longer draws one of them fails its test."""


def covered(count: Counter[str], least: int, wanted: Iterable[str] = WANTED) -> None:
    """Everything that is wanted was seen so often."""
    missing = {what: count[what] for what in wanted if count[what] < least}
    assert not missing, f"seen too seldom: {missing}"

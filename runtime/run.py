"""The state of one run: what S1 to S3 name, and nothing else.  Only the functions of this room change it."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from guideway.statemachine.definition import Edge

from .cursors import Cursor, Order
from .frames import Frame
from .openings import Openings
from .own import Settled
from .records import Record
from .tables import Table, empty_out, slots_of
from .verdicts import Command

if TYPE_CHECKING:
    from .plan import Line, Plan

Predicates = Mapping[str, Callable[[Mapping[str, Any]], bool]]
"""Yes-or-no questions that the host answers, by name; each is given what expressions see."""


class Status(StrEnum):
    """Where a proposed call stands."""

    DEFERRED = "deferred"
    PENDING = "pending"
    """a person decides"""
    RUNNING = "running"
    ARRIVED = "arrived"
    """its outcome is here, and waits for those of earlier calls (S15)"""
    DOUBT = "doubt"
    """nobody knows whether it happened; a person reconciles (S24)"""
    DONE = "done"
    REFUSED = "refused"
    """denied, or rejected by a person: it will never run"""


OPEN = frozenset({Status.PENDING, Status.RUNNING, Status.ARRIVED, Status.DOUBT})


class Bound:
    """A call, bound to the cursor, visit and entry it was admitted under (S14.9)."""

    __slots__ = (
        "answer", "approved", "args", "automatic", "call_id", "cursor", "fault", "frame", "illegal", "line", "lost",
        "orphan", "outcome", "reverses", "status", "step", "substituted", "tool", "visit",
    )  # fmt: skip

    def __init__(self, call_id: str, tool: str, args: dict[str, Any], automatic: bool = False) -> None:
        self.call_id = call_id
        self.tool = tool
        self.args = args
        self.automatic = automatic
        self.line: Line | None = None
        """the entry it counts for; none for a call taken as extra, and for an automatic one"""
        self.cursor: Cursor | None = None
        """whose call it is; none of one taken as extra or optional everywhere"""
        self.frame: Frame | None = None
        """where its result is kept"""
        self.lost = False
        """the program stopped while it ran, so that nobody saw its outcome (S54)"""
        self.illegal = False
        """the playbook does not allow it, and the session only records: it runs, and moves nothing (S55)"""
        self.substituted = False
        """its result was given by something beside the tool (S53)"""
        self.reverses: list[Any] | None = None
        """the success it takes back, of those in the frame's log"""
        self.step = ""
        self.visit = 0
        self.status = Status.DEFERRED
        self.outcome: Settled | None = None
        """what came of it, as reported"""
        self.answer: Any = None
        """the latest verdict on it"""
        self.fault: tuple[str, str] | None = None
        """code and detail of what is wrong with the call itself"""
        self.approved = False
        """a person has allowed exactly this call"""
        self.orphan = False
        """its visit timed out: it still spends and writes facts, but holds neither wave nor turn (S26)"""

    @property
    def open(self) -> bool:
        """Admitted or waiting for a person, and not settled."""
        return self.status in OPEN

    @property
    def holds(self) -> bool:
        """The wave and the turn wait for it."""
        return self.open and not self.orphan

    @property
    def current(self) -> bool:
        """The visit it was admitted under is not over."""
        cursor = self.cursor
        return cursor is not None and not cursor.gone and (self.step, self.visit) == (cursor.step, cursor.visit)

    def of(self, cursor: Cursor) -> bool:
        """It was admitted under the visit that `cursor` is in."""
        return self.cursor is cursor and self.step == cursor.step and self.visit == cursor.visit


Began = tuple[tuple[Cursor, str, int], ...]


class Turn:
    """One reply of the model, from `propose` to its `turn` event (S12 to S16)."""

    __slots__ = ("began", "calls", "denied", "failed", "number", "succeeded", "text")

    def __init__(self, number: int, text: str, began: Began = ()) -> None:
        self.number = number
        self.text = text
        self.began = began
        """of a turn without calls: the cursors in an agent's step when it began, with step and visit"""
        self.calls: list[Bound] = []
        self.denied = False
        self.failed = False
        self.succeeded = False


class Timer:
    """
    Something that happens by itself at `due`.

    `due`: the end of a wait; `timeout` of a visit; `wake` for its next try or round; `expire` of a question (`about`);
    `remind` of one; `limit` of a playbook's `time_limit`.
    """

    __slots__ = ("about", "cursor", "due", "kind", "step", "visit")

    def __init__(self, due: datetime, kind: str, cursor: Cursor | None, about: str = "") -> None:
        self.due = due
        self.kind = kind
        self.cursor = cursor
        self.step, self.visit = cursor.at if cursor is not None else ("", 0)
        self.about = about

    @property
    def rank(self) -> tuple[datetime, Order, str]:
        """What decides which of two comes first: due, cursor, kind (S7)."""
        return self.due, self.cursor.order if self.cursor is not None else (), self.kind


class Pending:
    """A question to a person: approval of a step or of one call, an unknown call to reconcile, or an `ask`."""

    __slots__ = (
        "approval_id", "approvers", "args", "ask", "call", "count", "cursor", "everyone", "excluded", "of", "said",
        "step", "tool", "visit",
    )  # fmt: skip

    def __init__(self, approval_id: str, of: str, cursor: Cursor | None, ask: str, approvers: tuple[str, ...]) -> None:
        self.approval_id = approval_id
        self.of = of
        """`step`, `call`, `reconcile` or `ask`"""
        self.cursor = cursor
        self.step, self.visit = cursor.at if cursor is not None else ("", 0)
        self.ask = ask
        self.approvers = approvers
        """who may decide, persons and groups; of an `ask`, the assignees"""
        self.excluded: tuple[str, ...] = ()
        self.count = 1
        self.everyone = False
        self.said: list[tuple[str, tuple[str, ...]]] = []
        """who has allowed it so far, each with their groups"""
        self.call: Bound | None = None
        self.tool: str | None = None
        self.args: dict[str, Any] | None = None
        """the exact call that is asked about"""


class Run:
    """Everything that moves in one run of a playbook."""

    __slots__ = (
        "_closers", "_commands", "_frames", "_fresh", "_held", "_mail", "_opened", "_outstanding", "_pending",
        "_restless", "_retired", "_shown", "_signalled", "_timers", "_verdicts", "_waiting", "_watching", "busy",
        "calls", "claims", "confidence", "ending", "entered", "forgotten", "frame", "iterations", "mode", "most",
        "moves", "now", "nudges", "numbered", "openings", "outcome", "plan", "predicates", "records", "refusals",
        "restored", "root", "run_id", "settled", "signals", "silent", "single", "size", "started", "started_by",
        "strays", "text", "text_only", "tokens", "turn",
    )  # fmt: skip

    waiting = Table[list[Bound]](list)
    """automatic calls that were deferred (S28)"""
    pending = Table[dict[str, Pending]](dict)
    retired = Table[dict[str, str]](dict)
    """approvals decided, expired or void -> how"""
    timers = Table[list[Timer]](list)
    commands = Table[dict[str, Command]](dict)
    mail = Table[dict[str, list[Any]]](dict)
    """signals that came early, by name, oldest first"""
    signalled = Table[dict[str, int]](dict)
    """names of all signals that have come -> the number of the latest"""
    shown = Table[list[Record]](list)
    """the records as they have been read"""
    verdicts = Table[list[Any]](list)
    """answers given since the verb began, for `Progress`"""
    restless = Table[list[Cursor]](list)
    """cursors that have moved and may have to move on by themselves (S9.4)"""
    fresh = Table[list[Cursor]](list)
    """those whose new state has not issued its command yet (S9.6)"""
    watching = Table[list[Cursor]](list)
    """those that wait until something holds"""
    held = Table[list[Cursor]](list)
    """those whose step is done and kept open, as a policy asks for something first (S42)"""
    closers = Table[list[Frame]](list)
    """frames that have ended and whose `finally` is still to run, or running, innermost first"""
    frames = Table[list[Frame]](list)
    """frames of sub-playbooks that are open, in the order of their calls"""
    outstanding = Table[dict[str, Bound]](dict)
    """open calls by id, oldest first"""
    opened = Table[dict[tuple[str, str], int]](dict)
    """where frames were opened in it -> how many at most at a time: a circle that opens them again is still one"""

    def __init__(
        self,
        plan: Plan,
        inputs: Mapping[str, Any],
        run_id: str,
        started_by: str,
        now: datetime | None,
        predicates: Predicates | None = None,
    ) -> None:
        for table in TABLES:
            setattr(self, table, None)
        self.plan = plan
        self.run_id = run_id
        self.started_by = started_by
        self.started = self.now = now
        self.predicates = predicates
        self.frame = Frame(plan, inputs)
        self.frame.started = now
        self.root = self.frame.root = Cursor(plan.rows[plan.definition.initial], self.frame)
        self.single: Cursor | None = self.root
        """the only cursor there is; none while there are more"""
        self.openings: Openings | None = None
        """which cursors admit which tools, while there are several"""
        self.size = len(plan.definition.steps)
        """steps of all playbook frames that are open (S9.4)"""
        self.most = self.size
        """the most there may be in the current macro-step: with those of every frame opened in it"""
        self.turn: Turn | None = None
        self.settled: dict[str, tuple[str, Any, str | None]] = {}
        """every id ever used and settled -> how, as `Settled` or bare, to tell a repeated report from another (S52)"""
        self.records: list[Record] = []
        """what happened since the records were last read; the fast path notes two events in one (`records.spread`)"""
        self.moves = self.entered = 0
        """automatic moves, and items begun, in the current macro-step (S9.4)"""
        self.iterations = self.calls = self.tokens = self.nudges = self.refusals = self.numbered = 0
        self.claims = self.signals = 0
        self.strays = 0
        """calls whose visit is gone, ever: while there is none, nobody looks for one"""
        self.confidence: float | None = None
        self.text = ""
        self.text_only = False
        self.ending: str | None = None
        """the outcome, once it is fixed (S40)"""
        self.outcome: str | None = None
        """the outcome, once it is published"""
        self.mode = "enforce"
        """or `record`, or `shadow` (S55)"""
        self.forgotten = 0
        """records that were kept elsewhere and are not in memory any more"""
        self.silent = False
        """a copy on which something is tried: nothing that is registered on a machine hears of it"""
        self.restored = False
        """it was made from a snapshot, which somebody may have edited"""
        self.busy = False
        """a verb is at work"""

    def set_timer(self, timer: Timer) -> None:
        """Put a timer in its place: they are kept in the order in which they fire."""
        insort(self.timers, timer, key=lambda other: other.rank)
        if timer.cursor is not None:
            timer.cursor.timed = True

    def drop_timer(self, timer: Timer) -> None:
        """Take a timer out."""
        timers = self.timers
        at = bisect_left(timers, timer.rank, key=lambda other: other.rank)
        while timers[at] is not timer:
            at += 1
        del timers[at]

    def rest(self) -> None:
        """Let go of the tables that are empty."""
        empty_out(self, TABLES)

    def shift(self, cursor: Cursor, edge: Edge) -> None:
        """Move a cursor along the edge, through the machine, so that its callbacks fire."""
        plan = cursor.frame.plan
        if self.silent:
            cursor.state = edge.target
        else:
            plan.machine.move(cursor, edge)
        if self.openings is not None:
            self.openings.remove(cursor)
        cursor.row = plan.rows[edge.target]

    def opens(self, cursor: Cursor, number: int = 0) -> bool:
        """
        A frame is opened in the step of the cursor: True if one of that number is the first there in the macro-step.

        Visits do not tell two places apart, so that a way round is counted as what it is (S9.4).
        """
        place = VISIT.sub("", cursor.frame.path), cursor.step
        if number < self.opened.get(place, 0):
            return False
        self.opened[place] = number + 1
        return True

    def playbooks(self) -> Iterator[Frame]:
        """The frames of all playbooks that are open, the root's first."""
        yield self.frame
        yield from self.frames

    def cursors(self) -> Iterator[Cursor]:
        """Every cursor, each before those inside, and last those of `finally`."""
        yield from self.root.all()
        for frame in self.closers:
            if frame.closer is not None:
                yield frame.closer

    def leaves(self) -> Iterator[Cursor]:
        """The cursors where something happens, in order (S4)."""
        yield from self.root.leaves()
        yield from (frame.closer for frame in self.closers if frame.closer is not None)

    def record(self, kind: str, *values: Any) -> None:
        """Append to the record, in the order of `records.FIELDS`."""
        self.records.append((kind, self.now, *values))


VISIT = re.compile(r"(?<!#)#\d+(?=[\[/])")
"""The number of a visit in the path of a frame."""


def first(run: Run) -> Cursor:
    """The first cursor in order, which stands for the run where one is asked for."""
    cursor = run.root
    while cursor.children:
        cursor = next(iter(cursor.children.values()))
    return cursor


TABLES = slots_of(Run)
